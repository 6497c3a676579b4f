"""Leases between processes: told who holds it, passed on after a kill, fenced after a pause."""

import os
import signal

import pytest

from lakebed.errors import LeaseHeld
from tests.support.benches import RealBench
from tests.support.workers import answer, holder, killed, started, until


def test_the_loser_is_told_which_process_holds_the_lease(real_bench: RealBench) -> None:
    table = real_bench.table("orders")
    process, _ = started(holder, real_bench, table, 30.0)
    with pytest.raises(LeaseHeld, match=f"process {process.pid}"):
        real_bench.leases.acquire(str(table), holder="me", limit=30)
    killed(process)


def test_after_kill_9_of_its_holder_a_lease_passes_on_within_the_limit(
    real_bench: RealBench,
) -> None:
    table, limit = real_bench.table("orders"), 2.0
    process, _ = started(holder, real_bench, table, limit)
    killed(process)

    def taken() -> bool:
        try:
            return real_bench.leases.acquire(str(table), holder="me", limit=30).holder == "me"
        except LeaseHeld:
            return False

    until(taken, seconds=limit + 2.0)  # two seconds for a busy machine to ask again


def test_a_holder_that_slept_through_its_limit_cannot_commit(real_bench: RealBench) -> None:
    table = real_bench.table("orders")
    real_bench.write(table, [1])
    real_bench.write(table, [2], branch="run_1")
    process, pipe = started(holder, real_bench, table, 1.0)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: real_bench.leases.holder(str(table)) is None, seconds=6)
    mine = real_bench.leases.acquire(str(table), holder="me", limit=30)
    pipe.send(("r1", "run_1"))
    os.kill(process.pid, signal.SIGCONT)
    assert answer(pipe) == "LeaseLost"
    assert real_bench.rows(table) == [1]
    assert real_bench.leases.holder(str(table)) == mine
    killed(process)
