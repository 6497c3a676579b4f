"""Changes that are about to be made, as rows: what a process that dies leaves to the next."""

from pathlib import Path

from lakebed.engines.database.state.intended_changes import (
    IntendedAmendments,
    IntendedChange,
    IntendedRename,
    abandoned_changes,
    finish_intended,
    put_intended,
)
from lakebed.names import TableName, new_run_id
from lakebed.ports import (
    AddSnapshot,
    ChangeRecords,
    Event,
    FileStateChange,
    Lease,
    RemoveRef,
    RemoveSnapshots,
    SetProperties,
    SetRef,
    SetSchema,
    SetSpec,
)
from tests.support.benches import RealBench, sqlite_bench
from tests.support.effects import lapse_leases

ORDERS, PAST = (TableName("shop", "silver", name) for name in ("orders", "past"))
RECORDS = ChangeRecords(
    (FileStateChange(ORDERS, (("orders/1.csv", "r1"),), "held"),),
    (Event("rolled_back", ORDERS, 7, {"from": "8"}),),
)
AMENDMENTS = (
    SetRef("q1", 7, "tag"),
    RemoveRef("q2"),
    SetSchema(3),
    SetSpec(2),
    AddSnapshot(8, "{}"),
    RemoveSnapshots((4, 5)),
    SetProperties({"set": "1", "removed": None}),
)


def changed(change: IntendedRename | IntendedAmendments) -> IntendedChange:
    return IntendedChange(new_run_id(), ORDERS, "u1", change, RECORDS)


def intend(bench: RealBench, intended: IntendedChange, *leases: Lease) -> None:
    with bench.stores.database.writing() as connection:
        put_intended(connection, bench.stores.database, intended, leases)


def test_every_change_is_found_again_as_it_was_intended_once_its_lease_is_lost(
    tmp_path: Path,
) -> None:
    bench = sqlite_bench(tmp_path / "lake")
    lease = bench.leases.acquire(str(ORDERS), holder="somebody", limit=600)
    changes = (
        IntendedRename(PAST),
        IntendedRename(PAST, drops=True),
        IntendedAmendments("00001-a.metadata.json", AMENDMENTS),
    )
    intended = [changed(change) for change in changes]
    for one in intended:
        intend(bench, one, lease)
    assert abandoned_changes(bench.stores.database) == (), "its process is alive"
    own = abandoned_changes(bench.stores.database, own=[lease])
    assert sorted(own, key=lambda one: one.id) == sorted(intended, key=lambda one: one.id)
    bench.leases.release(lease)
    assert len(abandoned_changes(bench.stores.database)) == 3
    bench.close()


def test_a_change_without_a_lease_is_left_to_its_process_for_a_while(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path / "lake")
    intended = changed(IntendedAmendments("00001-a.metadata.json", AMENDMENTS))
    intend(bench, intended)
    assert abandoned_changes(bench.stores.database) == ()
    lapse_leases(bench.stores.database)
    assert abandoned_changes(bench.stores.database) == (intended,)
    bench.close()


def test_however_many_finish_a_change_its_event_is_written_once(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path / "lake")
    intended = changed(IntendedAmendments("00001-a.metadata.json", AMENDMENTS))
    intend(bench, intended)
    for _ in range(2):
        with bench.stores.database.writing() as connection:
            finish_intended(connection, bench.stores.database, intended)
    assert [one.event for one in bench.events.since()] == list(RECORDS.events)
    bench.close()
