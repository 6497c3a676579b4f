"""What every store of leases promises."""

import time

import pytest

from lakebed.errors import LeaseHeld, LeaseLost
from lakebed.tables import hold_lease
from tests.support.benches import Bench, RealBench


def test_a_free_lease_is_taken_and_told(bench: Bench) -> None:
    lease = bench.leases.acquire("orders", holder="me", limit=60)
    assert bench.leases.holder("orders") == lease


def test_a_held_lease_is_refused_naming_its_holder(bench: Bench) -> None:
    bench.leases.acquire("orders", holder="run 1 on machine a", limit=60)
    with pytest.raises(LeaseHeld, match="run 1 on machine a") as refused:
        bench.leases.acquire("orders", holder="me", limit=60)
    assert refused.value.holder == "run 1 on machine a"
    assert refused.value.limit == 60


def test_leases_of_different_names_do_not_meet(bench: Bench) -> None:
    bench.leases.acquire("orders", holder="me", limit=60)
    bench.leases.acquire("customers", holder="you", limit=60)


def test_a_released_lease_is_free_and_its_next_token_larger(bench: Bench) -> None:
    first = bench.leases.acquire("orders", holder="me", limit=60)
    bench.leases.release(first)
    assert bench.leases.holder("orders") is None
    assert bench.leases.acquire("orders", holder="you", limit=60).token > first.token


def test_a_silent_holder_loses_it_and_is_told(bench: Bench) -> None:
    silent = bench.leases.acquire("orders", holder="me", limit=0.2)
    time.sleep(0.4)
    assert bench.leases.holder("orders") is None
    taken = bench.leases.acquire("orders", holder="you", limit=60)
    with pytest.raises(LeaseLost, match="you"):
        bench.leases.renew(silent)
    bench.leases.release(silent)
    assert bench.leases.holder("orders") == taken


def test_a_heartbeat_keeps_it(bench: Bench) -> None:
    with hold_lease(
        bench.leases, "orders", holder="me", limit=2.0
    ) as held:  # a busy machine may lose a second
        time.sleep(3.0)
        with pytest.raises(LeaseHeld):
            bench.leases.acquire("orders", holder="you", limit=60)
        held.require()
    assert bench.leases.holder("orders") is None


def test_a_holder_that_fell_silent_learns_of_it(bench: Bench) -> None:
    with hold_lease(bench.leases, "orders", holder="me", limit=0.8) as held:
        bench.leases.release(held.lease)
        bench.leases.acquire("orders", holder="you", limit=60)
        time.sleep(0.8)
        with pytest.raises(LeaseLost):
            held.require()


def test_a_dead_holders_lease_lapses_though_the_clock_was_set_back(real_bench: RealBench) -> None:
    real_bench.leases.acquire("orders", holder="me", limit=0.2)
    with real_bench.stores.database.writing() as connection:  # what the clock said before
        connection.exec_driver_sql("UPDATE lakebed_leases SET heartbeat = heartbeat + 3600")
    with pytest.raises(LeaseHeld):
        real_bench.leases.acquire("orders", holder="you", limit=60)
    time.sleep(0.4)
    assert real_bench.leases.acquire("orders", holder="you", limit=60).holder == "you"
