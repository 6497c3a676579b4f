"""Which part of each table a query reads: parsed SQL and pinned tables in, a plan out.

Only the names of tables are replaced in the text. The rest of the SQL is never rewritten, and the
engine filters again by what predicates were taken from; so whatever is not understood here is read
whole.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import count

from lakebed.errors import BadQuery
from lakebed.names import ForeignName, TableName
from lakebed.ports import Column
from lakebed.query.parsing.conditions import finder, predicate_of
from lakebed.query.parsing.literals import literal_of
from lakebed.query.parsing.parse_nodes import Json, TableRead
from lakebed.query.parsing.query_text import (
    Piece,
    at_clause,
    characters,
    name_end,
    replaced,
    text_end,
)
from lakebed.query.parsing.table_functions import calls_readers
from lakebed.query.planning.plan import (
    CatalogView,
    PinnedTable,
    PlannedTable,
    QueryPlan,
    ReadTarget,
    SystemTable,
    quoted_text,
)

_TAKEN = {"main", "memory", "system", "temp"}  # databases of DuckDB's own


def plan_tables(
    sql: str,
    reads: Sequence[TableRead],
    targets: Mapping[int, ReadTarget],
    *,
    timezone: str,
    tree: Json | None = None,
    parameters: Mapping[str, object] | None = None,
) -> QueryPlan:
    """What a query reads of each table.

    `targets` are what names stand for, by their place; other names are the engine's.
    """
    columns = _filterable_columns(reads, targets)
    tables: dict[object, PlannedTable] = {}
    pieces: list[Piece] = []
    for read in reads:
        target = targets.get(read.byte)
        if target is None:
            continue
        predicate = None
        if read.byte in columns and read.conditions:
            predicate = predicate_of(
                read.conditions, finder(read, columns), timezone=timezone, parameters=parameters
            )
        key = (*_identity(target), predicate)
        if key not in tables:
            tables[key] = PlannedTable(_name(target, list(tables.values())), target, predicate)
        pieces += _pieces(sql, read, tables[key])
    reads_more = calls_readers(tree) or any(_may_change(targets.get(read.byte)) for read in reads)
    return QueryPlan(
        sql, replaced(sql, pieces), tuple(tables.values()), tuple(pieces), tree, reads_more
    )


def _filterable_columns(
    reads: Sequence[TableRead], targets: Mapping[int, ReadTarget]
) -> dict[int, tuple[Column, ...]]:
    """The columns that conditions may name, of every table whose rows are read as they are."""
    found: dict[int, tuple[Column, ...]] = {}
    for read in reads:
        target = targets.get(read.byte)
        if target is None or read.whole or target.part != "rows":
            continue
        if isinstance(target.source, PinnedTable):
            found[read.byte] = target.source.columns
    return found


def _may_change(target: ReadTarget | None) -> bool:
    """Whether what a name stands for may change between two queries, as files and the
    query log do.
    """
    return target is None or isinstance(target.source, SystemTable)


def _identity(target: ReadTarget) -> tuple[object, ...]:
    source = target.source
    if isinstance(source, SystemTable | CatalogView):
        return (source.name,)
    return (source.table, source.snapshot_id, source.schema, target.part)


def _name(target: ReadTarget, others: Sequence[PlannedTable]) -> tuple[str, str, str]:
    """The table's own name, so that columns may be qualified with it.

    Another read of it is in a numbered database.
    """
    source = target.source
    if isinstance(source, SystemTable):
        return (f"{source.name[0]} 0", "main", source.name[-1])
    catalog, layer, name = _duckdb_name(
        source.name if isinstance(source, CatalogView) else source.table
    )
    shown = name if target.part == "rows" else f"{name}${target.part}"
    taken = {table.name for table in others}
    databases = (
        database_of(catalog) if not number else f"{catalog} {number}" for number in count()
    )
    names = ((database, layer, shown) for database in databases)
    return next(found for found in names if found not in taken)


def _duckdb_name(table: TableName) -> tuple[str, str, str]:
    """A name that no other table has, although DuckDB ignores case."""
    if not isinstance(table, ForeignName):
        return table.parts
    *_, layer, name = table.levels
    return (f"foreign {sha256(repr(table.levels).encode()).hexdigest()[:16]}", layer, name)


def database_of(namespace: str) -> str:
    """The database that a namespace is in DuckDB."""
    return f"{namespace} 0" if namespace in _TAKEN else namespace


def _pieces(sql: str, read: TableRead, table: PlannedTable) -> list[Piece]:
    pieces = [renamed_piece(sql, read, table.quoted)]
    end = pieces[0].end
    if read.at is not None:
        clause = at_clause(sql, end)
        if clause is None:
            raise BadQuery(
                f"the AT of {'.'.join(read.parts)} cannot be found in the text.",
                next="Write it as in: orders AT (VERSION => 123).",
            )
        pieces.append(Piece(*clause, ""))
    return pieces


def renamed_piece(sql: str, read: TableRead, quoted: str) -> Piece:
    """The piece that puts another name in place of a table's."""
    start = characters(sql, read.byte)
    end = name_end(sql, start, read.parts) or (text_end(sql, start) if read.text else None)
    if end is None:
        raise BadQuery(
            f"{'.'.join(read.parts)} cannot be found in the text.",
            next="Write the name without comments or blanks in it.",
        )
    return Piece(start, end, quoted_text(quoted) if read.text else quoted)


def point_of(at: Json) -> str:
    """The point that an AT clause names."""
    literal = literal_of(at["expr"])
    if literal is None:
        raise BadQuery(
            "AT takes a literal.",
            next=(
                "Write AT (VERSION => 123), AT (VERSION => 'tag') or AT (TIMESTAMP =>"
                " '2026-11-01')."
            ),
        )
    return str(literal.value)
