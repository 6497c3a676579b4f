"""States that are being read: care leaves them alone for as long as that takes."""

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.names import TableName
from lakebed.tables import SnapshotGuard
from tests.support.benches import RealBench, sqlite_bench

ORDERS = TableName("shop", "silver", "orders")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RealBench]:
    made = sqlite_bench(tmp_path / "lake")
    yield made
    made.close()


def held(bench: RealBench) -> list[int]:
    return [hold.snapshot for hold in bench.stores.events.protected()]


def test_a_reader_that_takes_longer_than_its_hold_lasts_does_not_lose_its_files(
    bench: RealBench,
) -> None:
    hold = SnapshotGuard(bench.stores.events, {ORDERS: [5]}, seconds=1.0)
    time.sleep(2.5)
    assert held(bench) == [5]
    hold.release()
    assert held(bench) == []


def test_what_nobody_gives_back_is_not_held_for_ever(bench: RealBench) -> None:
    hold = SnapshotGuard(bench.stores.events, {ORDERS: [5]}, seconds=0.5)
    del hold
    gc.collect()
    time.sleep(1.2)
    assert held(bench) == []


def test_a_reader_of_a_table_that_is_renamed_protects_nothing_of_the_next_table_of_that_name(
    bench: RealBench,
) -> None:
    orders, former = bench.table("orders"), TableName("shop", "silver", "former")
    with SnapshotGuard(bench.stores.events, {orders: [5]}, seconds=2.0):
        (first,) = bench.events.protected()
        bench.catalog.rename(orders, former)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if (found := bench.events.protected()) and found[0].until != first.until:
                break
            time.sleep(0.05)
        assert [(one.table, one.snapshot) for one in found] == [(former, 5)]
        assert found[0].until != first.until


def test_a_reader_of_the_present_state_that_reads_for_long_protects_it_after_all(
    bench: RealBench,
) -> None:
    with SnapshotGuard(bench.events, {ORDERS: [5]}, after=0.05):
        deadline = time.monotonic() + 60
        while not held(bench) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert held(bench) == [5]
    assert held(bench) == []
