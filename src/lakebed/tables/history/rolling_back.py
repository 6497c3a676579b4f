"""Carrying out a rollback: decisions and landing files first, then one commit."""

from collections.abc import Callable

from lakebed.errors import LakebedError, Unavailable
from lakebed.names import TableName
from lakebed.ports import MovedFile
from lakebed.tables.history.rollback import Rollback
from lakebed.tables.ledger.decisions import decide_rollback, recorded_by_commit
from lakebed.tables.publishing.lease import HeldLease
from lakebed.tables.services import TableServices
from lakebed.work import retry


def roll_back(
    table: TableName, services: TableServices, lease: HeldLease, *, plan: Callable[[], Rollback]
) -> Rollback:
    """Plan the rollback and carry it out, again if another commit comes in between. An error says
    what has been done by then.
    """
    attempts = _Attempts(table, services, lease, plan)
    try:
        return retry(attempts.attempt, repeatable=False)
    except LakebedError as error:
        error.safe = attempts.safe(error)
        raise


class _Attempts:
    """Attempts at one rollback, and what they have done so far."""

    def __init__(
        self,
        table: TableName,
        services: TableServices,
        lease: HeldLease,
        plan: Callable[[], Rollback],
    ) -> None:
        self._table, self._services, self._lease, self._plan = table, services, lease, plan
        self._moved: list[MovedFile] = []
        self._is_committing = False

    def attempt(self) -> Rollback:
        services = self._services
        self._is_committing = False
        _, pointer, metadata = services.look_up(self._table)
        plan = self._plan()
        decision = decide_rollback(metadata, plan.records.file_states)
        with recorded_by_commit(decision, services.ports.files) as amendments:
            # Files first: while the ledger says that they are consumed, no run reads them a second
            # time.
            services.requeue(plan.files, self._moved.append)
            leases = [self._lease.require()]
            self._is_committing = True
            services.ports.catalog.amend(
                self._table,
                [*plan.amendments, *amendments],
                expected=pointer,
                leases=leases,
                records=plan.records,
            )
        return plan

    def safe(self, error: LakebedError) -> str:
        """What an error leaves behind."""
        if self._is_committing and isinstance(error, Unavailable):
            return f"The table is rolled back or as it was: lakebed table history {self._table}"
        if not self._moved:
            return error.safe
        return (
            f"The table is as it was. {len(self._moved)} landing files were moved from _processed/"
            " back to where they landed. They still count as taken, so no run reads them twice."
        )
