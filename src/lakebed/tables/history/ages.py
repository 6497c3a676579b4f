"""Since when each snapshot has been superseded. Pure."""

from collections.abc import Mapping
from datetime import datetime

from lakebed.ports import TableMetadata


def superseded(metadata: TableMetadata, released: Mapping[int, datetime]) -> dict[int, datetime]:
    """The time from which each snapshot's age counts, including those that refs point at.

    If `main` pointed at it: when `main` moved on. If it never did: when `main` first reached a
    descendant of it. Otherwise: when it was written. Never before a ref stopped pointing at it.
    """
    left, passed = _left(metadata), _passed(metadata)
    times = {
        id: max(left.get(id) or passed.get(id) or snapshot.at, snapshot.at)
        for id, snapshot in metadata.snapshots.items()
    }
    head = metadata.head()
    on_main = {snapshot.id for snapshot in metadata.ancestry(head.id if head else None)}
    for let_go, at in released.items():
        for snapshot in metadata.ancestry(let_go):
            if snapshot.id != let_go and snapshot.id in on_main:
                break
            times[snapshot.id] = max(times[snapshot.id], at)
    return times


def _left(metadata: TableMetadata) -> dict[int, datetime]:
    """When `main` last moved on from each snapshot."""
    left: dict[int, datetime] = {}
    for (_, snapshot), (moved, _) in zip(
        metadata.snapshot_log, metadata.snapshot_log[1:], strict=False
    ):
        left[snapshot] = moved
    return left


def _passed(metadata: TableMetadata) -> dict[int, datetime]:
    """When `main` first reached a descendant of each snapshot."""
    passed: dict[int, datetime] = {}
    walked: set[int] = set()
    for at, head in metadata.snapshot_log:
        for snapshot in metadata.ancestry(head):
            if snapshot.id in walked:
                break
            walked.add(snapshot.id)
            if snapshot.id != head:
                passed[snapshot.id] = at
    return passed
