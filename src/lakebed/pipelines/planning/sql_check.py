"""A pipeline's SQL, checked before anything runs: the same for plan, compile, release and run. Starts no JVM."""

import re
from collections.abc import Iterable, Iterator, Mapping

from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import TemplateContext, compile_gate, compile_query
from lakebed.sql import CheckedQuery

_WORD = re.compile(r"[A-Za-z_]\w*")
_REGISTERS = re.compile(r"register|create.{0,30}function", re.IGNORECASE | re.DOTALL)


def registered_functions(python: Iterable[str], *, own_spark: bool) -> frozenset[str] | None:
    """Functions that queries may call besides Spark's: every word of Python that registers functions. None: nobody can tell."""
    if not own_spark:
        return None
    return frozenset(word.casefold() for source in python if _REGISTERS.search(source) for word in _WORD.findall(source))


def python_sources(specs: Mapping[TableName, PipelineSpec]) -> Iterator[str]:
    """The sources of the pipelines that are Python."""
    return (spec.source for spec in specs.values() if spec.kind == "python")


def check_queries(context: TemplateContext) -> CheckedQuery | None:
    """Refuse a query, or a gate, that could not run; the query, where there is one."""
    spec = context.spec
    compiled = compile_query(context) if spec.kind == "sql" else None
    this = context.this or spec.table.spark
    for gate in spec.gates:
        compile_gate(context, gate, this=this)
    return compiled.query if compiled else None


def columns_after(context: TemplateContext, query: CheckedQuery | None) -> tuple[str, ...] | None:
    """The columns that its table may have after a run, where all of them are known: those it has and those that come."""
    spec, metadata = context.spec, context.target.metadata
    if query is None or query.columns is None or spec.config.renames:
        return None
    present = [column.name for column in metadata.columns] if metadata else []
    return (*query.columns, *present, *added_columns(spec))


def added_columns(spec: PipelineSpec) -> tuple[str, ...]:
    """The columns that a strategy adds to those of the query."""
    config = spec.config
    return {"scd2": (config.scd_valid_from, config.scd_valid_to), "soft_delete": ("_deleted_at",)}.get(config.merge_strategy, ())


def columns_ahead(
    known: Mapping[TableName, tuple[str, ...]], ahead: Mapping[TableName, tuple[str, ...] | None]
) -> dict[TableName, tuple[str, ...]]:
    """The columns of inputs when the inputs that are `ahead` will have run: of some of these nobody knows."""
    found = {table: names for table, names in known.items() if table not in ahead}
    return found | {table: names for table, names in ahead.items() if names is not None}
