"""Points of a table: a snapshot id, a tag or branch, a time, or a run, resolved to a snapshot."""

import re
from datetime import UTC, datetime
from itertools import accumulate
from zoneinfo import ZoneInfo

from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import MAIN, Snapshot, TableMetadata

_SHORTEST_RUN = 6
_RUN = re.compile(rf"[0-9a-f]{{{_SHORTEST_RUN},32}}")


def find_point(
    table: TableName, metadata: TableMetadata, text: str, *, timezone: str = "UTC"
) -> Snapshot:
    """The snapshot at a point: a snapshot id, a ref, a run id or its beginning, or a time."""
    if ref := metadata.refs.get(text):
        return metadata.snapshots[ref.snapshot]
    if text.isdigit() and (found := metadata.snapshots.get(int(text))):
        return found
    if found := _of_run(metadata, text):
        return found
    if at := _time(text, timezone):
        return _at(table, metadata, at)
    if text.isdigit():
        raise _gone(
            table, metadata, f"{table} has no snapshot {text}: it has expired, or never existed."
        )
    raise UnknownName(
        f"snapshot, tag, branch, run or time of {table}",
        text,
        [*metadata.refs, *map(str, metadata.snapshots)],
    )


def published_snapshots(metadata: TableMetadata) -> set[int]:
    """The snapshots still kept that `main` has pointed at: those that readers have seen."""
    return {snapshot for _, snapshot in _moves(metadata)} & metadata.snapshots.keys()


def _of_run(metadata: TableMetadata, text: str) -> Snapshot | None:
    """The last snapshot of the run whose id begins with the text."""
    if not _RUN.fullmatch(text):
        return None
    found = [
        one for one in metadata.snapshots.values() if one.run_id and one.run_id.startswith(text)
    ]
    if len({one.run_id for one in found}) > 1:
        raise UsageError(f"several run ids begin with {text}.", next="Give more of the id.")
    return max(found, key=lambda one: one.at, default=None)


def _time(text: str, timezone: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(timezone))).astimezone(UTC)


def _at(table: TableName, metadata: TableMetadata, at: datetime) -> Snapshot:
    """The snapshot that `main` pointed at then.

    If it has expired this raises: its neighbours are not what readers saw.
    """
    moves = _moves(metadata)
    place = sum(since <= at for since, _ in moves) - 1
    if place < 0:
        raise _gone(table, metadata, f"there is no record of {table} as of {at.isoformat()}.")
    (since, snapshot), later = moves[place], moves[place + 1 :]
    if snapshot not in metadata.snapshots or (
        later and at > since and _is_gap(metadata, snapshot, later[0][1])
    ):
        raise _expired(table, metadata, at, later)
    return metadata.snapshots[snapshot]


def _moves(metadata: TableMetadata) -> list[tuple[datetime, int]]:
    """Since when `main` pointed at which snapshot, kept or not; in order, even where clocks
    disagreed.
    """
    if metadata.snapshot_log:
        times = accumulate((at for at, _ in metadata.snapshot_log), max)
        return [
            (at, snapshot) for at, (_, snapshot) in zip(times, metadata.snapshot_log, strict=True)
        ]
    head = metadata.head(MAIN)
    return [(one.at, one.id) for one in reversed(tuple(metadata.ancestry(head.id)))] if head else []


def _is_gap(metadata: TableMetadata, before: int, after: int) -> bool:
    """Whether a snapshot is missing between two entries that are neighbours in the log.

    When a snapshot expires, Iceberg removes all earlier entries of the log. PyIceberg removes only
    its own entry, and the parent of its child: then a snapshot seems to follow itself, or one that
    it does not descend from.
    """
    if before == after:
        return True
    was, line = metadata.snapshots.get(before), tuple(metadata.ancestry(after))
    if (
        was is None
        or not line
        or {one.id for one in metadata.ancestry(before)} & {one.id for one in line}
    ):
        return False
    first = line[-1]
    return (
        first.parent is None and first.sequence != was.sequence + 1
    )  # the next sequence number: the table was replaced


def _kept(metadata: TableMetadata) -> list[tuple[datetime, int]]:
    return [(at, snapshot) for at, snapshot in _moves(metadata) if snapshot in metadata.snapshots]


def _gone(table: TableName, metadata: TableMetadata, what: str) -> UsageError:
    kept = _kept(metadata)
    if not kept:
        return UsageError(what, next=f"{table} has no snapshot yet.")
    at, snapshot = kept[0]
    return UsageError(what, next=f"The oldest one kept is snapshot {snapshot}, of {_iso(at)}.")


def _expired(
    table: TableName, metadata: TableMetadata, at: datetime, later: list[tuple[datetime, int]]
) -> UsageError:
    what = f"the snapshot of {table} as of {at.isoformat()} has expired."
    known = next(
        ((since, snapshot) for since, snapshot in later if snapshot in metadata.snapshots), None
    )
    if known is None:
        return UsageError(what, next="Choose another point: lakebed table history")
    return UsageError(what, next=f"The next one kept is snapshot {known[1]}, of {_iso(known[0])}.")


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
