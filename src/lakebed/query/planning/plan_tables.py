"""Which part of each table a query reads: parsed SQL and pinned tables in, a plan out.

Only the names of tables are replaced in the text. The rest of the SQL is never rewritten, and the engine filters again by
what predicates were taken from; so whatever is not understood here is read whole.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import count

from lakebed.errors import BadQuery
from lakebed.names import ForeignName, TableName
from lakebed.query.parsing.conditions import finder, predicate_of
from lakebed.query.parsing.literals import literal_of
from lakebed.query.parsing.parse_nodes import Json, TableRead
from lakebed.query.parsing.query_text import Piece, at_clause, characters, name_end, replaced, text_end
from lakebed.query.parsing.table_functions import calls_readers
from lakebed.query.planning.plan import CatalogView, PinnedTable, PlannedTable, QueryPlan, ReadTarget, SystemTable

_TAKEN = {"main", "memory", "system", "temp"}  # names of databases that DuckDB keeps for itself


def plan_tables(
    sql: str,
    reads: Sequence[TableRead],
    targets: Mapping[int, ReadTarget],
    *,
    timezone: str,
    tree: Json | None = None,
    parameters: Mapping[str, object] | None = None,
) -> QueryPlan:
    """What a query reads of each table. `targets` are what names mean, by where they stand; other names are not ours."""
    columns = {
        read.byte: target.source.columns
        for read in reads
        if (target := targets.get(read.byte))
        and isinstance(target.source, PinnedTable)
        and target.part == "rows"
        and not read.whole
    }
    views: dict[object, PlannedTable] = {}
    pieces: list[Piece] = []
    for read in reads:
        if target := targets.get(read.byte):
            predicate = None
            if read.byte in columns and read.conditions:
                predicate = predicate_of(read.conditions, finder(read, columns), timezone=timezone, parameters=parameters)
            key = (*_identity(target), predicate)
            if key not in views:
                views[key] = PlannedTable(_name(target, list(views.values())), target, predicate)
            pieces += _pieces(sql, read, views[key])
    more = any(read.byte not in targets or isinstance(targets[read.byte].source, SystemTable) for read in reads)
    return QueryPlan(sql, replaced(sql, pieces), tuple(views.values()), tuple(pieces), tree, more or calls_readers(tree))


def _identity(target: ReadTarget) -> tuple[object, ...]:
    if isinstance(target.source, SystemTable | CatalogView):
        return (target.source.name,)
    return (target.source.table, target.source.snapshot.id if target.source.snapshot else None, target.source.schema, target.part)


def _name(target: ReadTarget, others: Sequence[PlannedTable]) -> tuple[str, str, str]:
    """The table's own name, so that columns may be qualified with it; a second reading of it is in a database beside."""
    if isinstance(target.source, SystemTable):
        return (f"{target.source.name[0]} 0", "main", target.source.name[-1])
    catalog, layer, name = _duckdb_name(target.source.name if isinstance(target.source, CatalogView) else target.source.table)
    wanted = name if target.part == "rows" else f"{name}${target.part}"
    taken = {view.name for view in others}
    catalogs = (database_of(catalog) if not number else f"{catalog} {number}" for number in count())
    return next(found for one in catalogs if (found := (one, layer, wanted)) not in taken)


def _duckdb_name(table: TableName) -> tuple[str, str, str]:
    """A name that DuckDB tells from all others, though it does so without regard to case."""
    if not isinstance(table, ForeignName):
        return table.parts
    *_, layer, name = table.levels
    return (f"foreign {sha256(repr(table.levels).encode()).hexdigest()[:16]}", layer, name)


def database_of(namespace: str) -> str:
    """The database that a namespace is to DuckDB."""
    return f"{namespace} 0" if namespace in _TAKEN else namespace


def _pieces(sql: str, read: TableRead, view: PlannedTable) -> list[Piece]:
    pieces = [renamed_piece(sql, read, view.quoted)]
    end = pieces[0].end
    if read.at is not None:
        clause = at_clause(sql, end)
        if clause is None:
            raise BadQuery(f"the AT of {'.'.join(read.parts)} cannot be found in the text.", next="Write it more plainly.")
        pieces.append(Piece(*clause, ""))
    return pieces


def renamed_piece(sql: str, read: TableRead, quoted: str) -> Piece:
    """Another name in place of a table's."""
    start = characters(sql, read.byte)
    end = name_end(sql, start, read.parts) or (text_end(sql, start) if read.text else None)
    if end is None:
        raise BadQuery(f"{'.'.join(read.parts)} cannot be found in the text.", next="Write the name of the table more plainly.")
    return Piece(start, end, "'" + quoted.replace("'", "''") + "'" if read.text else quoted)


def point_of(at: Json) -> str:
    """The snapshot, tag, branch or time that an AT names."""
    literal = literal_of(at["expr"])
    if literal is None:
        raise BadQuery(
            "AT takes a literal.", next="Write AT (VERSION => 123), AT (VERSION => 'tag') or AT (TIMESTAMP => '2026-11-01')."
        )
    return str(literal.value)
