"""Datasets over time: garbage, deletion, copies, statistics, and neighbours in the location."""

from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from lakebed.errors import DamagedDataset, NameTaken, UnknownName, UsageError
from lakebed.kartothek import (
    DatasetOptions,
    collect_garbage,
    copy,
    datasets,
    delete,
    load_state,
    partition_statistics,
    read_table,
    store,
    update,
)
from lakebed.kartothek.lifecycle import copying
from lakebed.ports.files.files import Files
from tests.kartothek.locations import location, paths

NOW = timedelta(0)


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    found = location(request.param, tmp_path)
    options = DatasetOptions(("k",), ("x",))
    store(found, "sales", pa.table({"k": [1, 2], "x": [1, 2]}), options=options)
    found.write("notes.txt", b"mine")
    found.write("presales/x.parquet", b"mine")
    return found


def test_without_garbage_nothing_is_removed(files: Files) -> None:
    before = paths(files)
    assert collect_garbage(files, "sales", older_than=NOW) == ()
    assert paths(files) == before


def test_what_no_state_names_is_removed_and_the_dataset_stays_whole(files: Files) -> None:
    old = load_state(files, "sales").indices["x"]
    update(files, "sales", pa.table({"k": [1], "x": [3]}), delete_scope=[{"k": 2}])
    files.write("sales/table/trash.parquet", b"trash")
    shown = collect_garbage(files, "sales", older_than=NOW, dry_run=True)
    assert set(shown) > {old, "sales/table/trash.parquet"}
    assert set(shown) <= paths(files)
    assert collect_garbage(files, "sales", older_than=NOW) == shown
    assert not set(shown) & paths(files)
    assert sorted(read_table(files, "sales")["x"].to_pylist()) == [1, 3]
    assert read_table(files, "sales", predicates=[[("x", "==", 3)]]).num_rows == 1
    assert {"notes.txt", "presales/x.parquet"} <= paths(files)


def test_young_files_stay_because_a_writer_may_commit_them(files: Files) -> None:
    files.write("sales/table/young.parquet", b"young")
    assert collect_garbage(files, "sales") == ()
    assert "sales/table/young.parquet" in paths(files)
    with pytest.raises(UsageError):
        collect_garbage(files, "sales", older_than=timedelta(seconds=-1))


def test_deleting_a_dataset_touches_no_other(files: Files) -> None:
    store(files, "other", pa.table({"x": [1]}))
    files.write("sales/table/trash.parquet", b"trash")
    delete(files, "sales")
    assert {path for path in paths(files) if path.startswith("sales")} == set()
    assert {"notes.txt", "presales/x.parquet"} <= paths(files)
    assert datasets(files) == ("other",)
    assert read_table(files, "other").num_rows == 1


def test_a_deletion_that_was_interrupted_can_be_repeated(files: Files) -> None:
    files.delete("sales.by-dataset-metadata.json")
    delete(files, "sales")
    assert paths(files) == {"notes.txt", "presales/x.parquet"}


def test_what_is_left_of_a_write_can_be_deleted_or_written_over(files: Files) -> None:
    files.delete("sales.by-dataset-metadata.json")
    files.delete("sales/table/_common_metadata")
    store(files, "sales", pa.table({"y": [7]}))
    assert read_table(files, "sales").to_pylist() == [{"y": 7}]
    files.delete("sales.by-dataset-metadata.json")
    delete(files, "sales")
    assert paths(files) == {"notes.txt", "presales/x.parquet"}


def test_a_folder_of_other_files_is_not_taken_over(files: Files) -> None:
    with pytest.raises(NameTaken, match="presales/x"):
        store(files, "presales", pa.table({"x": [1]}))


def test_a_folder_that_is_no_dataset_is_not_deleted(files: Files) -> None:
    with pytest.raises(UnknownName):
        delete(files, "presales")
    with pytest.raises(UnknownName):
        delete(files, "nothing")
    assert "presales/x.parquet" in paths(files)


def test_a_damaged_dataset_can_be_deleted(files: Files) -> None:
    files.write("sales.by-dataset-metadata.json", b"{")
    with pytest.raises(DamagedDataset, match="not valid json"):
        read_table(files, "sales")
    delete(files, "sales")
    assert paths(files) == {"notes.txt", "presales/x.parquet"}


def test_a_missing_data_file_is_an_error_that_names_it(files: Files) -> None:
    (one, _) = load_state(files, "sales").partitions.values()
    files.delete(one["table"])
    with pytest.raises(DamagedDataset, match="missing") as caught:
        read_table(files, "sales")
    assert caught.value.path == one["table"]


def test_a_copy_shares_no_file_and_reads_the_same(files: Files, tmp_path: Path) -> None:
    elsewhere = location("folder", tmp_path / "elsewhere")
    for to, name in [(files, "twin"), (elsewhere, "sales")]:
        copy(files, "sales", to=to, as_uuid=name)
        assert read_table(to, name).to_pylist() == read_table(files, "sales").to_pylist()
        assert read_table(to, name, predicates=[[("x", "==", 2)]]).num_rows == 1
        assert all(path.startswith(f"{name}/") for path in load_state(to, name).files)
    delete(files, "sales")
    assert read_table(files, "twin").num_rows == 2
    with pytest.raises(NameTaken):
        copy(files, "twin", to=elsewhere, as_uuid="sales")


def test_a_copy_of_a_large_file_is_made_piece_by_piece(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_PIECE", 100)
    read = list[int]()

    class Measured:
        def __getattr__(self, name: str) -> Any:
            return getattr(files, name)

        def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
            data = files.read(path, start=start, length=length)
            if path.endswith(".parquet"):
                read.append(len(data))
            return data

    copy(cast("Files", Measured()), "sales", to=files, as_uuid="twin")
    assert read_table(files, "twin").to_pylist() == read_table(files, "sales").to_pylist()
    assert max(read) == 100


def test_statistics_say_how_large_the_partitions_are(files: Files) -> None:
    found = list(partition_statistics(files, "sales"))
    assert [one.rows for one in found] == [1, 1]
    assert all(one.row_groups == 1 and one.stored_bytes > 0 for one in found)
    chosen = list(partition_statistics(files, "sales", predicates=[[("k", "==", 2)]]))
    assert [one.label.split("/")[0] for one in chosen] == ["k=2"]
