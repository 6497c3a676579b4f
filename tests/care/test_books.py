"""What care reads and writes in the lake's database, on each of them."""

from datetime import UTC, datetime, timedelta

from lakebed.engines.database import DatabaseCareLog
from lakebed.names import TableName
from lakebed.ports import CareEntry, Event, RunRecord
from tests.contracts.benches import RealBench

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ORDERS, SUMS = TableName("shop", "silver", "orders"), TableName("shop", "gold", "sums")


def test_what_care_did_is_kept_newest_first_and_forgotten_by_age(atomic_bench: RealBench) -> None:
    log = DatabaseCareLog(atomic_bench.stores.database)
    for number, subject in enumerate(("a", "b", "a")):
        at = NOW + timedelta(days=number)
        log.write(CareEntry("purge_logs", subject, "done", at, {"files": number}, 2**40, 1.5, "said"))
    found = log.entries()
    assert [entry.counts for entry in found] == [{"files": 2}, {"files": 1}, {"files": 0}]
    assert found[0] == CareEntry("purge_logs", "a", "done", NOW + timedelta(days=2), {"files": 2}, 2**40, 1.5, "said")
    assert len(log.entries(subject="a")) == 2
    assert log.entries(action="other") == ()
    assert log.delete(before=NOW + timedelta(days=1, hours=1)) == 2
    assert len(log.entries()) == 1


def test_events_can_be_asked_for_by_kind_and_time(atomic_bench: RealBench) -> None:
    events = atomic_bench.stores.events
    events.append(Event("tagged", ORDERS, 1), Event("untagged", ORDERS, 1), Event("branch_removed", SUMS, 2))
    assert [noted.event.snapshot for noted in events.since(kinds=["untagged", "branch_removed"])] == [1, 2]
    assert [noted.event.kind for noted in events.since(kinds=["untagged"], table=SUMS)] == []
    soon = datetime.now(UTC) + timedelta(hours=1)
    assert events.since(after=soon) == ()
    assert len(events.since(after=soon - timedelta(hours=2))) == 3


def test_runs_can_be_read_in_brief(atomic_bench: RealBench) -> None:
    records = atomic_bench.stores.records
    for number in range(3):
        records.write(RunRecord(f"{number:032}", "i", ORDERS, "failed", NOW + timedelta(hours=number)))
    briefs = records.summaries()
    assert [brief.run_id[-1] for brief in briefs] == ["2", "1", "0"]
    assert (briefs[0].table, briefs[0].state, briefs[0].started_at) == (ORDERS, "failed", NOW + timedelta(hours=2))
    assert records.delete_runs([briefs[0].run_id]) == 1
    assert len(records.summaries()) == 2


def test_a_folder_lake_has_no_view_by_itself(atomic_bench: RealBench) -> None:
    atomic_bench.table("orders")
    assert atomic_bench.catalog.views() == {}
