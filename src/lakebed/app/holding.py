"""States of tables that care leaves alone while somebody reads them."""

from collections.abc import Callable, Sequence

from lakebed.app.stores import Stores
from lakebed.names import ForeignName, TableName
from lakebed.query.planning.plan import PinnedTable, QueryPlan, all_tables
from lakebed.tables import find_point, protect_snapshots


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
    guard = protect_snapshots(stores.events, states, require_kept=lambda: _require_kept(stores, former), reader="query")
    return guard.release


def _is_former(pinned: PinnedTable) -> bool:
    head = pinned.metadata.head()
    return pinned.snapshot is not None and (head is None or head.id != pinned.snapshot.id)


def _require_kept(stores: Stores, held: Sequence[PinnedTable]) -> None:
    catalog = stores.catalog
    present = catalog.metadata(catalog.pointers({pinned.table for pinned in held}).values())
    for pinned in held:
        if pinned.snapshot and pinned.table in present:
            find_point(pinned.table, present[pinned.table], str(pinned.snapshot.id))
