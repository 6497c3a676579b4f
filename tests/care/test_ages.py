"""Ages count from the day a snapshot was superseded; what a ref, a run or a reader needs never
goes.
"""

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from lakebed.care.ages import expirable, let_go, needed
from lakebed.names import TableName
from lakebed.ports import MAIN, Event, RecordedEvent, SnapshotProtection
from lakebed.settings import TableCare
from lakebed.tables import superseded
from tests.support.lakes.care_histories import HOUR, START, History
from tests.support.scale import SCALE

DAY = 24 * HOUR
ORDERS = TableName("shop", "silver", "orders")


def protections(snapshots: Iterable[int]) -> list[SnapshotProtection]:
    return [SnapshotProtection("reader", ORDERS, one) for one in snapshots]


def gone(
    history: History,
    *,
    days: float = 7,
    later: timedelta = timedelta(),
    kept: tuple[int, ...] = (),
    least: int = 1,
) -> set[int]:
    rules = TableCare(snapshot_max_age_days=days, min_snapshots_to_keep=least)
    return set(
        expirable(
            history.metadata,
            rules,
            kept=protections(kept),
            released=history.released,
            now=history.now + later,
        )
    )


def test_age_counts_from_being_superseded_not_from_being_written() -> None:
    history = History()
    history.commit()
    history.pass_(24 * 100)  # a long-quiet table
    history.commit()
    assert gone(history, later=6 * DAY) == set()
    assert gone(history, later=8 * DAY) == {1}


def test_a_state_that_main_came_back_to_counts_from_when_it_was_left_last() -> None:
    history = History()
    history.commit()
    history.commit()
    history.pass_(24 * 20)
    history.roll_back(1)
    history.commit()
    assert superseded(history.metadata, {})[1] == history.now
    assert gone(history, later=8 * DAY) == {1, 2}


def test_what_a_rollback_undid_is_kept_as_long_as_anything_superseded() -> None:
    history = History()
    history.commit()
    history.commit()
    history.pass_(24 * 50)
    history.roll_back(1)
    assert gone(history, later=6 * DAY) == set()
    assert gone(history, later=8 * DAY) == {2}


def test_a_step_of_a_published_branch_counts_from_the_publishing() -> None:
    history = History()
    history.commit()
    first = history.commit("run_x")
    history.pass_(24 * 30)
    history.commit("run_x")
    history.publish("run_x")
    assert superseded(history.metadata, {})[first] == history.now
    assert gone(history, later=6 * DAY) == set()
    assert gone(history, later=8 * DAY) == {1, first}


@pytest.mark.parametrize("days", [0.01, 0.5, 0.99])
def test_nothing_younger_than_a_day_goes_whatever_is_asked(days: float) -> None:
    history = History()
    history.commit()
    history.commit()
    rules = TableCare.model_construct(snapshot_max_age_days=days, min_snapshots_to_keep=1)
    at = history.now + timedelta(hours=23)
    assert expirable(history.metadata, rules, kept=(), released={}, now=at) == ()
    assert expirable(history.metadata, rules, kept=(), released={}, now=at + 2 * HOUR) == (1,)


def test_heads_of_tags_and_branches_stay_and_so_does_what_only_a_branch_has() -> None:
    history = History()
    for _ in range(3):
        history.commit()
    history.tag("v1", 1)
    branch = [history.commit("dev") for _ in range(3)]
    for _ in range(2):
        history.commit()
    assert gone(history, later=100 * DAY) == {2, 3, 7}
    assert set(branch) <= needed(history.metadata, least=1)


def test_a_tag_that_was_taken_away_counts_from_then() -> None:
    history = History()
    history.commit()
    history.tag("v1", 1)
    history.commit()
    history.pass_(24 * 100)
    assert gone(history) == set()
    history.let_go("v1")
    assert gone(history, later=6 * DAY) == set()
    assert gone(history, later=8 * DAY) == {1}


def test_all_of_a_removed_branch_counts_from_its_removal() -> None:
    history = History()
    history.commit()
    branch = {history.commit("dev"), history.commit("dev")}
    history.pass_(24 * 100)
    history.let_go("dev")
    assert gone(history, later=6 * DAY) == set()
    assert gone(history, later=8 * DAY) == branch


def test_a_table_whose_files_are_not_its_own_is_left_alone() -> None:
    history = History()
    history.commit()
    history.commit()
    theirs = replace(history.metadata, properties={"gc.enabled": "false"})
    assert expirable(theirs, TableCare(), kept=(), released={}, now=history.now + 99 * DAY) == ()


def test_what_a_run_reads_or_somebody_holds_stays() -> None:
    history = History()
    for _ in range(4):
        history.commit()
    assert gone(history, later=30 * DAY, kept=(2,)) == {1, 3}


@pytest.mark.parametrize(("least", "stays"), [(1, {5}), (2, {4, 5}), (9, {1, 2, 3, 4, 5})])
def test_the_newest_states_of_main_stay(least: int, stays: set[int]) -> None:
    history = History()
    for _ in range(5):
        history.commit()
    assert gone(history, later=99 * DAY, least=least) == {1, 2, 3, 4, 5} - stays


def test_a_table_without_main_loses_nothing_that_its_branch_has() -> None:
    history = History()
    history.commit("run_x")
    history.commit("run_x")
    assert gone(history, later=99 * DAY) == set()


def test_events_say_when_refs_let_go_by_snapshot_and_not_by_name() -> None:
    noted = [
        RecordedEvent(1, START, Event("untagged", ORDERS, 5)),
        RecordedEvent(2, START + DAY, Event("untagged", TableName("shop", "gold", "renamed"), 5)),
        RecordedEvent(3, START, Event("rolled_back", ORDERS, 1, {"from": "9"})),
    ]
    assert let_go(noted) == {5: START + DAY, 1: START, 9: START}


def random_history(seed: int) -> History:
    dice, history = random.Random(seed), History()
    history.commit()
    for _ in range(dice.randrange(3, 25)):
        branches = [name for name in history.refs if name.startswith("b")]
        tags = [name for name in history.refs if name.startswith("t")]
        what = dice.choice(
            ["commit", "commit", "branch", "publish", "tag", "let go", "roll back", "wait"]
        )
        if what == "commit":
            history.commit()
        elif what == "branch":
            history.commit(dice.choice([*branches, f"b{len(history.snapshots)}"]))
        elif what == "publish" and branches:
            name = dice.choice(branches)
            if history.is_ancestor(history.refs[MAIN].snapshot, history.refs[name].snapshot):
                history.publish(name)
        elif what == "tag":
            history.tag(f"t{len(history.snapshots)}", dice.choice(list(history.snapshots)))
        elif what == "let go" and (branches or tags):
            history.let_go(dice.choice([*branches, *tags]))
        elif what == "roll back":
            history.roll_back(dice.choice(list(history.snapshots)))
        history.pass_(dice.choice([1, 5, 50]))
    return history


@pytest.mark.parametrize("seed", range(300 * SCALE))
def test_ages_are_what_the_definition_says(seed: int) -> None:
    history = random_history(seed)
    found = superseded(history.metadata, history.released)
    passed = history.snapshots.keys() - {
        history.refs[MAIN].snapshot
    }  # what readers see now has no such time
    assert {id: found[id] for id in passed} == {id: history.superseded(id) for id in passed}
    for later in (timedelta(hours=20), timedelta(days=2), timedelta(days=30)):
        went = gone(history, days=1, later=later)
        assert not went & {ref.snapshot for ref in history.refs.values()}
        assert all(history.now + later - history.superseded(id) > DAY for id in went)
