"""Clocks that are ahead. Spark refuses to commit to a table whose metadata is more than a minute
ahead of its own clock, whoever wrote it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from lakebed.errors import ClockAhead
from lakebed.names import TableName
from lakebed.ports import CLOCK_TOLERANCE, Catalog, Lease, Leases
from lakebed.work import retry


def require_clock(leases: Leases) -> None:
    """`ClockAhead` if this machine may not commit, since others could not after it."""
    here = datetime.now(UTC)  # before the store is asked, so that a slow answer does no harm
    store = leases.store_time()
    if here > store + CLOCK_TOLERANCE:
        raise ClockAhead(here, store)


def settle_times(
    catalog: Catalog, table: TableName, *, now: datetime, leases: Sequence[Lease] = ()
) -> None:
    """Set the times of a table to now where a clock was ahead, before Spark is asked to commit to
    it. `now` is the store's time.
    """

    def attempt() -> None:
        pointer = catalog.pointers([table]).get(table)
        if pointer and catalog.metadata([pointer])[table].is_ahead(now):
            catalog.amend(table, (), expected=pointer, leases=leases)

    retry(attempt, repeatable=False)
