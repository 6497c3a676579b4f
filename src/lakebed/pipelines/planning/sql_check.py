"""Checks of a pipeline's SQL before anything runs; the same for plan, compile, release and run.

Starts no JVM.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import TemplateContext, compile_gate, compile_query
from lakebed.sql import CheckedQuery

_WORD = re.compile(r"[A-Za-z_]\w*")
_REGISTERS = re.compile(r"register|create.{0,30}function", re.IGNORECASE | re.DOTALL)


def registered_functions(python: Iterable[str], *, own_spark: bool) -> frozenset[str] | None:
    """Functions that queries may call besides Spark's: every word in Python code that registers
    functions. None: unknown.
    """
    if not own_spark:
        return None
    return frozenset(
        word.casefold()
        for source in python
        if _REGISTERS.search(source)
        for word in _WORD.findall(source)
    )


def python_sources(specs: Mapping[TableName, PipelineSpec]) -> Iterator[str]:
    """The sources of all Python pipelines."""
    return (spec.source for spec in specs.values() if spec.kind == "python")


def check_queries(context: TemplateContext) -> CheckedQuery | None:
    """Raise if the query or a gate could not run. Returns the query of a SQL pipeline."""
    spec = context.spec
    compiled = compile_query(context) if spec.kind == "sql" else None
    this = context.this or spec.table.spark
    for gate in spec.gates:
        compile_gate(context, gate, this=this)
    return compiled.query if compiled else None


def columns_after(context: TemplateContext, query: CheckedQuery | None) -> tuple[str, ...] | None:
    """All columns that the table may have after a run; None if they cannot be known."""
    spec, metadata = context.spec, context.target.metadata
    if query is None or query.columns is None or spec.config.renames:
        return None
    present = [column.name for column in metadata.columns] if metadata else []
    return (*query.columns, *present, *added_columns(spec))


def added_columns(spec: PipelineSpec) -> tuple[str, ...]:
    """The columns that the strategy adds to those of the query."""
    return tuple(name for name, _ in spec.strategy.own_columns)


def columns_ahead(
    known: Mapping[TableName, tuple[str, ...]], ahead: Mapping[TableName, tuple[str, ...] | None]
) -> dict[TableName, tuple[str, ...]]:
    """The columns of inputs after the pipelines `ahead` have run; without those whose columns
    cannot be known.
    """
    found = {table: names for table, names in known.items() if table not in ahead}
    return found | {table: names for table, names in ahead.items() if names is not None}
