"""From what somebody asks of one table to what is read of it."""

from collections.abc import Sequence

from lakebed.app.lazy import LazyTable, TableReaders
from lakebed.errors import UnknownName
from lakebed.ports import Column, Pointer, TableMetadata
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.parsing.where import parse_where
from lakebed.query.planning.pin import snapshot_and_schema
from lakebed.query.planning.plan import PinnedTable


def choose(
    pointer: Pointer,
    metadata: TableMetadata,
    reading: TableReaders,
    *,
    columns: Sequence[str] | None,
    where: str | None,
    at: str | None,
    memory: str | None,
    timezone: str,
) -> LazyTable:
    """The table, pinned. Columns and condition are refused here where they are wrong, not when rows are read."""
    point, schema = snapshot_and_schema(pointer.table, metadata, at, timezone)
    pinned = PinnedTable(pointer, metadata, point, schema)
    known = pinned.columns
    names = _chosen(pointer, known, columns)
    if where is None:
        return LazyTable(TableSelection(pinned, names), reading, memory=memory)
    session = reading.sessions().take()
    try:
        condition = parse_where(where, pointer.table.name, known, parse=lambda sql: session.parse(sql)[1], timezone=timezone)
    finally:
        session.close()
    _refuse_unknown(pointer, known, condition.columns.names)
    return LazyTable(TableSelection(pinned, names, condition), reading, memory=memory)


def _chosen(pointer: Pointer, known: Sequence[Column], names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(column.name for column in known)
    exact = {column.name: column.name for column in known}
    folded = {column.name.casefold(): column.name for column in known}
    for name in names:
        if name not in exact and name.casefold() not in folded:
            raise UnknownName(f"column of {pointer.table}", name, exact)
    return tuple(dict.fromkeys(exact.get(name) or folded[name.casefold()] for name in names))


def _refuse_unknown(pointer: Pointer, known: Sequence[Column], named: frozenset[str]) -> None:
    """A name may be qualified with the table's, and a field of a struct stands after its column's."""
    folded = {column.name.casefold() for column in known}
    nested = any("<" in column.type for column in known)
    for name in sorted(named - folded - {pointer.table.name.casefold()}):
        if not nested:
            raise UnknownName(f"column of {pointer.table}", name, [column.name for column in known])
