"""Planning for Spark's SQL: tables are pinned in the text, the rest of it stays.

Spark prunes files itself.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from lakebed.errors import BadPipeline, BadQuery, UnknownName, UsageError
from lakebed.names import CATALOG, spark_identifier
from lakebed.ports import Catalog
from lakebed.query.parsing.query_text import Piece, replaced
from lakebed.query.planning.pin import pin_table
from lakebed.query.planning.plan import PinnedTable, PlannedTable, QueryPlan, ReadTarget
from lakebed.query.planning.resolve import CatalogNames, all_names
from lakebed.query.request import METADATA_TABLES, QueryRequest, TableReference
from lakebed.tables import as_of_schema

if TYPE_CHECKING:
    from sqlglot import exp

    from lakebed.sql.parsing.lexer import LexedText, Token

_ITS_OWN = {"VERSION", "TIMESTAMP", "FOR", "SYSTEM_VERSION", "SYSTEM_TIME"}


def plan_spark_query(request: QueryRequest, catalog: Catalog, *, timezone: str) -> QueryPlan:
    """The query over pinned tables.

    Raises `BadQuery` for whatever a SELECT can make Spark do besides reading tables.
    """
    try:
        reading, named = _parse(request.sql)
    except BadPipeline as error:
        raise BadQuery(error.what, where=error.where, next=error.next) from None
    known = CatalogNames(catalog.pointers())
    try:
        references = _resolve(named, known, request)
    except (
        UnknownName
    ):  # views and foreign tables are looked up only now, because that takes longer
        known = all_names(catalog)
        references = _resolve(named, known, request)
    pointers = known.tables
    metadata = catalog.metadata(
        {pointers[found.table] for _, _, found in references if found.table in pointers}
    )
    pieces: list[Piece] = []
    views: dict[object, PlannedTable] = {}
    for names, table, found in references:
        if found.table not in pointers:
            pieces.append(Piece(names[0].start, names[-1].end, _view(found, request)))
            continue
        pointer, known_by = pointers[found.table], metadata[found.table]
        pinned = pin_table(pointer, known_by, request.at, timezone=timezone)
        own = _has_time_travel(reading, names)
        read = _pin_own(pinned, table, timezone=timezone) if own else pinned
        planned = PlannedTable(found.table.parts, ReadTarget(read, found.part))
        views.setdefault((found, read.snapshot_id), planned)
        text = _pinned_text(pinned, found, aliased=bool(table.alias), own=own)
        pieces.append(Piece(names[0].start, names[-1].end, text))
    text = reading.text[: reading.end]
    return QueryPlan(request.sql, replaced(text, pieces), tuple(views.values()), tuple(pieces))


def _resolve(
    named: "list[tuple[tuple[Token, ...], exp.Table]]", known: CatalogNames, request: QueryRequest
) -> "list[tuple[tuple[Token, ...], exp.Table, TableReference]]":
    return [
        (names, table, found)
        for names, table in named
        if (found := _resolve_name(names, known, request.namespace))
    ]


def _parse(sql: str) -> "tuple[LexedText, list[tuple[tuple[Token, ...], exp.Table]]]":
    from lakebed.errors.source_text import SourceText
    from lakebed.sql.checking.forbidden_words import refuse_words
    from lakebed.sql.checking.tree import refuse_tree
    from lakebed.sql.parsing.lexer import lex
    from lakebed.sql.parsing.parse import parse

    reading = lex(SourceText(sql, "the query"))
    refuse_words(reading)
    tree = parse(reading)
    refuse_tree(reading, tree)
    return reading, list(_tables(reading, tree))


def _tables(
    reading: "LexedText", tree: "exp.Expr"
) -> "Iterator[tuple[tuple[Token, ...], exp.Table]]":
    from sqlglot import exp

    from lakebed.sql.checking.scans import is_cte, is_function
    from lakebed.sql.checking.tree import place

    for table in tree.find_all(exp.Table):
        if not is_function(table) and not is_cte(table):
            names = reading.chain(place(table.parts[0]))
            if [part.name for part in table.parts] != [token.name for token in names]:
                raise reading.source.error_at(
                    "this name cannot be checked.",
                    at=place(table),
                    next="Write it without comments.",
                )
            yield names, table


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
