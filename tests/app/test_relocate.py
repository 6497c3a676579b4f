"""A lake that was moved: found by doctor, mended by relocate, read by every engine as before."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakebed
from lakebed.app import examine
from lakebed.engines.database import Database as LakeDatabase
from lakebed.engines.database import DatabaseLeases
from lakebed.engines.files import open_files
from lakebed.errors import DamagedTable, UsageError
from lakebed.names import TableName
from lakebed.settings import DATABASE_FILE
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.support.benches import RealBench, postgres_bench, sqlite_bench
from tests.support.lakes.kept_lake import Kept
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import snapshots_of


def fill(kept: Kept) -> TableName:
    """Tables with history, refs, a clone that shares files, a derived one, a renamed one, a dropped
    one, and deleted rows.
    """
    table = kept.table("orders", range(10), range(10, 20), range(20, 30))
    kept.derived(table)
    kept.tag(table, "q1")
    kept.bench.iceberg.load_table(table.parts).delete("id < 5")
    kept.bench.write(table, [77], branch="mine")
    catalog = kept.lake.stores.catalog
    head = kept.lake.tables.describe(table).head()
    assert head
    catalog.clone(
        catalog.pointers([table])[table],
        TableName("shop", "silver", "copy"),
        snapshot=head.id,
        location=kept.lake.root.at("shop/warehouse/silver/copy"),
    )
    catalog.rename(kept.table("old"), TableName("shop", "gold", "new"))
    catalog.drop(kept.table("dropped"))
    return table


def history(bench: RealBench, table: TableName) -> dict[int, list[int]]:
    """The rows of every snapshot that is kept."""
    loaded = bench.iceberg.load_table(table.parts)
    return {
        one.snapshot_id: sorted(
            loaded.scan(snapshot_id=one.snapshot_id).to_arrow()["id"].to_pylist()
        )
        for one in loaded.snapshots()
    }


def entries(bench: RealBench, table: TableName) -> list[object]:
    """Everything manifests say, addresses aside."""
    loaded = bench.iceberg.load_table(table.parts)
    return [
        (
            entry.status,
            entry.snapshot_id,
            entry.sequence_number,
            entry.file_sequence_number,
            *list(entry.data_file._data)[2:],
        )
        for snapshot in loaded.snapshots()
        for manifest in snapshot.manifests(loaded.io)
        for entry in manifest.fetch_manifest_entry(loaded.io, discard_deleted=False)
    ]


def moved_to(kept: Kept, folder: Path) -> Kept:
    """The lake as it opens at its new place."""
    kept.lake.close()
    kept.bench.close()
    shutil.move(kept.lake.root.folder, folder)
    return Kept(lakebed.open(folder, environment={}), sqlite_bench(folder))


@pytest.fixture
def moved(kept: Kept, tmp_path: Path) -> Iterator[tuple[Kept, object, object]]:
    table = fill(kept)
    before = kept.state(), history(kept.bench, table), entries(kept.bench, table)
    made = moved_to(kept, tmp_path / "elsewhere" / "lake two")
    yield made, before, table
    made.lake.close()
    made.bench.close()


def test_a_moved_lake_is_found_by_doctor_and_mended_by_relocate(
    moved: tuple[Kept, object, TableName],
) -> None:
    kept, before, table = moved
    (found,) = [found for found in examine(kept.lake, {}) if found.component == "tables"]
    assert "lakebed relocate" in found.fix
    assert "moved lake" in kept.kinds()
    pointers = kept.lake.stores.catalog.pointers()
    seen = kept.lake.relocate(dry_run=True)
    (derived,) = [one for one in pointers if one.derived]
    assert {one.name for one in seen.tables} == {
        str(derived),
        "shop.silver.orders",
        "shop.silver.copy",
        "shop.gold.new",
        "shop.silver.dropped",
    }
    assert kept.lake.stores.catalog.pointers() == pointers
    kept.lake.relocate()
    assert (kept.state(), history(kept.bench, table), entries(kept.bench, table)) == before
    assert kept.kinds() == []
    assert [found.state for found in examine(kept.lake, {}) if found.component == "tables"] == [
        "ok"
    ]
    assert kept.lake.relocate().tables == ()


def test_nothing_of_the_old_place_is_needed_nor_named_any_more(
    moved: tuple[Kept, object, TableName],
) -> None:
    kept, _, _ = moved
    kept.lake.relocate()
    for pointer in kept.lake.stores.catalog.pointers().values():
        for reached in kept.lake.stores.reach.files(pointer):
            assert kept.lake.root.relative(reached.location), reached
    (gone,) = kept.lake.stores.catalog.dropped()
    kept.lake.stores.catalog.restore(gone, gone.table)
    assert kept.bench.rows(gone.table) == list(range(20))
    kept.bench.write(gone.table, [100])
    assert len(kept.bench.rows(gone.table)) == 21


def test_a_lake_moved_there_and_back_is_as_it_was(
    moved: tuple[Kept, object, TableName], tmp_path: Path
) -> None:
    kept, before, table = moved
    kept.lake.relocate()
    back = moved_to(kept, tmp_path / "lake")
    back.lake.relocate()
    assert (back.state(), history(back.bench, table), entries(back.bench, table)) == before
    again = moved_to(back, tmp_path / "third")
    again.lake.relocate()
    assert (again.state(), history(again.bench, table), entries(again.bench, table)) == before
    again.lake.close()
    again.bench.close()


def test_a_missing_file_stops_it_before_anything_is_changed(
    moved: tuple[Kept, object, TableName],
) -> None:
    kept, _, table = moved
    pointers = kept.lake.stores.catalog.pointers()
    lost = kept.files(table, "metadata/*-m0.avro")[0]
    lost.rename(lost.with_suffix(".away"))
    with pytest.raises(DamagedTable, match="there is no such file"):
        kept.lake.relocate()
    assert kept.lake.stores.catalog.pointers() == pointers
    skipped = kept.lake.relocate(dry_run=True, skip_damaged=True)
    assert str(table) in skipped.lost
    assert "shop.gold.new" in {one.name for one in skipped.tables}
    lost.with_suffix(".away").rename(lost)
    file = kept.lake.root.folder / DATABASE_FILE
    leases = DatabaseLeases(LakeDatabase.sqlite(file))  # of whoever began before the move
    lease = leases.acquire(str(table), holder="another process", limit=60)
    with pytest.raises(UsageError, match="is being worked on"):
        kept.lake.relocate()
    leases.release(lease)
    with pytest.raises(UsageError, match="no table was below"):
        kept.lake.relocate(origin="/nowhere")
    with pytest.raises(DamagedTable):
        kept.lake.relocate(origin=str(kept.lake.root.folder.parent.parent))
    kept.lake.relocate()
    assert kept.kinds() == []


_KILLED = """
import os, signal, sys
from lakebed.app import open_lake
from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.catalog.pointer_rows import DatabasePointerRows

left = int(sys.argv[2])
write, change = FilesByUrl.write, DatabasePointerRows.change

def dying(self, *given, **options):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(self, *given, **options)

def dead(self, *given, **options):
    os.kill(os.getpid(), signal.SIGKILL)

FilesByUrl.write, DatabasePointerRows.change = dying, dead
open_lake(sys.argv[1]).relocate()
"""


@pytest.mark.parametrize("writes", [3, 1000])
def test_killed_in_the_middle_it_has_changed_nothing(
    moved: tuple[Kept, object, TableName], writes: int
) -> None:
    kept, before, table = moved
    pointers = kept.lake.stores.catalog.pointers()
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, str(kept.lake.root), str(writes)],
        env=os.environ,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert kept.lake.stores.catalog.pointers() == pointers
    kept.lake.relocate()
    assert (kept.state(), history(kept.bench, table), entries(kept.bench, table)) == before


@pytest.mark.s3
@pytest.mark.postgres
def test_a_bucket_lake_is_relocated_to_another_prefix(database: Database, bucket: Bucket) -> None:
    bench = postgres_bench(database, bucket)
    with lakebed.Lake(bucket.root, bench.settings, environment={}) as lake:
        kept = Kept(lake, bench)
        table = fill(kept)
        before = kept.state(), history(bench, table), entries(bench, table)
        target = bucket.server.fresh_prefix()
        new = RealBench(bench.settings, target.root, "shop")
        copy = open_files(target.root, bench.settings.files)
        for info in list(lake.stores.files.list()):
            copy.write(info.path, lake.stores.files.read(info.path))
        lake.stores.files.clear("shop")
    with lakebed.Lake(target.root, new.settings, environment={}) as lake:
        there = Kept(lake, new)
        with pytest.raises(UsageError, match="is that of the lake at"):
            lake.relocate()  # a copy would take the original's database with it
        lake.relocate(moved=True)
        assert (there.state(), history(new, table), entries(new, table)) == before
        assert lake.fsck(sample=None).problems == 0
    bench.close()
    new.close()


@pytest.mark.spark
def test_spark_reads_every_snapshot_of_a_relocated_lake_and_goes_on(
    shop: TestLake, tmp_path: Path
) -> None:
    shop.land("orders", "a.csv", "id,name,day\n1,a,2026-01-01\n2,b,2026-01-02\n")
    config = "merge_strategy: incremental\nunique_key: id\npartition_by: [day]\n"
    shop.pipeline(
        "bronze.orders",
        "SELECT int(id) AS id, name, date(day) AS day FROM {{ landing_zone('orders') }}",
        config,
    )
    shop.pipeline(
        "silver.seen", "SELECT id FROM {{ ref('bronze.orders') }}", "materialized: view\n"
    )
    shop.run()
    shop.land("orders", "b.csv", "id,name,day\n2,B,2026-01-02\n3,c,2026-01-03\n")
    shop.run()
    table = shop.table("bronze.orders")
    at = {one.id: _spark_rows(shop, one.id) for one in snapshots_of(shop.lake, table)}
    shop.lake.close()
    shutil.copytree(shop.folder, tmp_path / "new place")
    shutil.rmtree(shop.folder / "shop" / "warehouse")
    shop.folder = tmp_path / "new place"
    shop.lake = lakebed.open(shop.folder)
    shop.lake.relocate()
    assert {one.id: _spark_rows(shop, one.id) for one in snapshots_of(shop.lake, table)} == at
    assert shop.lake.spark.sql("SELECT * FROM lake.shop.silver.seen").count() == 3
    bench = shop.lake.pipelines.services.engines.workbench()
    name = bench.table(table, snapshot=snapshots_of(shop.lake, table)[-1].id)
    assert bench.connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (2,)
    bench.close()
    shop.land("orders", "c.csv", "id,name,day\n4,d,2026-01-01\n")
    assert {record.state for record in shop.run().values()} == {"success"}
    assert sorted(row["id"] for row in shop.rows("bronze.orders")) == [1, 2, 3, 4]
    assert shop.lake.fsck(sample=None).problems == 0


def _spark_rows(shop: TestLake, snapshot: int) -> list[object]:
    rows = shop.lake.spark.sql(
        f"SELECT * FROM lake.shop.bronze.orders VERSION AS OF {snapshot} ORDER BY id"
    ).collect()
    return [row.asDict() for row in rows]
