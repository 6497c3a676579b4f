"""Inverted indices: built, merged, probed by statistics, damaged."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import BadBatch, DamagedDataset
from lakebed.kartothek import (
    DatasetOptions,
    build_indices,
    load_state,
    plan_groups,
    plan_read,
    read_table,
    store,
    update,
    verify,
)
from lakebed.kartothek.indexes.files import IndexFile, index_file
from lakebed.kartothek.indexes.postings import (
    distinct_values,
    index_type,
    merged_index,
)
from lakebed.kartothek.predicates.conditions import parse_predicates
from lakebed.testing.files import MemoryFiles
from tests.kartothek.locations import CountedFiles, paths
from tests.support.scale import SCALE

LABELS = st.sampled_from("abcdef")
CONTENTS = st.dictionaries(LABELS, st.frozensets(st.integers(0, 5)), max_size=5)


def labels_by_value(index: Any) -> dict[Any, list[str]]:
    return dict(zip(index["value"].to_pylist(), index["partition"].to_pylist(), strict=True))


def as_arrays(contents: dict[str, frozenset[int]]) -> dict[str, Any]:
    return {label: pa.array(sorted(values), pa.int64()) for label, values in contents.items()}


def inverted(contents: dict[str, frozenset[int]]) -> dict[int, set[str]]:
    values = {value for found in contents.values() for value in found}
    return {
        value: {label for label, found in contents.items() if value in found}
        for value in sorted(values)
    }


@settings(max_examples=50 * SCALE)
@given(CONTENTS, CONTENTS, st.frozensets(LABELS))
def test_an_index_follows_what_is_added_and_removed(
    first: dict[str, frozenset[int]], added: dict[str, frozenset[int]], removed: frozenset[str]
) -> None:
    new = {label.upper(): values for label, values in added.items()}
    index = merged_index(None, as_arrays(first), type_=pa.int64())
    changed = merged_index(index, as_arrays(new), type_=pa.int64(), removed=removed)
    kept = {label: values for label, values in first.items() if label not in removed}
    found = labels_by_value(changed)
    assert {value: set(labels) for value, labels in found.items()} == inverted({**kept, **new})
    assert list(found) == sorted(found)
    assert all(len(labels) == len(set(labels)) for labels in found.values())


def test_missing_values_are_not_indexed() -> None:
    values = pa.chunked_array([pa.array([1.5, None, float("nan"), 1.5])])
    assert distinct_values(values, pa.float64()).to_pylist() == [1.5]


@pytest.mark.parametrize(
    "type_",
    [pa.list_(pa.int8()), pa.struct([("a", pa.int8())]), pa.decimal128(5), pa.null()],
    ids=str,
)
def test_types_that_plateau_cannot_index_are_refused(type_: Any) -> None:
    with pytest.raises(BadBatch, match="cannot be indexed"):
        index_type(type_, "x")


def test_a_column_with_the_name_that_indices_use_is_refused() -> None:
    with pytest.raises(BadBatch, match="partition"):
        index_type(pa.int8(), "partition")


def test_the_file_has_the_form_that_plateau_reads() -> None:
    index = merged_index(None, as_arrays({"a": frozenset({2, 1})}), type_=pa.int64())
    stored = pq.ParquetFile(io.BytesIO(index_file("item", index)))
    assert stored.schema_arrow.field("item").type == pa.int64()
    assert stored.schema_arrow.field("partition").type == pa.list_(pa.string())
    assert b"ARROW:schema" in stored.metadata.metadata
    assert stored.read().to_pylist() == [
        {"item": 1, "partition": ["a"]},
        {"item": 2, "partition": ["a"]},
    ]


def large_dataset() -> MemoryFiles:
    files = MemoryFiles()
    frames = (pa.table({"id": range(first, first + 10_000)}) for first in range(0, 100_000, 10_000))
    store(files, "d", frames, options=DatasetOptions(indexed=("id",)))
    return files


def test_a_value_is_looked_up_without_loading_the_index() -> None:
    files = large_dataset()
    state = load_state(files, "d")
    counted = CountedFiles(files)
    plan = plan_read(counted, "d", predicates=[[("id", "==", 98_765)]])
    assert len(plan.partitions) == 1
    assert counted.calls["read"] <= 3  # the state, the footer of the index and one row group
    assert set(counted.calls) == {"read"}
    index_bytes = counted.read_bytes - files.info("d.by-dataset-metadata.json").size
    assert index_bytes < state.index_sizes[state.indices["id"]] / 4
    (row,) = read_table(files, "d", predicates=[[("id", "==", 98_765)]]).to_pylist()
    assert row == {"id": 98_765}


def test_planning_takes_the_same_calls_for_any_number_of_partitions() -> None:
    calls = []
    for partitions in (1, 30):
        files = MemoryFiles()
        frames = (pa.table({"k": [n], "x": [n]}) for n in range(partitions))
        store(files, "d", frames, options=DatasetOptions(("k",), ("x",)))
        counted = CountedFiles(files)
        plan_read(counted, "d", predicates=[[("k", "==", 0), ("x", "==", 0)]])
        calls.append(sum(counted.calls.values()))
    assert calls[0] == calls[1] <= 3


def test_several_constraints_intersect_their_indices() -> None:
    files = MemoryFiles()
    frames = [pa.table({"a": [n // 2], "b": [n % 2]}) for n in range(4)]
    store(files, "d", frames, options=DatasetOptions(indexed=("a", "b")))
    assert len(plan_read(files, "d", predicates=[[("a", "==", 1)]]).partitions) == 2
    both = [[("a", "==", 1), ("b", "==", 1)]]
    assert len(plan_read(files, "d", predicates=both).partitions) == 1
    either = [[("a", "==", 1), ("b", "==", 1)], [("a", "==", 0), ("b", "==", 0)]]
    assert len(plan_read(files, "d", predicates=either).partitions) == 2


@pytest.mark.parametrize("operator", ["!=", "is distinct from"])
def test_rows_without_a_value_are_found_though_no_index_knows_them(operator: str) -> None:
    """plateau loses them where the column is indexed."""
    files = MemoryFiles()
    frames = [pa.table({"x": pa.array([1, None], pa.int64())}), pa.table({"x": [2]})]
    store(files, "d", frames, options=DatasetOptions(indexed=("x",)))
    assert read_table(files, "d", predicates=[[("x", operator, 1)]]).num_rows == 2
    assert read_table(files, "d", predicates=[[("x", "==", None)]]).num_rows == 1
    assert read_table(files, "d", predicates=[[("x", "not in", [1])]]).num_rows == 2


def test_an_index_is_built_later_and_again() -> None:
    files = MemoryFiles()
    store(files, "d", [pa.table({"x": [n, n + 1], "y": ["a", "b"]}) for n in range(3)])
    build_indices(files, "d", ["x", "y"])
    assert len(plan_read(files, "d", predicates=[[("x", "==", 3)]]).partitions) == 1
    update(files, "d", pa.table({"x": [9], "y": ["c"]}))
    assert len(plan_read(files, "d", predicates=[[("y", "==", "c")]]).partitions) == 1
    again = build_indices(files, "d", ["x"])
    assert set(again.indices) == {"x", "y"}
    assert read_table(files, "d", predicates=[[("x", ">=", 3)]]).num_rows == 2


def replaced_index(files: MemoryFiles, rows: dict[str, Any]) -> None:
    path = load_state(files, "d").indices["x"]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(rows), sink)
    files.write(path, sink.getvalue().to_pybytes())


@pytest.fixture
def indexed() -> MemoryFiles:
    files = MemoryFiles()
    frames = [pa.table({"x": [1]}), pa.table({"x": [1, 2]})]
    store(files, "d", frames, options=DatasetOptions(indexed=("x",)))
    return files


def test_an_index_that_names_an_unknown_partition_is_damaged(indexed: MemoryFiles) -> None:
    replaced_index(indexed, {"x": [1], "partition": [["nowhere"]]})
    with pytest.raises(DamagedDataset, match=r"'nowhere'.*build_indices"):
        read_table(indexed, "d", predicates=[[("x", "==", 1)]])
    build_indices(indexed, "d", ["x"])
    assert read_table(indexed, "d", predicates=[[("x", "==", 1)]]).num_rows == 2


def test_a_value_that_is_twice_in_an_index_loses_no_row(indexed: MemoryFiles) -> None:
    """plateau takes the last of them."""
    one, two = load_state(indexed, "d").partitions
    replaced_index(indexed, {"x": [1, 2, 1], "partition": [[one], [two], [two]]})
    assert read_table(indexed, "d", predicates=[[("x", "==", 1)]]).num_rows == 2
    update(indexed, "d", pa.table({"x": [1]}))
    assert read_table(indexed, "d", predicates=[[("x", "==", 1)]]).num_rows == 3


@pytest.mark.parametrize("data", [b"", b"PAR1", b"x" * 200])
def test_a_torn_index_is_an_error_that_names_it(indexed: MemoryFiles, data: bytes) -> None:
    indexed.write(load_state(indexed, "d").indices["x"], data)
    with pytest.raises(DamagedDataset, match=r"index on 'x'.*build_indices"):
        read_table(indexed, "d", predicates=[[("x", "==", 1)]])
    assert read_table(indexed, "d").num_rows == 3


@pytest.mark.parametrize("wrong", [["1", "2"], [True, False], [1.0, 2.0]], ids=str)
def test_an_index_of_another_type_than_its_column_hides_no_row(
    indexed: MemoryFiles, wrong: list[Any]
) -> None:
    one, two = load_state(indexed, "d").partitions
    replaced_index(indexed, {"x": wrong, "partition": [[one], [two]]})
    for attempt in (
        lambda: read_table(indexed, "d", predicates=[[("x", "==", 2)]]),
        lambda: list(plan_groups(indexed, "d", ["x"])),
        lambda: update(indexed, "d", pa.table({"x": [3]})),
    ):
        with pytest.raises(DamagedDataset, match=r"index on 'x' is of type .*build_indices"):
            attempt()
    assert "index on 'x' is of type" in verify(indexed, "d")[0].what
    build_indices(indexed, "d", ["x"])
    assert read_table(indexed, "d", predicates=[[("x", "==", 2)]]).num_rows == 1


def test_a_missing_index_is_an_error_that_names_it(indexed: MemoryFiles) -> None:
    indexed.delete(load_state(indexed, "d").indices["x"])
    with pytest.raises(DamagedDataset, match="index on 'x' is missing"):
        read_table(indexed, "d", predicates=[[("x", "==", 1)]])


def test_narrow_types_of_other_writers_are_read(indexed: MemoryFiles) -> None:
    one, two = load_state(indexed, "d").partitions
    narrow = pa.array([1, 2], pa.int32())
    replaced_index(indexed, {"x": narrow, "partition": [[one, two], [two]]})
    parsed = parse_predicates([[("x", ">", 1)]], {"x": pa.int64()})
    assert parsed
    path = load_state(indexed, "d").indices["x"]
    index = IndexFile(io.BytesIO(indexed.read(path)), "x", path=path)
    assert index.type == pa.int64()
    assert index.labels(parsed[0]) == {two}


def test_an_update_writes_one_index_file_for_each_column() -> None:
    files = MemoryFiles()
    store(files, "d", pa.table({"x": [1], "y": [1]}), options=DatasetOptions(indexed=("x", "y")))
    before = paths(files)
    update(files, "d", pa.table({"x": [2], "y": [2]}))
    assert len([path for path in paths(files) - before if "/indices/" in path]) == 2
