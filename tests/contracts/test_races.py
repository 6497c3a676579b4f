"""Writers that race: two publishers on overlapping tables, a Spark append between them, and a
reader who looks on.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from lakebed.names import TableName
from tests.support.benches import RealBench
from tests.support.scale import SCALE
from tests.support.spark_sessions import OpenSpark
from tests.support.workers import answer, appender, publisher, started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 20 * SCALE
APPENDS = 20

Order = tuple[str, list[TableName], int]  # run id, tables, row

pytestmark = pytest.mark.spark


def _runs_seen(bench: RealBench, tables: list[TableName]) -> dict[TableName, set[str]]:
    """The runs whose snapshots a reader of `main` has in front of them, all tables read at one
    moment.
    """
    metadata = bench.catalog.metadata(bench.catalog.pointers(tables).values())
    seen = {}
    for table in tables:
        head = metadata[table].head()
        seen[table] = (
            {step.run_id for step in metadata[table].ancestry(head.id) if step.run_id}
            if head
            else set()
        )
    return seen


@contextmanager
def _onlooker(bench: RealBench, sets: list[list[TableName]]) -> Iterator[list[str]]:
    """Reads again and again; notes every run that it sees in one table of its set and not in
    another.
    """
    halves: list[str] = []
    done = threading.Event()
    tables = sorted({table for tables in sets for table in tables})
    looks = 0

    def look() -> None:
        nonlocal looks
        while not done.is_set():
            seen = _runs_seen(bench, tables)
            for number, own in enumerate(sets):
                for run in {
                    run for table in own for run in seen[table] if run.startswith(f"p{number}_")
                }:
                    if not all(run in seen[table] for table in own):
                        halves.append(f"{run}: {seen}")
            looks += 1
            done.wait(0.05)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield halves
    finally:
        done.set()
        thread.join()
    assert looks > 10


class Publishers:
    """Two processes that build and publish, each its own set of tables."""

    def __init__(self, bench: RealBench) -> None:
        self.bench = bench
        self._started = [started(publisher, bench) for _ in range(2)]

    def at_once(
        self, what: str, orders: "list[Order]", meanwhile: "Callable[[], object]" = lambda: None
    ) -> list[str]:
        """Give each its order at the same moment; their answers."""
        pipes = [pipe for _, pipe in self._started]
        for pipe, order in zip(pipes, orders, strict=False):
            pipe.send((what, *order))
        meanwhile()
        return [answer(pipe) for pipe, _ in zip(pipes, orders, strict=False)]

    def stop(self) -> None:
        for process, pipe in self._started:
            pipe.send(None)
            process.join()


def _race(
    publishers: Publishers,
    spark: "SparkSession",
    sets: list[list[TableName]],
    contested: TableName,
    number: int,
) -> int:
    """One round; how many publishers won it."""
    orders: list[Order] = [
        (f"p{which}_{number}", tables, number * 10 + which) for which, tables in enumerate(sets)
    ]
    assert publishers.at_once("build", orders) == ["built"] * len(sets)
    insert = f"INSERT INTO {contested.spark} VALUES ({number * 10 + 9})"
    answers = publishers.at_once("publish", orders, meanwhile=lambda: spark.sql(insert))
    assert set(answers) <= {"won", "lost"}, answers
    for order, outcome in zip(orders, answers, strict=True):
        run_id, tables, _ = order
        if outcome == "lost":
            assert not any(
                run_id in runs for runs in _runs_seen(publishers.bench, tables).values()
            ), "a loser changed something"
            assert publishers.at_once("build", [order]) == ["built"]
            assert publishers.at_once("publish", [order]) == ["won"]
    return answers.count("won")


def _expected(numbers: range, endings: list[int]) -> list[int]:
    return sorted([0, *(number * 10 + ending for number in numbers for ending in endings)])


def _tables(bench: RealBench, names: str, generation: int) -> list[TableName]:
    """Tables of their own every few rounds: their metadata stays short, and the rounds quick."""
    tables = [bench.table(f"{name}{generation}") for name in names]
    for table in tables:
        bench.write(table, [0])
    return tables


GENERATIONS = [range(first, first + 10) for first in range(1, ROUNDS + 1, 10)]


def test_of_racing_publishers_at_most_one_wins_and_wins_whole(
    atomic_bench: RealBench, open_spark: OpenSpark
) -> None:
    bench, spark = atomic_bench, open_spark(atomic_bench.settings, atomic_bench.root)
    publishers, winners = Publishers(bench), []
    for generation, numbers in enumerate(GENERATIONS):
        first, contested, last = _tables(bench, "abc", generation)
        sets = [[first, contested], [contested, last]]
        with _onlooker(bench, sets) as halves:
            winners += [_race(publishers, spark, sets, contested, number) for number in numbers]
        assert halves == []
        assert bench.rows(first) == _expected(numbers, [0])
        assert bench.rows(contested) == _expected(numbers, [0, 1, 9])
        assert bench.rows(last) == _expected(numbers, [1])
        assert sorted(row.id for row in spark.table(contested.spark).collect()) == bench.rows(
            contested
        )
    publishers.stop()
    assert len(winners) == ROUNDS
    assert max(winners) <= 1
    assert sum(winners) > 0, "no publisher ever won a race: the test proved nothing"


def test_on_a_rest_catalog_the_same_holds_for_one_table(
    rest_only_bench: RealBench, open_spark: OpenSpark
) -> None:
    bench, spark = rest_only_bench, open_spark(rest_only_bench.settings, rest_only_bench.root)
    publishers, winners = Publishers(bench), []
    for generation, numbers in enumerate(GENERATIONS):
        (table,) = _tables(bench, "b", generation)
        winners += [
            _race(publishers, spark, [[table], [table]], table, number) for number in numbers
        ]
        assert bench.rows(table) == _expected(numbers, [0, 1, 9])
    publishers.stop()
    assert max(winners) <= 1


def test_spark_and_pyiceberg_append_to_one_table_at_once(
    real_bench: RealBench, open_spark: OpenSpark
) -> None:
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
