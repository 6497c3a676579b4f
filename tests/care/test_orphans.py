"""Orphans are what no table of the lake reaches: whatever its name is now, wherever its folder,
however a path is spelt.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakebed.care.all_tables import Stock
from lakebed.care.removal.orphans import (
    Orphans,
    count_orphans,
    lease_names,
    list_warehouses,
    old_files,
    orphans_before,
)
from lakebed.care.removal.reachable import Look
from lakebed.care.removal.removal import folder_of
from lakebed.names import TableName
from lakebed.ports import FileInfo, RunRecord
from lakebed.settings import Root
from lakebed.tables import USED_MARKER
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.support.lakes.care_lakes import CareLake, entry, states
from tests.support.tables import new_location

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ORPHANS = {"only": ["remove_orphans"]}
STRAY = "shop/warehouse/silver/orders/data/stray.parquet"


def old(path: str, *, days: float = 5) -> FileInfo:
    return FileInfo(path, 10, "e", NOW - timedelta(days=days))


def plant(cared: CareLake, path: str) -> str:
    cared.lake.stores.files.write(path, b"x" * 10)
    return path


def test_what_nobody_reaches_is_reported_and_removed_only_when_asked(cared: CareLake) -> None:
    cared.make("silver.orders", [1, 2])
    plant(cared, STRAY)
    found = entry(cared.care(days=4), "remove_orphans")
    assert (found.state, found.counts, found.bytes) == ("reported", {"files": 1}, 10)
    assert STRAY in cared.files()
    assert (
        entry(cared.care(days=4, dry_run=True, orphans=True), "remove_orphans").state == "reported"
    )
    assert STRAY in cared.files()
    done = entry(cared.care(days=4, orphans=True), "remove_orphans")
    assert (done.state, done.counts, done.bytes) == ("done", {"files": 1}, 10)
    assert cared.files() == cared.reached()
    assert cared.rows("silver.orders") == [1, 2]


def test_a_setting_makes_care_remove_them_by_itself(tmp_path: Path) -> None:
    cared = CareLake(Root.parse(tmp_path / "lake"), settings={"care": {"remove_orphans": True}})
    cared.make("silver.orders", [1])
    plant(cared, STRAY)
    assert entry(cared.care(days=4), "remove_orphans").state == "done"
    assert STRAY not in cared.files()
    cared.lake.close()


def test_young_files_are_no_orphans(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    plant(cared, STRAY)
    assert cared.care(days=2.9, **ORPHANS).entries == ()


@pytest.mark.parametrize("days", [0.1, 1, 3])
def test_no_setting_makes_a_file_of_less_than_a_day_an_orphan(days: float) -> None:
    files = [
        old("shop/warehouse/silver/t/data/a", days=0.9),
        old("shop/warehouse/silver/t/data/b", days=9),
    ]
    with old_files(files, before=orphans_before(days, now=NOW)) as listed:
        assert list(listed) == [("shop/warehouse/silver/t/data/b", 10)]
        assert count_orphans(listed, Look(Stock(()))) == {
            "shop/warehouse/silver/t": Orphans(files=1, bytes=10)
        }


def test_only_files_in_table_folders_count_and_the_mark_of_a_used_one_does_not(
    cared: CareLake,
) -> None:
    assert folder_of("shop/warehouse/silver/t/data/x") == "shop/warehouse/silver/t"
    assert (
        folder_of("shop/landing/silver/t/x")
        == folder_of("shop/warehouse/silver/x")
        == folder_of("shop/warehouse/x")
        == ""
    )
    for path in (
        STRAY,
        "shop/landing/z/data/x",
        "shop/warehouse/loose",
        "shop/warehouse/silver/loose",
        ".data/warehouse/a/b/c",
    ):
        plant(cared, path)
    later = datetime.now(UTC) + timedelta(days=9)
    with old_files(list_warehouses(cared.lake.stores.files), before=later) as listed:
        assert [path for path, _ in listed] == [STRAY]
    files = [
        old(f"shop/warehouse/silver/t/{USED_MARKER}"),
        old("shop/warehouse/silver/v/metadata/x.json"),
        old("shop/warehouse/silver/t/made_by_a_console/"),
    ]
    look = Look(Stock((), views=frozenset({"shop/warehouse/silver/v"})))
    with old_files(files, before=NOW) as listed:
        assert count_orphans(listed, look) == {}


def test_rename_recreate_drop_and_restore_then_orphan_removal_loses_no_row(cared: CareLake) -> None:
    """The way upstream lost a live table: its folder bore the name of another."""
    cared.make("silver.orders", [1, 2, 3])
    cared.lake.tables.rename("silver.orders", "shop.silver.former")
    cared.make("silver.orders", [4, 5])
    cared.make("silver.gone", [6])
    cared.lake.tables.drop("silver.gone")
    cared.make("silver.gone", [7])
    cared.lake.tables.drop("silver.orders")
    planted = {
        plant(cared, f"shop/warehouse/silver/{name}/data/stray")
        for name in ("orders", "former", "gone")
    }
    result = cared.care(days=20, orphans=True)
    assert {
        state for (action, _), state in states(result).items() if action == "remove_orphans"
    } == {"done"}
    assert not planted & cared.files()
    cared.lake.tables.restore("silver.orders")
    cared.lake.tables.rename("silver.gone", "shop.silver.later")
    cared.lake.tables.restore("silver.gone")
    found = {name: cared.rows(f"silver.{name}") for name in ("former", "orders", "gone", "later")}
    assert found == {"former": [1, 2, 3], "orders": [4, 5], "gone": [6], "later": [7]}


def test_clones_and_every_ref_are_reached(cared: CareLake) -> None:
    name = cared.make("silver.orders", [1])
    first = cared.append("silver.orders", [2])
    cared.lake.tables.tag(name, "v1")
    cared.append("silver.orders", [3], branch="dev")
    cared.lake.tables.clone(name, "shop.silver.copy", at=first)
    cared.append("silver.copy", [9])
    cared.overwrite("silver.orders", [4])
    cared.lake.tables.drop(name)
    cared.care(days=20, orphans=True)
    assert cared.rows("silver.copy") == [1, 2, 9]
    cared.lake.tables.restore("silver.orders")
    assert [cared.rows("silver.orders", ref) for ref in ("v1", "dev", "main")] == [
        [1, 2],
        [1, 2, 3],
        [4],
    ]


def respell(cared: CareLake, table: str, spelling: str) -> None:
    """The same table under another spelling of its addresses, save those inside of manifests: so
    both are met at once.
    """
    name = cared.name(table)
    pointer = cared.lake.stores.catalog.pointers([name])[name]
    file = cared.folder / str(cared.lake.root.relative(pointer.location))
    file.write_text(re.sub(r"file:/*", spelling, file.read_text()))
    with cared.lake.stores.database.writing() as connection:
        from sqlalchemy import text

        swapped = re.sub(r"file:/*", spelling, pointer.location)
        connection.execute(
            text("update iceberg_tables set metadata_location = :to"), {"to": swapped}
        )


@pytest.mark.parametrize("spelling", ["file:/", "file:///", "file:////", "/"])
def test_no_spelling_of_a_folder_makes_a_live_file_an_orphan(
    cared: CareLake, spelling: str
) -> None:
    cared.make("silver.orders", [1, 2])
    cared.overwrite("silver.orders", [3])
    respell(cared, "silver.orders", spelling)
    plant(cared, STRAY)
    cared.care(days=5, **ORPHANS)
    assert STRAY not in cared.files()
    assert cared.files() == cared.reached()
    cared.care(days=9, only=["expire_snapshots"])
    assert cared.rows("silver.orders") == [3]


@pytest.mark.s3
@pytest.mark.postgres
@pytest.mark.parametrize("spelling", ["s3:", "s3a:", "s3n:"])
def test_no_spelling_of_a_bucket_makes_a_live_file_an_orphan(
    bucket: Bucket, database: Database, spelling: str
) -> None:
    catalog = {"kind": "postgres", "url": database.url, "user": database.user}
    settings = {
        "catalog": catalog,
        "files": {"endpoint": bucket.settings.endpoint, "region": bucket.settings.region},
    }
    cared = CareLake(bucket.root, settings=settings, environment=secrets_of(bucket, database))
    cared.make("silver.orders", [1, 2])
    cared.overwrite("silver.orders", [3])
    with cared.lake.stores.database.writing() as connection:
        from sqlalchemy import text

        connection.execute(
            text(
                "update iceberg_tables set metadata_location = replace(metadata_location, 's3:',"
                " :to)"
            ),
            {"to": spelling},
        )
    plant(cared, STRAY)
    assert entry(cared.care(days=5, **ORPHANS), "remove_orphans").counts == {"files": 1}
    assert cared.files() == cared.reached()
    assert cared.rows("silver.orders") == [3]
    cared.lake.close()


def secrets_of(bucket: Bucket, database: Database) -> dict[str, str]:
    files = bucket.settings
    assert files.access_key_id
    assert files.secret_access_key
    found = {
        "LAKEBED_FILES_ENDPOINT": files.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": files.access_key_id.get_secret_value(),
        "LAKEBED_FILES_SECRET_ACCESS_KEY": files.secret_access_key.get_secret_value(),
    }
    return found | (
        {"LAKEBED_CATALOG_PASSWORD": str(database.password)} if database.password else {}
    )


@pytest.mark.parametrize("kind", ["metadata.json", "-m0.avro"])
def test_while_a_table_cannot_be_read_no_orphan_is_removed_anywhere(
    cared: CareLake, kind: str
) -> None:
    cared.make("silver.orders", [1])
    cared.make("silver.broken", [1])
    plant(cared, STRAY)
    for path in cared.files():
        if "silver/broken" in path and path.endswith(kind):
            (cared.folder / path).write_bytes(b"{")
    result = cared.care(days=9, **ORPHANS)
    refused = entry(result, "remove_orphans")
    assert (refused.state, result.exit_code) == ("failed", 1)
    assert "shop.silver.broken" in refused.message
    assert STRAY in cared.files()


def test_files_of_a_first_run_are_safe_before_the_catalog_knows_the_table(cared: CareLake) -> None:
    """It writes at its table's place, for however long it takes, and has the lease of the name."""
    plant(cared, "shop/warehouse/silver/new/data/part-0.parquet")
    plant(cared, "shop/warehouse/silver/other-0a1b2c3d/data/part-0.parquet")
    before = cared.files()
    with (
        cared.lake.tables.lease("shop.silver.new", holder="a first run"),
        cared.lake.tables.lease("shop.silver.other", holder="another"),
    ):
        result = cared.care(days=9, **ORPHANS)
    assert set(states(result).values()) == {"skipped"}
    assert cared.files() == before
    assert set(states(cared.care(days=9, **ORPHANS)).values()) == {"done"}


def test_files_that_a_run_stages_are_safe_while_it_has_its_table(cared: CareLake) -> None:
    run_id = "0" * 31 + "a"
    record = RunRecord(run_id, "i", cared.name("silver.orders"), "running", datetime.now(UTC))
    cared.lake.stores.records.write(record)
    staged = plant(cared, f"shop/warehouse/silver/stage_{run_id}/data/part-0.parquet")
    with cared.lake.tables.lease("shop.silver.orders", holder="the run"):
        assert set(states(cared.care(days=9, **ORPHANS)).values()) == {"skipped"}
    assert staged in cared.files()
    cared.care(days=9, **ORPHANS)
    assert cared.files() == set()  # a folder that only this run could use needs no mark


def test_an_emptied_folder_is_never_used_again(cared: CareLake) -> None:
    plant(cared, STRAY)
    cared.care(days=9, **ORPHANS)
    assert cared.files() == {f"shop/warehouse/silver/orders/{USED_MARKER}"}
    place = new_location(cared.lake, "shop.silver.orders")
    assert place is not None
    assert re.search(r"/silver/orders-[0-9a-f]{8}$", place)
    assert cared.care(days=99, **ORPHANS).entries == ()


@pytest.mark.parametrize(
    ("folder", "leases"),
    [
        ("shop/warehouse/silver/orders", ["shop.silver.orders"]),
        (
            "shop/warehouse/silver/orders-0a1b2c3d",
            ["shop.silver.orders", "shop.silver.orders-0a1b2c3d"],
        ),
        ("shop/warehouse/~2eraw/~5fx", ['shop.".raw"._x']),
        (
            "shop/warehouse/silver/stage_" + "0" * 32,
            ["shop.gold.sums", "shop.silver.stage_" + "0" * 32],
        ),
    ],
)
def test_the_leases_of_a_folder_are_those_of_whoever_may_write_there(
    folder: str, leases: list[str]
) -> None:
    owners = {"0" * 32: TableName("shop", "gold", "sums")}
    assert list(lease_names(folder, Stock(()), owners.get)) == leases


def test_a_table_that_lies_in_a_folder_of_another_name_is_asked_too(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    cared.lake.tables.rename("silver.orders", "shop.silver.later")
    plant(cared, STRAY)
    with cared.lake.tables.lease("shop.silver.later", holder="a run"):
        assert entry(cared.care(days=9, **ORPHANS), "remove_orphans").state == "skipped"
    assert STRAY in cared.files()


def test_a_manifest_that_was_cut_short_does_not_make_orphans_of_the_files_it_no_longer_names(
    cared: CareLake,
) -> None:
    cared.make("silver.source", [1])
    cared.make("silver.orders")
    (data,) = cared.folder.glob("shop/warehouse/silver/source/data/*.parquet")
    names = [f"shop/warehouse/silver/orders/data/{number}.parquet" for number in range(3)]
    for name in names:
        cared.lake.stores.files.write(name, data.read_bytes())
    table = cared.lake.iceberg.load_table(cared.name("silver.orders").parts)
    table.add_files([cared.lake.root.at(name) for name in names])
    (manifest,) = cared.folder.glob("shop/warehouse/silver/orders/metadata/*-m0.avro")
    whole = manifest.read_bytes()
    sync = whole[-16:]  # after every file's part
    ends = [end for end in range(len(whole)) if whole[end - 16 : end] == sync]
    assert len(ends) == 3  # that of the header is the first
    for end in (*ends, ends[-1] + 5, len(whole) - 1):
        manifest.write_bytes(whole[:end])
        refused = entry(cared.care(days=9, **ORPHANS), "remove_orphans")
        assert (refused.state, "shop.silver.orders" in refused.message) == ("failed", True)
    manifest.write_bytes(whole)
    assert cared.care(days=9, **ORPHANS).entries == ()
    assert cared.rows("silver.orders") == [1, 1, 1]
