"""Publishing: read, plan, swap pointers, and start over if another process was first."""

from collections.abc import Collection, Sequence
from functools import partial

from lakebed.names import TableName
from lakebed.ports import (
    NO_CHANGE_RECORDS,
    NO_PUBLICATION_RECORDS,
    Amendment,
    Catalog,
    ChangeRecords,
    Lease,
    Publication,
    PublicationRecords,
)
from lakebed.tables.publishing.plan import (
    PublishRequest,
    Settlement,
    plan_publication,
    plan_settlement,
)
from lakebed.work import ATTEMPTS, retry


def publish(
    catalog: Catalog,
    requests: Collection[PublishRequest],
    *,
    run_id: str,
    leases: Sequence[Lease] = (),
    records: PublicationRecords = NO_PUBLICATION_RECORDS,
    attempts: int = ATTEMPTS,
) -> Publication:
    """Move every asked ref to its branch, in one step, exactly once however often it is tried, with
    its records.

    A pointer that moved meanwhile (a commit to another branch, say) is looked at again; a ref that
    gained snapshots raises `Diverged`. An answer lost on the way is resolved by looking for the
    run. What a crash left half published, this run or another, is settled first.
    """
    attempt = partial(_attempt, catalog, requests, run_id=run_id, leases=leases, records=records)
    return retry(attempt, attempts=attempts)


def amend(
    catalog: Catalog,
    table: TableName,
    amendments: Sequence[Amendment],
    *,
    leases: Sequence[Lease] = (),
    records: ChangeRecords = NO_CHANGE_RECORDS,
) -> None:
    """Change a table's metadata, however busy it is: for changes that are right whatever else was
    committed meanwhile.
    """
    retry(partial(catalog.amend, table, amendments, leases=leases, records=records))


def _attempt(
    catalog: Catalog,
    asked: Collection[PublishRequest],
    *,
    run_id: str,
    leases: Sequence[Lease],
    records: PublicationRecords,
) -> Publication:
    settle_publications(catalog, own_run=run_id)
    if done := catalog.published(run_id):
        return done
    seen = catalog.pointers([table for ask in asked for table in ask.tables])
    publication = plan_publication(run_id, asked, catalog.metadata(seen.values()))
    catalog.commit(publication, expected=seen, leases=leases, records=records)
    return publication


def settle_publications(catalog: Catalog, *, own_run: str | None = None) -> dict[str, Settlement]:
    """Finish what a crash left half published, by run id; what the run `own_run` left, also while
    it is alive. Settles other changes that a crash divided from their records, too.
    """
    catalog.settle_changes()
    return {
        publication.run_id: _settle(catalog, publication)
        for publication in catalog.unsettled(own=own_run)
    }


def _settle(catalog: Catalog, publication: Publication) -> Settlement:
    """Looks again when a table moved meanwhile: its own publisher may be alive, and at it too."""

    def attempt() -> Settlement:
        seen = catalog.pointers(
            [table for move in publication.moves for table in {move.table, move.published}]
        )
        settlement = plan_settlement(publication, catalog.metadata(seen.values()))
        catalog.settle(
            publication, complete=settlement.complete, undo=settlement.undo, whole=settlement.whole
        )
        return settlement

    return retry(attempt, repeatable=False)  # an outage is waited for by whoever publishes
