"""Indices in segments: an append writes its own values only, and answers stay the same."""

import json
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.kartothek import (
    DatasetOptions,
    build_indices,
    collect_garbage,
    copy,
    load_state,
    plan_groups,
    plan_read,
    read_table,
    store,
    update,
    verify,
    write_rows,
)
from lakebed.kartothek.writing import index_update
from lakebed.testing.files import MemoryFiles
from tests.kartothek.locations import CountedFiles, paths
from tests.support.scale import SCALE

SEGMENTED = DatasetOptions(indexed=("x",), index_segments=True)
METADATA = "d.by-dataset-metadata.json"


def rows(*values: int) -> Any:
    return pa.table({"x": list(values), "y": [str(value) for value in values]})


def found(files: Any, value: int) -> list[int]:
    return list(read_table(files, "d", predicates=[[("x", "==", value)]])["x"].to_pylist())


def segments(files: Any) -> tuple[str, ...]:
    return tuple(load_state(files, "d").segments["x"])


STEP = st.tuples(st.lists(st.integers(0, 5), max_size=4), st.lists(st.integers(0, 5), max_size=2))


@settings(max_examples=15 * SCALE, deadline=None)
@given(st.lists(STEP, max_size=20), st.integers(2, 16))
def test_a_segmented_index_finds_what_a_whole_one_finds(
    steps: list[tuple[list[int], list[int]]], most: int
) -> None:
    with patch.object(index_update, "_SEGMENTS", most), patch.object(index_update, "_LARGE", 1):
        _require_same_answers(steps)


def _require_same_answers(steps: list[tuple[list[int], list[int]]]) -> None:
    files = MemoryFiles()
    store(files, "d", rows(1, 2, 3), options=SEGMENTED)
    oracle = [1, 2, 3]
    for added, removed in steps:
        scope = [{"x": value} for value in removed]
        update(files, "d", rows(*added) if added else (), delete_scope=scope)
        oracle = [*(value for value in oracle if value not in removed), *added]
        for value in range(6):
            assert sorted(found(files, value)) == [one for one in sorted(oracle) if one == value]
    assert not [one for one in verify(files, "d", full=True) if one.level == "problem"]
    groups = {values["x"] for values, _ in plan_groups(files, "d", ["x"])}
    assert groups == set(oracle)


def test_an_append_writes_its_own_values_and_segments_are_merged_before_they_are_many() -> None:
    files = MemoryFiles()
    store(files, "d", rows(*range(50_000)), options=SEGMENTED)
    large = segments(files)[0]
    first = files.info(large).size
    lengths = list[int]()
    for value in range(40):
        counted = CountedFiles(files)
        update(counted, "d", rows(100_000 + value))
        lengths.append(len(segments(files)))
        assert value or counted.read_bytes < first / 2
        assert value or files.info(segments(files)[-1]).size < first / 10
    assert max(lengths) == 16
    assert min(lengths[14:]) == 2  # the large one stays, the small ones are merged
    assert segments(files)[0] == large
    assert found(files, 100_007) == [100_007]
    assert len(plan_read(files, "d", predicates=[[("x", "==", 7)]]).partitions) == 1
    collect_garbage(files, "d", older_than=timedelta(0))
    assert set(segments(files)) <= paths(files)
    assert found(files, 7) == [7]


def test_an_append_reads_the_state_once_and_again_only_if_others_changed_it() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1), options=SEGMENTED)
    counted = CountedFiles(files)
    update(counted, "d", rows(2))
    assert counted.calls["read"] == 2  # the state, and one segment for its type

    def overtaken(*arguments: Any, **options: Any) -> Any:
        update(files, "d", rows(4))
        return write_rows(*arguments, **options)

    update(files, "d", rows(3), write=overtaken)
    assert [found(files, value) for value in (2, 3, 4)] == [[2], [3], [4]]


def test_plateau_sees_no_index_and_after_its_commit_rows_are_still_found() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1, 2), options=SEGMENTED)
    document = json.loads(files.read(METADATA))
    assert document["indices"] == {}
    document.pop("lakebed")
    files.write(METADATA, json.dumps(document).encode())
    assert found(files, 2) == [2]
    assert any("are lost" in one.what for one in verify(files, "d"))
    build_indices(files, "d", ["x"])
    update(files, "d", rows(3))
    assert len(segments(files)) == 2
    assert found(files, 3) == [3]


def test_a_dataset_can_change_from_whole_indices_to_segments_and_back() -> None:
    files = MemoryFiles()
    store(files, "d", rows(1, 2), options=DatasetOptions(indexed=("x",)))
    update(files, "d", rows(3), metadata={"lakebed.index_segments": "true"})
    update(files, "d", rows(4))
    assert [found(files, value) for value in (1, 3, 4)] == [[1], [3], [4]]
    assert len(segments(files)) == 2
    update(files, "d", delete_scope=[{"x": 1}], rows=())
    assert len(segments(files)) == 3  # 2 was written again without 1
    update(files, "d", rows(5), metadata={"lakebed.index_segments": "false"})
    state = load_state(files, "d")
    assert (list(state.indices), state.segments) == (["x"], {})
    assert [found(files, value) for value in (1, 2, 5)] == [[], [2], [5]]


def test_a_copy_has_segments_of_its_own_and_a_missing_one_is_named() -> None:
    files, other = MemoryFiles(), MemoryFiles()
    store(files, "d", rows(1, 2), options=SEGMENTED)
    copy(files, "d", to=other, as_uuid="e")
    assert load_state(other, "e").segments["x"][0].startswith("e/indices/")
    files.delete(segments(files)[0])
    assert "missing" in verify(files, "d")[0].what


def test_a_field_outside_the_rows_keeps_its_value_when_a_partition_is_written_again() -> None:
    files = MemoryFiles()
    options = DatasetOptions(indexed=("day",), index_segments=True)
    store(files, "d", rows(1, 2), fields={"day": 7}, options=options)
    update(files, "d", delete_scope=[{"x": 1}])
    assert read_table(files, "d", predicates=[[("day", "==", 7)]])["x"].to_pylist() == [2]
