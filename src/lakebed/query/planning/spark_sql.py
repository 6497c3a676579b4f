"""Planning for Spark's SQL: tables are pinned in the text, the rest of it stays.

Spark prunes files itself; the conditions on each table are known all the same.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from lakebed.errors import BadPipeline, BadQuery, UnknownName, UsageError
from lakebed.names import CATALOG, TableName, spark_identifier
from lakebed.ports import Pointer
from lakebed.query.layouts.spark_text import layout_rows
from lakebed.query.parsing.hints import without_layout_hints
from lakebed.query.parsing.query_text import Piece, replaced
from lakebed.query.planning.pin import pin_table
from lakebed.query.planning.plan import PinnedTable, PlannedTable, QueryPlan
from lakebed.query.planning.planner import QueryContext
from lakebed.query.planning.resolve import CatalogNames, all_names
from lakebed.query.planning.spark_layouts import SparkLayouts, SparkTarget
from lakebed.query.request import METADATA_TABLES, TableReference
from lakebed.requests import QueryRequest
from lakebed.tables import as_of_schema

if TYPE_CHECKING:
    from sqlglot import exp

    from lakebed.query.planning.spark_layouts import SparkQuery
    from lakebed.query.spark_reads.reads import SparkRead
    from lakebed.sql.parsing.lexer import LexedText, Token

    References = list[tuple[SparkRead, TableReference]]

_ITS_OWN = {"VERSION", "TIMESTAMP", "FOR", "SYSTEM_VERSION", "SYSTEM_TIME"}


def plan_spark_query(request: QueryRequest, context: QueryContext) -> QueryPlan:
    """The query over pinned tables.

    With a setting that changes what Spark's SQL means, conditions are not known. Raises `BadQuery`
    for whatever a SELECT can make Spark do besides reading tables.
    """
    try:
        query = _parse(without_layout_hints(request.sql, spark=True))
    except BadPipeline as error:
        raise BadQuery(error.what, where=error.where, next=error.next) from None
    known = CatalogNames(context.ports.catalog.pointers())
    try:
        references = _resolve(query.reads, known, request)
    except (
        UnknownName
    ):  # views and foreign tables are looked up only now, because that takes longer
        known = all_names(context.ports.catalog)
        references = _resolve(query.reads, known, request)
    targets = _targets(query, references, known.tables, request, context)
    layouts = SparkLayouts(request, query, targets, context)
    pieces: list[Piece] = []
    tables: dict[object, PlannedTable] = {}
    for read, found in references:
        target = targets.get(read.start)
        if target is None:
            pieces.append(_piece(read, _view(found, request)))
            continue
        planned = layouts.plan(read)
        tables.setdefault((found, target.pinned.snapshot_id, planned.predicate), planned)
        pieces.append(_piece(read, _pinned_text(target, found, planned, read)))
    text = query.reading.text[: query.reading.end]
    return QueryPlan(request.sql, replaced(text, pieces), tuple(tables.values()), tuple(pieces))


def _piece(read: "SparkRead", text: str) -> Piece:
    return Piece(read.names[0].start, read.names[-1].end, text)


def _targets(
    query: "SparkQuery",
    references: "References",
    pointers: Mapping[TableName, Pointer],
    request: QueryRequest,
    context: QueryContext,
) -> dict[int, SparkTarget]:
    """The tables that names stand for, by their place; views are left out."""
    there = [(read, found) for read, found in references if found.table in pointers]
    metadata = context.metadata({pointers[found.table] for _, found in there})
    targets = {}
    for read, found in there:
        pointer, known_by = pointers[found.table], metadata[found.table]
        pinned = pin_table(pointer, known_by, request.at, timezone=context.timezone)
        own = _has_time_travel(query.reading, read.names)
        if own:
            pinned = _pin_own(pinned, read.table, timezone=context.timezone)
        targets[read.start] = SparkTarget(found, pinned, own=own)
    return targets


def _resolve(
    reads: "Sequence[SparkRead]", known: CatalogNames, request: QueryRequest
) -> "References":
    return [
        (read, found)
        for read in reads
        if (found := _resolve_name(read.names, known, request.namespace))
    ]


def _parse(sql: str) -> "SparkQuery":
    from lakebed.errors.source_text import SourceText
    from lakebed.query.planning.spark_layouts import SparkQuery
    from lakebed.query.spark_reads.reads import spark_reads
    from lakebed.sql.checking.forbidden_words import refuse_words
    from lakebed.sql.checking.tree import refuse_tree
    from lakebed.sql.parsing.lexer import lex
    from lakebed.sql.parsing.parse import parse

    reading = lex(SourceText(sql, "the query"))
    refuse_words(reading)
    tree = parse(reading)
    refuse_tree(reading, tree)
    return SparkQuery(reading, tree, spark_reads(reading, tree))


def _view(reference: TableReference, request: QueryRequest) -> str:
    """A view of the catalog, which Spark reads over its present tables."""
    if reference.part != "rows" or request.at is not None:
        raise BadQuery(
            f"{reference.table} is a view: it has no snapshots.", next="Query its tables instead."
        )
    return reference.table.spark


def _resolve_name(
    names: "tuple[Token, ...]", known: CatalogNames, namespace: str | None
) -> TableReference | None:
    """Spark's spelling: `ns.layer.table.snapshots` is a metadata table, and the catalog may come
    first.
    """
    parts = [token.name for token in names]
    if len(parts) > 3 and parts[0] == CATALOG:
        parts = parts[1:]
    if parts[-1] in METADATA_TABLES and len(parts) > 1 and not _is_table(parts, known):
        return known.resolve((*parts[:-2], f"{parts[-2]}${parts[-1]}"), namespace)
    return known.resolve(parts, namespace)


def _is_table(parts: list[str], known: CatalogNames) -> bool:
    return any(table.ends_with(parts) for table in (*known.pointers, *known.others))


def _has_time_travel(reading: "LexedText", names: "tuple[Token, ...]") -> bool:
    after = reading.plain[reading.index_at[names[-1].start] + 1 :][:1]
    return bool(after) and after[0].upper in _ITS_OWN


def _pin_own(pinned: PinnedTable, table: "exp.Table", *, timezone: str) -> PinnedTable:
    """The table at the point that the text itself names, such as VERSION AS OF 5, so that it is
    protected. If it is no point, Spark says so.
    """
    from sqlglot import exp

    version = table.args.get("version")
    point = version.expression if isinstance(version, exp.Version) else None
    if not isinstance(point, exp.Literal):
        return replace(pinned, present=False)
    with suppress(UsageError):
        return pin_table(pinned.pointer, pinned.metadata, point.name, timezone=timezone)
    return replace(pinned, present=False)


def _pinned_text(
    target: SparkTarget, reference: TableReference, planned: PlannedTable, read: "SparkRead"
) -> str:
    """The table at its snapshot, with the columns of its schema; or its layout."""
    pinned, name = target.pinned, target.pinned.table.spark
    if reference.part == "batches":
        raise UsageError(
            "Spark does not know which batches a table has.",
            where=str(pinned.table),
            next="Query it without --engine spark.",
        )
    if reference.part != "rows":
        return f"{name}.{reference.part}"
    if target.own or pinned.snapshot is None:
        return name
    if planned.layout:
        rows = layout_rows(pinned, planned.layout)
    else:
        text = f"{name} VERSION AS OF {pinned.snapshot.id}"
        columns = as_of_schema(pinned.metadata, pinned.snapshot, pinned.schema)
        if not columns:
            return text
        rows = f"SELECT {', '.join(columns)} FROM {text}"
    named = "" if read.table.alias else f" AS {spark_identifier(pinned.table.name)}"
    return f"({rows}){named}"
