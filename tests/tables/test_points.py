"""Which state somebody means, and what setting a table back to it does to the books. Pure."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName, ZoneName
from lakebed.ports import (
    MAIN,
    RUN_ID,
    ConsumedFile,
    Descent,
    FileState,
    FileStateChange,
    SetRef,
    SetSchema,
    Snapshot,
    SnapshotRef,
    TableMetadata,
)
from lakebed.tables import find_point, plan_rollback

ORDERS, ZONE = TableName("shop", "silver", "orders"), ZoneName("shop", "orders")
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def run_id(number: int) -> str:
    """The run that wrote snapshot `number`: begun half an hour before."""
    began = NOON + timedelta(hours=number, minutes=-30)
    return f"{int(began.timestamp() * 1000):012x}{number:020x}"


def a_table(
    *, log: list[int], kept: set[int] | None = None, refs: dict[str, int] | None = None
) -> TableMetadata:
    """Snapshots 1, 2, … hourly, each after the one before; `main` went through `log`; only `kept`
    ones are there still.
    """
    numbers = sorted(kept or set(log) | set((refs or {}).values()))
    snapshots = {
        n: Snapshot(
            n,
            n - 1 if n - 1 in numbers else None,
            NOON + timedelta(hours=n),
            "append",
            {RUN_ID: run_id(n)},
            schema=n,
            sequence=n,
        )
        for n in numbers
    }
    heads = {MAIN: SnapshotRef(MAIN, log[-1], "branch")} | {
        name: SnapshotRef(name, n, "tag") for name, n in (refs or {}).items()
    }
    times = tuple(
        (NOON + timedelta(hours=place + 1), n) for place, n in enumerate(log) if n in numbers
    )
    return TableMetadata("u", "l", 2, NOON, (), (), (), {}, snapshots, heads, snapshot_log=times)


def a_file(number: int, state: FileState = "taken") -> ConsumedFile:
    return ConsumedFile(
        ORDERS, ZONE, f"{ZONE.folder}/{number}.csv", f"e{number}", 1, run_id(number), state
    )


def undoing(*numbers: int, state: FileState) -> FileStateChange:
    return FileStateChange(
        ORDERS, tuple((f"{ZONE.folder}/{number}.csv", run_id(number)) for number in numbers), state
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2", 2),
        ("v1", 1),
        ("main", 3),
        (run_id(2), 2),
        (run_id(2)[:12], 2),
        ("2026-11-01T14:00:00+00:00", 2),
        ("2026-11-01T14:59", 2),
        ("2026-11-01T15:00+01:00", 2),
        ("2027-01-01", 3),
    ],
)
def test_a_state_is_meant_by_snapshot_ref_run_or_time(text: str, found: int) -> None:
    assert find_point(ORDERS, a_table(log=[1, 2, 3], refs={"v1": 1}), text).id == found


def test_a_time_means_what_readers_saw_then_also_after_a_rollback() -> None:
    table = a_table(log=[1, 2, 1, 3], kept={1, 2, 3})
    assert [find_point(ORDERS, table, f"2026-11-01T{hour}:30").id for hour in (13, 14, 15, 16)] == [
        1,
        2,
        1,
        3,
    ]


def test_a_time_is_of_the_lakes_time_zone() -> None:
    table = a_table(log=[1, 2])
    assert find_point(ORDERS, table, "2026-11-01T14:30", timezone="Europe/Amsterdam").id == 1
    assert find_point(ORDERS, table, "2026-11-01T15:30", timezone="Europe/Amsterdam").id == 2


@pytest.mark.parametrize("text", ["1", "2026-11-01T13:30", "2020-01-01"])
def test_what_has_expired_is_refused_and_the_oldest_possible_is_told(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_point(ORDERS, a_table(log=[1, 2, 3], kept={2, 3}), text)
    assert "snapshot 2, of 2026-11-01T14:00:00.000+00:00" in refused.value.next


def gapped(log: list[tuple[int, int]], parents: dict[int, int | None]) -> TableMetadata:
    """`log` is (hour, snapshot); the sequence number of a snapshot is its own."""
    snapshots = {
        n: Snapshot(n, parent, NOON, "append", {}, sequence=n) for n, parent in parents.items()
    }
    times = tuple((NOON + timedelta(hours=hour), n) for hour, n in log)
    heads = {MAIN: SnapshotRef(MAIN, log[-1][1], "branch")}
    return TableMetadata("u", "l", 2, NOON, (), (), (), {}, snapshots, heads, snapshot_log=times)


@pytest.mark.parametrize(
    "table",
    [
        gapped(
            [(1, 1), (2, 2), (3, 3)], {1: None, 3: 2}
        ),  # a log that still names what has expired
        gapped(
            [(1, 1), (3, 3)], {1: None, 3: None}
        ),  # as PyIceberg leaves it: the state, and nothing else, is gone
        gapped(
            [(1, 1), (3, 1)], {1: None}
        ),  # the same after a rollback from the state that has expired
        gapped([(3, 3)], {1: None, 3: 2}),  # as Iceberg leaves it: what was before is told no more
    ],
)
def test_a_moment_whose_state_has_expired_is_refused_instead_of_answered_with_another_state(
    table: TableMetadata,
) -> None:
    head = table.refs[MAIN].snapshot
    with pytest.raises(UsageError, match=r"expired|there is no record") as refused:
        find_point(ORDERS, table, "2026-11-01T14:30")
    assert f"snapshot {head}, of 2026-11-01T15:00:00.000+00:00" in refused.value.next
    assert find_point(ORDERS, table, "2026-11-01T15:30").id == head


@pytest.mark.parametrize(
    "table",
    [
        gapped([(1, 1), (3, 3)], {1: None, 3: 2}),  # 2 was never published: its child was
        gapped([(1, 1), (3, 2)], {1: None, 2: None}),  # CREATE OR REPLACE TABLE
        gapped([(1, 1), (2, 2), (3, 1)], {1: None, 2: 1}),
    ],
)
def test_a_state_that_was_followed_by_the_next_one_stood_until_then(table: TableMetadata) -> None:
    expected = 2 if len(table.snapshot_log) == 3 else 1
    assert find_point(ORDERS, table, "2026-11-01T14:30").id == expected


def test_an_unknown_word_suggests_near_ones() -> None:
    with pytest.raises(UnknownName, match="v_1") as refused:
        find_point(ORDERS, a_table(log=[1], refs={"v1": 1}), "v_1")
    assert "v1" in refused.value.next


def test_files_of_undone_runs_wait_again_or_are_held() -> None:
    table, ledger = a_table(log=[1, 2, 3]), [a_file(1), a_file(2), a_file(3)]
    for files, state in (("requeue", "waiting"), ("exclude", "held")):
        plan = plan_rollback(ORDERS, table, table.snapshots[1], ledger, files=files)  # type: ignore[arg-type]
        assert plan.amendments == (SetRef(MAIN, 1), SetSchema(1))
        assert plan.records.file_states == (undoing(2, 3, state=state),)  # type: ignore[arg-type]
        assert plan.undone == (run_id(2), run_id(3))
        assert plan.files == (tuple(ledger[1:]) if files == "requeue" else ())


def test_nothing_need_be_said_where_undone_runs_took_no_file() -> None:
    table = a_table(log=[1, 2])
    assert (
        plan_rollback(
            ORDERS, table, table.snapshots[1], [a_file(1)], files=None
        ).records.file_states
        == ()
    )
    with pytest.raises(UsageError, match="1 landing files"):
        plan_rollback(ORDERS, table, table.snapshots[1], [a_file(2)], files=None)


def test_the_way_forward_takes_the_files_again() -> None:
    table = a_table(log=[1, 2, 1], kept={1, 2})
    plan = plan_rollback(
        ORDERS, table, table.snapshots[2], [a_file(1), a_file(2, "waiting")], files=None
    )
    assert plan.records.file_states == (undoing(2, state="taken"),)


def test_of_runs_whose_snapshots_have_expired_the_recorded_descent_decides() -> None:
    table = a_table(log=[1, 2, 3, 4], kept={2, 4}, refs={"v2": 2})
    ledger = [a_file(n) for n in (1, 2, 3, 4)]
    line = [Descent("u", n, n - 1 or None, run_id(n)) for n in (1, 2, 3, 4)]
    plan = plan_rollback(ORDERS, table, table.snapshots[2], ledger, line, files="exclude")
    assert plan.records.file_states == (undoing(3, 4, state="held"),)
    # snapshot 3 was undone before 4 was made
    parted = [*line[:3], Descent("u", 4, 2, run_id(4))]
    waits = [a_file(1), a_file(2), a_file(3, "waiting"), a_file(4)]
    plan = plan_rollback(ORDERS, table, table.snapshots[2], waits, parted, files="exclude")
    assert plan.records.file_states == (undoing(4, state="held"),)


def test_a_rollback_past_snapshots_that_expired_without_a_record_is_refused() -> None:
    table = a_table(log=[1, 2, 3, 4, 5], kept={2, 4, 5}, refs={"v2": 2})
    ledger = [a_file(n) for n in (1, 2, 3, 4, 5)]
    with pytest.raises(UsageError, match="2 landing files at that point"):
        plan_rollback(ORDERS, table, table.snapshots[2], ledger, files="exclude")
    plan = plan_rollback(ORDERS, table, table.snapshots[4], ledger, files="exclude")
    assert plan.records.file_states == (undoing(5, state="held"),)


def test_the_file_of_a_run_that_changed_no_row_leaves_with_the_state_that_it_was_compared_with() -> (
    None
):
    table = a_table(log=[1, 2, 3])
    unchanged = replace(a_file(9), snapshot=2)
    ledger = [a_file(1), a_file(2), unchanged, a_file(3)]
    plan = plan_rollback(ORDERS, table, table.snapshots[2], ledger, files="requeue")
    assert plan.files == (ledger[3],)
    plan = plan_rollback(ORDERS, table, table.snapshots[1], ledger, files="requeue")
    assert plan.files == tuple(ledger[1:])


def test_a_state_that_was_never_published_is_refused_unless_it_is_tagged() -> None:
    table = a_table(log=[1, 2], refs={"failed": 3})
    with pytest.raises(UsageError, match="may never have been published"):
        plan_rollback(ORDERS, table, table.snapshots[3], [], files=None)
    assert plan_rollback(ORDERS, table, table.snapshots[3], [], files=None, by_tag=True).to.id == 3


def again(file: ConsumedFile, number: int, state: FileState = "taken") -> ConsumedFile:
    """The same file, taken by another run: a full refresh, or after it had waited."""
    return replace(file, run_id=run_id(number), state=state)


def test_files_whose_rows_are_in_the_restored_state_are_neither_held_nor_read_again() -> None:
    table, one, two = a_table(log=[1, 2]), a_file(1), a_file(2)
    ledger = [one, again(one, 2), two]
    held = plan_rollback(ORDERS, table, table.snapshots[1], ledger, files="exclude")
    assert held.records.file_states == (
        FileStateChange(
            ORDERS, ((one.path, run_id(2)),), "waiting"
        ),  # no word on it: the row of run 1 speaks
        FileStateChange(ORDERS, ((two.path, run_id(2)),), "held"),
    )
    assert plan_rollback(ORDERS, table, table.snapshots[1], ledger, files="requeue").files == (two,)
    assert plan_rollback(ORDERS, table, table.snapshots[1], ledger[:2], files=None).files == ()


def test_the_last_word_on_a_file_counts_whichever_runs_took_it() -> None:
    table, file = a_table(log=[1, 2, 3]), a_file(2)
    rows = [file, again(file, 3, "held")]
    plan = plan_rollback(ORDERS, table, table.snapshots[1], rows, files="requeue")
    assert plan.records.file_states == (
        FileStateChange(ORDERS, ((file.path, run_id(2)), (file.path, run_id(3))), "waiting"),
    )
    assert plan.files == (file,)
