"""Checks of a pipeline's SQL and of the columns that its settings name, before anything runs; the
same for plan, compile, release and run.

Starts no JVM.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from lakebed.errors import BadText, near, suggestion
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import TemplateContext, compile_gate, compile_query
from lakebed.quality import Gate
from lakebed.sql import CheckedQuery

_WORD = re.compile(r"[A-Za-z_]\w*")
_REGISTERS = re.compile(r"register|create.{0,30}function", re.IGNORECASE | re.DOTALL)
_ORDERING = re.compile(r"\s+(asc|desc|nulls\s+(first|last))\b", re.IGNORECASE)
_CALL = re.compile(r"\w+\(\s*(?:\d+\s*,\s*)?([^,()]+?)\s*(?:,\s*\d+\s*)?\)")
Names = tuple[str, ...]


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
    """Raise if the query or a gate could not run, or if a setting names a column that the query
    does not return. Returns the query of a SQL pipeline.
    """
    spec, present = context.spec, _present(context)
    query = compile_query(context).query if spec.kind == "sql" else None
    if query:
        require_named_columns(spec, query.columns, present)
    check_gates(context, columns_with(spec, query, present))
    return query


def check_gates(context: TemplateContext, columns: Names | None) -> None:
    """Raise if a gate could not run on a table with these columns; None: unknown ones."""
    spec, judged = context.spec, _knowing(context, columns)
    for gate in spec.gates:
        with at_its_test(spec, gate):
            compile_gate(judged, gate, this=spec.table.spark)


@contextmanager
def at_its_test(spec: PipelineSpec, gate: Gate) -> Iterator[None]:
    """An error in the query of a column's test is one of `config.yaml`."""
    try:
        yield
    except BadText as error:
        raise spec.origin.refuse_test(gate, error) if gate.column else error from None


def _knowing(context: TemplateContext, columns: Names | None) -> TemplateContext:
    """The context of gates, which read the table as it is after the run."""
    known = {
        table: names for table, names in context.pins.columns.items() if table != context.spec.table
    }
    known |= {context.spec.table: columns} if columns else {}
    return replace(context, pins=replace(context.pins, columns=known))


def _present(context: TemplateContext) -> Names:
    metadata = context.target.metadata
    return tuple(column.name for column in metadata.columns) if metadata else ()


def columns_after(context: TemplateContext, query: CheckedQuery | None) -> Names | None:
    """All columns that the table may have after a run; None if they cannot be known."""
    return columns_with(context.spec, query, _present(context))


def columns_with(spec: PipelineSpec, query: CheckedQuery | None, present: Names) -> Names | None:
    """All columns that a table with the columns `present` may have after a run of this query."""
    config = spec.config
    if query and query.columns is not None:
        result = query.columns
    elif config.contract:
        result = tuple(config.columns)
    elif present and config.schema_policy == "fail":
        result = ()
    else:
        return None
    renamed = (new for _, new in config.renames)
    return (*result, *renamed, *present, *added_columns(spec))


def added_columns(spec: PipelineSpec) -> Names:
    """The columns that the strategy adds to those of the query."""
    return tuple(name for name, _ in spec.strategy.own_columns)


def columns_ahead(
    known: Mapping[TableName, Names], ahead: Mapping[TableName, Names | None]
) -> dict[TableName, Names]:
    """The columns of inputs after the pipelines `ahead` have run; without those whose columns
    cannot be known.
    """
    found = {table: names for table, names in known.items() if table not in ahead}
    return found | {table: names for table, names in ahead.items() if names is not None}


@dataclass(frozen=True)
class _Named:
    setting: str
    column: str


def require_named_columns(spec: PipelineSpec, columns: Names | None, present: Names = ()) -> None:
    """Raise for a setting that names a column which is not among those of the query, if they are
    known. A table may be arranged by a column that only it has.
    """
    if not columns:
        return
    known = (*columns, *added_columns(spec))
    _require_among(spec, _named_of_rows(spec), known)
    _require_among(spec, _named_of_files(spec), (*known, *present))


def _require_among(spec: PipelineSpec, named: Iterable[_Named], known: Names) -> None:
    folded = {name.casefold() for name in known}
    for one in named:
        if not {one.column.casefold(), one.column.partition(".")[0].casefold()} & folded:
            raise spec.origin.refuse(
                one.setting,
                f"{one.setting} names {one.column!r}, which is not among the columns of the query.",
                inside=(one.column,),
                next=suggestion(near(one.column, known)) or f"There are: {', '.join(known)}.",
            )


def _named_of_rows(spec: PipelineSpec) -> Iterator[_Named]:
    config = spec.config
    yield from (_Named("unique_key", name) for name in config.unique_key)
    for setting in ("watermark_column", "partition_column", "batch_column"):
        if name := getattr(config, setting):
            yield _Named(setting, name)
    if not config.contract:  # which is compared as a whole, types and all, once they are known
        yield from (_Named("columns", name) for name in config.columns)


def _named_of_files(spec: PipelineSpec) -> Iterator[_Named]:
    yield from (_Named("partition_by", field.column) for field in spec.config.partition_by)
    yield from (_Named("sort_by", _sorted_column(text)) for text in spec.config.sort_by)


def _sorted_column(text: str) -> str:
    """`at` of `at DESC` and of `days(at)`."""
    bare = _ORDERING.sub("", text).strip()
    call = _CALL.fullmatch(bare)
    return (call[1] if call else bare).strip("`")
