"""The history of a table: its snapshots and the other events, in one list. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from lakebed.errors import UnknownName
from lakebed.names import TableName
from lakebed.notebook import html_table
from lakebed.ports import MAIN, RecordedEvent, Snapshot, TableMetadata
from lakebed.tables.history.points import published_snapshots


@dataclass(frozen=True)
class HistoryEntry:
    """One entry of a table's history: a snapshot, or another event."""

    at: datetime
    what: str
    snapshot: Snapshot | None = None
    event: RecordedEvent | None = None
    current: bool = False  # readers of the ref see it now
    undone: bool = False  # readers of the ref no longer see its rows


class History(tuple[HistoryEntry, ...]):
    """Entries, newest first."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        heads = ("snapshot", "at (UTC)", "what", "rows", "run")
        return html_table("History", ((head, "") for head in heads), map(_row, self))


def _row(entry: HistoryEntry) -> tuple[object, ...]:
    snapshot = entry.snapshot
    at = entry.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    what = f"{entry.what} (undone)" if entry.undone else entry.what
    if snapshot is None:
        return None, at, what, None, None
    return snapshot.id, at, what, snapshot.rows, snapshot.run_id


def table_history(
    table: TableName, metadata: TableMetadata, events: Iterable[RecordedEvent], *, ref: str = MAIN
) -> History:
    """Snapshots of a ref, undone ones included, and for `main` all other events too;
    newest first.
    """
    if ref not in metadata.refs and ref != MAIN:
        raise UnknownName(f"ref of {table}", ref, metadata.refs)
    entries = _snapshots(metadata, ref)
    if ref == MAIN:
        entries += [
            HistoryEntry(recorded.at, recorded.event.kind, event=recorded)
            for recorded in events
            if recorded.event.kind != "published"
        ]
    return History(sorted(entries, key=lambda entry: entry.at, reverse=True))


def _snapshots(metadata: TableMetadata, ref: str) -> list[HistoryEntry]:
    head = metadata.head(ref)
    visible = {snapshot.id for snapshot in metadata.ancestry(head.id if head else None)}
    listed = visible | published_snapshots(metadata) if ref == MAIN else visible
    return [
        HistoryEntry(
            snapshot.at,
            snapshot.operation,
            snapshot,
            current=snapshot == head,
            undone=snapshot.id not in visible,
        )
        for snapshot in metadata.snapshots.values()
        if snapshot.id in listed
    ]
