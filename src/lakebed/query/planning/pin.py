"""A table pinned to the snapshot that a query reads."""

from lakebed.ports import Pointer, TableMetadata
from lakebed.query.planning.plan import PinnedTable
from lakebed.tables import find_point


def pin_table(
    pointer: Pointer, metadata: TableMetadata, at: str | None, *, timezone: str
) -> PinnedTable:
    """The table at a point, with the schema that Spark would read it with.

    The present table and a branch have the present columns; a snapshot, a tag, a run and a time
    have those that the snapshot was written with, even if it is the present one.
    """
    if at is None:
        return PinnedTable(pointer, metadata, metadata.head(), metadata.schema)
    snapshot = find_point(pointer.table, metadata, at, timezone=timezone)
    ref = metadata.refs.get(at)
    is_branch = ref is not None and ref.kind == "branch"
    schema = metadata.schema if is_branch else metadata.schema_at(snapshot)
    return PinnedTable(pointer, metadata, snapshot, schema, present=False)
