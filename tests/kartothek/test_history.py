"""Former states that readers can go back to, and commits of ours that another writer undid."""

import json
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import UnknownName, UsageError
from lakebed.kartothek import (
    DatasetOptions,
    collect_garbage,
    load_state,
    plan_read,
    read_partitions,
    read_table,
    store,
    update,
    verify,
    versions,
)
from lakebed.kartothek.history.commit_ids import commit_time, new_commit_id
from lakebed.ports.files.files import Files
from lakebed.testing.files import MemoryFiles
from tests.kartothek.locations import paths

METADATA = "d.by-dataset-metadata.json"


def rows(*values: int) -> Any:
    return pa.table({"x": list(values)})


def kept_dataset(files: Files) -> None:
    store(files, "d", rows(1, 2), options=DatasetOptions(indexed=("x",), keep_days=7))


def values(files: Files, **options: Any) -> list[int]:
    return sorted(read_table(files, "d", **options)["x"].to_pylist())


def test_a_kept_state_whose_files_are_gone_is_named() -> None:
    files = MemoryFiles()
    kept_dataset(files)
    former = load_state(files, "d")
    update(files, "d", rows(3), delete_scope=[{"x": 1}, {"x": 2}])
    assert verify(files, "d", full=True) == ()
    (gone,) = [path for path in former.files if "/table/" in path]
    files.delete(gone)  # plateau's garbage collection does not know kept states
    (found,) = verify(files, "d")
    assert (found.level, gone in found.what) == ("problem", True)


def test_a_former_state_can_be_read_by_its_version_and_by_its_time() -> None:
    files = MemoryFiles()
    kept_dataset(files)
    update(files, "d", rows(3), delete_scope=[{"x": 1}])
    update(files, "d", rows(4))
    first, second, last = versions(files, "d")
    assert (first.partitions, second.partitions, last.partitions) == (1, 2, 3)
    assert (first.until, last.until) == (second.since, None)
    assert values(files, at=first.version) == [1, 2]
    assert values(files, at=first.version, predicates=[[("x", "==", 1)]]) == [1]
    assert values(files, at=second.since) == [2, 3]
    assert values(files, at=second.since.isoformat()) == [2, 3]
    assert values(files, at="2999-01-01") == [2, 3, 4]
    with pytest.raises(UnknownName):
        values(files, at=f"{first.version}x")
    with pytest.raises(UsageError, match="is kept"):
        values(files, at="2000-01-01")


def test_a_long_reader_survives_garbage_collection_of_what_it_planned_with() -> None:
    files = MemoryFiles()
    kept_dataset(files)
    plan = plan_read(files, "d", predicates=[[("x", "==", 1)]])
    update(files, "d", rows(3), delete_scope=[{"x": 1}])
    collect_garbage(files, "d", older_than=timedelta(0))
    assert [one["x"].to_pylist() for one in read_partitions(files, plan)] == [[1]]
    assert values(files, at=versions(files, "d")[0].version) == [1, 2]
    assert verify(files, "d", full=True) == ()


def test_states_are_removed_once_they_have_been_superseded_for_long_enough() -> None:
    files = MemoryFiles()
    kept_dataset(files)
    update(files, "d", rows(3), delete_scope=[{"x": 1}])
    update(files, "d", metadata={"lakebed.keep_days": "0"})
    update(files, "d", rows(5))
    collect_garbage(files, "d", older_than=timedelta(0))
    assert len(versions(files, "d")) == 1
    needed = load_state(files, "d").needed
    left = paths(files) - needed - {METADATA, "d/table/_common_metadata"}
    assert {path.rpartition("/")[0] for path in left} == {"d/lakebed/commits"}
    assert values(files) == [2, 3, 5]


def test_a_dataset_that_was_not_asked_to_keeps_no_states() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1))
    update(files, "d", rows(2))
    assert [one.partitions for one in versions(files, "d")] == [2]
    assert not [path for path in paths(files) if "/states/" in path]


def test_ids_of_commits_are_in_the_order_of_time_and_tell_it() -> None:
    ids = [new_commit_id() for _ in range(50)]
    times = [commit_time(id) for id in ids]
    assert [id[:15] for id in ids] == sorted(id[:15] for id in ids)
    assert None not in times
    assert commit_time("0" * 32) is None


def as_plateau_writes(files: Files, state: bytes, **changes: Any) -> None:
    """Replace the metadata file without looking, and drop what plateau does not know."""
    document = json.loads(state)
    document.pop("lakebed")
    files.write(METADATA, json.dumps({**document, **changes}).encode())


def test_a_commit_that_plateau_undid_is_reported_also_after_our_next_one() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1), options=DatasetOptions(indexed=("x",)))
    update(files, "d", rows(2))
    before = files.read(METADATA)
    update(files, "d", rows(3))
    assert [one.level for one in verify(files, "d")] == ["info"]
    as_plateau_writes(files, before)
    assert values(files) == [1, 2]
    assert [one.level for one in verify(files, "d")] == ["warning", "info"]
    assert "is not in the dataset any more" in verify(files, "d")[0].what
    update(files, "d", rows(4))
    assert verify(files, "d")[0].level == "warning"


def test_every_commit_that_plateau_undid_is_reported_also_after_our_next_ones() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1))
    update(files, "d", rows(2))
    before = files.read(METADATA)
    update(files, "d", rows(3))
    update(files, "d", rows(4), delete_scope=[{"x": 3}])
    update(files, "d", delete_scope=[{"x": 1}])
    collect_garbage(files, "d", older_than=timedelta(0))
    as_plateau_writes(files, before)
    assert [one.level for one in verify(files, "d")].count("warning") == 3
    update(files, "d", rows(5))
    update(files, "d", rows(6))
    warnings = [one.what for one in verify(files, "d") if one.level == "warning"]
    assert len(set(warnings)) == len(warnings) == 3
    as_plateau_writes(files, files.read(METADATA))
    assert [one.what for one in verify(files, "d") if one.level == "warning"] == warnings


@pytest.mark.parametrize("seed", range(8))
def test_exactly_the_commits_that_plateau_undid_are_reported(seed: int) -> None:
    """plateau goes back to a random former state; each commit since then adds and may remove."""
    chance, files = random.Random(seed), MemoryFiles()
    store(files, "d", rows(0))
    states = [files.read(METADATA)]
    for number in range(1, 9):
        present = values(files)
        scope = [{"x": chance.choice(present)}] if present and chance.random() < 0.4 else []
        update(files, "d", rows(number), delete_scope=scope)
        states.append(files.read(METADATA))
    back_to = chance.randrange(len(states))
    as_plateau_writes(files, states[back_to])
    warnings = [one for one in verify(files, "d") if "is not in the dataset any more" in one.what]
    assert len(warnings) == len(states) - 1 - back_to


def test_notes_are_kept_of_the_last_commits_only() -> None:
    files = MemoryFiles()
    store(files, "d", rows(0))
    for number in range(1, 30):
        update(files, "d", rows(number))
    assert len([path for path in paths(files) if "/lakebed/commits/" in path]) == 20


def test_a_creation_that_plateau_undid_is_reported() -> None:
    files, theirs = MemoryFiles(), MemoryFiles()
    store(theirs, "d", rows(7))
    store(files, "d", rows(1))
    as_plateau_writes(files, theirs.read(METADATA))
    for info in theirs.list("d"):
        files.write(info.path, theirs.read(info.path))
    assert values(files) == [7]
    assert [one.level for one in verify(files, "d")] == ["warning", "info"]
    assert "as we created it" in verify(files, "d")[0].what


def test_rows_that_come_back_show_that_their_removal_was_undone() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1))
    before = files.read(METADATA)
    update(files, "d", delete_scope=[{"x": 1}])
    as_plateau_writes(files, before)
    assert verify(files, "d")[0].level == "warning"


def test_a_commit_of_plateau_on_top_of_ours_is_no_finding() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1))
    update(files, "d", rows(2))
    as_plateau_writes(files, files.read(METADATA))
    assert verify(files, "d") == ()
    update(files, "d", rows(3))
    assert verify(files, "d") == ()


def test_the_noun_keeps_lists_and_queries_former_states(tmp_path: Path) -> None:
    datasets = lakebed.open_datasets({})
    files, address = datasets.files(str(tmp_path)), f"{tmp_path}/d"
    store(files, "d", rows(1))
    datasets.keep(address, days=2)
    update(files, "d", rows(2))
    former = datasets.versions(address)[-2].version
    with datasets.query(address, "SELECT * FROM d", at=former) as result:
        assert list(result) == [(1,)]
    assert datasets.read(address, at=former)["x"].to_pylist() == [1]
    with pytest.raises(UsageError):
        datasets.keep(address, days=-1)
