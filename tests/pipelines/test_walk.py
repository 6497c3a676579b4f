"""Working through a graph: order, threads, skips, fail-fast, interruption."""

import threading
from concurrent.futures import wait
from datetime import UTC, datetime
from typing import Any

import pytest

from lakebed.names import TableName
from lakebed.pipelines.running.builds.walk import walk
from lakebed.ports import RunRecord, RunState

A, B, C, D = (TableName("shop", "silver", name) for name in "abcd")
DEPENDS = {
    A: frozenset[TableName](),
    B: frozenset({A}),
    C: frozenset({B}),
    D: frozenset[TableName](),
}


def a_record(table: TableName, state: RunState = "success") -> RunRecord:
    return RunRecord("r", "i", table, state, datetime.now(UTC))


def test_each_table_follows_what_it_reads() -> None:
    seen: list[TableName] = []

    def work(table: TableName) -> RunRecord:
        seen.append(table)
        return a_record(table)

    records = walk(
        [A, B, C, D], DEPENDS, work, lambda table, _: a_record(table, "skipped"), threads=3
    )
    assert [record.table for record in records] == [A, B, C, D]
    assert seen.index(A) < seen.index(B) < seen.index(C)


@pytest.mark.parametrize(("fail_fast", "skipped"), [(False, {B, C}), (True, {B, C, D})])
def test_a_failure_skips_what_reads_it_and_with_fail_fast_everything(
    fail_fast: bool, skipped: set[TableName]
) -> None:
    def work(table: TableName) -> RunRecord:
        return a_record(table, "failed" if table == A else "success")

    records = walk(
        [A, B, C, D],
        DEPENDS,
        work,
        lambda table, _: a_record(table, "skipped"),
        fail_fast=fail_fast,
    )
    assert {record.table for record in records if record.state == "skipped"} == skipped


def test_no_more_run_at_once_than_there_are_threads() -> None:
    now, most, lock = [0], [0], threading.Lock()
    free = {table: frozenset[TableName]() for table in (A, B, C, D)}

    def work(table: TableName) -> RunRecord:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.05)
        with lock:
            now[0] -= 1
        return a_record(table)

    walk([A, B, C, D], free, work, lambda table, _: a_record(table, "skipped"), threads=2)
    assert most[0] == 2


def test_an_interruption_asks_the_work_under_way_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, ended = threading.Event(), threading.Event()

    def work(table: TableName) -> RunRecord:
        stop.wait(10)
        ended.set()
        return a_record(table, "failed")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lakebed.pipelines.running.builds.walk.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        walk(
            [A],
            {A: frozenset()},
            work,
            lambda table, _: a_record(table, "skipped"),
            interrupt=stop.set,
        )
    assert ended.is_set()


def test_an_interruption_is_repeated_until_the_work_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is cancelled once may just have begun to compute something else."""
    asked = threading.Semaphore(0)
    waits = iter([interrupted_once])

    def work(table: TableName) -> RunRecord:
        for _ in range(2):
            assert asked.acquire(timeout=10)
        return a_record(table, "failed")

    def waiting(*arguments: Any, **options: Any) -> Any:
        return next(waits, wait)(*arguments, **options)

    monkeypatch.setattr("lakebed.pipelines.running.builds.walk.wait", waiting)
    monkeypatch.setattr("lakebed.pipelines.running.builds.walk._AGAIN", 0.01)
    skip = lambda table, _: a_record(table, "skipped")  # noqa: E731
    with pytest.raises(KeyboardInterrupt):
        walk([A], {A: frozenset()}, work, skip, interrupt=asked.release)


def interrupted_once(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
