"""An ALTER whose process died is settled by looking: committed or not, told once or not at all."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

from lakebed.names import TableName, new_run_id
from lakebed.ports import RunRecord, SetProperties
from lakebed.tables import altered_event, run_holder, settle_alters
from tests.support.benches import Bench


def begun(bench: Bench, table: TableName) -> RunRecord:
    """What an ALTER leaves before Spark commits it."""
    record = RunRecord(
        new_run_id(),
        "build",
        table,
        "running",
        datetime.now(UTC),
        altered_from=bench.catalog.pointers([table])[table].location,
        message="ALTER TABLE …",
    )
    bench.records.write(record)
    return record


def commit(bench: Bench, table: TableName) -> None:
    bench.catalog.amend(table, [SetProperties({"comment": "altered"})])


def settle(bench: Bench) -> tuple[str, ...]:
    settled = settle_alters(bench.catalog, bench.records, bench.leases)
    return tuple(record.state for record in settled)


def told(bench: Bench, table: TableName) -> list[str]:
    return [one.event.detail["run"] for one in bench.events.since(table=table)]


def test_a_committed_alter_is_told_once_however_many_look_at_once(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1])
    record = begun(bench, table)
    commit(bench, table)
    bench.write(table, [2])  # foreign, after it
    with ThreadPoolExecutor(4) as pool:
        settled = list(pool.map(lambda _: settle(bench), range(8)))
    assert sorted(settled)[-1] == ("success",)
    assert sum(map(len, settled)) == 1
    assert told(bench, table) == [record.run_id]
    assert settle(bench) == ()


def test_an_alter_that_was_not_committed_is_closed_and_not_told(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1])
    record = begun(bench, table)
    bench.write(table, [2])  # foreign, and no ALTER
    assert settle(bench) == ("failed",)
    assert told(bench, table) == []
    closed = bench.records.run(record.run_id)
    assert closed
    assert (closed.state, "died" in closed.error["what"]) == ("failed", True)


def test_an_alter_is_left_alone_while_its_run_has_the_lease(bench: Bench) -> None:
    table = bench.table("orders")
    record = begun(bench, table)
    lease = bench.leases.acquire(str(table), holder=run_holder(record.run_id, "host 1"), limit=3600)
    commit(bench, table)
    assert settle(bench) == ()
    bench.leases.release(lease)
    other = bench.leases.acquire(str(table), holder=run_holder(new_run_id(), "host 2"), limit=3600)
    assert settle(bench) == ("success",)
    bench.leases.release(other)


def test_a_process_that_only_seemed_dead_still_tells_of_its_alter_and_only_once(
    bench: Bench,
) -> None:
    table = bench.table("orders")
    record = begun(bench, table)
    assert settle(bench) == ("failed",)
    commit(bench, table)
    done = replace(record, state="success", ended_at=datetime.now(UTC))
    closed = [bench.records.close(done, altered_event(done)) for _ in range(2)]
    assert closed == [True, False]
    assert told(bench, table) == [record.run_id]
    assert not bench.records.close(replace(done, state="failed"))
    kept = bench.records.run(record.run_id)
    assert kept
    assert kept.state == "success"
