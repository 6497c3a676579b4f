"""States of tables that care leaves alone while somebody reads them."""

import time
from collections.abc import Callable, Sequence

from lakebed.app.stores import Stores
from lakebed.names import TableName, new_run_id
from lakebed.ports import Events
from lakebed.query.plan import Pinned, Plan
from lakebed.tables import find_point

_SECONDS = 3600.0  # should this process die


def hold_former(stores: Stores, plan: Plan) -> Callable[[], None]:
    """Keep former states from expiry until what is returned is called; the present one is kept for a day once superseded."""
    read = [view.target.what for view in plan.views]
    former = [what for what in read if isinstance(what, Pinned) and _is_former(what)]
    if not former:
        return lambda: None
    holder, events = f"query {new_run_id()}", stores.events
    for pinned in former:
        snapshots = [one.snapshot.id for one in former if one.table == pinned.table and one.snapshot]
        events.hold(holder, pinned.table, snapshots, seconds=_SECONDS)
    try:
        _refuse_expired(stores, former)
    except BaseException:
        events.give_back(holder)
        raise
    return lambda: events.give_back(holder)


def _is_former(pinned: Pinned) -> bool:
    head = pinned.metadata.head()
    return pinned.snapshot is not None and (head is None or head.id != pinned.snapshot.id)


def _refuse_expired(stores: Stores, held: Sequence[Pinned]) -> None:
    """Held first and looked for then: whoever expires a state looks for holders before its files go."""
    catalog = stores.catalog
    present = catalog.metadata(catalog.pointers({pinned.table for pinned in held}).values())
    for pinned in held:
        if pinned.snapshot and pinned.table in present:
            find_point(pinned.table, present[pinned.table], str(pinned.snapshot.id))


class Hold:
    """A snapshot that care leaves alone; nothing is held where there is none."""

    def __init__(self, events: Events, table: TableName, snapshot: int | None) -> None:
        self._events, self._table, self._snapshot = events, table, snapshot
        self._holder = f"reader {new_run_id()}"
        self._take()

    def _take(self) -> None:
        self._since = time.monotonic()
        if self._snapshot is not None:
            self._events.hold(self._holder, self._table, [self._snapshot], seconds=_SECONDS)

    def renew(self) -> None:
        """Before it runs out."""
        if time.monotonic() - self._since > _SECONDS / 2:
            self._take()

    def give_back(self) -> None:
        if self._snapshot is not None:
            self._events.give_back(self._holder)
