"""kill -9 during a publication: all of it or nothing, and the next attempt heals."""

from random import Random
from time import monotonic, sleep

from lakebed.names import TableName
from lakebed.tables import PublishRequest, publish, settle_publications
from tests.support.benches import RealBench
from tests.support.scale import SCALE
from tests.support.workers import (
    answer,
    dying_rest_publisher,
    killed,
    one_publication,
    started,
    until,
)

KILLS = 20 * SCALE


def _prepared(bench: RealBench, tables: list[TableName], number: int) -> str:
    branch = f"run_{number}"
    for table in tables:
        bench.write(table, [number], branch=branch)
    return branch


def _heads(bench: RealBench, tables: list[TableName], number: int) -> list[bool]:
    """Whether each table shows the row of this round, read as any reader does: all pointers in one
    statement.
    """
    metadata = bench.catalog.metadata(bench.catalog.pointers(tables).values())
    return [f"run_{number}" not in metadata[table].refs for table in tables]


def _usual_seconds(bench: RealBench, tables: list[TableName]) -> float:
    """How long a publication in another process takes here: the span in which to kill."""
    branch = _prepared(bench, tables, 0)
    process, pipe = started(one_publication, bench, "r0", tables, branch)
    began = monotonic()
    pipe.send("go")
    assert answer(pipe) == "done"
    process.join()
    return monotonic() - began


def test_a_publication_killed_at_a_random_point_is_whole_or_absent(atomic_bench: RealBench) -> None:
    bench, chance = atomic_bench, Random(7)
    tables = [bench.table(name) for name in ("a", "b", "c")]
    for table in tables:
        bench.write(table, [-1])
    seconds = _usual_seconds(bench, tables)
    outcomes = []
    for number in range(1, KILLS + 1):
        branch = _prepared(bench, tables, number)
        process, pipe = started(one_publication, bench, f"r{number}", tables, branch)
        pipe.send("go")
        sleep(chance.uniform(0, seconds * 1.1))
        killed(process)
        moved = _heads(bench, tables, number)
        recorded = bench.catalog.published(f"r{number}") is not None
        assert moved in ([recorded] * 3,), f"kill {number}: moved {moved}, recorded {recorded}"
        outcomes.append(recorded)
        publish(
            bench.catalog, [PublishRequest(table, branch) for table in tables], run_id=f"r{number}"
        )
        assert [bench.rows(table) for table in tables] == [[-1, *range(number + 1)]] * 3
    assert not all(outcomes), "no kill came in time: the test proved nothing"


def _divided(bench: RealBench, *, after: int = 1) -> list[TableName]:
    tables = [bench.table(name) for name in ("a", "b")]
    for table in tables:
        bench.write(table, [0])
        bench.write(table, [1], branch="run_1")
    process, pipe = started(dying_rest_publisher, bench, tables, after=after)
    pipe.send("go")
    process.join(30)
    assert process.exitcode == -9
    assert [bench.rows(table) for table in tables] == [
        [0, 1] if number < after else [0] for number in range(2)
    ]
    return tables


def test_on_a_rest_catalog_the_next_run_completes_what_a_kill_divided(
    rest_only_bench: RealBench,
) -> None:
    tables = _divided(rest_only_bench)
    other = rest_only_bench.table("other")
    rest_only_bench.write(other, [5], branch="run_2")
    publish(rest_only_bench.catalog, [PublishRequest(other, "run_2")], run_id="r2")
    assert [rest_only_bench.rows(table) for table in tables] == [[0, 1], [0, 1]]
    assert rest_only_bench.catalog.unsettled() == ()
    assert rest_only_bench.catalog.published("r1") is not None


def test_on_a_rest_catalog_what_cannot_be_completed_is_undone(rest_only_bench: RealBench) -> None:
    tables = _divided(rest_only_bench)
    rest_only_bench.write(tables[1], [9])
    settled = settle_publications(rest_only_bench.catalog)
    assert [move.table.name for move in settled["r1"].undo] == ["a"]
    assert [rest_only_bench.rows(table) for table in tables] == [[0], [0, 9]]
    assert rest_only_bench.catalog.published("r1") is None
    assert rest_only_bench.rows(tables[0], "run_1") == [0, 1]


def test_on_a_rest_catalog_what_never_began_and_cannot_begin_is_forgotten(
    rest_only_bench: RealBench,
) -> None:
    tables = _divided(rest_only_bench, after=0)
    rest_only_bench.write(tables[1], [9])
    assert not settle_publications(rest_only_bench.catalog)["r1"].whole
    assert [rest_only_bench.rows(table) for table in tables] == [[0], [0, 9]]
    assert rest_only_bench.catalog.published("r1") is None
    assert rest_only_bench.catalog.unsettled() == ()


def test_on_a_rest_catalog_nobody_settles_for_a_run_that_is_alive(
    rest_only_bench: RealBench,
) -> None:
    bench, tables = rest_only_bench, [rest_only_bench.table(name) for name in ("a", "b")]
    for table in tables:
        bench.write(table, [0])
        bench.write(table, [1], branch="run_1")
    lease = bench.leases.acquire(str(tables[0]), holder="somebody at work", limit=2)
    process, pipe = started(dying_rest_publisher, bench, tables, after=1, leases=[lease])
    pipe.send("go")
    process.join(60)
    bench.leases.renew(lease)  # a sign of life, however long the other process took
    assert bench.catalog.unsettled() == ()
    assert [publication.run_id for publication in bench.catalog.unsettled(own="r1")] == ["r1"]
    until(lambda: bench.catalog.unsettled(), seconds=4)
    settle_publications(bench.catalog)
    assert [bench.rows(table) for table in tables] == [[0, 1], [0, 1]]


def test_on_a_rest_catalog_the_new_holder_of_one_lease_settles_what_a_dead_run_of_several_left(
    rest_only_bench: RealBench,
) -> None:
    """Leases do not lapse at the same moment: whoever takes the first must not find the table
    half published under it.
    """
    bench, tables = rest_only_bench, [rest_only_bench.table(name) for name in ("a", "b")]
    for table in tables:
        bench.write(table, [0])
        bench.write(table, [1], branch="run_1")
    leases = [bench.leases.acquire(str(table), holder="r1", limit=600) for table in tables]
    process, pipe = started(dying_rest_publisher, bench, tables, after=1, leases=leases)
    pipe.send("go")
    process.join(60)
    assert bench.catalog.unsettled() == ()
    bench.leases.release(leases[0])
    bench.leases.acquire(str(tables[0]), holder="r2", limit=600)
    settle_publications(bench.catalog)
    assert [bench.rows(table) for table in tables] == [[0, 1], [0, 1]]
