"""Catalog and state: backed up, destroyed and restored; and a catalog rebuilt from nothing but
files.
"""

import json
import threading
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lakebed
from lakebed.errors import FileExists, NewerLake, UsageError, WrongDatabase
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import RUN_ID, UNPUBLISHED, ConsumedFile, Event, PublicationRecords, RunRecord
from lakebed.settings import DATABASE_FILE, Settings
from lakebed.tables.ledger.copies import write_copy
from tests.servers.postgres import Database
from tests.support.benches import ids
from tests.support.lakes.kept_lake import Kept
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import new_location


@pytest.fixture(
    params=["SQLite", pytest.param("PostgreSQL", marks=[pytest.mark.s3, pytest.mark.postgres])]
)
def any_kept(request: pytest.FixtureRequest) -> Kept:
    kept: Kept = request.getfixturevalue("kept" if request.param == "SQLite" else "on_server")
    return kept


def fill(kept: Kept) -> TableName:
    """Tables with branches and tags, a dropped one, a run that took a file, events."""
    table = kept.table()
    kept.tag(table, "q1")
    kept.bench.write(table, [77], branch="mine")
    kept.table("other")
    kept.lake.stores.catalog.drop(kept.table("dropped"))
    kept.bench.write(table, [99], branch="run_1")
    run = RunRecord("r1", "i1", table, "running", datetime.now(UTC), message="Ünïcode\n'quotes'")
    file = ConsumedFile(
        table, ZoneName("shop", "orders"), "shop/landing/orders/a.csv", "e1", 3, "r1"
    )
    with kept.lake.tables.lease(table) as held:
        from lakebed.tables import PublishRequest, publish

        asked = [PublishRequest(table, "run_1")]
        publish(
            kept.lake.stores.catalog,
            asked,
            run_id="r1",
            leases=[held.require()],
            records=PublicationRecords((run,), (file,)),
        )
    return table


def told(kept: Kept) -> object:
    """What the state says."""
    stores, table = kept.lake.stores, TableName("shop", "silver", "orders")
    return (
        stores.records.runs(),
        stores.records.ledger(table),
        stores.events.since(),
        [gone.table for gone in stores.catalog.dropped()],
        stores.catalog.pointers(),
    )


def destroy(kept: Kept) -> None:
    """Catalog and state are gone."""
    database = kept.lake.stores.database
    if database.is_sqlite:
        kept.lake.close()
        kept.bench.close()
        for file in kept.lake.root.folder.glob(f"{DATABASE_FILE}*"):
            file.unlink()
        return
    with database.writing() as connection:
        connection.exec_driver_sql("drop schema public cascade")
        connection.exec_driver_sql("create schema public")
    database.prepare()


def test_backup_destroy_restore_brings_back_every_row(any_kept: Kept, tmp_path: Path) -> None:
    table = fill(any_kept)
    before, books = any_kept.state(), told(any_kept)
    made = any_kept.lake.backup(f"{tmp_path}/backups/")
    assert made.tables == 2
    destroy(any_kept)
    if any_kept.lake.root.is_bucket:
        assert any_kept.lake.tables.list() == {}
    else:
        with pytest.raises(WrongDatabase, match="it is empty, and the lake is not"):
            any_kept.lake.tables.list()
    restored = any_kept.lake.restore(made.path)
    assert (restored.tables, restored.newer, restored.unknown, restored.moved) == (2, {}, (), False)
    assert any_kept.state() == before
    assert told(any_kept) == books
    any_kept.bench.write(table, [100])
    any_kept.lake.stores.events.append(Event("altered", table))
    numbers = [noted.number for noted in any_kept.lake.stores.events.since()]
    assert numbers == sorted(set(numbers)), "counting goes on where it was"
    assert any_kept.lake.fsck(sample=None).problems == 0


def test_what_was_committed_after_the_backup_is_told_and_taken_up_if_asked(
    any_kept: Kept, tmp_path: Path
) -> None:
    table = any_kept.table()
    made = any_kept.lake.backup(str(tmp_path / "b.zip"))
    any_kept.bench.write(table, [500])
    any_kept.table("later")
    destroy(any_kept)
    restored = any_kept.lake.restore(made.path)
    assert list(restored.newer) == [str(table)]
    assert restored.unknown == ("shop/warehouse/silver/later/metadata",)
    assert any_kept.bench.rows(table) == list(range(20))
    any_kept.lake.restore(made.path, force=True, newest=True)
    assert any_kept.bench.rows(table) == [*range(20), 500]
    assert list(any_kept.lake.rebuild_catalog().tables) == ["shop.silver.later"]
    assert any_kept.bench.rows(TableName("shop", "silver", "later")) == list(range(20))


def test_derived_tables_come_back_with_a_backup_and_from_files_alone(
    any_kept: Kept, tmp_path: Path
) -> None:
    table = any_kept.table()
    old = any_kept.derived(table)
    run = any_kept.table(f"run_{new_run_id()}")
    made = any_kept.lake.backup(str(tmp_path / "b.zip"))
    any_kept.bench.write(old, [500])
    young = any_kept.derived(table, range(5))
    before = any_kept.state()
    destroy(any_kept)
    restored = any_kept.lake.restore(made.path)
    assert list(restored.newer) == [str(old)]
    assert restored.unknown == (f"{young.folder}/metadata",)
    any_kept.lake.restore(made.path, force=True, newest=True)
    assert any_kept.state() == {name: before[name] for name in (table, old, run)}
    assert list(any_kept.lake.rebuild_catalog().tables) == [str(young)]
    assert any_kept.state() == before
    destroy(any_kept)
    rebuilt = any_kept.lake.rebuild_catalog()
    assert set(rebuilt.tables) == {str(table), str(old), str(young)}
    assert list(rebuilt.skipped.values()) == ["a hidden table of a run"]
    assert any_kept.state() == {name: before[name] for name in (table, old, young)}
    report = any_kept.lake.fsck(sample=None)
    assert {(found.kind, found.where) for found in report.findings} == {
        ("folder without table", run.folder),
        ("table without pipeline", str(table)),
    }


def test_files_of_a_lost_source_do_not_count_as_taken_by_what_is_derived_from_it(
    kept: Kept,
) -> None:
    source, run_id = kept.table(), new_run_id()
    derived = kept.derived(source)
    loaded = kept.bench.iceberg.load_table(derived.parts)
    loaded.append(ids([20]), snapshot_properties={RUN_ID: run_id})
    path = "shop/landing/orders/a.csv"
    taken = ConsumedFile(source, ZoneName("shop", "orders"), path, "e1", 3, run_id)
    write_copy(kept.lake.stores.files, run_id, [taken])
    kept.lake.tables.drop(source)
    kept.lake.rebuild_catalog()
    assert kept.lake.stores.records.ledger(derived) == ()


def test_a_backup_made_while_others_write_is_one_moment(any_kept: Kept, tmp_path: Path) -> None:
    events, table, done = any_kept.lake.stores.events, any_kept.table(), threading.Event()

    def write() -> None:
        while not done.is_set():
            events.append(Event("altered", table), Event("altered", table))

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for number in range(5):
            made = any_kept.lake.backup(str(tmp_path / f"{number}.zip"))
            with zipfile.ZipFile(made.path) as archive:
                numbers = [
                    json.loads(line)["number"]
                    for line in archive.read("lakebed_events.jsonl").splitlines()
                ]
            assert len(numbers) % 2 == 0
    finally:
        done.set()
        for writer in writers:
            writer.join()


@pytest.mark.postgres
def test_a_backup_of_sqlite_can_be_restored_to_postgresql(
    kept: Kept, tmp_path: Path, database: Database
) -> None:
    fill(kept)
    before, books = kept.state(), told(kept)
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    bench = replace(kept.bench, settings=Settings(catalog=database.catalog))
    with lakebed.Lake(kept.lake.root, bench.settings, environment={}) as lake:
        grown = Kept(lake, bench)
        lake.restore(made.path)
        assert grown.state() == before
        assert told(grown) == books
    bench.close()


def test_a_restore_that_would_overwrite_is_refused_unless_forced(
    kept: Kept, tmp_path: Path
) -> None:
    table = kept.table()
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    kept.table("later")
    with pytest.raises(UsageError, match="2 of iceberg_tables"):
        kept.lake.restore(made.path)
    assert len(kept.lake.tables.list()) == 2
    with kept.lake.tables.lease(table), pytest.raises(UsageError, match="is being worked on"):
        kept.lake.restore(made.path, force=True)
    with kept.lake.tables.lease(table) as held:
        zombie = held.lease
    kept.lake.restore(made.path, force=True)
    assert list(kept.lake.tables.list()) == [table]
    with kept.lake.tables.lease(table) as held:
        assert held.lease.token > zombie.token, (
            "who held a lease before is not taken for its holder"
        )


def test_what_is_no_backup_is_refused_and_nothing_changed(kept: Kept, tmp_path: Path) -> None:
    kept.table()
    made = kept.lake.backup(str(tmp_path / "b.zip"))
    with pytest.raises(FileExists):
        kept.lake.backup(made.path)
    (tmp_path / "text").write_text("hello")
    whole = Path(made.path).read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    for bad in ("text", "cut", "absent", "."):
        with pytest.raises(UsageError):
            kept.lake.restore(str(tmp_path / bad), force=True)
    with zipfile.ZipFile(tmp_path / "newer", "w") as archive:
        archive.writestr(
            "manifest.json",
            json.dumps({"format": 1, "schema": 99, "made_at": "", "root": "", "tables": {}}),
        )
    with pytest.raises(NewerLake):
        kept.lake.restore(str(tmp_path / "newer"), force=True)
    assert len(kept.lake.tables.list()) == 1


def test_a_lost_catalog_is_rebuilt_with_every_committed_row(any_kept: Kept) -> None:
    table = any_kept.table("orders")
    any_kept.tag(table, "q1")
    any_kept.bench.write(table, [77], branch="mine")
    catalog = any_kept.lake.stores.catalog
    renamed = TableName("shop", "gold", "first")
    catalog.rename(table, renamed)
    again = TableName("shop", "silver", "orders")
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    place = new_location(any_kept.lake, again)
    any_kept.bench.iceberg.create_table(
        again.parts, Schema(NestedField(1, "id", LongType())), location=place
    )
    any_kept.bench.write(again, [1, 2, 3])
    gone = catalog.drop(any_kept.table("dropped"))
    assert gone
    catalog.restore(gone, TableName("shop", "silver", "undropped"))
    before = any_kept.state()
    assert set(before) == {renamed, again, TableName("shop", "silver", "undropped")}
    destroy(any_kept)
    rebuilt = any_kept.lake.rebuild_catalog()
    assert any_kept.state() == before
    assert rebuilt.skipped == {}
    assert any_kept.lake.rebuild_catalog().tables == {}, "it only adds what is missing"
    assert any_kept.lake.fsck(sample=None).problems == 0


def test_rebuilding_leaves_hidden_unpublished_and_second_tables_of_a_name(kept: Kept) -> None:
    table = kept.table("orders")
    kept.lake.iceberg.load_table(kept.table("first").parts).transaction().set_properties(
        {UNPUBLISHED: "true"}
    ).commit_transaction()
    kept.lake.stores.catalog.drop(table)
    twin = new_location(kept.lake, table)
    schema = kept.lake.iceberg.load_table(("shop", "silver", "first")).schema()
    kept.lake.iceberg.create_table(table.parts, schema, location=twin)
    kept.bench.write(table, [5])
    destroy(kept)
    rebuilt = kept.lake.rebuild_catalog()
    assert list(rebuilt.tables) == [str(table)]
    assert kept.bench.rows(table) == [5], "the newest gets the name"
    assert sorted(rebuilt.skipped.values()) == [
        "a first run that was not published",
        "its name is taken by another table, or unknown",
    ]


@pytest.mark.spark
def test_a_lake_that_spark_wrote_survives_the_loss_of_its_catalog(shop: TestLake) -> None:
    shop.land("orders", "a.csv", "id,name\n1,a\n2,b\n")
    shop.pipeline(
        "bronze.orders",
        "SELECT * FROM {{ landing_zone('orders') }}",
        "merge_strategy: append_only\n",
    )
    shop.pipeline("silver.orders", "SELECT id, upper(name) AS name FROM {{ ref('bronze.orders') }}")
    shop.run()
    assert UNPUBLISHED not in shop.lake.tables.describe("silver.orders").properties
    before = shop.rows("silver.orders"), shop.rows("bronze.orders")
    assert shop.lake.fsck(sample=None).problems == 0
    made = shop.lake.backup(f"{shop.folder.parent}/")
    with shop.lake.stores.database.writing() as connection:
        connection.exec_driver_sql("delete from iceberg_tables")
    assert len(shop.lake.rebuild_catalog().tables) == 2
    assert (shop.rows("silver.orders"), shop.rows("bronze.orders")) == before
    shop.lake.restore(made.path, force=True)
    shop.land("orders", "b.csv", "id,name\n3,c\n")
    assert {record.state for record in shop.run().values()} == {"success"}
    assert len(shop.rows("silver.orders")) == 3
