"""States of tables that care leaves alone while somebody reads them."""

import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from lakebed.app.stores import Stores
from lakebed.errors import LakebedError
from lakebed.names import ForeignName, TableName, new_run_id
from lakebed.ports import Events
from lakebed.query.planning.plan import PinnedTable, QueryPlan, all_tables
from lakebed.tables import find_point

SECONDS = 3600.0  # should this process die
_BEATS = 4  # in that time


def protect_past_snapshots(stores: Stores, plan: QueryPlan) -> Callable[[], None]:
    """Keep former states from expiry until what is returned is called; the present one is kept for a day once superseded."""
    read = [view.target.source for view in all_tables(plan.tables)]
    former = [
        what for what in read if isinstance(what, PinnedTable) and not isinstance(what.table, ForeignName) and _is_former(what)
    ]
    if not former:
        return lambda: None
    states: dict[TableName, set[int]] = {}
    for pinned in former:
        states.setdefault(pinned.table, set()).update([pinned.snapshot.id] if pinned.snapshot else [])
    held = SnapshotGuard(stores.events, states, reader="query")
    try:
        _refuse_expired(stores, former)
    except BaseException:
        held.release()
        raise
    return held.release


def _is_former(pinned: PinnedTable) -> bool:
    head = pinned.metadata.head()
    return pinned.snapshot is not None and (head is None or head.id != pinned.snapshot.id)


def _refuse_expired(stores: Stores, held: Sequence[PinnedTable]) -> None:
    """Held first and looked for then: whoever expires a state looks for holders before its files go."""
    catalog = stores.catalog
    present = catalog.metadata(catalog.pointers({pinned.table for pinned in held}).values())
    for pinned in held:
        if pinned.snapshot and pinned.table in present:
            find_point(pinned.table, present[pinned.table], str(pinned.snapshot.id))


class SnapshotGuard:
    """States that care leaves alone until they are given back; after the death of this process, for so many seconds.

    A thread renews it, for nobody knows how long a reader takes. It ends with the hold, given back or forgotten.
    """

    def __init__(
        self, events: Events, states: Mapping[TableName, Collection[int]], *, reader: str = "reader", seconds: float = SECONDS
    ) -> None:
        self._events, self._seconds = events, seconds
        self._states = {table: snapshots for table, snapshots in states.items() if snapshots}
        self._holder, self._over = f"{reader} {new_run_id()}", threading.Event()
        if not self._states:
            return
        self._take()
        weakref.finalize(self, self._over.set)
        beat = (weakref.ref(self), self._over, seconds / _BEATS)
        self._heart = threading.Thread(target=_renew, args=beat, daemon=True, name=f"hold of {self._holder}")
        self._heart.start()

    def _take(self) -> None:
        for table, snapshots in self._states.items():
            self._events.protect(self._holder, table, snapshots, seconds=self._seconds)

    def release(self) -> None:
        """What cannot be given back lapses by itself."""
        if not self._states or self._over.is_set():
            return
        self._over.set()
        self._heart.join()
        with suppress(LakebedError):
            self._events.unprotect(self._holder)


def _renew(held: "weakref.ref[SnapshotGuard]", over: threading.Event, pause: float) -> None:
    while not over.wait(pause):
        hold = held()
        if hold is None:
            return
        with suppress(LakebedError):  # the store may be back before it lapses
            hold._take()
        del hold
