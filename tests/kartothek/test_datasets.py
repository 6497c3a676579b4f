"""Datasets written and read: what goes in comes out, whatever is partitioned and indexed."""

import io
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import BadBatch, BadName, DamagedDataset, NameTaken, UnknownName, UsageError
from lakebed.kartothek import (
    DatasetOptions,
    MetadataFormat,
    PartitionSpec,
    StringProfile,
    combined_rows,
    commit_new,
    commit_rows,
    create,
    load_state,
    plan_read,
    read_partitions,
    read_table,
    store,
    to_pandas,
    update,
    write_rows,
)
from lakebed.kartothek.format.documents import state_document
from lakebed.ports.files.files import Files
from lakebed.testing.files import MemoryFiles
from tests.kartothek.locations import location, paths
from tests.kartothek.predicate_cases import COLUMNS, missing, satisfies
from tests.kartothek.test_predicates import PREDICATES
from tests.support.scale import SCALE

KEYS = ("text", "int", "date", "bool", "time", "uint", "bytes", "zoned")
ROW = st.fixed_dictionaries(
    {
        name: st.sampled_from(values if name in KEYS else [*values, None])
        for name, (_, values) in COLUMNS.items()
    }
)


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    return location(request.param, tmp_path)


def table_of(rows: list[dict[str, Any]]) -> Any:
    arrays = {
        name: pa.array([row[name] for row in rows], type_) for name, (type_, _) in COLUMNS.items()
    }
    return pa.table({"row": pa.array([row["row"] for row in rows], pa.int64()), **arrays})


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "row": number} for number, row in enumerate(rows)]


def found(files: Files, **query: Any) -> list[int]:
    return sorted(read_table(files, "d", columns=["row"], **query)["row"].to_pylist())


@settings(max_examples=25 * SCALE)
@given(st.data())
def test_every_query_finds_exactly_its_rows(data: st.DataObject) -> None:
    files = MemoryFiles()
    rows = numbered(data.draw(st.lists(ROW, min_size=1, max_size=8)))
    keys = tuple(data.draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True)))
    others = [name for name in COLUMNS if name not in keys]
    indexed = tuple(data.draw(st.lists(st.sampled_from(others), max_size=3, unique=True)))
    cut = data.draw(st.integers(0, len(rows)))
    options = DatasetOptions(keys, indexed)
    store(files, "d", [table_of(rows[:cut]), table_of(rows[cut:])], options=options)
    predicates = data.draw(PREDICATES)
    expected = [row["row"] for row in rows if satisfies(row, predicates)]
    assert found(files, predicates=predicates) == expected
    assert found(files) == [row["row"] for row in rows]


@settings(max_examples=25 * SCALE)
@given(st.data())
def test_a_delete_scope_removes_exactly_its_rows(data: st.DataObject) -> None:
    files = MemoryFiles()
    rows = numbered(data.draw(st.lists(ROW, min_size=1, max_size=8)))
    keys = tuple(data.draw(st.lists(st.sampled_from(KEYS), max_size=1, unique=True)))
    indexed = tuple(name for name in ("int", "float", "date") if name not in keys)
    store(
        files,
        "d",
        [table_of(rows[::2]), table_of(rows[1::2])],
        options=DatasetOptions(keys, indexed),
    )
    names = data.draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=2, unique=True))
    present = {name: [v for v in COLUMNS[name][1] if not missing(v)] for name in names}
    scope = [{name: data.draw(st.sampled_from(present[name])) for name in names}]
    more = [{**data.draw(ROW), "row": 100}]
    update(files, "d", table_of(more), delete_scope=scope)
    predicates = [[(name, "==", value) for name, value in scope[0].items()]]
    kept = [row for row in rows if not satisfies(row, predicates)] + more
    assert found(files) == [row["row"] for row in kept]
    query = data.draw(PREDICATES)
    assert found(files, predicates=query) == [r["row"] for r in kept if satisfies(r, query)]


def test_values_and_types_come_back(files: Files) -> None:
    rows = numbered([{name: values[0] for name, (_, values) in COLUMNS.items()}])
    store(files, "d", table_of(rows), options=DatasetOptions(("date", "bool")))
    back = read_table(files, "d")
    assert back.column_names[:2] == ["date", "bool"]
    assert back.to_pylist() == [{name: rows[0][name] for name in back.column_names}]
    assert {field.name: field.type for field in back.schema} == {
        "row": pa.int64(),
        **{name: type_ for name, (type_, _) in COLUMNS.items()},
    }


def test_the_files_are_where_the_specification_puts_them(files: Files) -> None:
    state = store(
        files,
        "sales",
        pa.table({"country": ["DE"], "item": [1]}),
        options=DatasetOptions(("country",), ("item",), {"owner": "x"}),
    )
    (label,) = state.partitions
    assert label.startswith("country=DE/")
    assert paths(files) == {
        "sales.by-dataset-metadata.json",
        "sales/table/_common_metadata",
        f"sales/table/{label}.parquet",
        state.indices["item"],
    }
    assert state.metadata["owner"] == "x"
    assert "creation_time" in state.metadata
    assert load_state(files, "sales") == state


def test_partition_keys_are_not_in_the_data_files(files: Files) -> None:
    state = store(files, "d", pa.table({"k": [1], "x": [2]}), options=DatasetOptions(("k",)))
    (path,) = [one["table"] for one in state.partitions.values()]
    stored = pq.ParquetFile(io.BytesIO(files.read(path)))
    assert stored.schema_arrow.names == ["x"]
    assert stored.metadata.row_group(0).column(0).statistics.has_min_max


def test_msgpack_stays_msgpack_and_no_json_appears(files: Files) -> None:
    options = DatasetOptions(format=MetadataFormat.MSGPACK)
    store(files, "d", pa.table({"x": [1]}), options=options)
    update(files, "d", pa.table({"x": [2]}))
    states = {path for path in paths(files) if "by-dataset-metadata" in path}
    assert states == {"d.by-dataset-metadata.msgpack.zstd"}
    assert read_table(files, "d")["x"].to_pylist() == [1, 2]


def test_an_empty_frame_is_a_partition_unless_keys_would_name_it(files: Files) -> None:
    empty = pa.table({"k": pa.array([], pa.int8()), "x": pa.array([], pa.int8())})
    assert len(store(files, "whole", empty).partitions) == 1
    keyed = store(files, "keyed", empty, options=DatasetOptions(("k",), ("x",)))
    assert keyed.partitions == {}
    assert read_table(files, "keyed").schema.field("k").type == pa.int64()
    grown = update(files, "keyed", pa.table({"k": [1], "x": [2]}), indexed=["x"])
    assert set(grown.indices) == {"x"}


def test_a_created_dataset_takes_rows_of_its_schema_later(files: Files) -> None:
    schema = pa.schema([("k", pa.string()), ("x", pa.int16())])
    create(files, "d", schema, options=DatasetOptions(("k",)))
    assert read_table(files, "d").num_rows == 0
    update(files, "d", pa.table({"k": ["a"], "x": [1]}))
    assert read_table(files, "d").to_pylist() == [{"k": "a", "x": 1}]
    with pytest.raises(BadBatch):
        update(files, "d", pa.table({"k": ["a"], "x": ["text"]}))


def test_pandas_frames_go_in_and_come_out(files: Files) -> None:
    frame = pd.DataFrame(
        {
            "day": [date(2024, 1, 1), date(2024, 1, 2)],
            "cat": pd.Series(["a", "b"], dtype="category"),
            "at": pd.to_datetime(["2024-01-01 01:02:03.000004", None]),
        }
    )
    store(files, "d", frame)
    rows = read_table(files, "d", columns=["day", "cat", "at"])
    objects = to_pandas(rows)
    assert objects["day"].tolist() == [date(2024, 1, 1), date(2024, 1, 2)]
    assert objects["at"].tolist()[0] == pd.Timestamp("2024-01-01 01:02:03.000004")
    times = to_pandas(rows, dates_as_object=False, categoricals=["cat"])
    assert times["day"].tolist() == [
        datetime.fromisoformat(day) for day in ("2024-01-01", "2024-01-02")
    ]
    assert times["cat"].dtype == "category"


def test_integers_beside_nulls_are_not_rounded_by_pandas(files: Files) -> None:
    large = 2**53 + 1
    columns = {"x": [large, None], "u": pa.array([2**63, None], pa.uint64()), "whole": [1, 2]}
    store(files, "d", pa.table(columns))
    frame = to_pandas(read_table(files, "d"), categoricals=["whole"])
    assert frame["x"].tolist() == [large, pd.NA]
    assert frame["u"].tolist() == [2**63, pd.NA]
    assert [str(frame[name].dtype) for name in ("x", "u")] == ["Int64", "UInt64"]
    (part,) = load_state(files, "d").partitions.values()
    described = pq.read_schema(pa.BufferReader(files.read(part["table"]))).pandas_metadata
    kinds = {column["name"]: column["numpy_type"] for column in described["columns"]}
    assert kinds == {"x": "Int64", "u": "UInt64", "whole": "int64"}


def test_streams_are_written_and_read_batch_by_batch(files: Files) -> None:
    batches = (pa.record_batch({"x": [number]}) for number in range(3))
    reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches)
    assert len(store(files, "d", reader).partitions) == 1
    (rows,) = read_partitions(files, plan_read(files, "d"))
    assert rows["x"].to_pylist() == [0, 1, 2]


def test_several_processes_write_and_one_commits(files: Files) -> None:
    spec = PartitionSpec("d", ("k",), ("x",))
    parts = [write_rows(files, spec, pa.table({"k": [n % 2], "x": [n]})) for n in range(4)]
    with pytest.raises(UnknownName):
        load_state(files, "d")
    commit_new(files, "d", combined_rows(parts[:2]), options=DatasetOptions(("k",), ("x",)))
    assert read_table(files, "d")["x"].to_pylist() == [0, 1]
    commit_rows(files, "d", combined_rows(parts[2:]))
    assert sorted(read_table(files, "d")["x"].to_pylist()) == [0, 1, 2, 3]
    assert read_table(files, "d", predicates=[[("x", "==", 3)]]).num_rows == 1


def test_rows_of_other_keys_are_not_committed(files: Files) -> None:
    rows = pa.table({"k": [1], "x": [1]})
    store(files, "d", rows, options=DatasetOptions(("k",)))
    written = write_rows(files, PartitionSpec("d"), rows)
    with pytest.raises(BadBatch, match="partition keys"):
        commit_rows(files, "d", written)
    with pytest.raises(BadBatch, match="different partition keys"):
        combined_rows([written, write_rows(files, PartitionSpec("d", ("k",)), rows)])
    assert read_table(files, "d").num_rows == 1


def test_an_index_of_a_dataset_without_rows_is_there_from_the_start(files: Files) -> None:
    schema = pa.schema([("k", pa.int8()), ("x", pa.string())])
    assert set(create(files, "d", schema, options=DatasetOptions(("k",), ("x",))).indices) == {"x"}
    assert read_table(files, "d", predicates=[[("x", "==", "a")]]).num_rows == 0
    update(files, "d", pa.table({"k": [1], "x": ["a"]}))
    assert len(plan_read(files, "d", predicates=[[("x", "==", "b")]]).partitions) == 0
    assert read_table(files, "d", predicates=[[("x", "==", "a")]]).num_rows == 1


def test_a_lost_schema_is_an_error_that_names_it(files: Files) -> None:
    state = store(files, "d", pa.table({"x": [1]}))
    bare = state_document(replace(state, schemas={}), format=MetadataFormat.JSON)
    files.write("d.by-dataset-metadata.json", bare)
    assert read_table(files, "d").num_rows == 1
    files.delete("d/table/_common_metadata")
    with pytest.raises(DamagedDataset, match="schema of the table 'table' is missing"):
        read_table(files, "d")
    with pytest.raises(DamagedDataset):
        update(files, "d", pa.table({"x": [2]}))


def test_older_plateau_gets_plain_strings_and_keeps_them(files: Files) -> None:
    options = DatasetOptions(indexed=("x",), strings=StringProfile.STRING)
    store(files, "d", pa.table({"x": ["a"]}), options=options)
    update(files, "d", pa.table({"x": pa.array(["b"], pa.large_string())}))
    assert read_table(files, "d").schema.field("x").type == pa.string()
    assert read_table(files, "d", predicates=[[("x", "==", "b")]]).num_rows == 1


def test_rows_of_another_schema_leave_nothing_behind(files: Files) -> None:
    store(files, "d", pa.table({"x": [1]}))
    before = paths(files)
    with pytest.raises(BadBatch, match="'x' is double instead of int64"):
        update(files, "d", pa.table({"x": [1.5]}))
    with pytest.raises(BadBatch, match="schema"):
        store(files, "e", [pa.table({"x": [1]}), pa.table({"y": [1]})])
    assert paths(files) == before


def test_missing_partition_keys_leave_nothing_behind(files: Files) -> None:
    with pytest.raises(BadBatch, match="'k'"):
        store(files, "d", pa.table({"k": [1, None]}), options=DatasetOptions(("k",)))
    assert paths(files) == set()


def test_times_that_do_not_fit_are_refused(files: Files) -> None:
    odd = pa.table({"x": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises(BadBatch, match="microseconds"):
        store(files, "d", odd)
    assert paths(files) == set()


def test_a_name_that_is_taken_is_refused_and_nothing_lost(files: Files) -> None:
    store(files, "sales", pa.table({"x": [1]}))
    with pytest.raises(NameTaken):
        store(files, "sales", pa.table({"x": [2]}))
    with pytest.raises(NameTaken, match="'sales' begins with it"):
        store(files, "sal", pa.table({"x": [2]}))
    with pytest.raises(BadName):
        store(files, "a/b", pa.table({"x": [2]}))
    assert read_table(files, "sales")["x"].to_pylist() == [1]


def test_a_dataset_is_overwritten_in_one_commit_with_another_schema(files: Files) -> None:
    first = DatasetOptions(("k",), ("x",))
    store(files, "d", pa.table({"k": [1], "x": [1]}), options=first)
    store(files, "d", pa.table({"y": ["a"]}), overwrite=True)
    state = load_state(files, "d")
    assert (state.partition_keys, state.indices) == ((), {})
    assert read_table(files, "d").to_pylist() == [{"y": "a"}]


def test_other_keys_and_indices_are_refused_on_update(files: Files) -> None:
    options = DatasetOptions(("k",), ("x",))
    rows = pa.table({"k": [1], "x": [1], "y": [1]})
    store(files, "d", rows, options=options)
    with pytest.raises(UsageError, match="partition keys"):
        update(files, "d", rows, partition_keys=["y"])
    with pytest.raises(UsageError, match="no index on 'y'"):
        update(files, "d", rows, indexed=["y"])
    with pytest.raises(BadBatch, match="partition key"):
        store(files, "e", rows, options=DatasetOptions(("k",), ("k",)))


def test_unknown_names_suggest_near_ones(files: Files) -> None:
    store(files, "sales", pa.table({"item": [1]}))
    with pytest.raises(UnknownName, match="Did you mean sales"):
        read_table(files, "sale")
    with pytest.raises(UnknownName, match="Did you mean item"):
        read_table(files, "sales", columns=["itme"])
    with pytest.raises(UnknownName, match="Did you mean item"):
        update(files, "sales", delete_scope=[{"itme": 1}])
    with pytest.raises(UnknownName, match="no column 'x'"):
        store(files, "other", pa.table({"item": [1]}), options=DatasetOptions(indexed=("x",)))


@pytest.mark.parametrize("rows", [7, "text", [7]])
def test_what_is_not_rows_is_refused(rows: Any) -> None:
    with pytest.raises(BadBatch, match="rows cannot be read"):
        store(MemoryFiles(), "d", rows)


def test_a_dataset_without_any_frame_is_refused() -> None:
    with pytest.raises(UsageError, match="schema"):
        store(MemoryFiles(), "d", [])


def test_user_metadata_is_added_and_kept(files: Files) -> None:
    store(files, "d", pa.table({"x": [1]}), options=DatasetOptions(metadata={"a": "1"}))
    state = update(files, "d", metadata={"b": "2"})
    assert {name: state.metadata[name] for name in "ab"} == {"a": "1", "b": "2"}
    assert read_table(files, "d").num_rows == 1


def test_rows_are_sorted_within_their_partition(files: Files) -> None:
    options = DatasetOptions(("k",), sort_by=("x",))
    store(files, "d", pa.table({"k": [1, 1, 1], "x": [3, 1, 2]}), options=options)
    assert read_table(files, "d")["x"].to_pylist() == [1, 2, 3]
    with pytest.raises(UnknownName, match="no column 'y'"):
        store(files, "e", pa.table({"x": [1]}), options=DatasetOptions(sort_by=("y",)))
