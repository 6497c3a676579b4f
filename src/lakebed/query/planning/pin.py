"""The state of a table that a query reads."""

from lakebed.names import TableName
from lakebed.ports import Snapshot, TableMetadata
from lakebed.tables import find_point


def snapshot_and_schema(table: TableName, metadata: TableMetadata, at: str | None, timezone: str) -> tuple[Snapshot | None, int]:
    """The snapshot meant, and the schema to read it with, as Spark has it.

    The table as it is, and a branch, have the present columns; a snapshot, a tag, a run and a time those that the snapshot was
    written with, though it may be the present one.
    """
    if at is None:
        return metadata.head(), metadata.schema
    point = find_point(table, metadata, at, timezone=timezone)
    ref = metadata.refs.get(at)
    return point, metadata.schema if ref and ref.kind == "branch" else metadata.schema_at(point)
