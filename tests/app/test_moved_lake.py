"""A lake that was copied or moved, with a catalog that was lost, rebuilt or restored from a backup:
nothing is deleted, nothing is written at the old place, and there is a way back.
"""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import lakebed
from lakebed.app import examine
from lakebed.care import CareResult
from lakebed.errors import PointsElsewhere
from lakebed.names import TableName
from lakebed.settings import DATABASE_FILE
from lakebed.tables.ownership.root_file import IDENTITY_FILE
from tests.servers.s3 import Bucket
from tests.support.benches import RealBench, ids, sqlite_bench
from tests.support.lakes.kept_lake import Kept

OpenAt = Callable[[Path], Kept]
ORDERS = TableName("shop", "silver", "orders")
COPY = TableName("shop", "silver", "copy")


@pytest.fixture
def open_at() -> Iterator[OpenAt]:
    """Opens the lake in a folder; closed at the end."""
    opened: list[Kept] = []

    def open_lake(folder: Path) -> Kept:
        opened.append(Kept(lakebed.open(folder, environment={}), sqlite_bench(folder)))
        return opened[-1]

    yield open_lake
    for kept in opened:
        kept.lake.close()
        kept.bench.close()


def fill(kept: Kept) -> None:
    """A table with refs and history, a clone that shares its files, and one more."""
    kept.table("orders", range(10), range(10, 20), range(20, 30))
    kept.tag(ORDERS, "q1")
    kept.bench.write(ORDERS, [77], branch="mine")
    kept.lake.tables.clone(ORDERS, COPY)
    kept.table("customers")


def close(kept: Kept) -> Path:
    kept.lake.close()
    kept.bench.close()
    return kept.lake.root.folder


def forget_catalog(folder: Path) -> None:
    for file in folder.glob(f"{DATABASE_FILE}*"):
        file.unlink()


def taken_to(folder: Path, to: Path, how: str) -> Path:
    """`cp -a` or `mv`."""
    if how == "copied":
        shutil.copytree(folder, to, symlinks=True)
    else:
        shutil.move(folder, to)
    return to


def register_all(kept: Kept) -> None:
    """What a rebuild did before it asked where tables point, and what any other tool may do."""
    newest: dict[TableName, str] = {}
    for file in sorted(kept.lake.root.folder.glob("*/warehouse/*/*/metadata/*.metadata.json")):
        namespace, _, layer, name = file.relative_to(kept.lake.root.folder).parts[:4]
        newest[TableName(namespace, layer, name)] = f"file://{file}"
    iceberg = kept.bench.iceberg
    for table, location in newest.items():
        for end in range(1, len(table.parts)):
            iceberg.create_namespace_if_not_exists(table.parts[:end])
        iceberg.register_table(table.parts, location)


def everything(folder: Path) -> dict[str, bytes]:
    """The files of all tables."""
    files = (file for file in folder.glob("*/warehouse/**/*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def remove_orphans(kept: Kept) -> CareResult:
    return kept.lake.care(orphans=True, now=datetime.now(UTC) + timedelta(days=31))


@pytest.fixture
def rebuilt_copy(kept: Kept, tmp_path: Path, open_at: OpenAt) -> Kept:
    """A copy whose catalog has the tables at metadata files in the copy, which name the original's
    files. It has no identity, like lakes of former versions: nothing else tells that it is a copy.
    """
    fill(kept)
    copy = taken_to(close(kept), tmp_path / "copy", "copied")
    forget_catalog(copy)
    (copy / IDENTITY_FILE).unlink()
    there = open_at(copy)
    with there.lake.stores.ownership.filling():  # a rebuild may, before the copy is relocated
        register_all(there)
    return there


def test_care_in_a_copy_with_a_rebuilt_catalog_deletes_nothing(
    rebuilt_copy: Kept, tmp_path: Path
) -> None:
    before = everything(tmp_path / "lake"), everything(tmp_path / "copy")
    result = remove_orphans(rebuilt_copy)
    refused = {one.action: one.message for one in result.entries if one.state == "failed"}
    assert {"remove_orphans", "expire_snapshots"} <= refused.keys()
    assert all("lakebed relocate" in message for message in refused.values())
    assert (everything(tmp_path / "lake"), everything(tmp_path / "copy")) == before


def test_changes_in_a_copy_with_a_rebuilt_catalog_write_nothing_into_the_original(
    rebuilt_copy: Kept, tmp_path: Path
) -> None:
    lake, before = rebuilt_copy.lake, everything(tmp_path / "lake")
    pipeline = tmp_path / "copy/shop/pipelines/silver/orders"
    pipeline.mkdir(parents=True)
    (pipeline / "pipeline.sql").write_text("SELECT 2 AS id")
    first = min(lake.tables.describe(ORDERS).snapshots.values(), key=lambda one: one.at)
    changes: list[Callable[[], object]] = [
        lambda: lake.tables.rollback(ORDERS, first.id),
        lambda: lake.tables.tag(ORDERS, "v1"),
        lambda: lake.tables.clone(ORDERS, "shop.silver.second"),
        lambda: lake.tables.rename(ORDERS, "shop.silver.second"),
        lambda: lake.tables.drop(ORDERS),
        lambda: lake.write(str(ORDERS), ids([3])),
        lambda: lake.execute(f"DELETE FROM {ORDERS}"),
        lambda: lake.run("silver.orders"),
    ]
    for change in changes:
        with pytest.raises(PointsElsewhere, match=r"shop\.silver\.orders") as refusal:
            change()
        assert "lakebed relocate" in str(refusal.value)
    lake.fsck(repair=True)
    assert everything(tmp_path / "lake") == before


def test_doctor_and_fsck_tell_a_copy_with_a_rebuilt_catalog_and_relocate_separates_it(
    rebuilt_copy: Kept, tmp_path: Path, kept: Kept
) -> None:
    (tables,) = [found for found in examine(rebuilt_copy.lake, {}) if found.component == "tables"]
    assert (tables.state, str(tmp_path / "lake") in tables.fix) == ("problem", True)
    assert rebuilt_copy.kinds() == ["moved lake"] * 3
    before = everything(tmp_path / "lake")
    assert {one.name for one in rebuilt_copy.lake.relocate().tables} == {
        "shop.silver.orders",
        "shop.silver.copy",
        "shop.silver.customers",
    }
    assert rebuilt_copy.kinds() == []
    rebuilt_copy.lake.tables.tag(ORDERS, "v1")
    remove_orphans(rebuilt_copy)
    assert everything(tmp_path / "lake") == before
    shutil.rmtree(tmp_path / "lake")
    assert rebuilt_copy.bench.rows(ORDERS) == list(range(30))
    assert rebuilt_copy.kinds() == []


@pytest.mark.parametrize("how", ["copied", "moved"])
def test_a_lake_elsewhere_whose_catalog_was_lost_comes_back_with_all_of_its_rows(
    kept: Kept, tmp_path: Path, open_at: OpenAt, how: str
) -> None:
    fill(kept)
    state = kept.state()
    folder = close(kept)
    there = open_at(taken_to(folder, tmp_path / "there", how))
    close(there)
    forget_catalog(tmp_path / "there")
    there = open_at(tmp_path / "there")
    remove_orphans(there)
    rebuilt = there.lake.rebuild_catalog()
    assert rebuilt.tables == {}
    assert len(rebuilt.skipped) == 3
    assert all(f"lakebed relocate --from {folder}" in why for why in rebuilt.skipped.values())
    assert len(there.lake.relocate(dry_run=True).tables) == 3
    assert there.lake.stores.catalog.pointers() == {}
    assert {one.kind for one in there.lake.relocate(origin=str(folder)).tables} == {"table"}
    shutil.rmtree(folder, ignore_errors=True)
    assert there.state() == state
    assert there.kinds() == []
    remove_orphans(there)
    assert there.bench.rows(COPY) == list(range(30))


@pytest.mark.parametrize("lost", [True, False])
def test_a_lake_that_was_moved_up_into_the_folder_above_comes_back(
    kept: Kept, tmp_path: Path, open_at: OpenAt, *, lost: bool
) -> None:
    """Its former root is a folder of its present one."""
    fill(kept)
    state = kept.state()
    folder = close(kept)
    for inside in folder.iterdir():
        shutil.move(inside, tmp_path)
    if lost:
        forget_catalog(tmp_path)
    there = open_at(tmp_path)
    if lost:
        assert len(there.lake.rebuild_catalog().elsewhere) == 3
    there.lake.relocate(origin=str(folder))
    assert there.state() == state
    assert there.kinds() == []


@pytest.mark.parametrize("how", ["copied", "moved"])
def test_restoring_an_older_backup_elsewhere_keeps_what_was_committed_since(
    kept: Kept, tmp_path: Path, open_at: OpenAt, how: str
) -> None:
    fill(kept)
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    kept.bench.write(ORDERS, [500])
    kept.table("later")
    state = kept.state()
    folder = close(kept)
    taken_to(folder, tmp_path / "there", how)
    forget_catalog(tmp_path / "there")
    there = open_at(tmp_path / "there")
    plain = there.lake.restore(made.path)
    assert (list(plain.newer), plain.moved) == ([str(ORDERS)], True)
    assert plain.unknown == ("shop/warehouse/silver/later/metadata",)
    there.lake.restore(made.path, force=True, newest=True)
    assert list(there.lake.rebuild_catalog().tables) == ["shop.silver.later"]
    shutil.rmtree(folder, ignore_errors=True)
    assert there.state() == state
    assert there.kinds() == []
    remove_orphans(there)
    assert there.bench.rows(ORDERS) == [*range(30), 500]
    assert there.bench.rows(TableName("shop", "silver", "later")) == list(range(20))


def test_restoring_a_backup_from_before_a_relocation_keeps_what_was_committed_since(
    kept: Kept, tmp_path: Path, open_at: OpenAt
) -> None:
    """Also if a table is elsewhere on purpose: it stays there."""
    fill(kept)
    theirs = TableName("shop", "silver", "theirs")
    kept.bench.iceberg.create_table(
        theirs.parts, schema=ids([]).schema, location=f"file://{tmp_path}/others/theirs"
    )
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    there = open_at(taken_to(close(kept), tmp_path / "there", "moved"))
    there.lake.relocate()
    there.bench.write(ORDERS, [500])
    state = there.state()
    there.lake.restore(made.path, force=True, newest=True)
    assert there.state() == state
    assert there.lake.tables.describe(theirs).location == f"file://{tmp_path}/others/theirs"
    there.lake.tables.tag(ORDERS, "v1")


def test_a_table_whose_manifests_name_files_of_the_former_place_keeps_the_ones_here(
    kept: Kept, tmp_path: Path, open_at: OpenAt
) -> None:
    """Though its metadata names a place here: only whoever reads its manifests can tell."""
    fill(kept)
    folder = close(kept)
    there = open_at(taken_to(folder, tmp_path / "copy", "copied"))
    pointer = there.lake.stores.catalog.pointers([ORDERS])[ORDERS]
    there.lake.relocate()
    before = everything(tmp_path / "copy")
    current = there.pointed(ORDERS)
    named = Path(pointer.location.removeprefix("file://")).read_text()
    half = named.replace(str(folder), str(tmp_path / "copy"))
    assert half != named
    current.write_text(half)
    assert "moved lake" in there.kinds()
    result = remove_orphans(there)
    assert "lakebed relocate" in str([one.message for one in result.entries])
    before |= {str(current.relative_to(tmp_path / "copy")): half.encode()}
    assert everything(tmp_path / "copy") == before
    assert there.lake.relocate(origin=str(folder)).tables
    assert there.kinds() == []
    shutil.rmtree(folder)
    remove_orphans(there)
    assert there.bench.rows(ORDERS) == list(range(30))


def test_a_lost_catalog_makes_no_orphans(kept: Kept, open_at: OpenAt) -> None:
    fill(kept)
    folder = close(kept)
    forget_catalog(folder)
    there = open_at(folder)
    before = everything(folder)
    remove_orphans(there)
    assert everything(folder) == before
    assert set(there.lake.rebuild_catalog().tables) >= {str(ORDERS), str(COPY)}


def test_relocating_a_lake_with_its_catalog_rewrites_every_table_once(
    kept: Kept, tmp_path: Path, open_at: OpenAt
) -> None:
    """Though the folder of a table that was made again does not tell its name."""
    fill(kept)
    kept.lake.tables.drop(COPY)
    kept.lake.tables.clone(ORDERS, COPY)
    folder = close(kept)
    there = open_at(taken_to(folder, tmp_path / "there", "moved"))
    relocated = there.lake.relocate(origin=str(folder)).tables
    assert sorted((one.name, one.kind) for one in relocated) == [
        ("shop.silver.copy", "dropped"),
        ("shop.silver.copy", "table"),
        ("shop.silver.customers", "table"),
        ("shop.silver.orders", "table"),
    ]


@pytest.mark.s3
@pytest.mark.postgres
def test_a_bucket_that_was_copied_without_its_catalog_is_brought_back(
    on_server: Kept, bucket: Bucket
) -> None:
    fill(on_server)
    state, files = on_server.state(), on_server.lake.stores.files
    target = bucket.server.fresh_prefix()
    settings = on_server.bench.settings
    database = on_server.lake.stores.database
    with database.writing() as connection:
        connection.exec_driver_sql("drop schema public cascade")
        connection.exec_driver_sql("create schema public")
    database.prepare()
    bench = RealBench(settings, target.root, "shop")
    for info in list(files.list("shop")):
        bench.stores.files.write(info.path, files.read(info.path))
    with lakebed.Lake(target.root, settings, environment={}) as lake:
        there = Kept(lake, bench)
        assert len(lake.rebuild_catalog().elsewhere) == 3
        lake.relocate()
        for pointer in lake.stores.catalog.pointers().values():
            for reached in lake.stores.reach.files(pointer):
                assert lake.root.relative(reached.location), reached
        assert there.state() == state
        assert there.kinds() == []
    bench.close()
