"""Publishing: read, plan, swap; look again when somebody else was first."""

import time
from collections.abc import Collection, Sequence
from random import uniform

from lakebed.errors import PointerMoved, Unavailable
from lakebed.ports import Catalog, Lease, Publication
from lakebed.tables.plan import Ask, Settlement, plan_publication, plan_settlement

ATTEMPTS = 20


def publish(
    catalog: Catalog, asked: Collection[Ask], *, run_id: str, leases: Sequence[Lease] = (), attempts: int = ATTEMPTS
) -> Publication:
    """Move every asked ref to its branch, in one step, exactly once however often it is tried.

    A pointer that moved meanwhile (a commit to another branch, say) is looked at again; a ref that gained
    snapshots raises `Diverged`. An answer lost on the way is resolved by looking for the run.
    """
    for attempt in range(attempts):
        if done := catalog.published(run_id):
            return done
        seen = catalog.pointers([ask.table for ask in asked])
        publication = plan_publication(run_id, asked, catalog.metadata(seen.values()))
        try:
            catalog.swap(publication, seen=seen, leases=leases)
            return publication
        except (PointerMoved, Unavailable):
            if attempt + 1 == attempts:
                raise
            time.sleep(uniform(0, min(0.02 * 2**attempt, 1.0)))  # noqa: S311 - spreads contenders out
    raise AssertionError("unreachable: the last attempt returns or raises")


def settle_divided(catalog: Catalog) -> dict[str, Settlement]:
    """Finish what a crash left half published, by run id. Whatever publishes calls this first."""
    settled = {}
    for publication in catalog.unsettled():
        seen = catalog.pointers([move.table for move in publication.moves])
        settlement = plan_settlement(publication, catalog.metadata(seen.values()))
        catalog.settle(publication, complete=settlement.complete, undo=settlement.undo)
        settled[publication.run_id] = settlement
    return settled
