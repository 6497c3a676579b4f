"""Planning for Spark's SQL: tables are pinned in the text, the rest of it stays.

Spark prunes files itself; the conditions on each table are known all the same.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from lakebed.errors import BadPipeline, BadQuery, UnknownName, UsageError
from lakebed.names import CATALOG, spark_identifier
from lakebed.ports import Catalog
from lakebed.query.parsing.hints import without_layout_hints
from lakebed.query.parsing.query_text import Piece, replaced
from lakebed.query.planning.pin import pin_table
from lakebed.query.planning.plan import PinnedTable, PlannedTable, QueryPlan, ReadTarget
from lakebed.query.planning.resolve import CatalogNames, all_names
from lakebed.query.request import METADATA_TABLES, QueryRequest, TableReference
from lakebed.tables import as_of_schema

if TYPE_CHECKING:
    from sqlglot import exp

    from lakebed.query.spark_reads.reads import SparkRead
    from lakebed.sql.parsing.lexer import LexedText, Token

_ITS_OWN = {"VERSION", "TIMESTAMP", "FOR", "SYSTEM_VERSION", "SYSTEM_TIME"}


def plan_spark_query(request: QueryRequest, catalog: Catalog, *, timezone: str) -> QueryPlan:
    """The query over pinned tables.

    Raises `BadQuery` for whatever a SELECT can make Spark do besides reading tables.
    """
    try:
        reading, reads = _parse(request.sql)
    except BadPipeline as error:
        raise BadQuery(error.what, where=error.where, next=error.next) from None
    known = CatalogNames(catalog.pointers())
    try:
        references = _resolve(reads, known, request)
    except (
        UnknownName
    ):  # views and foreign tables are looked up only now, because that takes longer
        known = all_names(catalog)
        references = _resolve(reads, known, request)
    pointers = known.tables
    metadata = catalog.metadata(
        {pointers[found.table] for _, found in references if found.table in pointers}
    )
    pieces: list[Piece] = []
    targets: list[tuple[SparkRead, ReadTarget]] = []
    for one, found in references:
        names = one.names
        if found.table not in pointers:
            pieces.append(Piece(names[0].start, names[-1].end, _view(found, request)))
            continue
        pointer, known_by = pointers[found.table], metadata[found.table]
        pinned = pin_table(pointer, known_by, request.at, timezone=timezone)
        own = _has_time_travel(reading, names)
        read = _pin_own(pinned, one.table, timezone=timezone) if own else pinned
        targets.append((one, ReadTarget(read, found.part)))
        text = _pinned_text(pinned, found, aliased=bool(one.table.alias), own=own)
        pieces.append(Piece(names[0].start, names[-1].end, text))
    text = reading.text[: reading.end]
    tables = _planned(targets, timezone=timezone)
    return QueryPlan(request.sql, replaced(text, pieces), tables, tuple(pieces))


def _planned(
    targets: "Sequence[tuple[SparkRead, ReadTarget]]", *, timezone: str
) -> tuple[PlannedTable, ...]:
    """Each table once for each snapshot and condition that it is read with."""
    from lakebed.query.spark_reads.reads import spark_predicate

    columns = {
        read.start: target.source.columns
        for read, target in targets
        if isinstance(target.source, PinnedTable) and target.part == "rows"
    }
    planned: dict[object, PlannedTable] = {}
    for read, target in targets:
        if isinstance(target.source, PinnedTable):
            predicate = spark_predicate(read, columns, timezone=timezone)
            name, snapshot = target.source.table, target.source.snapshot_id
            table = PlannedTable(name.parts, target, predicate)
            planned.setdefault((name, target.part, snapshot, predicate), table)
    return tuple(planned.values())


def _resolve(
    reads: "Sequence[SparkRead]", known: CatalogNames, request: QueryRequest
) -> "list[tuple[SparkRead, TableReference]]":
    return [
        (read, found)
        for read in reads
        if (found := _resolve_name(read.names, known, request.namespace))
    ]


def _parse(sql: str) -> "tuple[LexedText, tuple[SparkRead, ...]]":
    from lakebed.errors.source_text import SourceText
    from lakebed.query.spark_reads.reads import spark_reads
    from lakebed.sql.checking.forbidden_words import refuse_words
    from lakebed.sql.checking.tree import refuse_tree
    from lakebed.sql.parsing.lexer import lex
    from lakebed.sql.parsing.parse import parse

    reading = lex(SourceText(without_layout_hints(sql, spark=True), "the query"))
    refuse_words(reading)
    tree = parse(reading)
    refuse_tree(reading, tree)
    return reading, spark_reads(reading, tree)


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
        return pinned
    with suppress(UsageError):
        return pin_table(pinned.pointer, pinned.metadata, point.name, timezone=timezone)
    return pinned


def _pinned_text(
    pinned: PinnedTable, reference: TableReference, *, aliased: bool, own: bool
) -> str:
    """The table at its snapshot, with the columns of its schema."""
    name = pinned.table.spark
    if reference.part == "batches":
        raise UsageError(
            "Spark does not know which batches a table has.",
            where=str(pinned.table),
            next="Query it without --engine spark.",
        )
    if reference.part != "rows":
        return f"{name}.{reference.part}"
    if own or pinned.snapshot is None:
        return name
    text = f"{name} VERSION AS OF {pinned.snapshot.id}"
    columns = as_of_schema(pinned.metadata, pinned.snapshot, pinned.schema)
    if not columns:
        return text
    return f"(SELECT {', '.join(columns)} FROM {text})" + (
        "" if aliased else f" AS {spark_identifier(pinned.table.name)}"
    )
