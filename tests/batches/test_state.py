"""The state of batches is what the ancestors of a branch say: compared with a plain dictionary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.batches.changes import decide_batches
from lakebed.batches.finding import FoundBatch
from lakebed.batches.sidecars import (
    read_checkpoint,
    read_file_list,
    write_checkpoint,
    write_file_list,
)
from lakebed.batches.state import (
    BATCH,
    CHECKPOINT,
    BatchState,
    BatchStates,
    batch_summary,
    checkpoint_property,
    fold,
    oldest_kept,
    sidecar_paths,
)
from lakebed.errors import BadFiles
from lakebed.ports import FileInfo, Snapshot, SnapshotRef, TableMetadata
from lakebed.testing import MemoryFiles

START = datetime(2026, 1, 1, tzinfo=UTC)
FOLDER = "shop/warehouse/bronze/income"


@dataclass(frozen=True)
class Commit:
    """What one commit did: a batch, a compaction, or somebody else's rows."""

    kind: str
    label: str = ""
    digest: str = ""


COMMITS = st.lists(
    st.builds(
        Commit,
        st.sampled_from(["batch", "batch", "batch", "replace", "foreign", "empty"]),
        st.sampled_from(["y=1", "y=2", "y=3"]),
        st.sampled_from(["", "d1", "d2"]),
    ),
    max_size=12,
)


def summary(commit: Commit) -> dict[str, str]:
    if commit.kind == "batch":
        state = BatchState(commit.label, commit.digest, "c", file_list=f"{FOLDER}/{commit.digest}")
        return {BATCH: batch_summary(state), "added-records": "5"}
    return {"added-data-files": "1"} if commit.kind in {"foreign", "replace"} else {}


def table(commits: Sequence[Commit], **options: object) -> TableMetadata:
    snapshots = {
        number: Snapshot(
            number,
            number - 1 or None,
            START + timedelta(hours=number),
            "replace" if commit.kind == "replace" else "overwrite",
            summary(commit),
        )
        for number, commit in enumerate(commits, start=1)
    }
    refs = {"main": SnapshotRef("main", len(commits), "branch")} if commits else {}
    plain = TableMetadata("u", "/l", 2, START, (), (), (), {}, snapshots, refs)
    return replace(plain, **options)  # type: ignore[arg-type]


def expected(commits: Sequence[Commit]) -> dict[str, str]:
    """The oracle: the last commit of each batch counts; one without files removes it."""
    known: dict[str, str] = {}
    for commit in commits:
        if commit.kind == "batch":
            known[commit.label] = commit.digest
    return {label: digest for label, digest in known.items() if digest}


def digests(states: BatchStates) -> dict[str, str]:
    return {label: state.digest for label, state in states.batches.items()}


@given(COMMITS)
def test_the_last_commit_of_a_batch_is_its_state(commits: list[Commit]) -> None:
    states = fold(table(commits))
    assert digests(states) == expected(commits)
    foreign = [n for n, commit in enumerate(commits, start=1) if commit.kind == "foreign"]
    assert sorted(states.foreign) == foreign
    assert not states.incomplete


@given(COMMITS.filter(bool), st.data())
def test_a_rollback_takes_the_state_back(commits: list[Commit], data: st.DataObject) -> None:
    to = data.draw(st.integers(1, len(commits)))
    rolled = table(commits, refs={"main": SnapshotRef("main", to, "branch")})
    assert digests(fold(rolled)) == expected(commits[:to])


@given(COMMITS.filter(lambda given: len(given) > 1), st.data())
def test_expiry_after_a_checkpoint_forgets_no_batch(
    commits: list[Commit], data: st.DataObject
) -> None:
    """Also after a rollback, and after a second expiry."""
    files, whole = MemoryFiles(), table(commits)
    for _ in range(2):
        ids = sorted(whole.snapshots)
        gone = ids[: data.draw(st.integers(0, len(ids) - 1))]
        at = oldest_kept(whole, gone)
        assert at == (min(set(ids) - set(gone)) if gone else None)
        if at is None:
            continue
        known = _checkpointed(files, whole)
        states = fold(whole, known, at=at)
        checkpoint = write_checkpoint(files, FOLDER, states.batches.values(), at=at)
        kept = {one: snapshot for one, snapshot in whole.snapshots.items() if one not in gone}
        properties = {CHECKPOINT: checkpoint_property(checkpoint)}
        whole = replace(whole, snapshots=kept, properties=properties)
    to = data.draw(st.sampled_from(sorted(whole.snapshots)))
    whole = replace(whole, refs={"main": SnapshotRef("main", to, "branch")})
    states = fold(whole, _checkpointed(files, whole))
    assert digests(states) == expected(commits[:to])
    assert not states.incomplete
    assert {path for path in sidecar_paths(whole) if ".json.gz" in path} <= {
        file.path for file in files.list(FOLDER)
    }


def _checkpointed(files: MemoryFiles, metadata: TableMetadata) -> tuple[BatchState, ...] | None:
    from lakebed.batches.state import checkpoint_of

    found = checkpoint_of(metadata)
    return read_checkpoint(files, found) if found else None


def test_expiry_by_another_tool_is_noticed() -> None:
    whole = table([Commit("batch", "y=1", "d"), Commit("batch", "y=2", "d")])
    left = replace(whole, snapshots={2: whole.snapshots[2]})
    assert fold(left).incomplete
    assert digests(fold(left)) == {"y=2": "d"}
    # PyIceberg removes the parent's id, too
    counts = {**whole.snapshots[2].summary, "total-records": "9"}
    orphaned = replace(whole.snapshots[2], parent=None, summary=counts)
    assert fold(replace(left, snapshots={2: orphaned})).incomplete


def test_summaries_of_others_are_not_mistaken_for_ours() -> None:
    strange = [{BATCH: "x"}, {BATCH: "{}"}, {BATCH: "[]"}, {BATCH: '{"label": "a"}'}]
    snapshots = {
        n: Snapshot(n, n - 1 or None, START, "append", {**told, "added-records": "1"})
        for n, told in enumerate(strange, start=1)
    }
    metadata = table([], snapshots=snapshots, refs={"main": SnapshotRef("main", 4, "branch")})
    assert fold(metadata).batches == {}
    assert fold(metadata).foreign == (4, 3, 2, 1)


def test_equal_lists_are_one_file_and_a_damaged_one_is_refused() -> None:
    files = MemoryFiles()
    listed = [FileInfo(f"in/{n}.json", n, f"e{n}", START) for n in range(3)]
    path = write_file_list(files, FOLDER, listed)
    assert write_file_list(files, FOLDER, listed) == path
    assert list(read_file_list(files, path)) == [(one.path, one.size, one.etag) for one in listed]
    files.write(path, b"cut")
    with pytest.raises(BadFiles, match="not what it was written with"):
        list(read_file_list(files, path))


def found(label: str, digest: str) -> FoundBatch:
    return FoundBatch(label, (label,), 1, 1, digest, START)


STATES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["d1", "d2"]))


@given(STATES, STATES, st.sets(st.sampled_from("abcd")), st.booleans(), st.sampled_from("CD"))
def test_exactly_the_right_batches_run(
    there: dict[str, str], known: dict[str, str], only: set[str], force: bool, config: str
) -> None:
    states = BatchStates({k: BatchState(k, digest, "C") for k, digest in known.items()})
    decision = decide_batches(
        [found(k, digest) for k, digest in there.items()],
        states,
        config=config,
        only=only,
        force=force,
    )
    meant = only or set("abcd")
    new = {label for label in there.keys() & meant if label not in known}
    kept = set(there.keys() & known.keys() & meant)
    changed = {label for label in kept if there[label] != known[label]}
    gone = (known.keys() - there.keys()) & meant
    rest = kept - changed
    again = rest if force or config != "C" else set()
    reasons: dict[str, set[str]] = {}
    for due in decision.due:
        reasons.setdefault(due.reason, set()).add(due.label)
    assert reasons.get("new", set()) == new
    assert reasons.get("changed", set()) == changed
    assert reasons.get("gone", set()) == gone
    assert reasons.get("settings", set()) | reasons.get("forced", set()) == again
    assert decision.unchanged == len(rest - again)
