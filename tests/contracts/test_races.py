"""Writers that race: two publishers on overlapping tables, a Spark append between them, and a reader who looks on."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from lakebed.names import TableName
from lakebed.ports import RUN_ID
from lakebed.tables import Ask, publish
from tests.conftest import SCALE
from tests.contracts.benches import RealBench, ids
from tests.contracts.workers import answer, appender, publisher, started
from tests.spark_sessions import OpenSpark

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from pyspark.sql import SparkSession

ROUNDS = 50 * SCALE
APPENDS = 20

pytestmark = pytest.mark.spark


def _branch(bench: RealBench, table: TableName, run_id: str, row: int) -> None:
    """A branch with one row, stamped with its run as every run's snapshots are."""
    loaded = bench.iceberg.load_table(table.parts)
    head = loaded.current_snapshot()
    assert head is not None
    loaded.manage_snapshots().create_branch(head.snapshot_id, run_id).commit()
    loaded.append(ids([row]), branch=run_id, snapshot_properties={RUN_ID: run_id})


def _rebuilt(bench: RealBench, table: TableName, run_id: str, row: int) -> None:
    bench.iceberg.load_table(table.parts).manage_snapshots().remove_branch(run_id).commit()
    _branch(bench, table, run_id, row)


def _runs_seen(bench: RealBench, tables: list[TableName]) -> dict[TableName, set[str]]:
    """The runs whose snapshots a reader of `main` has in front of them, all tables read at one moment."""
    metadata = bench.catalog.metadata(bench.catalog.pointers(tables).values())
    seen = {}
    for table in tables:
        head = metadata[table].head()
        seen[table] = {step.run_id for step in metadata[table].ancestry(head.id) if step.run_id} if head else set()
    return seen


@contextmanager
def _onlooker(bench: RealBench, sets: list[list[TableName]]) -> Iterator[list[str]]:
    """Reads again and again; notes every run that it sees in one table of its set and not in another."""
    halves: list[str] = []
    done = threading.Event()
    tables = sorted({table for tables in sets for table in tables})
    looks = 0

    def look() -> None:
        nonlocal looks
        while not done.is_set():
            seen = _runs_seen(bench, tables)
            for number, own in enumerate(sets):
                for run in {run for table in own for run in seen[table] if run.startswith(f"p{number}_")}:
                    if not all(run in seen[table] for table in own):
                        halves.append(f"{run}: {seen}")
            looks += 1
            done.wait(0.02)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield halves
    finally:
        done.set()
        thread.join()
    assert looks > ROUNDS


def _race(bench: RealBench, spark: "SparkSession", sets: list[list[TableName]], contested: TableName) -> list[int]:
    """Rounds of racing; returns how many publishers won each."""
    pipes: list[Connection] = []
    processes = []
    for _ in sets:
        process, pipe = started(publisher, bench)
        processes.append(process)
        pipes.append(pipe)
    winners = [_round(bench, spark, sets, contested, pipes, number) for number in range(1, ROUNDS + 1)]
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send(None)
        process.join()
    return winners


def _round(
    bench: RealBench,
    spark: "SparkSession",
    sets: list[list[TableName]],
    contested: TableName,
    pipes: "list[Connection]",
    number: int,
) -> int:
    orders = [(f"p{which}_{number}", tables, number * 10 + which) for which, tables in enumerate(sets)]
    for run_id, tables, row in orders:
        for table in tables:
            _branch(bench, table, run_id, row)
    for pipe, (run_id, tables, _) in zip(pipes, orders, strict=True):
        pipe.send((run_id, tables, run_id))
    spark.sql(f"INSERT INTO {contested.spark} VALUES ({number * 10 + 9})")
    answers = [answer(pipe) for pipe in pipes]
    assert set(answers) <= {"won", "lost"}, answers
    for (run_id, tables, row), outcome in zip(orders, answers, strict=True):
        if outcome == "lost":
            assert not any(run_id in runs for runs in _runs_seen(bench, tables).values()), "a loser changed something"
            for table in tables:
                _rebuilt(bench, table, run_id, row)
            publish(bench.catalog, [Ask(table, run_id) for table in tables], run_id=run_id)
    return answers.count("won")


def _expected(which: list[int], *, appended: bool) -> list[int]:
    endings = [*which, *([9] if appended else [])]
    return sorted([0, *(number * 10 + ending for number in range(1, ROUNDS + 1) for ending in endings)])


def test_of_racing_publishers_at_most_one_wins_and_wins_whole(atomic_bench: RealBench, open_spark: OpenSpark) -> None:
    bench, spark = atomic_bench, open_spark(atomic_bench.settings, atomic_bench.root)
    first, contested, last = (bench.table(name) for name in ("a", "b", "c"))
    for table in (first, contested, last):
        bench.write(table, [0])
    sets = [[first, contested], [contested, last]]
    with _onlooker(bench, sets) as halves:
        winners = _race(bench, spark, sets, contested)
    assert max(winners) <= 1
    assert sum(winners) > 0, "no publisher ever won a race: the test proved nothing"
    assert halves == []
    assert bench.rows(first) == _expected([0], appended=False)
    assert bench.rows(contested) == _expected([0, 1], appended=True)
    assert bench.rows(last) == _expected([1], appended=False)
    assert sorted(row.id for row in spark.table(contested.spark).collect()) == _expected([0, 1], appended=True)


def test_on_a_rest_catalog_the_same_holds_for_one_table(rest_only_bench: RealBench, open_spark: OpenSpark) -> None:
    bench, spark = rest_only_bench, open_spark(rest_only_bench.settings, rest_only_bench.root)
    table = bench.table("b")
    bench.write(table, [0])
    winners = _race(bench, spark, [[table], [table]], table)
    assert max(winners) <= 1
    assert bench.rows(table) == _expected([0, 1], appended=True)


def test_spark_and_pyiceberg_append_to_one_table_at_once(real_bench: RealBench, open_spark: OpenSpark) -> None:
    bench, spark = real_bench, open_spark(real_bench.settings, real_bench.root)
    table = bench.table("orders")
    process, pipe = started(appender, bench, table, list(range(APPENDS)))
    pipe.send("go")
    for row in range(APPENDS, 2 * APPENDS):
        spark.sql(f"INSERT INTO {table.spark} VALUES ({row})")
    assert answer(pipe, seconds=120) == "done"
    process.join()
    assert bench.rows(table) == list(range(2 * APPENDS))
    assert sorted(row.id for row in spark.table(table.spark).collect()) == list(range(2 * APPENDS))
