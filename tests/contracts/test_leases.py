"""What every store of leases promises."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.engines.database import Database as StateDatabase
from lakebed.engines.database.state.leases import DatabaseLeases
from lakebed.errors import ClockAhead, LeaseHeld, LeaseLost
from lakebed.ports import CLOCK_TOLERANCE
from lakebed.tables import hold_lease
from lakebed.testing import MemoryLeases
from tests.servers.postgres import Database
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


def test_the_store_tells_its_time(bench: Bench) -> None:
    assert abs(bench.leases.store_time() - datetime.now(UTC)) < CLOCK_TOLERANCE


@pytest.mark.parametrize("offset", [timedelta(minutes=5), timedelta(0), timedelta(seconds=-20)])
def test_a_machine_whose_clock_is_behind_or_nearly_right_gets_leases(offset: timedelta) -> None:
    with hold_lease(MemoryLeases(clock_offset=offset), "orders", holder="me", limit=60) as held:
        assert held.require()


def test_a_machine_whose_clock_is_ahead_gets_no_lease_and_so_commits_nothing() -> None:
    leases = MemoryLeases(clock_offset=timedelta(minutes=-5))
    with (
        pytest.raises(
            ClockAhead, match=r"clock .* is ahead .*: it is 20\S+ here and 20"
        ) as refused,
        hold_lease(leases, "orders", holder="me", limit=60),
    ):
        raise AssertionError("it was given")
    assert refused.value.here > refused.value.store
    assert leases.holder("orders") is None


@pytest.mark.postgres
def test_the_clock_of_the_database_decides_whether_this_machine_is_ahead(
    database: Database,
) -> None:
    with database.connect() as connection:
        connection.execute("CREATE SCHEMA behind")
        connection.execute(
            "CREATE FUNCTION behind.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS"
            " $$SELECT pg_catalog.clock_timestamp() - interval '5 minutes'$$"
        )
        first = f"ALTER DATABASE {database.database} SET search_path = behind, pg_catalog, public"
        connection.execute(first.encode())
    store = StateDatabase.postgres(database.url, user=database.user, password=database.password)
    with (
        pytest.raises(ClockAhead),
        hold_lease(DatabaseLeases(store), "orders", holder="me", limit=60),
    ):
        raise AssertionError("it was given")
    store.close()
