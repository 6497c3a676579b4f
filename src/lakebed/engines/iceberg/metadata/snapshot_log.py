"""Times in a table's metadata, as Iceberg requires them: never going back, and without expired
snapshots.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import accumulate
from typing import TypeVar

from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.snapshots import MetadataLogEntry, Snapshot, SnapshotLogEntry

from lakebed.ports import CLOCK_TOLERANCE

_TOLERANCE = CLOCK_TOLERANCE // timedelta(milliseconds=1)
Entry = TypeVar("Entry", SnapshotLogEntry, MetadataLogEntry)


def latest_time(metadata: IcebergMetadata) -> int:
    """The latest time in the metadata, those of snapshots aside."""
    moves = (entry.timestamp_ms for entry in metadata.snapshot_log)
    files = (entry.timestamp_ms for entry in metadata.metadata_log)
    return max((metadata.last_updated_ms, *moves, *files))


def is_ahead(time_ms: int, *, now: int) -> bool:
    """Whether a time can only come from a clock that was ahead."""
    return time_ms > now + _TOLERANCE


def with_ordered_times(
    present: IcebergMetadata, changed: IcebergMetadata, *, now: int
) -> IcebergMetadata:
    """The changed metadata with times that never go back, whatever this machine's clock says.

    Iceberg refuses to read a table whose times go back by more than a minute, and to commit to one
    whose times are that far ahead. So if a clock was ahead, no time is later than `now`; snapshots
    keep theirs.
    """
    log = _in_order(
        _without_gaps(_moves(present, changed), {one.snapshot_id for one in changed.snapshots})
    )
    files = _in_order(changed.metadata_log)
    ordered = changed.model_copy(
        update={
            "snapshots": _with_parents(present, changed),
            "snapshot_log": log,
            "metadata_log": files,
        }
    )
    latest = max(latest_time(ordered), present.last_updated_ms)
    end = now if is_ahead(latest, now=now) else latest
    times = {
        "snapshot_log": _until(end, log),
        "metadata_log": _until(end, files),
        "last_updated_ms": end,
    }
    return ordered.model_copy(update=times)


def _until(end: int, entries: Sequence[Entry]) -> list[Entry]:
    return [
        entry.model_copy(update={"timestamp_ms": min(entry.timestamp_ms, end)}) for entry in entries
    ]


def _with_parents(present: IcebergMetadata, changed: IcebergMetadata) -> list[Snapshot]:
    """Snapshots keep their parents, even expired ones: without a parent one would look like the
    table's first.
    """
    parents = {one.snapshot_id: one.parent_snapshot_id for one in present.snapshots}
    return [
        one.model_copy(
            update={"parent_snapshot_id": parents.get(one.snapshot_id, one.parent_snapshot_id)}
        )
        for one in changed.snapshots
    ]


def _moves(present: IcebergMetadata, changed: IcebergMetadata) -> Iterable[SnapshotLogEntry]:
    """Every move of `main`; new ones are no earlier than the last known change."""
    known = {(entry.snapshot_id, entry.timestamp_ms) for entry in present.snapshot_log}
    yield from present.snapshot_log
    for entry in changed.snapshot_log:
        if (entry.snapshot_id, entry.timestamp_ms) not in known:
            yield entry.model_copy(
                update={"timestamp_ms": max(entry.timestamp_ms, present.last_updated_ms)}
            )


def _without_gaps(log: Iterable[SnapshotLogEntry], kept: set[int]) -> list[SnapshotLogEntry]:
    """The log after the last expired snapshot: before it, times would resolve to the wrong
    snapshot.
    """
    told: list[SnapshotLogEntry] = []
    for entry in log:
        if entry.snapshot_id in kept:
            told.append(entry)
        else:
            told.clear()
    return told


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    times = accumulate((entry.timestamp_ms for entry in entries), max)
    return [
        entry.model_copy(update={"timestamp_ms": time})
        for entry, time in zip(entries, times, strict=True)
    ]
