"""The times in metadata that Lakebed writes: readers of a table refuse those that go back, and
believe the others.
"""

from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.snapshots import MetadataLogEntry, Snapshot, SnapshotLogEntry
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

from lakebed.engines.iceberg.metadata.snapshot_log import with_ordered_times

NOW = 1_000
AHEAD = 300_000  # milliseconds
ICEBERG_ALLOWS = 60_000


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
    assert told(with_ordered_times(present, changed, now=NOW)) == (
        [(100, 1), (200, 2), (300, 1)],
        300,
    )


def test_times_that_went_back_already_are_mended_so_that_spark_reads_the_table_again() -> None:
    torn = metadata([(100, 1), (20, 2)], updated=30)
    changed = metadata([(100, 1), (20, 2)], updated=40, files=(90, 30))
    mended = with_ordered_times(torn, changed, now=NOW)
    assert told(mended) == ([(100, 1), (100, 2)], 100)
    assert [entry.timestamp_ms for entry in mended.metadata_log] == [90, 90]


def test_a_clock_that_is_right_is_believed() -> None:
    present, changed = (
        metadata([(100, 1)], updated=100),
        metadata([(100, 1), (150, 2)], updated=150),
    )
    assert told(with_ordered_times(present, changed, now=NOW)) == ([(100, 1), (150, 2)], 150)


def test_of_the_time_before_an_expired_state_the_log_tells_nothing() -> None:
    present = metadata([(100, 1), (200, 2), (300, 3)], updated=300)
    changed = metadata([(100, 1), (300, 3)], updated=400, kept={1, 3})
    assert told(with_ordered_times(present, changed, now=NOW)) == ([(300, 3)], 400)


def test_times_of_a_clock_that_was_ahead_end_now_so_that_spark_commits_again() -> None:
    present = metadata([(100, 1), (NOW + AHEAD, 2)], updated=NOW + AHEAD)
    changed = metadata(
        [(100, 1), (NOW + AHEAD, 2), (NOW, 1)], updated=NOW, files=(90, 100, NOW + AHEAD)
    )
    mended = with_ordered_times(present, changed, now=NOW)
    assert told(mended) == ([(100, 1), (NOW, 2), (NOW, 1)], NOW)
    assert [entry.timestamp_ms for entry in mended.metadata_log] == [90, 100, NOW]
    assert [one.timestamp_ms for one in mended.snapshots] == [
        one.timestamp_ms for one in changed.snapshots
    ]


def test_clocks_that_differ_a_little_leave_times_as_they_are() -> None:
    present = metadata([(100, 1), (NOW + 5_000, 2)], updated=NOW + 5_000)
    changed = metadata([(100, 1), (NOW + 5_000, 2), (NOW, 1)], updated=NOW)
    log = [(100, 1), (NOW + 5_000, 2), (NOW + 5_000, 1)]
    assert told(with_ordered_times(present, changed, now=NOW)) == (log, NOW + 5_000)


@given(
    st.lists(st.integers(0, 2 * AHEAD), min_size=1, max_size=8),
    st.lists(st.integers(0, 2 * AHEAD), max_size=8),
    st.integers(0, 2 * AHEAD),
)
def test_whatever_clocks_wrote_spark_can_commit_at_the_present_time(
    moves: list[int], files: list[int], updated: int
) -> None:
    present = metadata([(at, number) for number, at in enumerate(moves)], updated=updated)
    changed = metadata(
        [(at, number) for number, at in enumerate(moves)], updated=updated, files=tuple(files)
    )
    mended = with_ordered_times(present, changed, now=NOW)
    log = [entry.timestamp_ms for entry in mended.snapshot_log]
    files = [entry.timestamp_ms for entry in mended.metadata_log]
    assert (log, files) == (sorted(log), sorted(files))
    latest = max((*log, *files, mended.last_updated_ms))
    assert latest == mended.last_updated_ms
    assert latest - NOW <= ICEBERG_ALLOWS
