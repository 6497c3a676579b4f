"""Protecting snapshots from expiry while somebody reads them."""

import threading
import weakref
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from lakebed.errors import LakebedError
from lakebed.names import TableName, new_run_id
from lakebed.ports import Events

SECONDS = 3600.0  # how long snapshots stay protected after this process has died
_RENEWALS = 4  # within that time


class SnapshotGuard:
    """Snapshots that care leaves alone until `release`; if this process dies, for `seconds` more.

    A thread renews the protection, because nobody knows how long a reader takes. It ends when the guard
    is released or garbage-collected.
    """

    def __init__(
        self,
        events: Events,
        snapshots: Mapping[TableName, Collection[int]],
        *,
        reader: str = "reader",
        seconds: float = SECONDS,
    ) -> None:
        self._events, self._seconds = events, seconds
        self._snapshots = {table: ids for table, ids in snapshots.items() if ids}
        self._holder, self._over = f"{reader} {new_run_id()}", threading.Event()
        if not self._snapshots:
            return
        self._protect()
        weakref.finalize(self, self._over.set)
        renewal = (weakref.ref(self), self._over, seconds / _RENEWALS)
        name = f"protection of {self._holder}"
        self._renewer = threading.Thread(target=_renew, args=renewal, daemon=True, name=name)
        self._renewer.start()

    def _protect(self) -> None:
        for table, snapshots in self._snapshots.items():
            self._events.protect(self._holder, table, snapshots, seconds=self._seconds)

    def release(self) -> None:
        """End the protection. If the store does not answer, it lapses by itself."""
        if not self._snapshots or self._over.is_set():
            return
        self._over.set()
        self._renewer.join()
        with suppress(LakebedError):
            self._events.unprotect(self._holder)

    def __enter__(self) -> "SnapshotGuard":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def protect_snapshots(
    events: Events,
    snapshots: Mapping[TableName, Collection[int]],
    *,
    require_kept: Callable[[], Any],
    reader: str = "reader",
    seconds: float = SECONDS,
) -> SnapshotGuard:
    """Protect snapshots, then make sure that they are still there: `require_kept` raises if one has expired.

    In this order nothing is lost: expiry looks for protected snapshots before it removes their files.
    """
    guard = SnapshotGuard(events, snapshots, reader=reader, seconds=seconds)
    try:
        require_kept()
    except BaseException:
        guard.release()
        raise
    return guard


def _renew(guard: "weakref.ref[SnapshotGuard]", over: threading.Event, pause: float) -> None:
    while not over.wait(pause):
        alive = guard()
        if alive is None:
            return
        with suppress(LakebedError):  # the store may answer again before the protection lapses
            alive._protect()
        del alive
