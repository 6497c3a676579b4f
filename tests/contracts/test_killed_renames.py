"""kill -9 between any two effects of a rename, a drop or a restore: the table has one of its two
names, and what is recorded of it goes by the same one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from lakebed import Lake
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import ConsumedFile, EventKind, PublicationRecords
from lakebed.tables import PublishRequest, publish
from tests.support.benches import RealBench
from tests.support.effects import change_tables, lapse_leases
from tests.support.scale import rotated
from tests.support.workers import answer, started

AT_A_TIME = 2
FOLLOWER = "mirror"
KINDS: tuple[EventKind, ...] = ("renamed", "dropped", "restored")


@dataclass(frozen=True)
class Case:
    """A table with two rows of which a run took one from a file, before a change that is killed."""

    bench: RealBench
    lake: Lake
    table: TableName
    to: TableName
    run_id: str

    def change(self, what: str, names: Sequence[str | TableName], last: int | None) -> int | None:
        """Make a change in another process, which dies before effect `last`; None if it died."""
        process, pipe = started(change_tables, self.bench, what, *names, last=last)
        pipe.send("go")
        try:
            return int(answer(pipe))
        except EOFError:
            process.join()
            assert process.exitcode == -9
            return None


def prepared(bench: RealBench, lake: Lake, number: int) -> Case:
    table = bench.table(f"t{number}")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    run_id = new_run_id()
    file = ConsumedFile(table, ZoneName("shop", "orders"), "orders/2.csv", "e", 1, run_id)
    records = PublicationRecords((), (file,))
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id=run_id, records=records)
    bench.events.protect(FOLLOWER, table, [1])
    return Case(bench, lake, table, TableName(table.namespace, "gold", f"t{number}"), run_id)


def names_of(what: str, case: Case) -> tuple[TableName, TableName, tuple[str | TableName, ...]]:
    """The table's name before and after the change, and the change's arguments."""
    if what == "rename":
        return case.table, case.to, (case.table, case.to)
    metadata = case.lake.tables.describe(case.table)
    hidden = TableName(
        case.table.namespace, case.table.layer, f"dropped_{metadata.uuid.replace('-', '')}"
    )
    if what == "drop":
        return case.table, hidden, (case.table,)
    case.lake.tables.drop(case.table)
    return hidden, case.table, (metadata.uuid,)


def present(case: Case, names: Sequence[TableName]) -> list[TableName]:
    """Under which of the names the catalog has the table, or could restore it."""
    known = {*case.bench.catalog.pointers([name for name in names if not name.hidden])}
    known |= {gone.hidden_name for gone in case.bench.catalog.dropped()}
    return [name for name in names if name in known]


def told(case: Case, since: int) -> list[str]:
    return [
        recorded.event.kind
        for recorded in case.bench.events.since(since, kinds=KINDS)
        if recorded.event.table in (case.table, case.to)
    ]


def protected(bench: RealBench) -> set[TableName]:
    return {one.table for one in bench.events.protected() if one.holder == FOLLOWER}


EVENTS = {"rename": ["renamed", "renamed"], "drop": ["dropped"], "restore": ["restored"]}


def settled(case: Case) -> None:
    """What the next run of any table does first."""
    lapse_leases(case.bench.stores.database)
    publish(case.bench.catalog, [], run_id=new_run_id())


@pytest.mark.parametrize("what", rotated(list(EVENTS), 1))
def test_killed_between_two_effects_a_table_and_its_ledger_go_by_the_same_name(
    real_bench: RealBench, what: str
) -> None:
    bench = real_bench
    with Lake(bench.root, bench.settings, environment={}) as lake:
        case = prepared(bench, lake, 0)
        effects = case.change(what, names_of(what, case)[2], None)
        assert effects, "it changes something, and lives"
        for number, last in enumerate(rotated(range(effects), AT_A_TIME), 1):
            case = prepared(bench, lake, number)
            before, after, arguments = names_of(what, case)
            since = max((one.number for one in bench.events.since(limit=10_000)), default=0)
            assert case.change(what, arguments, last) is None
            (name,) = present(case, [before, after])
            rows = [1, 2]
            if not name.hidden:
                bench.write(name, [9])  # by PyIceberg, before anybody of us looks
                rows = [1, 2, 9]
            settled(case)
            (name,) = present(case, [before, after])
            (other,) = {before, after} - {name}
            assert [file.run_id for file in bench.records.ledger(name)] == [case.run_id], (
                what,
                last,
            )
            assert bench.records.ledger(other) == ()
            assert {name, other} & protected(bench) == {name}, (what, last)
            assert told(case, since) == (EVENTS[what] if name == after else [])
            assert bench.catalog.unsettled_changes() == ()
            if name == before:  # and once more, to the end
                getattr(case.lake.tables, what)(*arguments)
            assert told(case, since) == EVENTS[what]
            shown = after if what != "drop" else case.lake.tables.restore(str(before))
            assert bench.rows(shown) == rows
            assert [file.run_id for file in bench.records.ledger(shown)] == [case.run_id]
            _whole(bench, shown)


def _whole(bench: RealBench, table: TableName) -> None:
    """Every snapshot of the table can be read to its last file."""
    loaded = bench.iceberg.load_table(table.parts)
    for snapshot in loaded.snapshots():
        loaded.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
