"""Changes of different tables do not wait for each other: not for metadata that is being written,
and for a transaction only as long as the database itself makes them wait.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import event

from lakebed.engines.iceberg.catalog import jdbc_rows
from lakebed.engines.iceberg.catalog.staged_metadata import StagedMetadata
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import ConsumedFile, InputPin, PublicationRecords, RunRecord, SetProperties
from lakebed.tables import PublishRequest, hold_lease, publish
from tests.support.benches import RealBench, sqlite_bench

OTHERS = 7
THREADS = 4
PATIENCE = 120.0  # seconds until a test that hangs fails


def run(bench: RealBench, table: TableName) -> None:
    """All that a run writes to the database, from its lease to its release."""
    run_id, now = new_run_id(), datetime.now(UTC)
    file = ConsumedFile(table, ZoneName("shop", "orders"), f"{table.name}.csv", "e", 1, run_id)
    with hold_lease(bench.leases, str(table), holder=run_id, limit=600) as held:
        record = RunRecord(run_id, "i", table, "running", now)
        bench.records.write(record)
        bench.records.pin(run_id, [InputPin(table, 1)])
        publish(
            bench.catalog,
            [PublishRequest(table, "run_1")],
            run_id=run_id,
            leases=[held.require()],
            records=PublicationRecords((record,), (file,)),
        )
        bench.records.unpin([run_id])


def rename(bench: RealBench, table: TableName) -> None:
    bench.catalog.rename(table, TableName(table.namespace, "gold", table.name))


def restore(bench: RealBench, table: TableName) -> None:
    gone = bench.catalog.drop(table)
    assert gone
    bench.catalog.restore(gone, TableName(table.namespace, "gold", table.name))


def amend(bench: RealBench, table: TableName) -> None:
    bench.catalog.amend(table, [SetProperties({"note": "x"})])


@contextmanager
def stopped(monkeypatch: pytest.MonkeyPatch, owner: Any, *names: str) -> Iterator[Event]:
    """The first call of one of these methods ends only when the block does; the event says that it
    has come so far.
    """
    reached, free = Event(), Event()

    def first_waits(method: Callable[..., Any], *given: Any, **options: Any) -> Any:
        result = method(*given, **options)
        if not reached.is_set():
            reached.set()
            assert free.wait(PATIENCE)
        return result

    with monkeypatch.context() as patched:
        for name in names:
            original = getattr(owner, name)
            patched.setattr(
                owner, name, lambda *given, _of=original, **more: first_waits(_of, *given, **more)
            )
        try:
            yield reached
        finally:
            free.set()


def tables_with_branches(bench: RealBench, count: int) -> list[TableName]:
    tables = [bench.table(f"t{number}") for number in range(count)]
    for table in tables:
        bench.write(table, [1])
        bench.write(table, [2], branch="run_1")
    return tables


@pytest.mark.parametrize(
    ("change", "others"), [(run, OTHERS), (amend, 2), (rename, 2), (restore, 2)]
)
def test_whoever_is_still_writing_metadata_keeps_no_other_run_from_publishing(
    atomic_bench: RealBench,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[RealBench, TableName], None],
    others: int,
) -> None:
    first, *rest = tables_with_branches(atomic_bench, 1 + others)
    with ThreadPoolExecutor(1) as alone, ThreadPoolExecutor(THREADS) as pool:
        with stopped(monkeypatch, StagedMetadata, "move", "amendments") as reached:
            slow = alone.submit(change, atomic_bench, first)
            assert reached.wait(PATIENCE)
            _all_done(pool.submit(run, atomic_bench, table) for table in rest)
            assert not slow.done()
        slow.result(PATIENCE)
    assert [atomic_bench.rows(table) for table in rest] == [[1, 2]] * others


def test_a_publication_that_stops_inside_its_transaction_delays_others_on_sqlite_only(
    atomic_bench: RealBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one writer at a time; there the others end once that one has."""
    first, *others = tables_with_branches(atomic_bench, 1 + OTHERS)
    with ThreadPoolExecutor(1) as alone, ThreadPoolExecutor(THREADS) as pool:
        with stopped(monkeypatch, jdbc_rows.Swap, "within") as reached:
            slow = alone.submit(run, atomic_bench, first)
            assert reached.wait(PATIENCE)
            running = [pool.submit(partial(run, atomic_bench, table)) for table in others]
            if not atomic_bench.stores.database.is_sqlite:
                _all_done(running)
            assert not slow.done()
            assert atomic_bench.rows(first) == [1]
        slow.result(PATIENCE)
        _all_done(running)
    assert [atomic_bench.rows(table) for table in (first, *others)] == [[1, 2]] * (OTHERS + 1)


def _all_done(running: Iterable[Future[None]]) -> None:
    for future in list(running):  # all are under way before the first is waited for
        future.result(PATIENCE)


def test_writers_of_one_process_take_turns_on_sqlite_and_none_sleeps_while_it_could_write(
    tmp_path: Path,
) -> None:
    """SQLite's own way to wait is to sleep and look again, which takes longer than a commit."""
    bench = sqlite_bench(tmp_path / "lake")
    inside: list[int] = []
    overtaking = Event()

    def begins(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement == "BEGIN IMMEDIATE" and inside:
            overtaking.set()

    def write(number: int) -> None:
        with bench.stores.database.writing():
            inside.append(number)
            overtaking.wait(0.1)
            inside.remove(number)

    event.listen(bench.stores.database.engine, "before_cursor_execute", begins)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(THREADS)))
    bench.close()
    assert not overtaking.is_set()
