"""What is due, decided from what was read: no store, no JVM."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakebed.care.all_tables import Member, Stock
from lakebed.care.compaction import (
    LEAST,
    HeadFiles,
    judged,
    promising,
    rewrite_files,
    rewrite_manifests,
)
from lakebed.care.plan import plan_care
from lakebed.care.removal.orphans import Orphans
from lakebed.care.removal.removal import Removal
from lakebed.care.services import Reaping, ZoneRules
from lakebed.care.spec import ACTIONS, CareRequest
from lakebed.care.steps import CareStep
from lakebed.care.survey import LakeSurvey, OrphanLook
from lakebed.landing import ZoneSpec
from lakebed.names import TableName, ZoneName, run_time
from lakebed.ports import (
    DroppedTable,
    FileInfo,
    Partition,
    Pointer,
    ReachableFile,
    RunSummary,
    Snapshot,
    SnapshotRef,
    TableMetadata,
)
from lakebed.settings import CareSettings, TableCare

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ORDERS = TableName("shop", "silver", "orders")
RUN, OTHER = "0" * 31 + "1", "0" * 31 + "2"
SETTINGS = CareSettings()


def ago(**parts: float) -> datetime:
    return NOW - timedelta(**parts)


def member(table: TableName = ORDERS, **parts: Any) -> Member:
    snapshots = {1: Snapshot(1, None, ago(hours=7), "append", {})}
    refs = {"main": SnapshotRef("main", 1, "branch"), **parts.pop("refs", {})}
    given = {"snapshots": snapshots, "refs": refs, "updated_at": ago(hours=7), **parts}
    metadata = TableMetadata(
        uuid="u",
        location="file:///t",
        format_version=2,
        columns=(),
        partition_by=(),
        sort_by=(),
        properties={},
        **given,
    )
    return Member(Pointer(table, f"file:///{table}"), metadata)


def seen(*members: Member, **parts: Any) -> LakeSurvey:
    tables = (
        {one.pointer.table for one in members}
        | {run.table for run in parts.get("runs", ())}
        | {ORDERS}
    )
    rules = {table: TableCare() for table in tables} | parts.pop("rules", {})
    return LakeSurvey(
        Stock(members), rules, targets={one.pointer.table: 100 for one in members}, **parts
    )


def plan(
    look: LakeSurvey, settings: CareSettings = SETTINGS, **request: Any
) -> tuple[CareStep, ...]:
    return plan_care(look, CareRequest(**request), settings, now=NOW).steps


def run(
    run_id: str = RUN, *, state: Any = "failed", days: float = 1, table: TableName = ORDERS
) -> RunSummary:
    return RunSummary(run_id, table, state, ago(days=days))


def file(path: str, *, days: float, size: int = 10) -> FileInfo:
    return FileInfo(path, size, "e", ago(days=days))


def test_a_lake_in_which_nothing_is_due_gets_no_step() -> None:
    assert plan(seen()) == ()
    assert plan(seen(member(), runs=(run(state="success"),))) == ()


@pytest.mark.parametrize(("held", "due"), [(frozenset(), 1), (frozenset({ORDERS}), 0)])
def test_a_running_run_is_dead_when_nobody_has_its_table_never_by_its_age(
    held: frozenset[TableName], due: int
) -> None:
    found = plan(
        seen(runs=(run(state="running", days=99), run(OTHER, state="running", days=0)), busy=held)
    )
    assert [step.counts for step in found] == [{"runs": 2}] * due


def branch(run_id: str, hours: float) -> dict[str, Any]:
    snapshots = {
        1: Snapshot(1, None, ago(hours=99), "append", {}),
        2: Snapshot(2, 1, ago(hours=hours), "append", {}),
    }
    return {
        "snapshots": snapshots,
        "refs": {f"run_{run_id}": SnapshotRef(f"run_{run_id}", 2, "branch")},
    }


@pytest.mark.parametrize(
    ("hours", "state", "keep", "due"),
    [
        (5, "failed", 6, 0),
        (7, "failed", 6, 1),
        (7, "running", 6, 0),
        (7, "failed", 12, 0),
        (7, None, 6, 1),
        (99, "success", 6, 1),
    ],
)
def test_branches_of_ended_runs_go_after_their_hours(
    hours: float, state: Any, keep: float, due: int
) -> None:
    runs = (run(state=state),) if state else ()
    look = seen(
        member(**branch(RUN, hours)),
        runs=runs,
        busy=frozenset({ORDERS}),
        rules={ORDERS: TableCare(dead_branch_max_age_hours=keep)},
    )
    found = [step for step in plan(look) if step.action == "remove_branches"]
    assert [step.counts for step in found] == [{"branches": 1}] * due


def test_branches_that_no_run_made_are_left_alone() -> None:
    snapshots = {1: Snapshot(1, None, ago(days=99), "append", {})}
    refs = {name: SnapshotRef(name, 1, "branch") for name in ("dev", "run_1", f"run_{'g' * 32}")}
    assert plan(seen(member(snapshots=snapshots, refs=refs))) == ()


@pytest.mark.parametrize("kind", ["run", "stage", "_run", "_stage"])
@pytest.mark.parametrize(
    ("state", "hours", "due"),
    [("failed", 7, 1), (None, 7, 1), ("running", 99, 0), ("failed", 5, 0)],
)
def test_hidden_tables_of_ended_runs_are_leftovers(
    kind: str, state: Any, hours: float, due: int
) -> None:
    hidden = TableName("shop", "silver", f"{kind}_{RUN}")
    runs = (run(state=state),) if state else ()
    look = seen(member(hidden, updated_at=ago(hours=hours)), runs=runs, busy=frozenset({ORDERS}))
    found = plan(look)
    assert len(found) == due
    assert [step.table for step in found] == [ORDERS if state else hidden] * due


def test_derived_tables_are_nobodys_leftovers() -> None:
    assert (
        plan(seen(member(TableName("shop", "silver", f"_mv_{RUN}"), updated_at=ago(days=99)))) == ()
    )


def test_dropped_tables_go_after_their_days() -> None:
    gone = [
        DroppedTable(str(days), ORDERS, f"file:///{days}", ago(days=days))
        for days in (10, 29, 31, 90)
    ]
    members = [Member(one.pointer, None, one) for one in gone]
    assert [step.dropped.uuid for step in plan(seen(*members))] == ["31", "90"]  # type: ignore[union-attr]
    longer = seen(*members, rules={ORDERS: TableCare(dropped_max_age_days=60)})
    assert [step.dropped.uuid for step in plan(longer)] == ["90"]  # type: ignore[union-attr]


def test_what_was_begun_is_finished_first_of_all_that_removes() -> None:
    removal = Removal("x", "expired", str(ORDERS), "u", (1,), {"a/b/c": 5, "a/b/d": 6})
    old = DroppedTable("d", ORDERS, "file:///d", ago(days=99))
    steps = plan(seen(Member(old.pointer, None, old), removals=(removal,)))
    assert [step.action for step in steps] == ["finish_removal", "purge_dropped"]
    assert (steps[0].counts, steps[0].size) == ({"files": 2}, 11)


def test_steps_come_in_the_order_of_the_actions() -> None:
    look = seen(
        member(**branch(RUN, 99)),
        runs=(run(OTHER, state="running"), run(days=200)),
        logs={"logs": (file("a.log", days=99),)},
        reaping=Reaping({"drafts": 1}),
        oldest_event=ago(days=400),
    )
    found = [ACTIONS.index(step.action) for step in plan(look)]
    assert found == sorted(found)
    assert len(found) == 6


def test_records_go_by_number_and_age_and_the_last_success_stays() -> None:
    runs = [run(f"{number:032}", days=number) for number in range(1, 150)]
    runs[120] = run(f"{121:032}", state="success", days=121)
    (step,) = plan(seen(runs=tuple(runs)))
    assert step.counts == {"runs": 149 - 90 - 1}
    assert f"{121:032}" not in step.runs  # type: ignore[union-attr]
    few = TableCare(runs_max_per_pipeline=10)
    (step,) = plan(seen(runs=tuple(runs[:20]), rules={ORDERS: few}))
    assert step.counts == {"runs": 10}


def test_a_running_run_keeps_its_record() -> None:
    runs = tuple(run(f"{number:032}", state="running", days=400) for number in range(5))
    assert [step.action for step in plan(seen(runs=runs))] == ["close_dead_runs"]


def test_verdicts_beyond_their_number_are_trimmed_unless_the_record_goes_anyway() -> None:
    runs = tuple(run(f"{number:032}", days=number) for number in (1, 2, 95))
    (step,) = plan(seen(runs=runs, judged_runs={ORDERS: (runs[1].run_id, runs[2].run_id)}))
    assert step.counts == {"runs": 1, "verdicts": 1}


def test_logs_go_by_age_but_not_those_of_a_run_that_goes_on() -> None:
    logs = {
        "logs": (
            file(f"runs/{RUN}.log", days=99),
            file("spark.log", days=31, size=7),
            file("new.log", days=29),
        )
    }
    look = seen(runs=(run(state="running"),), busy=frozenset({ORDERS}), logs=logs)
    (step,) = plan(look)
    assert (step.counts, step.size, step.subject) == ({"files": 1}, 7, "logs")
    assert len(plan(look, CareSettings(logs_max_age_days=50))) == 0


@pytest.mark.parametrize(
    ("state", "days", "due"),
    [("failed", 0.5, 0), ("failed", 1.5, 1), ("running", 99, 0), (None, 1.5, 0), (None, 8, 1)],
)
def test_staged_files_of_ended_runs_go_and_unknown_ones_much_later(
    state: Any, days: float, due: int
) -> None:
    runs = (run(state=state),) if state else ()
    look = seen(
        runs=runs, busy=frozenset({ORDERS}), staging={"staging": (file(f"{RUN}/a.csv", days=days),)}
    )
    assert [step.counts for step in plan(look)] == [{"folders": 1}] * due


def test_a_staged_link_to_an_old_file_is_as_young_as_its_run() -> None:
    young = f"{int(ago(hours=3).timestamp() * 1000):012x}{'0' * 20}"
    assert run_time(young) == ago(hours=3)
    assert (
        plan(seen(runs=(run(young),), staging={"staging": (file(f"{young}/a.csv", days=400),)}))
        == ()
    )


@pytest.mark.parametrize(("purge", "days", "due"), [(False, 99, 0), (True, 29, 0), (True, 31, 1)])
def test_processed_files_go_where_the_zone_says_so(purge: bool, days: float, due: int) -> None:
    zone = ZoneRules(ZoneName("shop", "orders"), ZoneSpec(auto_purge=purge), (ORDERS,))
    processed = file("shop/landing/orders/_processed/by-hand/a.csv", days=days)
    assert [step.counts for step in plan(seen(zones=((zone, (processed,)),)))] == [
        {"files": 1}
    ] * due


def test_a_processed_file_counts_from_the_run_that_archived_it() -> None:
    zone = ZoneRules(ZoneName("shop", "orders"), ZoneSpec(auto_purge=True), (ORDERS,))
    young = f"{int(ago(days=3).timestamp() * 1000):012x}{'0' * 20}"
    landed_long_ago = file(f"shop/landing/orders/_processed/{young}/a.csv", days=400)
    assert plan(seen(zones=((zone, (landed_long_ago,)),))) == ()


def test_quarantined_files_stay_unless_the_settings_give_them_a_time() -> None:
    zone, young = ZoneName("shop", "orders"), f"{_milliseconds(days=3):012x}{'0' * 20}"
    folder, old = f"{zone.folder}/_quarantine", f"{_milliseconds(days=40):012x}{'0' * 20}"
    files = (
        file(f"{folder}/{old}/a.csv", days=400),
        file(f"{folder}/{old}/a.csv.reason.json", days=40),
        file(f"{folder}/{young}/landed_long_ago.csv", days=400),
        file(f"{folder}/by-hand/b.csv", days=31),
        file(f"{folder}/by-hand/c.csv", days=29),
        file(f"{folder}/loose.csv", days=31),
    )
    look = seen(quarantine={zone: files})
    assert plan(look) == ()
    (step,) = plan(look, CareSettings(quarantine_max_age_days=30))
    assert (step.action, step.subject) == ("purge_quarantine", "shop.orders")
    assert [one.path for one in step.files] == [  # type: ignore[union-attr]
        f"{folder}/{old}/a.csv",
        f"{folder}/{old}/a.csv.reason.json",
        f"{folder}/loose.csv",
    ]
    alive = seen(quarantine={zone: files}, runs=(run(old, state="running", days=40),))
    kept = plan(alive, CareSettings(quarantine_max_age_days=30))
    assert [one.counts for one in kept if one.action == "purge_quarantine"] == [{"files": 1}]


def _milliseconds(*, days: float) -> int:
    return int(ago(days=days).timestamp() * 1000)


def test_events_go_only_when_there_are_old_ones() -> None:
    assert plan(seen(oldest_event=ago(days=364))) == ()
    assert [step.action for step in plan(seen(oldest_event=ago(days=366)))] == ["purge_events"]
    assert plan(seen(oldest_publication=ago(days=364))) == ()
    late = plan(seen(oldest_event=ago(days=1), oldest_publication=ago(days=366)))
    assert [step.action for step in late] == ["purge_events"]


def test_orphans_are_reported_unless_somebody_says_remove() -> None:
    look = OrphanLook(
        {"shop/warehouse/silver/orders": Orphans(1, 10)},
        {"shop/warehouse/silver/orders": (str(ORDERS),)},
    )
    told: dict[str, dict[str, Any]] = {
        "nothing": {},
        "orphans": {"orphans": True},
        "only": {"only": ("remove_orphans",)},
    }
    first = {name: plan(seen(orphans=look), **options)[0] for name, options in told.items()}
    reports = {name: step.report for name, step in first.items()}  # type: ignore[union-attr]
    assert reports == {"nothing": True, "orphans": False, "only": False}
    assert plan(seen(orphans=look), CareSettings(remove_orphans=True))[0].report is False  # type: ignore[union-attr]


def test_only_what_was_asked_for_is_planned() -> None:
    other = TableName("shop", "gold", "sums")
    look = seen(
        member(**branch(RUN, 99)),
        member(other, **branch(OTHER, 99)),
        logs={"logs": (file("a.log", days=99),)},
        runs=(run(days=200),),
    )
    assert {step.action for step in plan(look)} == {"remove_branches", "purge_runs", "purge_logs"}
    assert {step.action for step in plan(look, only=("purge_logs",))} == {"purge_logs"}
    assert {step.subject for step in plan(look, tables=frozenset({other}))} == {str(other)}


def data(values: tuple[object, ...], *sizes: int, spec: int = 1) -> list[ReachableFile]:
    """Files of one partition, each in a folder of its own."""
    return [
        ReachableFile(f"t/{number}/a.parquet", "data", size, partition=Partition(spec, values))
        for number, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("files", "small"),
    [
        (data((), *[10] * 60), 60),
        (data((), *[74] * 60), 60),
        (data((), *[76] * 60), 0),
        (
            [file for part in range(60) for file in data((part,), 10)],
            0,
        ),  # one a partition: nothing to be joined
        ([file for part in range(12) for file in data((part, None), *[10] * LEAST)], 60),
        # of another spec, one a partition: Iceberg takes them all for one, and NULL for the same
        ([file for part in range(60) for file in data((part,), 10, spec=0)], 60),
        (data((1,), *[10] * 4, spec=0) + data((None, None), 10), 5),
        (data((1,), *[10] * 4, spec=0) + data((1, None), 10), 0),
    ],
)
def test_small_files_count_where_there_are_enough_of_them_together(
    files: list[ReachableFile], small: int
) -> None:
    found = judged(files, target=100, spec=1)
    assert (found.small, found.small_bytes) == (small, small * (files[0].size or 0))


def heads(found: HeadFiles, rules: TableCare | None = None) -> list[str]:
    look = seen(member(), heads={ORDERS: found}, rules={ORDERS: rules or TableCare()})
    return [step.action for step in plan(look)]


def test_a_rewrite_must_be_worth_it() -> None:
    assert heads(HeadFiles(60, 60, 600, 1)) == ["compact_files"]
    assert heads(HeadFiles(60, 49, 490, 1)) == []
    assert heads(HeadFiles(1000, 60, 600, 1)) == []  # of many files, few are small
    assert heads(HeadFiles(1000, 60, 600, 100)) == ["rewrite_manifests"]
    assert heads(HeadFiles(60, 60, 600, 500)) == ["compact_files"]
    assert heads(HeadFiles(10, 10, 100, 1), TableCare(compact_min_files=10)) == ["compact_files"]


def test_the_summary_decides_whether_manifests_are_looked_at() -> None:
    def metadata(files: str | None) -> TableMetadata:
        summary = {} if files is None else {"total-data-files": files}
        found = member(snapshots={1: Snapshot(1, None, NOW, "append", summary)}).metadata
        assert found
        return found

    assert [promising(metadata(files), TableCare()) for files in ("49", "50", None)] == [
        False,
        True,
        True,
    ]
    assert not promising(metadata("999"), TableCare(compact=False))


def test_the_statements_name_any_table() -> None:
    odd = TableName("shop", "silver", "a-b.c")
    text = rewrite_files(odd, target=1024, sort=True, deletes=False)
    assert "table => '`shop`.`silver`.`a-b.c`'" in text
    assert "strategy => 'sort'" in text
    assert "'target-file-size-bytes', '1024'" in text
    assert rewrite_manifests(ORDERS).startswith(
        "CALL lake.system.rewrite_manifests(table => '`shop`.`silver`.`orders`'"
    )
