"""All rows of a table, as they were before its migration and as they are after it."""

from lakebed.errors import RunFailed
from lakebed.ports import Snapshot, TableMetadata
from lakebed.tables.migration.checksum import RowSum
from lakebed.tables.migration.move import Mover
from lakebed.tables.migration.steps import MovedRows
from lakebed.tables.migration.undo import others_since


def compare_all(mover: Mover) -> MovedRows:
    """Compare both as wholes. Where that is not possible `skipped` says why; each batch was
    compared before it was published.
    """
    table, _, metadata = mover.tables.look_up(mover.table)
    head = metadata.head()
    before = metadata.snapshots.get(mover.migration.snapshot or 0)
    if why := _incomparable(metadata, before, head):
        return MovedRows(skipped=why)
    if before is None or head is None:
        return MovedRows()
    with mover.tables.protect_points(table, metadata, before, head):
        was, now = (mover.row_sum(one.id) for one in (before, head))
    if was != now:
        raise _lost_rows(str(table), before, was, now)
    return MovedRows(now)


def _incomparable(metadata: TableMetadata, before: Snapshot | None, head: Snapshot | None) -> str:
    if head is None:
        return "the table has no rows yet"
    if before is None:
        return "the snapshot from before has expired"
    if others_since(metadata, before.id):
        return "others have written meanwhile"
    if metadata.columns_at(before) != metadata.columns_at(head):
        return "its columns have changed meanwhile"
    return ""


def _lost_rows(table: str, before: Snapshot, was: RowSum, now: RowSum) -> RunFailed:
    return RunFailed(
        f"{table} had {was.rows} rows with checksum {was.checksum} before its migration, and has"
        f" {now.rows} rows with checksum {now.checksum} now.",
        safe=f"Snapshot {before.id} has them all.",
        next=f"Go back to it: lakebed table migrate {table} --undo. Report this.",
    )
