"""Snapshots protected from expiry while they are read."""

import threading
import weakref
from collections.abc import Collection, Mapping
from contextlib import suppress
from types import TracebackType

from lakebed.errors import LakebedError, UnknownName
from lakebed.names import TableName, new_run_id
from lakebed.ports import Catalog, Events
from lakebed.tables.history.points import find_point

SECONDS = 3600.0  # how long the protection outlives a process that dies
_RENEWALS = 4  # within that time

Snapshots = Mapping[TableName, Collection[int]]


def protect_snapshots(
    catalog: Catalog,
    events: Events,
    snapshots: Snapshots,
    *,
    reader: str = "reader",
    seconds: float = SECONDS,
) -> "SnapshotGuard":
    """Protect snapshots from expiry, then make sure that they still exist.

    The order matters: expiry looks for protected snapshots before it removes files, so a snapshot
    found here stays.
    """
    guard = SnapshotGuard(events, snapshots, reader=reader, seconds=seconds)
    if not snapshots:
        return guard
    try:
        _require_existing(catalog, snapshots)
    except BaseException:
        guard.release()
        raise
    return guard


def _require_existing(catalog: Catalog, snapshots: Snapshots) -> None:
    pointers = catalog.pointers(snapshots)
    if dropped := next((table for table in snapshots if table not in pointers), None):
        raise UnknownName("table", str(dropped), map(str, catalog.pointers()))
    metadata = catalog.metadata(pointers.values())
    for table, ids in snapshots.items():
        for snapshot in ids:
            find_point(table, metadata[table], str(snapshot))


class SnapshotGuard:
    """Protects snapshots until it is released; if this process dies, for `seconds` more.

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
    ) -> None:
        self._events, self._seconds = events, seconds
        self._snapshots = {table: ids for table, ids in snapshots.items() if ids}
        self._holder, self._released = f"{reader} {new_run_id()}", threading.Event()
        if not self._snapshots:
            return
        self._protect()
        weakref.finalize(self, self._released.set)
        arguments = (weakref.ref(self), self._released, seconds / _RENEWALS)
        self._thread = threading.Thread(
            target=_renew, args=arguments, daemon=True, name=f"protection by {self._holder}"
        )
        self._thread.start()

    def _protect(self) -> None:
        for table, ids in self._snapshots.items():
            self._events.protect(self._holder, table, ids, seconds=self._seconds)

    def _renew(self) -> None:
        """By the holder: a table may have been renamed, and another one have its name."""
        if not self._events.renew(self._holder, seconds=self._seconds):
            self._protect()

    def release(self) -> None:
        """End the protection; if the store cannot be told, it lapses by itself."""
        if not self._snapshots or self._released.is_set():
            return
        self._released.set()
        self._thread.join()
        with suppress(LakebedError):
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


def _renew(guard: "weakref.ref[SnapshotGuard]", released: threading.Event, pause: float) -> None:
    while not released.wait(pause):
        alive = guard()
        if alive is None:
            return
        with suppress(LakebedError):  # the store may be back before the protection lapses
            alive._renew()
        del alive  # or this thread would keep it from being garbage-collected
