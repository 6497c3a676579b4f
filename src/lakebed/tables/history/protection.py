"""Snapshots protected from expiry while they are read: one rule and one way for all readers."""

import threading
import time
import weakref
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

from lakebed.errors import (
    CatalogReadOnly,
    CatalogRefused,
    DamagedTable,
    LakebedError,
    UnknownName,
    UnprotectedRead,
)
from lakebed.names import TableName, new_run_id
from lakebed.ports import Catalog, Events, TableMetadata
from lakebed.settings import SAFE_DAYS
from lakebed.tables.history.ages import superseded
from lakebed.tables.history.points import find_point

SECONDS = 3600.0  # how long the protection outlives a process that dies
UNPROTECTED = SAFE_DAYS * 86400 / 2  # seconds for which a present snapshot needs none
_RENEWALS = 4  # within SECONDS

Snapshots = Mapping[TableName, Collection[int]]


@dataclass(frozen=True)
class SnapshotRead:
    """A snapshot that somebody reads; until `safe_until` (seconds since 1970) it cannot expire.

    That may be uncertain of one that was not present when it was pinned.
    """

    table: TableName
    snapshot: int
    safe_until: float
    was_present: bool


def snapshot_read(
    table: TableName, metadata: TableMetadata, snapshot: int, *, pinned_at: float
) -> SnapshotRead:
    """When a snapshot that was pinned with this metadata needs protection.

    One that `main` stood at when it was pinned is safe for `SAFE_DAYS` from then on, whatever is
    committed: its age counts from when `main` moves on, a rollback included, and care removes no
    younger one; no setting allows it to. A table dropped meanwhile is kept for as long. So it needs
    no protection for the first half of that time. The other half is for clocks that disagree, and
    for a database that does not answer when the protection begins.

    So is a tag, the head of a branch, and a snapshot as long after it was superseded. But other
    programs remove refs without a record. So these are protected at once by whoever may do that.
    """
    head = metadata.head()
    is_pointed_at = any(ref.snapshot == snapshot for ref in metadata.refs.values())
    since = pinned_at if is_pointed_at else superseded(metadata, {})[snapshot].timestamp()
    was_present = head is not None and head.id == snapshot
    return SnapshotRead(table, snapshot, since + UNPROTECTED, was_present)


def protect_reads(
    catalog: Catalog, events: Events, reads: Iterable[SnapshotRead]
) -> "SnapshotGuard":
    """Protect what is read until the guard is released, from when it is necessary.

    Whoever reads only present snapshots, and not for hours, writes nothing to the database. A role
    that may not write to it reads without protection what is still safe; `UnprotectedRead` names
    what is not.
    """
    read, now = tuple(reads), time.time()
    snapshots: dict[TableName, set[int]] = {}
    for one in read:
        snapshots.setdefault(one.table, set()).add(one.snapshot)
    safe = min((one.safe_until - now for one in read), default=0.0)
    if safe > 0 and all(one.was_present for one in read):
        return SnapshotGuard(events, snapshots, after=safe)
    try:
        return protect_snapshots(catalog, events, snapshots, moved=True)
    except (CatalogRefused, CatalogReadOnly) as refused:
        for one in read:
            if one.safe_until <= now:
                raise UnprotectedRead(str(one.table), one.snapshot, refused) from refused
        _require_existing(catalog, snapshots, moved=True)
        return SnapshotGuard(events, {})


def protect_snapshots(
    catalog: Catalog,
    events: Events,
    snapshots: Snapshots,
    *,
    reader: str = "reader",
    seconds: float = SECONDS,
    moved: bool = False,
) -> "SnapshotGuard":
    """Protect snapshots from expiry, then make sure that they still exist: under their table's
    name, or, if it may have `moved`, wherever it is now.

    The order matters: expiry looks for protected snapshots before it removes files, so a snapshot
    found here stays.
    """
    guard = SnapshotGuard(events, snapshots, reader=reader, seconds=seconds)
    if not snapshots:
        return guard
    try:
        _require_existing(catalog, snapshots, moved=moved)
    except BaseException:
        guard.release()
        raise
    return guard


def _require_existing(catalog: Catalog, snapshots: Snapshots, *, moved: bool) -> None:
    pointers = catalog.pointers(snapshots)
    metadata = catalog.metadata(pointers.values())
    for table, ids in snapshots.items():
        for snapshot in ids:
            if table in metadata and snapshot in metadata[table].snapshots:
                continue
            if moved and _is_elsewhere(catalog, snapshot):
                continue
            if table not in metadata:
                raise UnknownName("table", str(table), map(str, catalog.pointers()))
            find_point(table, metadata[table], str(snapshot))  # says that it has expired


def _is_elsewhere(catalog: Catalog, snapshot: int) -> bool:
    """Whether its table was renamed or dropped since."""
    for pointer in (*(gone.pointer for gone in catalog.dropped()), *catalog.pointers().values()):
        with suppress(DamagedTable):
            if snapshot in catalog.metadata([pointer])[pointer.table].snapshots:
                return True
    return False


class SnapshotGuard:
    """Protects snapshots until it is released; if this process dies, for `seconds` more. With
    `after` it begins so many seconds from now.

    A thread renews the protection, because nobody knows how long a reader takes. The thread ends
    when the guard is released or garbage-collected.
    """

    def __init__(
        self,
        events: Events,
        snapshots: Snapshots,
        *,
        reader: str = "reader",
        seconds: float = SECONDS,
        after: float = 0.0,
    ) -> None:
        self._events, self._seconds, self._protects = events, seconds, False
        self._snapshots = {table: ids for table, ids in snapshots.items() if ids}
        self._holder, self._released = f"{reader} {new_run_id()}", threading.Event()
        self._lock = threading.RLock()  # an owner that is collected releases, in any thread
        if not self._snapshots:
            return
        pause = seconds / _RENEWALS
        if after <= 0:
            self._protect()
        weakref.finalize(self, self._released.set)
        arguments = (weakref.ref(self), self._released, after if after > 0 else pause, pause)
        threading.Thread(
            target=_renew, args=arguments, daemon=True, name=f"protection by {self._holder}"
        ).start()

    def _protect(self) -> None:
        self._protects = True
        for table, ids in self._snapshots.items():
            self._events.protect(self._holder, table, ids, seconds=self._seconds)

    def _renew(self) -> None:
        """By the holder: a table may have been renamed, and another one have its name."""
        with self._lock:
            if self._released.is_set():
                return
            if not self._events.renew(self._holder, seconds=self._seconds):
                self._protect()

    def release(self) -> None:
        """End the protection; if the store cannot be told, it lapses by itself."""
        if not self._snapshots or self._released.is_set():
            return
        self._released.set()
        # The thread is not waited for: a program that ends has stopped it already.
        with self._lock, suppress(LakebedError):
            if self._protects:
                self._events.unprotect(self._holder)

    def __enter__(self) -> "SnapshotGuard":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _renew(
    guard: "weakref.ref[SnapshotGuard]", released: threading.Event, first: float, pause: float
) -> None:
    wait = first
    while not released.wait(wait):
        alive = guard()
        if alive is None:
            return
        with suppress(LakebedError):  # the store may be back before the protection lapses
            alive._renew()
        del alive  # or this thread would keep it from being garbage-collected
        wait = pause
