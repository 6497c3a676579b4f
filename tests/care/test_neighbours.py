"""Tables of others in the same catalog: whatever care removes, they keep their rows, whatever their
names and places.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import open_lake
from lakebed.care import CareResult
from lakebed.errors import PointsElsewhere
from lakebed.names import new_run_id
from lakebed.settings import Root
from tests.support.benches import ids
from tests.support.lakes.care_lakes import CareLake, entry, states

EXPIRE = {"only": ["expire_snapshots"]}
PURGE = {"only": ["purge_dropped"]}
ORPHANS = {"only": ["remove_orphans"]}


def create(cared: CareLake, parts: tuple[str, ...], rows: list[int], *, at: str) -> None:
    """A table as any other engine makes it, at a place of its own choice below the root."""
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    schema = Schema(NestedField(1, "id", LongType()))
    cared.lake.iceberg.create_namespace_if_not_exists(parts[:-1])
    cared.lake.iceberg.create_table(parts, schema, location=cared.lake.root.at(at)).append(
        ids(rows)
    )


def read(cared: CareLake, *parts: str) -> list[int]:
    found: list[int] = cared.lake.iceberg.load_table(parts).scan().to_arrow()["id"].to_pylist()
    return sorted(found)


SHARED = "shop/warehouse/silver/a"
A, B = ("shop", "silver", "a"), ("shop", "silver", "b")


def share_a_folder(cared: CareLake) -> None:
    """What `RENAME a TO b` and `CREATE TABLE a` of plain Spark come to: both tables lie where `a`
    lay.
    """
    create(cared, A, [1], at=SHARED)
    cared.overwrite("silver.a", [2])
    cared.lake.iceberg.rename_table(A, B)
    create(cared, A, [3], at=SHARED)


def test_expiring_a_renamed_table_keeps_the_table_that_was_made_in_its_folder(
    cared: CareLake,
) -> None:
    share_a_folder(cared)
    done = entry(cared.care(days=9, **EXPIRE), "expire_snapshots")
    assert (done.state, done.subject) == ("done", "shop.silver.b")
    assert done.counts["files"] > 0
    assert (read(cared, *A), read(cared, *B)) == ([3], [2])


def test_purging_a_renamed_table_keeps_the_table_that_was_made_in_its_folder(
    cared: CareLake,
) -> None:
    share_a_folder(cared)
    cared.lake.tables.drop("silver.b")
    before = cared.files()
    assert entry(cared.care(days=31, **PURGE), "purge_dropped").state == "done"
    assert read(cared, *A) == [3]
    assert cared.files() == cared.reached() < before


def test_purging_a_table_keeps_those_that_lie_in_folders_below_its_own(cared: CareLake) -> None:
    create(cared, ("shop", "silver", "outer"), [1], at="shop/warehouse/silver")
    cared.make("silver.inner", [2])
    stray = "shop/warehouse/silver/inner/data/being-written.parquet"
    cared.lake.stores.files.write(stray, b"x")
    cared.lake.tables.drop("silver.outer")
    assert entry(cared.care(days=31, **PURGE), "purge_dropped").state == "done"
    assert cared.rows("silver.inner") == [2]
    assert (
        stray in cared.files()
    )  # who writes there has the lease of the table below, which nobody asked for
    assert not any("silver/data/" in path or "silver/metadata/" in path for path in cared.files())


def test_purging_a_table_keeps_a_view_that_lies_in_its_folder(cared: CareLake) -> None:
    create(cared, ("shop", "silver", "outer"), [1], at="shop/warehouse/silver")
    view = "shop/warehouse/silver/v/metadata/00000-v.metadata.json"
    cared.lake.stores.files.write(view, b"{}")
    add_row(cared, "shop.silver", "v", cared.lake.root.at(view), kind="VIEW")
    cared.lake.tables.drop("silver.outer")
    cared.care(days=31, **PURGE)
    assert cared.files() == {view, "shop/warehouse/silver/_used"}


@pytest.mark.parametrize("how", ["expire", "purge"])
def test_a_file_that_another_table_took_up_stays_when_its_first_table_lets_go_of_it(
    cared: CareLake, how: str
) -> None:
    cared.make("silver.t1", [1, 2])
    cared.make("silver.t2")
    (data,) = (
        cared.lake.iceberg.load_table(("shop", "silver", "t1"))
        .inspect.data_files()["file_path"]
        .to_pylist()
    )
    cared.lake.iceberg.load_table(("shop", "silver", "t2")).add_files([data])
    if how == "expire":
        cared.overwrite("silver.t1", [9])
        assert entry(cared.care(days=9, **EXPIRE), "expire_snapshots").counts["files"] > 0
    else:
        cared.lake.tables.drop("silver.t1")
        assert entry(cared.care(days=31, **PURGE), "purge_dropped").counts["files"] > 0
    assert cared.rows("silver.t2") == [1, 2]


def test_a_landing_file_that_a_table_took_up_survives_the_purge_of_its_zone(
    cared: CareLake,
) -> None:
    cared.make("silver.t1", [1])
    cared.make("silver.t2")
    data = next(cared.folder.glob("shop/warehouse/silver/t1/data/*.parquet"))
    landed = f"shop/landing/orders/_processed/{new_run_id()}/rows.parquet"
    cared.lake.stores.files.write(landed, data.read_bytes())
    cared.lake.stores.files.write(landed.replace("rows", "other"), b"x")
    cared.lake.stores.files.write("shop/landing/orders/zone.yaml", b"auto_purge: true\n")
    cared.lake.iceberg.load_table(("shop", "silver", "t2")).add_files([cared.lake.root.at(landed)])
    assert entry(cared.care(days=31), "purge_processed").counts == {"files": 1}
    assert cared.rows("silver.t2") == [1]


def test_a_quarantined_file_that_a_table_took_up_stays_with_its_reason(tmp_path: Path) -> None:
    settings = {"care": {"quarantine_max_age_days": 30}}
    cared = CareLake(Root.parse(tmp_path / "lake"), settings=settings)
    cared.make("silver.t1", [1])
    cared.make("silver.t2")
    data = next(cared.folder.glob("shop/warehouse/silver/t1/data/*.parquet"))
    aside, files = f"shop/landing/orders/_quarantine/{new_run_id()}", cared.lake.stores.files
    for name, content in (("rows.parquet", data.read_bytes()), ("bad.parquet", b"x")):
        files.write(f"{aside}/{name}", content)
        files.write(f"{aside}/{name}.reason.json", b"{}")
    files.write("shop/landing/orders/waiting.parquet", b"x")
    loaded = cared.lake.iceberg.load_table(("shop", "silver", "t2"))
    loaded.add_files([cared.lake.root.at(f"{aside}/rows.parquet")])
    assert cared.care(days=29, only=["purge_quarantine"]).entries == ()
    told = entry(cared.care(days=31, only=["purge_quarantine"], dry_run=True), "purge_quarantine")
    assert (told.state, told.subject, told.counts) == ("reported", "shop.orders", {"files": 4})
    done = entry(cared.care(days=31, only=["purge_quarantine"]), "purge_quarantine")
    assert (done.state, done.counts, done.bytes) == ("done", {"files": 2}, 3)
    assert cared.files("shop/landing") == {
        "shop/landing/orders/waiting.parquet",
        f"{aside}/rows.parquet",
        f"{aside}/rows.parquet.reason.json",
    }
    assert cared.rows("silver.t2") == [1]
    cared.lake.close()


def test_a_lake_of_many_tables_is_followed_once_however_many_of_them_expire(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        cared.make(f"silver.t{number}", [1])
        cared.overwrite(f"silver.t{number}", [2])
    reach, followed = cared.lake.stores.reach, list[str]()
    real = reach.files

    def counted(pointer: Any, **options: Any) -> Any:
        followed.append(pointer.location)
        return real(pointer, **options)

    monkeypatch.setattr(
        type(reach), "files", lambda _, pointer, **options: counted(pointer, **options)
    )
    assert set(states(cared.care(days=9, **EXPIRE)).values()) == {"done"}
    assert len(followed) <= 4 * 6  # what expires, and each table before and after it


def test_a_hidden_table_that_goes_while_care_looks_stops_nothing(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs make and remove such tables all the time."""
    cared.make("silver.t1", [1])
    cared.overwrite("silver.t1", [2])
    stage = cared.make(f"silver.stage_{new_run_id()}", [3])
    real = type(cared.lake.stores.reach).files

    def going(reach: Any, pointer: Any, **options: Any) -> Any:
        if pointer.table == stage:
            cared.lake.stores.catalog.purge(stage)
        return real(reach, pointer, **options)

    monkeypatch.setattr(type(cared.lake.stores.reach), "files", going)
    cared.lake.stores.files.write("shop/warehouse/silver/t1/data/stray", b"x")
    result = cared.care(days=9, only=["expire_snapshots", "remove_orphans"])
    assert {(one.state, one.message) for one in result.entries} == {("done", "")}
    removed = {one.subject: one.counts["files"] for one in result.entries}
    assert removed["shop.silver.t1"] > 0
    assert removed["shop/warehouse/silver/t1"] == 1


# -- names


def add_row(
    cared: CareLake,
    namespace: str,
    name: str,
    location: str,
    *,
    kind: str = "TABLE",
    catalog: str = "lake",
) -> None:
    from sqlalchemy import insert

    from lakebed.engines.database.schema import iceberg_tables

    row = {
        "catalog_name": catalog,
        "table_namespace": namespace,
        "table_name": name,
        "iceberg_type": kind,
    }
    with cared.lake.stores.database.writing() as connection:
        connection.execute(insert(iceberg_tables).values(**row, metadata_location=location))


ODD = [
    ("shop", "bronze", "umsätze 2024"),
    ("shop", "plain"),
    ("Shop", "bronze", "x"),
    ("a", "b", "c", "d e"),
]


@pytest.mark.parametrize("parts", ODD, ids=".".join)
def test_a_table_whose_name_is_none_of_ours_survives_orphan_removal_expiry_and_purge(
    cared: CareLake, parts: tuple[str, ...]
) -> None:
    cared.make("silver.t1", [1])
    create(cared, parts, [5], at="shop/warehouse/bronze/odd")
    (data,) = (
        cared.lake.iceberg.load_table(("shop", "silver", "t1"))
        .inspect.data_files()["file_path"]
        .to_pylist()
    )
    cared.lake.iceberg.load_table(parts).add_files([data])
    stray = "shop/warehouse/bronze/odd/data/stray"
    cared.lake.stores.files.write(stray, b"x")
    cared.overwrite("silver.t1", [2])
    cared.care(days=9, orphans=True)
    cared.lake.tables.drop("silver.t1")
    cared.care(days=60, orphans=True)
    assert read(cared, *parts) == [1, 5]
    assert stray not in cared.files()


def test_a_view_whose_name_is_none_of_ours_survives_orphan_removal(cared: CareLake) -> None:
    cared.make("silver.t1", [1])
    view = "shop/warehouse/silver/odd/metadata/00000-v.metadata.json"
    cared.lake.stores.files.write(view, b"{}")
    add_row(cared, "shop.silver", "größte Kunden", cared.lake.root.at(view), kind="VIEW")
    cared.care(days=9, orphans=True)
    assert view in cared.files()


def test_a_table_of_another_catalog_in_the_same_database_survives_if_it_lies_in_the_lake(
    cared: CareLake,
) -> None:
    create(cared, ("shop", "bronze", "x"), [5], at="shop/warehouse/bronze/x")
    location = cared.lake.iceberg.load_table(("shop", "bronze", "x")).metadata_location
    cared.lake.iceberg.drop_table(("shop", "bronze", "x"))
    add_row(cared, "theirs", "x", location, catalog="theirs")
    add_row(
        cared, "theirs", "far", "s3://nobody-may-read/metadata/1.metadata.json", catalog="theirs"
    )
    before = cared.files()
    cared.care(days=9, orphans=True)
    assert cared.files() == before


def test_while_a_table_whose_name_is_none_of_ours_cannot_be_read_nothing_is_removed(
    cared: CareLake,
) -> None:
    cared.make("silver.t1", [1])
    cared.overwrite("silver.t1", [2])
    create(cared, ("shop", "plain"), [5], at="shop/warehouse/bronze/odd")
    lost = next(path for path in cared.files() if "bronze/odd/metadata/snap-" in path)
    (cared.folder / lost).unlink()
    before = {path for path in cared.files() if not path.endswith(".metadata.json")}
    result = cared.care(days=9, orphans=True)
    assert "shop.plain" in entry(result, "remove_orphans").message
    assert "shop.plain" in entry(result, "expire_snapshots").message
    assert {path for path in cared.files() if not path.endswith(".metadata.json")} == before


# -- places


def reopened(cared: CareLake, folder: Path) -> CareLake:
    cared.lake.close()
    cared.lake = open_lake(str(folder), environment=cared.environment)
    return cared


def test_a_lake_that_was_moved_and_is_reached_through_a_symlink_keeps_every_row(
    cared: CareLake, tmp_path: Path
) -> None:
    cared.make("silver.t1", [1])
    cared.overwrite("silver.t1", [2])
    cared.make("silver.gone", [7])
    old, new = cared.folder, tmp_path / "elsewhere" / "lake"
    cared.lake.close()
    new.parent.mkdir()
    shutil.move(old, new)
    old.symlink_to(new)
    reopened(cared, old)
    stray = "shop/warehouse/silver/t1/data/stray"
    cared.lake.stores.files.write(stray, b"x")
    cared.lake.tables.drop("silver.gone")
    result = cared.care(days=31, orphans=True)
    assert result.ok, result.entries
    assert cared.rows("silver.t1") == [2]
    assert cared.lake.root == Root.parse(new)
    assert (
        len([path for path in cared.files() if path.endswith(".parquet")]) == 1
    )  # what expired, was purged or stray is gone


def test_a_link_inside_the_lake_keeps_the_files_it_leads_to(
    cared: CareLake, tmp_path: Path
) -> None:
    cared.make("silver.t1", [1])
    folder = cared.folder / "shop/warehouse/silver"
    (folder / "t1").rename(folder / "t1-on-other-disk")
    (folder / "t1").symlink_to("t1-on-other-disk")
    cared.care(days=9, orphans=True)
    assert cared.rows("silver.t1") == [1]
    (folder / "t1").unlink()
    (folder / "t1-on-other-disk").rename(tmp_path / "disk")
    (folder / "t1").symlink_to(tmp_path / "disk")
    stray = "shop/warehouse/silver/t2/data/stray"
    cared.lake.stores.files.write(stray, b"x")
    assert "shop.silver.t1" in refusals(cared.care(days=9, orphans=True))["remove_orphans"]
    assert (read(cared, "shop", "silver", "t1"), stray in cared.files()) == ([1], True)


def copied(cared: CareLake, to: Path) -> CareLake:
    """The lake as `cp -a` leaves it: its tables still point at the original."""
    cared.lake.close()
    shutil.copytree(cared.folder, to, symlinks=True)
    return reopened(cared, to)


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refusals(result: CareResult) -> dict[str, str]:
    return {one.action: one.message for one in result.entries if one.state == "failed"}


def test_care_of_a_copy_that_was_not_relocated_removes_nothing_and_names_the_table(
    cared: CareLake, tmp_path: Path
) -> None:
    cared.make("silver.t1", [1])
    cared.overwrite("silver.t1", [2])
    cared.make("silver.gone", [3])
    cared.lake.tables.drop("silver.gone")
    original, copy = cared.folder, tmp_path / "copy"
    copied(cared, copy)
    before = everything(original), everything(copy / "shop")
    for dry in (True, False):
        result = cared.care(days=31, orphans=True, dry_run=dry)
        assert {"remove_orphans", "expire_snapshots", "purge_dropped"} <= {
            one.action for one in result.entries
        }
        assert all(
            "shop.silver." in one.message and "lakebed relocate" in one.message
            for one in result.entries
        ), result
    assert set(refusals(result)) == {"remove_orphans", "expire_snapshots", "purge_dropped"}
    assert (everything(original), everything(copy / "shop")) == before


def test_a_table_that_lies_elsewhere_by_the_will_of_its_maker_stops_nothing(
    cared: CareLake, tmp_path: Path
) -> None:
    """Neither one of another lake that was taken up, though this lake has a table of the same name
    and folder.
    """
    other = CareLake(Root.parse(tmp_path / "other"))
    other.make("silver.t1", [5])
    location = other.lake.iceberg.load_table(("shop", "silver", "t1")).metadata_location
    cared.make("silver.t1", [1])
    cared.overwrite("silver.t1", [2])
    cared.lake.iceberg.create_namespace_if_not_exists(("shop", "theirs"))
    cared.lake.iceberg.register_table(("shop", "theirs", "t1"), location)
    other.lake.close()
    before = everything(other.folder)
    cared.lake.stores.files.write("shop/warehouse/silver/t1/data/stray", b"x")
    result = cared.care(days=9, orphans=True)
    assert set(states(result).values()) == {"done"}
    assert {
        ("remove_orphans", "shop/warehouse/silver/t1"),
        ("expire_snapshots", "shop.silver.t1"),
    } <= set(states(result))
    assert everything(other.folder) == before
    assert cared.rows("silver.t1") == [2]


def test_a_link_that_leads_to_itself_keeps_everything_and_names_the_table(
    cared: CareLake, tmp_path: Path
) -> None:
    cared.make("silver.t1", [1])
    create(cared, ("shop", "silver", "t2"), [2], at="shop/warehouse/silver/t2")
    (data,) = (
        cared.lake.iceberg.load_table(("shop", "silver", "t2"))
        .inspect.data_files()["file_path"]
        .to_pylist()
    )
    file = cared.folder / str(cared.lake.root.relative(data))
    file.rename(file.with_name("moved"))
    file.symlink_to(file.name)
    result = cared.care(days=9, orphans=True)
    assert "shop.silver.t2" in entry(result, "remove_orphans").message
    assert (file.parent / "moved").exists()


def test_a_run_in_a_copy_that_was_not_relocated_writes_nothing_into_the_original(
    cared: CareLake, tmp_path: Path
) -> None:
    """Nor does any other change; the copy is written to as soon as it is relocated.

    No JVM starts to find that out.
    """
    cared.make("silver.t1", [1])
    (cared.folder / "shop/pipelines/silver/t1").mkdir(parents=True)
    (cared.folder / "shop/pipelines/silver/t1/pipeline.sql").write_text("SELECT 2 AS id")
    original = cared.folder
    lake = copied(cared, tmp_path / "copy").lake
    before = everything(original)
    changes: list[Callable[[], object]] = [
        lambda: lake.run(),
        lambda: lake.write("shop.silver.t1", ids([3])),
        lambda: lake.execute("DELETE FROM shop.silver.t1"),
        lambda: lake.tables.rollback(
            "silver.t1", lake.tables.describe("silver.t1").refs["main"].snapshot
        ),
        lambda: lake.tables.tag("silver.t1", "v1"),
        lambda: lake.tables.clone("silver.t1", "shop.silver.t2"),
        lambda: lake.tables.rename("silver.t1", "shop.silver.t2"),
        lambda: lake.tables.drop("silver.t1"),
    ]
    for change in changes:
        with pytest.raises(PointsElsewhere, match=r"shop\.silver\.t1") as refusal:
            change()
        assert "lakebed relocate" in str(refusal.value)
    assert "spark" not in vars(lake)
    assert everything(original) == before
    lake.relocate()
    cared.append("silver.t1", [4])
    lake.tables.tag("silver.t1", "v1")
    assert cared.rows("silver.t1") == [1, 4]
    assert everything(original) == before
