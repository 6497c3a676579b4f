"""Whether a pipeline over zones has something to do: decided from what was found, without a lake."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakebed.names import TableName
from lakebed.pipelines.pins import Target
from lakebed.ports import RunRecord, Snapshot, SnapshotRef, TableMetadata

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TABLE = TableName("shop", "bronze", "orders")
LAST = RunRecord("1", "1", TABLE, "success", NOW, snapshot=1, left_schema=0)


def metadata(*operations: str, schema: int = 0) -> TableMetadata:
    """A table with snapshots 1, 2, …; `main` stands at the last."""
    snapshots = {n: Snapshot(n, n - 1 or None, NOW, operation, {}) for n, operation in enumerate(operations, start=1)}
    refs = {"main": SnapshotRef("main", len(snapshots), "branch")} if snapshots else {}
    return TableMetadata("uuid", "", 2, NOW, (), (), (), {}, snapshots, refs, schema=schema)


@pytest.mark.parametrize(
    ("table", "last", "as_left"),
    [
        (metadata("overwrite"), LAST, True),
        (metadata("overwrite", "replace", "replace"), LAST, True),  # compaction moves no row
        (metadata("overwrite", "append"), LAST, False),
        (metadata("overwrite", "append", "replace"), LAST, False),
        (metadata("overwrite", schema=1), LAST, False),  # a column was added
        (metadata("overwrite", "overwrite"), replace(LAST, snapshot=None, base=2), True),  # a run that changed nothing
        (metadata("overwrite", "overwrite"), replace(LAST, snapshot=None, base=1), False),
        (metadata(), replace(LAST, snapshot=None, base=None), True),
        (metadata("append"), replace(LAST, snapshot=None, base=None), False),
        (metadata("overwrite"), replace(LAST, left_schema=None), False),  # the record of an older Lakebed
        (metadata("overwrite"), None, False),
        (None, LAST, False),
    ],
)
def test_a_change_by_others_is_seen_and_compaction_is_none(
    table: TableMetadata | None, last: RunRecord | None, as_left: bool
) -> None:
    assert Target(TABLE, table, last).is_as_left("main") is as_left
