"""The times in metadata that Lakebed writes: readers of a table refuse those that go back, and
believe the others.
"""

from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.snapshots import MetadataLogEntry, Snapshot, SnapshotLogEntry
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

from lakebed.engines.iceberg.metadata.snapshot_log import with_ordered_times


def metadata(
    log: list[tuple[int, int]],
    *,
    updated: int,
    files: tuple[int, ...] = (),
    kept: set[int] | None = None,
) -> TableMetadata:
    """`log` is (time, snapshot)."""
    empty = new_table_metadata(Schema(), UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, "here")
    numbers = sorted({number for _, number in log}) if kept is None else sorted(kept)
    return empty.model_copy(
        update={
            "last_updated_ms": updated,
            "snapshots": [
                Snapshot(snapshot_id=number, timestamp_ms=number, manifest_list="")
                for number in numbers
            ],
            "snapshot_log": [
                SnapshotLogEntry(snapshot_id=number, timestamp_ms=at) for at, number in log
            ],
            "metadata_log": [
                MetadataLogEntry(metadata_file=str(at), timestamp_ms=at) for at in files
            ],
        }
    )


def told(changed: TableMetadata) -> tuple[list[tuple[int, int]], int]:
    return [
        (entry.timestamp_ms, entry.snapshot_id) for entry in changed.snapshot_log
    ], changed.last_updated_ms


def test_a_change_made_by_a_clock_that_is_behind_comes_after_what_the_table_knew() -> None:
    present = metadata([(100, 1), (200, 2)], updated=300)
    changed = metadata([(100, 1), (200, 2), (50, 1)], updated=50, files=(120, 300))
    assert told(with_ordered_times(present, changed)) == ([(100, 1), (200, 2), (300, 1)], 300)


def test_times_that_went_back_already_are_mended_so_that_spark_reads_the_table_again() -> None:
    torn = metadata([(100, 1), (20, 2)], updated=30)
    mended = with_ordered_times(torn, metadata([(100, 1), (20, 2)], updated=40, files=(90, 30)))
    assert told(mended) == ([(100, 1), (100, 2)], 100)
    assert [entry.timestamp_ms for entry in mended.metadata_log] == [90, 90]


def test_a_clock_that_is_right_is_believed() -> None:
    present, changed = (
        metadata([(100, 1)], updated=100),
        metadata([(100, 1), (150, 2)], updated=150),
    )
    assert told(with_ordered_times(present, changed)) == ([(100, 1), (150, 2)], 150)


def test_of_the_time_before_an_expired_state_the_log_tells_nothing() -> None:
    present = metadata([(100, 1), (200, 2), (300, 3)], updated=300)
    changed = metadata([(100, 1), (300, 3)], updated=400, kept={1, 3})
    assert told(with_ordered_times(present, changed)) == ([(300, 3)], 400)
