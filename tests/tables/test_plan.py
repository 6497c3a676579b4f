"""Plans of publications and settlements: decided from metadata alone."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import ColumnsChanged, Diverged, TableDropped, UnknownName
from lakebed.names import TableName
from lakebed.ports import Column, Publication, RefMove, Snapshot, SnapshotRef, TableMetadata
from lakebed.tables import (
    PublishRequest,
    Settlement,
    can_rebase,
    plan_publication,
    plan_settlement,
)

NOW = datetime(2026, 11, 15, tzinfo=UTC)
A, B = TableName.parse("shop.silver.a"), TableName.parse("shop.silver.b")


def table(parents: dict[int, int | None], **refs: int) -> TableMetadata:
    """Metadata with these snapshots, each with its parent, and these refs."""
    snapshots = {
        number: Snapshot(number, parent, NOW, "append", {}) for number, parent in parents.items()
    }
    named = {name: SnapshotRef(name, number, "branch") for name, number in refs.items()}
    return TableMetadata("u", "l", 2, NOW, (), (), (), {}, snapshots, named)


LINE = {1: None, 2: 1, 3: 2}
ID, NOTE = Column("id", "int", required=False, id=1), Column("note", "string", required=False, id=2)


def test_moves_are_in_the_order_of_names() -> None:
    tables = {A: table(LINE, main=1, run=3), B: table(LINE, main=2, run=3)}
    plan = plan_publication("r", [PublishRequest(B, "run"), PublishRequest(A, "run")], tables)
    assert plan.moves == (RefMove(A, "run", to=3, base=1), RefMove(B, "run", to=3, base=2))


def test_a_table_without_main_gets_one() -> None:
    assert (
        plan_publication("r", [PublishRequest(A, "run")], {A: table(LINE, run=3)}).moves[0].base
        is None
    )


def test_another_ref_than_main_can_be_published() -> None:
    plan = plan_publication(
        "r", [PublishRequest(A, "run", ref="dev")], {A: table(LINE, main=1, dev=2, run=3)}
    )
    assert plan.moves == (RefMove(A, "run", to=3, base=2, ref="dev"),)


def test_a_branch_beside_main_is_refused() -> None:
    with pytest.raises(Diverged):
        plan_publication(
            "r", [PublishRequest(A, "run")], {A: table({1: None, 2: 1, 3: 1}, main=2, run=3)}
        )


@pytest.mark.parametrize("base", [None, 1])
def test_a_ref_that_does_not_stand_any_more_where_the_run_has_read_it_is_refused(
    base: int | None,
) -> None:
    tables = {A: table(LINE, main=2, run=3)}
    with pytest.raises(Diverged):
        plan_publication("r", [PublishRequest(A, "run", base=base)], tables)
    assert plan_publication("r", [PublishRequest(A, "run", base=2)], tables).moves[0].to == 3
    with pytest.raises(Diverged):  # somebody set it back
        plan_publication("r", [PublishRequest(A, "run", base=2)], {A: table(LINE, main=1, run=3)})


def test_unknown_branches_are_refused_with_near_names() -> None:
    with pytest.raises(UnknownName, match="Did you mean run_1"):
        plan_publication("r", [PublishRequest(A, "run_2")], {A: table(LINE, run_1=3)})


def test_a_table_that_is_gone_was_dropped_by_somebody_else() -> None:
    with pytest.raises(TableDropped, match=r"shop\.silver\.b was dropped by another process"):
        plan_publication("r", [PublishRequest(B, "run")], {A: table(LINE, run=3)})


@pytest.mark.parametrize(
    "now",
    [
        (),
        (replace(NOTE, id=3),),  # dropped, and added again
        (replace(NOTE, name="remark"),),
        (replace(NOTE, type="struct<a: int>"),),
    ],
)
def test_rows_are_not_published_without_the_columns_they_were_written_for(
    now: tuple[Column, ...],
) -> None:
    asked = [PublishRequest(A, "run", prepared=(ID, NOTE))]
    present = replace(table(LINE, main=1, run=2), columns=(ID, *now))
    with pytest.raises(ColumnsChanged, match="note"):
        plan_publication("r", asked, {A: present})
    plan_publication("r", [replace(asked[0], unchanged=True)], {A: present})
    others = (replace(ID, doc="described since"), NOTE, replace(NOTE, name="theirs", id=7))
    assert plan_publication("r", asked, {A: replace(present, columns=others)}).moves[0].to == 2


@given(st.lists(st.integers(0, 20), max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_main_moves_only_to_its_own_descendants(choices: list[int], main: int, head: int) -> None:
    parents: dict[int, int | None] = {0: None}
    for number, choice in enumerate(choices, start=1):
        parents[number] = choice % number
    main, head = main % len(parents), head % len(parents)
    ancestors, step = set(), head
    while step is not None:
        ancestors.add(step)
        step = parents[step]  # type: ignore[assignment]
    metadata = table(parents, main=main, run=head)
    if main in ancestors:
        assert plan_publication("r", [PublishRequest(A, "run")], {A: metadata}).moves[0].to == head
    else:
        with pytest.raises(Diverged):
            plan_publication("r", [PublishRequest(A, "run")], {A: metadata})


MOVES = (RefMove(A, "run", to=2, base=1), RefMove(B, "run", to=2, base=1))
DONE, WAITING = table(LINE, main=2), table(LINE, main=1, run=2)
BUILT_UPON, LOST = table(LINE, main=3), table({1: None, 2: 1, 9: 1}, main=9, run=2)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (DONE, DONE, Settlement(whole=True)),
        (DONE, WAITING, Settlement(whole=True, complete=MOVES[1:])),
        (WAITING, WAITING, Settlement(whole=True, complete=MOVES)),
        (BUILT_UPON, WAITING, Settlement(whole=True, complete=MOVES[1:])),
        (DONE, LOST, Settlement(whole=False, undo=MOVES[:1])),
        (WAITING, LOST, Settlement(whole=False)),
        (BUILT_UPON, LOST, Settlement(whole=False, kept=MOVES[:1])),
    ],
)
def test_a_divided_publication_goes_forward_where_it_can_and_back_where_not(
    first: TableMetadata, second: TableMetadata, expected: Settlement
) -> None:
    assert plan_settlement(Publication("r", MOVES), {A: first, B: second}) == expected


def test_a_dropped_table_cannot_be_completed() -> None:
    assert plan_settlement(Publication("r", MOVES), {A: DONE}).undo == MOVES[:1]


APPENDED = Snapshot(2, 1, NOW, "append", {"added-records": "1"}, schema=0)


@pytest.mark.parametrize(
    ("theirs", "now", "possible"),
    [
        (APPENDED, {}, True),
        (replace(APPENDED, operation="overwrite"), {}, False),
        (replace(APPENDED, operation="replace"), {}, False),
        (replace(APPENDED, summary={"added-delete-files": "1"}), {}, False),
        (replace(APPENDED, schema=1), {"schemas": {0: (ID,), 1: (ID, NOTE)}}, False),
        (APPENDED, {"schema": 1}, False),
        (APPENDED, {"spec": 1}, False),
        (APPENDED, {"uuid": "another"}, False),
        (APPENDED, {"format_version": 3}, False),
        (replace(APPENDED, parent=None), {}, False),  # main does not have the base any more
    ],
)
def test_rows_follow_those_of_others_only_if_these_were_appended_to_the_same_columns(
    theirs: Snapshot, now: dict[str, Any], possible: bool
) -> None:
    former = replace(table({1: None}, main=1), columns=(ID,), schemas={0: (ID,)})
    refs = {"main": SnapshotRef("main", 2, "branch")}
    present = replace(former, snapshots={**former.snapshots, 2: theirs}, refs=refs, **now)
    assert can_rebase(former, present, base=1, ref="main") == possible
