"""Several tables in a dataset, fields outside the rows, CSV files, and groups."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from lakebed.errors import BadBatch, BadQuery, UnknownName
from lakebed.kartothek import (
    DatasetOptions,
    PartitionSpec,
    combined_rows,
    commit_new,
    load_state,
    plan_groups,
    read_partitions,
    read_table,
    store,
    update,
    write_rows,
)
from lakebed.kartothek.format.documents import state_document
from lakebed.kartothek.format.names import MetadataFormat
from lakebed.kartothek.format.schemas import schema_file, table_schema
from lakebed.kartothek.format.state import DatasetState
from lakebed.testing.files import MemoryFiles


@pytest.fixture
def two_tables() -> MemoryFiles:
    files = MemoryFiles()
    frame = {"core": pa.table({"k": [1, 2], "x": [1, 2]}), "more": pa.table({"k": [1], "y": ["a"]})}
    store(files, "d", frame, options=DatasetOptions(("k",), ("x",)))
    return files


def test_every_partition_has_a_file_of_each_table(two_tables: MemoryFiles) -> None:
    state = load_state(two_tables, "d")
    assert set(state.tables) == {"core", "more"}
    assert all(set(files) == {"core", "more"} for files in state.partitions.values())
    assert read_table(two_tables, "d", table="core").num_rows == 2
    assert read_table(two_tables, "d", table="more").to_pylist() == [{"k": 1, "y": "a"}]
    by_index = read_table(two_tables, "d", table="core", predicates=[[("x", "==", 2)]])
    assert by_index.to_pylist() == [{"k": 2, "x": 2}]


def test_a_table_must_be_named_where_there_are_several(two_tables: MemoryFiles) -> None:
    with pytest.raises(UnknownName):
        read_table(two_tables, "d")
    with pytest.raises(UnknownName, match="Did you mean core"):
        read_table(two_tables, "d", table="cores")


def test_rows_of_all_tables_are_added_together(two_tables: MemoryFiles) -> None:
    with pytest.raises(BadBatch, match="all tables"):
        update(two_tables, "d", {"core": pa.table({"k": [3], "x": [3]})})
    more = {"core": pa.table({"k": [3], "x": [3]}), "more": pa.table({"k": [3], "y": ["c"]})}
    update(two_tables, "d", more)
    assert read_table(two_tables, "d", table="more").num_rows == 2


def test_a_scope_on_rows_of_several_tables_is_refused(two_tables: MemoryFiles) -> None:
    with pytest.raises(BadQuery, match="several tables"):
        update(two_tables, "d", delete_scope=[{"x": 1}], table="core")
    update(two_tables, "d", delete_scope=[{"k": 1}], table="core")
    assert read_table(two_tables, "d", table="core")["k"].to_pylist() == [2]


@pytest.fixture
def campaigns() -> MemoryFiles:
    files = MemoryFiles()
    spec = PartitionSpec("d", indexed=("campaign",))
    given: list[dict[str, Any]] = [{"campaign": "a"}, {"campaign": "b"}, {"campaign": None}]
    parts = [
        write_rows(files, spec, pa.table({"x": [number, number + 10]}), fields=fields)
        for number, fields in enumerate(given)
    ]
    commit_new(files, "d", combined_rows(parts), options=DatasetOptions(indexed=("campaign",)))
    return files


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("==", "a", [0]),
        ("!=", "a", [1, 2]),
        ("in", ["a", "b"], [0, 1]),
        ("not in", ["a", "b"], [2]),
        (">", "a", [1]),
        ("==", None, [2]),
        ("!=", None, [0, 1]),
        ("is distinct from", "b", [0, 2]),
        ("in", ["a", None], [0, 2]),
    ],
)
def test_a_field_outside_the_rows_is_decided_by_its_index(
    campaigns: MemoryFiles, operator: str, value: Any, expected: list[int]
) -> None:
    on_field = [("campaign", operator, value)]
    found = read_table(campaigns, "d", predicates=[[*on_field, ("x", "<", 10)]])
    assert found["x"].to_pylist() == expected
    assert read_table(campaigns, "d", predicates=[on_field]).num_rows == 2 * len(expected)


def test_a_partition_that_is_written_again_keeps_its_field(campaigns: MemoryFiles) -> None:
    update(campaigns, "d", delete_scope=[{"x": 10}])
    found = read_table(campaigns, "d", predicates=[[("campaign", "==", "a")]])
    assert found["x"].to_pylist() == [0]
    update(campaigns, "d", delete_scope=[{"campaign": "b"}])
    assert sorted(read_table(campaigns, "d")["x"].to_pylist()) == [0, 2, 12]


def test_csv_files_of_a_partition_are_read_with_the_types_of_the_schema() -> None:
    files = MemoryFiles()
    rows = pa.table({"x": [1, 2], "y": ["007", "8"]})
    sink = io.BytesIO()
    pyarrow.csv.write_csv(rows, sink)
    files.write("d/table/k=1/a.csv", sink.getvalue())
    schema = table_schema(rows.append_column("k", pa.array([1, 1])).schema, ["k"])
    files.write("d/table/_common_metadata", schema_file(schema))
    state = DatasetState("d", {"k=1/a": {"table": "d/table/k=1/a.csv"}}, ("k",))
    document = state_document(state, format=MetadataFormat.JSON)
    files.write("d.by-dataset-metadata.json", document)
    assert read_table(files, "d", predicates=[[("x", ">", 1)]]).to_pylist() == [
        {"k": 1, "x": 2, "y": "8"}
    ]
    assert read_table(files, "d", columns=["y"])["y"].to_pylist() == ["007", "8"]
    update(files, "d", delete_scope=[{"x": 2}])
    assert read_table(files, "d")["y"].to_pylist() == ["007"]


@pytest.fixture
def clusters() -> MemoryFiles:
    files = MemoryFiles()
    frames = [
        pa.table({"a": [1, 1], "b": [10, 10], "c": [1, 2]}),
        pa.table({"a": [1, 1], "b": [10, 10], "c": [2, 3]}),
        pa.table({"a": [1], "b": [20], "c": [1]}),
        pa.table({"a": [2, 2], "b": [10, 10], "c": [1, 2]}),
    ]
    store(files, "d", frames, options=DatasetOptions(("a", "b"), ("c",)))
    return files


def groups(files: MemoryFiles, *by: str, predicates: Any = None) -> dict[tuple[int, ...], int]:
    return {
        tuple(values.values()): sum(rows.num_rows for rows in read_partitions(files, plan))
        for values, plan in plan_groups(files, "d", by, predicates=predicates)
    }


def test_groups_hold_all_rows_of_a_value_and_no_others(clusters: MemoryFiles) -> None:
    assert groups(clusters) == {(): 7}
    assert groups(clusters, "a") == {(1,): 5, (2,): 2}
    assert groups(clusters, "c") == {(1,): 3, (2,): 3, (3,): 1}
    assert groups(clusters, "c", "a") == {(1, 1): 2, (1, 2): 1, (2, 1): 2, (2, 2): 1, (3, 1): 1}


def test_groups_keep_to_the_predicates(clusters: MemoryFiles) -> None:
    assert groups(clusters, "a", predicates=[[("c", ">", 2)]]) == {(1,): 1}
    assert groups(clusters, "c", predicates=[[("c", "==", 1)]]) == {(1,): 3}
    both = [[("a", ">", 1), ("c", "<", 3)]]
    assert groups(clusters, "a", "c", predicates=both) == {(2, 1): 1, (2, 2): 1}


def test_only_keys_and_indexed_columns_make_groups(clusters: MemoryFiles) -> None:
    with pytest.raises(UnknownName, match="indexed column"):
        groups(clusters, "d")
