"""From a table's name, columns and condition to a lazy table."""

from collections.abc import Sequence

from lakebed.errors import UnknownName
from lakebed.ports import Column, Pointer, TableMetadata
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.lazy.table import LazyTable, LazyTableServices
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.parsing.where import RowFilter, parse_where
from lakebed.query.planning.pin import pin_table
from lakebed.query.planning.plan import PinnedTable


def select_table(
    pointer: Pointer,
    metadata: TableMetadata,
    services: LazyTableServices,
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    at: str | None = None,
    memory: str | None = None,
    layouts: bool = True,
) -> LazyTable:
    """The table, pinned to a snapshot.

    Unknown columns and wrong conditions raise here, not when rows are read.
    """
    pinned = pin_table(pointer, metadata, at, timezone=services.ports.settings.timezone)
    names = _selected(pinned, columns)
    condition = _row_filter(pinned, where, services) if where is not None else None
    selection = TableSelection(pinned, names, condition)
    return LazyTable(selection, services, memory=memory, layouts=layouts)


def _selected(pinned: PinnedTable, names: Sequence[str] | None) -> tuple[str, ...]:
    """The columns under their own names.

    Case matters only between columns that differ in nothing else.
    """
    if names is None:
        return tuple(column.name for column in pinned.columns)
    exact = {column.name: column.name for column in pinned.columns}
    folded = {column.name.casefold(): column.name for column in pinned.columns}
    for name in names:
        if name not in exact and name.casefold() not in folded:
            raise UnknownName(f"column of {pinned.table}", name, exact)
    return tuple(dict.fromkeys(exact.get(name) or folded[name.casefold()] for name in names))


def _row_filter(pinned: PinnedTable, where: str, services: LazyTableServices) -> RowFilter:
    def parse(sql: str) -> Json:
        return services.reader.parse(sql)[1]

    zone = services.ports.settings.timezone
    found = parse_where(where, pinned.table.name, pinned.columns, parse=parse, timezone=zone)
    _require_known(pinned, pinned.columns, found.columns.names)
    return found


def _require_known(pinned: PinnedTable, columns: Sequence[Column], names: frozenset[str]) -> None:
    """Raise for a name that is neither a column nor the table.

    With structs among the columns it may be a field of one.
    """
    if any("<" in column.type for column in columns):
        return
    folded = {column.name.casefold() for column in columns}
    unknown = sorted(names - folded - {pinned.table.name.casefold()})
    if unknown:
        raise UnknownName(
            f"column of {pinned.table}", unknown[0], [column.name for column in columns]
        )
