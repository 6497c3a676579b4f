"""kill -9 between any two effects of a rollback or a tag: what is recorded of the table agrees with
the table, and followers are told once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from lakebed import Lake
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import MAIN, ConsumedFile, EventKind, PublicationRecords
from lakebed.tables import PublishRequest, publish
from tests.support.benches import RealBench
from tests.support.effects import change_tables, lapse_leases
from tests.support.scale import rotated
from tests.support.workers import answer, started

AT_A_TIME = 2
TOLD: dict[str, EventKind] = {"rollback": "rolled_back", "tag": "tagged", "untag": "untagged"}


@dataclass(frozen=True)
class Case:
    """A table whose second row a run took from a file, and a change that is killed."""

    bench: RealBench
    what: str
    table: TableName
    first: int  # the snapshot before that run

    @property
    def arguments(self) -> tuple[str | TableName | int, ...]:
        return (self.table, self.first if self.what == "rollback" else "kept")

    @property
    def options(self) -> Mapping[str, Any]:
        return {"files": "exclude"} if self.what == "rollback" else {}

    def killed(self, last: int | None) -> int | None:
        """Make the change in another process, which dies before effect `last`; None if it died."""
        process, pipe = started(
            change_tables, self.bench, self.what, *self.arguments, last=last, **self.options
        )
        pipe.send("go")
        try:
            return int(answer(pipe))
        except EOFError:
            process.join()
            assert process.exitcode == -9
            return None

    def finished(self) -> None:
        with Lake(self.bench.root, self.bench.settings, environment={}) as lake:
            getattr(lake.tables, self.what)(*self.arguments, **self.options)

    @property
    def refs(self) -> dict[str, int]:
        refs = self.bench.iceberg.load_table(self.table.parts).metadata.refs
        return {name: ref.snapshot_id for name, ref in refs.items()}

    @property
    def happened(self) -> bool:
        if self.what == "rollback":
            return self.refs[MAIN] == self.first
        return ("kept" in self.refs) == (self.what == "tag")

    def told(self) -> int:
        events = self.bench.events.since(table=self.table, kinds=[TOLD[self.what]])
        return len(events)

    def states(self) -> list[str]:
        return [file.state for file in self.bench.records.ledger(self.table)]


def prepared(bench: RealBench, what: str, number: int) -> Case:
    table = bench.table(f"t{number}")
    bench.write(table, [1])
    head = bench.iceberg.load_table(table.parts).current_snapshot()
    assert head
    bench.write(table, [2], branch="run_1")
    run_id = new_run_id()
    file = ConsumedFile(
        table,
        ZoneName("shop", "orders"),
        "orders/2.csv",
        etag="e",
        size=1,
        run_id=run_id,
        snapshot=bench.iceberg.load_table(table.parts).metadata.refs["run_1"].snapshot_id,
    )
    records = PublicationRecords((), (file,))
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id=run_id, records=records)
    case = Case(bench, what, table, head.snapshot_id)
    if what == "untag":
        case.bench.iceberg.load_table(table.parts).manage_snapshots().create_tag(
            head.snapshot_id, "kept"
        ).commit()
    return case


def changed_by_others(case: Case) -> None:
    """PyIceberg, before anybody of us looks: appends a row, and removes the tag or sets it again."""
    case.bench.write(case.table, [9])
    loaded = case.bench.iceberg.load_table(case.table.parts)
    if case.what == "tag" and case.happened:
        loaded.manage_snapshots().remove_tag("kept").commit()
    if case.what == "untag" and case.happened:
        loaded.manage_snapshots().create_tag(case.first, "kept").commit()


@pytest.mark.parametrize("what", rotated(list(TOLD), 1))
def test_killed_between_two_effects_a_change_is_recorded_if_it_happened_and_once(
    real_bench: RealBench, what: str
) -> None:
    bench = real_bench
    case = prepared(bench, what, 0)
    effects = case.killed(None)
    assert effects, "it changes something, and lives"
    assert case.happened
    assert case.told() == 1
    for number, last in enumerate(rotated(range(effects), AT_A_TIME), 1):
        case = prepared(bench, what, number)
        assert case.killed(last) is None
        happened = case.happened
        changed_by_others(case)
        lapse_leases(bench.stores.database)
        for _ in range(2):  # what the next run of any table does first
            publish(bench.catalog, [], run_id=new_run_id())
        assert bench.catalog.unsettled_changes() == ()
        assert case.told() == happened, (what, last)
        undone = happened and what == "rollback"
        assert case.states() == ["held" if undone else "taken"], (what, last)
        assert bench.rows(case.table) == ([1, 9] if undone else [1, 2, 9])
        if not happened:  # and once more, to the end
            case.finished()
            assert case.happened
            assert case.told() == 1
