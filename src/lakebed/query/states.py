"""The state of a table that a query reads."""

from lakebed.names import TableName
from lakebed.ports import Column, Snapshot, TableMetadata
from lakebed.tables import find_point


def state_of(
    table: TableName, metadata: TableMetadata, at: str | None, timezone: str
) -> tuple[Snapshot | None, tuple[Column, ...]]:
    """The snapshot meant, and its columns: the present ones where it is the present one, else those it was written with."""
    head = metadata.head()
    point = head if at is None else find_point(table, metadata, at, timezone=timezone)
    if point is None or (head is not None and point.id == head.id):
        return point, metadata.columns
    return point, metadata.columns_at(point)
