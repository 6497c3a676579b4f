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
    snapshots raises `Diverged`. An answer lost on the way is resolved by looking for the run. What a crash left half
    published, this run or another, is settled first.
    """
    for attempt in range(attempts):
        try:
            return _attempt(catalog, asked, run_id=run_id, leases=leases)
        except (PointerMoved, Unavailable):
            if attempt + 1 == attempts:
                raise
            time.sleep(uniform(0, min(0.02 * 2**attempt, 1.0)))  # noqa: S311 - spreads contenders out
    raise AssertionError("unreachable: the last attempt returns or raises")


def _attempt(catalog: Catalog, asked: Collection[Ask], *, run_id: str, leases: Sequence[Lease]) -> Publication:
    settle_divided(catalog, own=run_id)
    if done := catalog.published(run_id):
        return done
    seen = catalog.pointers([ask.table for ask in asked])
    publication = plan_publication(run_id, asked, catalog.metadata(seen.values()))
    catalog.swap(publication, seen=seen, leases=leases)
    return publication


def settle_divided(catalog: Catalog, *, own: str | None = None) -> dict[str, Settlement]:
    """Finish what a crash left half published, by run id; what the run `own` left, also while it is alive."""
    return {publication.run_id: _settle(catalog, publication) for publication in catalog.unsettled(own=own)}


def _settle(catalog: Catalog, publication: Publication) -> Settlement:
    """Looks again when a table moved meanwhile: its own publisher may be alive, and at it too."""
    for attempt in range(ATTEMPTS):
        seen = catalog.pointers([move.table for move in publication.moves])
        settlement = plan_settlement(publication, catalog.metadata(seen.values()))
        try:
            catalog.settle(publication, complete=settlement.complete, undo=settlement.undo, whole=settlement.whole)
            return settlement
        except PointerMoved:
            if attempt + 1 == ATTEMPTS:
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")
