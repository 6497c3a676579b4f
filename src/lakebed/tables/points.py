"""Which state of a table somebody means: a snapshot, a tag or branch, a time, or a run."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import MAIN, Snapshot, TableMetadata

_SHORTEST_RUN = 6
_RUN = re.compile(rf"[0-9a-f]{{{_SHORTEST_RUN},32}}")


def find_point(table: TableName, metadata: TableMetadata, text: str, *, timezone: str = "UTC") -> Snapshot:
    """The snapshot meant by an id, a ref, a run's id (or its beginning), or a time; `UsageError` says which is the oldest."""
    if ref := metadata.refs.get(text):
        return metadata.snapshots[ref.snapshot]
    if text.isdigit() and (found := metadata.snapshots.get(int(text))):
        return found
    if found := _of_run(metadata, text):
        return found
    if at := _time(text, timezone):
        return _at(table, metadata, at)
    if text.isdigit():
        raise _gone(table, metadata, f"{table} has no snapshot {text}: it expired, or never was.")
    raise UnknownName(f"snapshot, tag, branch, run or time of {table}", text, [*metadata.refs, *map(str, metadata.snapshots)])


def stood_at(metadata: TableMetadata) -> set[int]:
    """The snapshots that readers of `main` have seen, as far as they are kept."""
    return {snapshot for _, snapshot in _log(metadata)}


def _of_run(metadata: TableMetadata, text: str) -> Snapshot | None:
    """The last snapshot of the run whose id begins so."""
    if not _RUN.fullmatch(text):
        return None
    found = [one for one in metadata.snapshots.values() if one.run_id and one.run_id.startswith(text)]
    if len({one.run_id for one in found}) > 1:
        raise UsageError(f"several runs begin with {text}.", next="Give more of the id.")
    return max(found, key=lambda one: one.at, default=None)


def _time(text: str, timezone: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(timezone))).astimezone(UTC)


def _at(table: TableName, metadata: TableMetadata, at: datetime) -> Snapshot:
    """Where `main` stood then."""
    known = [(since, snapshot) for since, snapshot in _log(metadata) if since <= at]
    if not known:
        raise _gone(table, metadata, f"nothing is known of {table} as it was at {at.isoformat()}.")
    snapshot = known[-1][1]
    return metadata.snapshots[snapshot]


def _log(metadata: TableMetadata) -> Iterator[tuple[datetime, int]]:
    """Since when `main` stood at which snapshot that is kept."""
    if metadata.log:
        yield from ((at, snapshot) for at, snapshot in metadata.log if snapshot in metadata.snapshots)
    elif head := metadata.head(MAIN):
        yield from ((one.at, one.id) for one in reversed(tuple(metadata.ancestry(head.id))))


def _gone(table: TableName, metadata: TableMetadata, what: str) -> UsageError:
    oldest = next(_log(metadata), None)
    if oldest is None:
        return UsageError(what, next=f"{table} has no snapshot yet.")
    at, snapshot = oldest
    return UsageError(
        what, next=f"The oldest state that is kept is snapshot {snapshot}, of {at.isoformat(timespec='milliseconds')}."
    )
