"""Gaps: batches that a table has lost, and who removed them; against a plain list of commits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lakebed.batches.gaps import deletion_notes, find_gaps, gap_warnings
from lakebed.batches.state import (
    BATCH,
    CHECKPOINT,
    OTHERS,
    BatchState,
    Checkpoint,
    batch_summary,
    checkpoint_property,
    fold,
)
from lakebed.ports import Snapshot, SnapshotRef, TableMetadata

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 5
LABELS = ("y=1", "y=2")


@dataclass(frozen=True)
class Commit:
    """A batch that is written, or rows of one batch that somebody removes or adds."""

    label: str
    kind: str  # write, delete, insert
    by_us: bool = False


COMMITS = st.lists(
    st.builds(
        Commit,
        st.sampled_from(LABELS),
        st.sampled_from(["write", "write", "delete", "insert"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=10,
)


def contents(commits: Sequence[Commit]) -> list[frozenset[str]]:
    """The batches that have rows after each commit, and before the first."""
    present: set[str] = set()
    found = [frozenset(present)]
    for commit in commits:
        (present.discard if commit.kind == "delete" else present.add)(commit.label)
        found.append(frozenset(present))
    return found


def history(commits: Sequence[Commit]) -> TableMetadata:
    """Snapshots 1, 2, … of these commits."""
    present = contents(commits)
    snapshots = {}
    for number, commit in enumerate(commits, start=1):
        summary = {"total-records": str(ROWS * len(present[number]))}
        if commit.kind == "write":
            state = BatchState(commit.label, "d", "c")
            summary |= {BATCH: batch_summary(state), "added-records": str(ROWS)}
        else:
            count = "deleted-records" if commit.kind == "delete" else "added-records"
            summary |= {count: str(ROWS)}
        at = START + timedelta(hours=number)
        snapshots[number] = Snapshot(number, number - 1 or None, at, "overwrite", summary)
    refs = {"main": SnapshotRef("main", len(commits), "branch")}
    return TableMetadata("u", "/l", 2, START, (), (), (), {}, snapshots, refs)


def looks(commits: Sequence[Commit]) -> dict[str, Any]:
    """What files and records tell about these commits."""
    present = contents(commits)
    return {
        "labels_at": present.__getitem__,
        "publisher": lambda number: f"run-{number}" if commits[number - 1].by_us else "",
    }


def expected(commits: Sequence[Commit]) -> dict[str, str]:
    """The oracle: batches that were written and have no row now, with the last that removed any."""
    present = contents(commits)
    written = {commit.label for commit in commits if commit.kind == "write"}
    lost: dict[str, str] = {}
    for number, commit in enumerate(commits, start=1):
        if commit.kind == "delete" and commit.label in present[number - 1]:
            lost[commit.label] = f"run-{number}" if commit.by_us else OTHERS
    return {label: lost[label] for label in written - present[-1]}


@given(COMMITS)
def test_every_batch_that_is_lost_is_found_with_who_removed_it(commits: list[Commit]) -> None:
    metadata = history(commits)
    gaps = find_gaps(fold(metadata), metadata, len(commits), **looks(commits))
    assert {gap.label: gap.removed_by for gap in gaps} == expected(commits)
    assert all(gap.is_meant == (gap.removed_by != OTHERS) for gap in gaps)


@given(COMMITS, st.data())
def test_a_gap_is_known_after_the_snapshots_that_made_it_have_expired(
    commits: list[Commit], data: st.DataObject
) -> None:
    metadata = history(commits)
    oldest = data.draw(st.integers(1, len(commits)))
    states = fold(metadata, at=oldest)
    gaps = find_gaps(states, metadata, oldest, **looks(commits))
    removed = {gap.label: gap.removed_by for gap in gaps}
    kept = [
        replace(state, removed_by=removed.get(state.label, "")) for state in states.batches.values()
    ]
    left = {id_: one for id_, one in metadata.snapshots.items() if id_ >= oldest}
    properties = {CHECKPOINT: checkpoint_property(Checkpoint(oldest, "list"))}
    expired = replace(metadata, snapshots=left, properties=properties)
    found = find_gaps(fold(expired, kept), expired, len(commits), **looks(commits))
    assert {gap.label: gap.removed_by for gap in found} == expected(commits)


def test_no_file_is_looked_at_while_every_row_is_accounted_for() -> None:
    metadata = history([Commit("y=1", "write"), Commit("y=2", "write")])

    def looked(snapshot: int) -> frozenset[str]:
        raise AssertionError(snapshot)

    assert find_gaps(fold(metadata), metadata, 2, labels_at=looked, publisher=str) == ()


def test_files_that_do_not_tell_batches_apart_make_no_gap() -> None:
    metadata = history([Commit("y=1", "write"), Commit("y=1", "delete")])
    assert find_gaps(fold(metadata), metadata, 2, labels_at=lambda _: None, publisher=str) == ()


def test_what_others_removed_is_a_warning_and_a_deletion_of_ours_a_note() -> None:
    commits = [
        *(Commit(label, "write") for label in LABELS),
        Commit("y=1", "delete"),
        Commit("y=2", "delete", by_us=True),
    ]
    metadata = history(commits)
    gaps = find_gaps(fold(metadata), metadata, 4, **looks(commits))
    (warning,) = gap_warnings(gaps, due=())
    assert "batch y=1 is missing" in warning
    assert "--repair-gaps" in warning
    (note,) = deletion_notes(gaps, due=())
    assert "batch y=2 was deleted" in note
    assert list(gap_warnings(gaps, due=LABELS)) == list(deletion_notes(gaps, due=LABELS)) == []
