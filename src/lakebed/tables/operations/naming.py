"""New names for tables: free ones, and dropped tables found by their former name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lakebed.errors import NameTaken, PointerMoved, UnknownName
from lakebed.name_rules import TABLE_NAMES
from lakebed.names import TableName, require_no_collision
from lakebed.ports import DroppedTable
from lakebed.tables.placement import TablePlacement


def full_name(name: str | TableName) -> TableName:
    """The table with this full name, whether it exists or not."""
    return name if isinstance(name, TableName) else TableName.parse(name)


def shown_name(name: str | TableName) -> TableName:
    """The same; raises `BadName` for a name that would hide the table."""
    table = full_name(name)
    TABLE_NAMES.require("table", table.name)
    return table


def require_free_name(name: str | TableName, placement: TablePlacement) -> TableName:
    """A full name that no table or view has, not even in another case."""
    table = full_name(name)
    existing = placement.ports.catalog.pointers()
    if table in existing:
        raise NameTaken(f"there is already a table {table}.", next="Choose another name.")
    require_no_collision(table, existing)
    placement.require_no_view(table)
    return table


@contextmanager
def name_may_be_taken(table: TableName) -> Iterator[None]:
    """Report a pointer that moved as what it means here: another process was first."""
    try:
        yield
    except PointerMoved as error:
        what = (
            f"another process has just created {table}, or changed the table it was to be made"
            " from."
        )
        raise NameTaken(what, where=str(table)) from error


def find_dropped(name: str, dropped: Sequence[DroppedTable]) -> DroppedTable:
    """The dropped table with this uuid, or the one dropped last under this name or end of
    a name.
    """
    for gone in dropped:
        if name in (gone.uuid, str(gone.table)) or str(gone.table).endswith(f".{name}"):
            return gone
    raise UnknownName("dropped table", name, [str(gone.table) for gone in dropped])
