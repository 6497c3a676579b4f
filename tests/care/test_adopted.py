"""Tables made of files that are not Lakebed's, below the lake's root or elsewhere: whatever happens
to the table, the files stay as they are.
"""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lakebed.app import open_lake
from lakebed.names import TableName
from lakebed.ports import AddedFile
from tests.support.adopting import adopt_files
from tests.support.benches import ids
from tests.support.lakes.care_lakes import CareLake, entry

NAME = "bronze.income"


def adopted(cared: CareLake, folder: Path) -> dict[Path, bytes]:
    """A table of two files in a folder, and the bytes of all files there."""
    for rows in ([1, 2], [3]):
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(ids(rows), folder / f"{rows[0]}.parquet")
    (folder / "other.parquet").write_bytes(b"not part of the table")
    files = [
        AddedFile(f"file://{file}", file.stat().st_size, pq.read_metadata(file).num_rows)
        for file in sorted(folder.glob("[0-9].parquet"))
    ]
    table, lake = cared.make(NAME), cared.lake
    adopt_files(lake.stores, table, files, folder=str(folder))
    return contents(folder)


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(params=["inside", "in a namespace", "outside"])
def folder(request: pytest.FixtureRequest, cared: CareLake, tmp_path: Path) -> Path:
    places = {
        "inside": cared.folder / "exports" / "income",
        "in a namespace": cared.folder / "shop" / "exports" / "income",
        "outside": tmp_path / "exports",
    }
    return places[request.param]


def test_expiry_removes_what_the_table_wrote_and_none_of_the_adopted_files(
    cared: CareLake, folder: Path
) -> None:
    before = adopted(cared, folder)
    assert cared.rows(NAME) == [1, 2, 3]
    cared.overwrite(NAME, [7])
    cared.overwrite(NAME, [8])
    done = entry(cared.care(days=9, only=["expire_snapshots"]), "expire_snapshots")
    assert (done.state, done.counts["snapshots"]) == ("done", 4)
    assert done.counts["files"] > 0
    assert cared.rows(NAME) == [8]
    assert cared.files() == cared.reached()
    assert contents(folder) == before


def test_a_purge_removes_the_table_and_none_of_the_adopted_files(
    cared: CareLake, folder: Path
) -> None:
    before = adopted(cared, folder)
    cared.append(NAME, [4])
    cared.lake.tables.drop(cared.name(NAME))
    assert contents(folder) == before
    done = entry(cared.care(days=31, orphans=True), "purge_dropped")
    assert done.state == "done"
    assert contents(folder) == before
    assert not [file for file in cared.files() if not file.endswith("/_used")]


def test_the_files_outlive_a_clone_of_their_table_too(cared: CareLake, folder: Path) -> None:
    before = adopted(cared, folder)
    cared.lake.tables.clone(cared.name(NAME), "shop.bronze.copy")
    cared.lake.tables.drop(cared.name(NAME))
    cared.care(days=31)
    assert cared.rows("bronze.copy") == [1, 2, 3]
    cared.overwrite("bronze.copy", [9])
    cared.care(days=40)
    assert contents(folder) == before


def test_files_around_an_adopted_folder_are_no_orphans_of_a_table_that_came_to_lie_there(
    cared: CareLake,
) -> None:
    folder = cared.folder / "shop" / "warehouse" / "bronze" / "late" / "exports"
    before = adopted(cared, folder)
    cared.overwrite(NAME, [9])
    cared.care(days=40, orphans=True)
    assert contents(folder) == before


def test_fsck_names_an_adopted_file_that_is_missing_or_was_replaced(
    cared: CareLake, folder: Path
) -> None:
    adopted(cared, folder)
    assert not [one for one in cared.lake.fsck().findings if one.severity == "problem"]
    (folder / "1.parquet").unlink()
    pq.write_table(ids(range(1000)), folder / "3.parquet")
    found = {
        (Path(one.where.removeprefix("file://")), one.kind)
        for one in cared.lake.fsck().findings
        if one.severity == "problem"
    }
    assert found == {
        (folder / "1.parquet", "missing file"),
        (folder / "3.parquet", "wrong size"),
    }


def test_a_lake_that_is_moved_takes_along_only_the_folders_below_its_root(
    cared: CareLake, folder: Path, tmp_path: Path
) -> None:
    adopted(cared, folder)
    old = cared.folder
    cared.lake.close()
    moved = tmp_path / "moved"
    shutil.move(old, moved)
    with open_lake(moved) as lake:
        lake.relocate()
        table = TableName("shop", *NAME.split("."))
        rows = lake.iceberg.load_table(table.parts).scan().to_arrow()["id"].to_pylist()
        assert sorted(rows) == [1, 2, 3]
        below = folder.is_relative_to(old)
        there = lake.tables.describe(table).adopted_from.removeprefix("file://")
        assert Path(there) == (moved / folder.relative_to(old) if below else folder)
