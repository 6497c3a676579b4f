"""A run of a table that another run has: refused, or waiting for it as long as is said."""

import threading
from pathlib import Path

import pytest

from lakebed.errors import LeaseHeld
from lakebed.names import TableName
from lakebed.pipelines import Build, RunListener, RunOptions, run_each, run_together
from lakebed.ports import Lease
from lakebed.requests import RunRequest
from lakebed.tables import LeaseWait, hold_lease
from tests.support.lakes.pipeline_lake import TestLake

ORDERS = "shop.silver.orders"


@pytest.fixture
def taken(tmp_path: Path) -> tuple[TestLake, Lease]:
    """A lake whose only table somebody else has. No run gets so far as to need Spark."""
    shop = TestLake(tmp_path / "lake")
    shop.pipeline("silver.orders", "SELECT 1 AS id")
    return shop, shop.lake.stores.leases.acquire(ORDERS, holder="you", limit=600)


def test_a_lease_that_comes_free_while_it_is_waited_for_is_taken(
    taken: tuple[TestLake, Lease],
) -> None:
    shop, theirs = taken
    leases = shop.lake.stores.leases
    told: list[str] = []

    def give_it_back(held: LeaseHeld) -> None:
        told.append(held.holder)
        leases.release(theirs)

    with hold_lease(
        leases, ORDERS, holder="me", limit=60, wait=LeaseWait(600, on_wait=give_it_back)
    ) as held:
        assert leases.holder(ORDERS) == held.lease
    assert told == ["you"]


@pytest.mark.parametrize("together", [False, True])
def test_a_run_is_refused_once_it_has_waited_long_enough_and_the_holder_keeps_the_table(
    taken: tuple[TestLake, Lease], together: bool
) -> None:
    shop, theirs = taken
    for wait in (0.0, 0.3):
        record = shop.run(together=together, wait=wait)["silver.orders"]
        assert (record.state, record.error["kind"]) == ("failed", "LeaseHeld")
        assert "--wait SECONDS" in record.error["next"]
    assert shop.lake.stores.leases.holder(ORDERS) == theirs


@pytest.mark.parametrize("build_all", [run_each, run_together])
def test_whoever_interrupts_a_run_that_waits_leaves_neither_a_lease_nor_a_record(
    taken: tuple[TestLake, Lease], build_all: object
) -> None:
    shop, theirs = taken
    loaded, stop = shop.lake.pipelines.load(), threading.Event()
    tables = (TableName.parse(ORDERS),)
    options = RunOptions(
        request=RunRequest(wait=600), stop=stop, listener=RunListener(on_wait=lambda *_: stop.set())
    )
    build = Build(loaded.specs, shop.lake.pipelines.services, options)
    (record,) = build_all(build, tables)  # type: ignore[operator]
    assert (record.state, record.error["what"]) == ("failed", "it was interrupted.")
    stores = shop.lake.stores
    assert (stores.leases.holder(ORDERS), stores.records.runs(limit=10)) == (theirs, ())
    stores.leases.release(theirs)
    assert stores.leases.holder(ORDERS) is None
