"""Times in a table's metadata, as Iceberg requires them: never going back, and without expired
snapshots.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

from pyiceberg.table.metadata import TableMetadata as IcebergMetadata
from pyiceberg.table.snapshots import MetadataLogEntry, Snapshot, SnapshotLogEntry

Entry = TypeVar("Entry", SnapshotLogEntry, MetadataLogEntry)


def with_ordered_times(present: IcebergMetadata, changed: IcebergMetadata) -> IcebergMetadata:
    """The changed metadata with times that never go back, whatever this machine's clock says.

    Iceberg refuses to read a table whose times go back by more than a minute.
    """
    log = _in_order(
        _without_gaps(_moves(present, changed), {one.snapshot_id for one in changed.snapshots})
    )
    files = _in_order(changed.metadata_log)
    times = (*(move.timestamp_ms for move in log), *(file.timestamp_ms for file in files))
    latest = max((changed.last_updated_ms, present.last_updated_ms, *times))
    snapshots = _with_parents(present, changed)
    return changed.model_copy(
        update={
            "snapshots": snapshots,
            "snapshot_log": log,
            "metadata_log": files,
            "last_updated_ms": latest,
        }
    )


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
