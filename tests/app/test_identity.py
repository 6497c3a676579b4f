"""A root and its database belong together: no other database writes to the lake's files."""

import gc
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import lakebed
from lakebed.app import Lake, examine
from lakebed.engines.files import open_files
from lakebed.errors import (
    CopiedLake,
    LeaseLost,
    NotOwner,
    UsageError,
    WrongDatabase,
)
from lakebed.names import TableName
from lakebed.settings import DATABASE_FILE, Root, Settings
from lakebed.tables.ownership import IDENTITY_FILE
from tests.servers.postgres import Database, PostgresServer, postgres_programs
from tests.servers.s3 import Bucket
from tests.support.benches import RealBench, postgres_bench
from tests.support.lakes.kept_lake import Kept
from tests.support.workers import until

ORDERS = TableName("shop", "silver", "orders")


def identity_of(folder: Path) -> dict[str, object]:
    document: dict[str, object] = json.loads((folder / IDENTITY_FILE).read_text())
    return document


def land(lake: Lake) -> None:
    """A file in a zone: a change that touches no table."""
    lake.stores.files.write("shop/landing/orders/a.csv", b"id\n1\n")


def rows_of(lake: Lake, *, at: str | None = None) -> object:
    return lake.query("SELECT count(*) AS n FROM shop.silver.orders", at=at).to_arrow().to_pylist()


def drop(lake: Lake) -> None:
    lake.tables.drop(ORDERS)


def tag(lake: Lake, name: str = "another") -> None:
    lake.tables.tag(ORDERS, name)


def run(lake: Lake) -> None:
    lake.run()


def clear(lake: Lake) -> None:
    lake.stores.files.clear("shop")


def leave_orphan(lake: Lake) -> Path:
    """A file that care would remove."""
    file = lake.root.folder / "shop/warehouse/silver/orders/data/orphan.parquet"
    file.write_bytes(b"1234")
    os.utime(file, (0, 0))
    return file


def listed(lake: Lake) -> list[TableName]:
    return list(lake.tables.list())


def care(lake: Lake) -> None:
    lake.care()


def check(lake: Lake) -> None:
    lake.fsck()


def take_over(lake: Lake) -> None:
    lake.takeover()


def take_lease(lake: Lake) -> None:
    with lake.tables.lease(ORDERS):
        pass


def everything(folder: Path) -> dict[str, bytes]:
    """All files but those that readers change, too: SQLite's, and the query log."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("lake.db") and "logs" not in path.parts
    }


# -- one folder with SQLite


def test_a_copied_folder_is_read_and_written_only_once_it_is_a_lake_of_its_own(
    kept: Kept, tmp_path: Path
) -> None:
    original = kept.lake.root.folder
    kept.lake.close()
    kept.bench.close()
    subprocess.run(["cp", "-a", original, tmp_path / "copy"], check=True)
    before = everything(original)
    with lakebed.open(tmp_path / "copy", environment={}) as copy:
        assert copy.tables.list() == {}
        for change in (land, take_lease):
            with pytest.raises(CopiedLake, match="lakebed relocate"):
                change(copy)
        (finding,) = [one for one in examine(copy, {}) if one.component == "identity"]
        assert (finding.state, "lakebed relocate" in finding.fix) == ("problem", True)
        copy.relocate()
        land(copy)
    assert identity_of(tmp_path / "copy")["id"] != identity_of(original)["id"]
    assert everything(original) == before
    land(kept.lake)


def test_care_removes_old_staged_files_and_logs_only_of_a_lake_that_its_database_owns(
    kept: Kept, tmp_path: Path
) -> None:
    run = f"{1:032x}"  # of long ago
    old = [f".data/staging/{run}/a.csv", f".data/logs/runs/{run}.log"]
    for path in old:
        kept.lake.stores.files.write(path, b"old")
        os.utime(kept.lake.root.folder / path, (0, 0))
    kept.lake.close()
    kept.bench.close()
    shutil.copytree(kept.lake.root.folder, tmp_path / "copy")
    with lakebed.open(tmp_path / "copy", environment={}) as copy:
        assert not copy.care().ok
        assert [path for path in old if (tmp_path / "copy" / path).exists()] == old
        copy.relocate()
        assert copy.care().ok
    assert not [path for path in old if (tmp_path / "copy" / path).exists()]


def test_a_moved_folder_keeps_its_id_if_that_is_said(kept: Kept, tmp_path: Path) -> None:
    table = kept.table()
    kept.tag(table, "first")
    original = kept.lake.root.folder
    first = identity_of(original)["id"]
    kept.lake.close()
    kept.bench.close()
    shutil.move(original, tmp_path / "moved")
    with lakebed.open(tmp_path / "moved", environment={}) as moved:
        moved.relocate(moved=True)
        moved.tables.tag(table, "second")
    assert identity_of(tmp_path / "moved")["id"] == first


def test_a_lake_of_an_older_version_gets_its_identity_by_the_first_write_and_by_no_reader(
    kept: Kept,
) -> None:
    table, folder = kept.table(), kept.lake.root.folder
    with kept.lake.stores.database.writing(guarded=False) as connection:
        connection.exec_driver_sql("DROP TABLE lakebed_identity")
        connection.exec_driver_sql("UPDATE lakebed_schema SET version = 8")
    (folder / IDENTITY_FILE).unlink()
    kept.lake.close()
    assert list(kept.lake.tables.list()) == [table]
    assert rows_of(kept.lake) == [{"n": 20}]
    (finding,) = [one for one in examine(kept.lake, {}) if one.component == "identity"]
    assert "the first write makes one" in finding.detail
    assert not (folder / IDENTITY_FILE).exists()
    kept.lake.tables.tag(table, "first")
    assert identity_of(folder)["generation"] == 1


def test_an_older_lake_is_not_claimed_by_an_empty_database(kept: Kept) -> None:
    kept.table()
    folder = kept.lake.root.folder
    kept.lake.close()
    kept.bench.close()
    (folder / IDENTITY_FILE).unlink()
    for file in folder.glob(f"{DATABASE_FILE}*"):
        file.unlink()
    for act in (listed, run, care, check):
        with pytest.raises(WrongDatabase, match="it is empty, and the lake is not"):
            act(kept.lake)
    assert not list(folder.glob(f"{DATABASE_FILE}*")), "nobody made a database"
    kept.lake.rebuild_catalog()
    kept.lake.tables.tag(ORDERS, "first")
    assert identity_of(folder)["generation"] == 1


def test_a_database_file_from_before_a_takeover_only_reads(kept: Kept, tmp_path: Path) -> None:
    table, folder = kept.table(), kept.lake.root.folder
    kept.lake.close()
    kept.bench.close()
    shutil.copy(folder / DATABASE_FILE, tmp_path / "older.db")
    kept.lake.takeover()
    kept.lake.tables.tag(table, "first")
    kept.lake.close()
    shutil.copy(tmp_path / "older.db", folder / DATABASE_FILE)
    assert list(kept.lake.tables.list()) == [table]
    with pytest.raises(NotOwner, match="generation 1 of the lake"):
        kept.lake.tables.tag(table, "second")


# -- one folder with PostgreSQL


@dataclass
class Production:
    """A lake in a folder, with its database on a server that has others."""

    server: PostgresServer
    database: Database
    folder: Path

    def open(self, database: Database | None = None, folder: Path | None = None) -> Lake:
        settings = Settings(catalog=(database or self.database).catalog)
        return Lake(Root.parse(folder or self.folder), settings, environment={})

    def bench(self) -> RealBench:
        settings = Settings(catalog=self.database.catalog)
        return RealBench(settings, Root.parse(self.folder), "shop")

    def dump(self) -> Database:
        """A second database, with all rows of the first."""
        target = self.server.fresh_database()
        dumped = _program("pg_dump", self.database, "--no-owner")
        _program("psql", target, "--quiet", "--set=ON_ERROR_STOP=1", text=dumped)
        return target


def _program(name: str, database: Database, *options: str, text: str = "") -> str:
    where = [f"--host={database.host}", f"--port={database.port}", f"--username={database.user}"]
    return subprocess.run(
        [postgres_programs() / name, *where, *options, database.database],
        input=text,
        env=os.environ | {"PGPASSWORD": database.password},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.fixture
def production(postgres_server: PostgresServer, database: Database, tmp_path: Path) -> Production:
    made = Production(postgres_server, database, tmp_path / "lake")
    catalog = {"kind": "postgres", "url": database.url, "user": database.user}
    password = {"LAKEBED_CATALOG_PASSWORD": database.password}
    lakebed.create(made.folder, settings={"catalog": catalog}, environment=password).close()
    bench = made.bench()
    bench.write(bench.table("orders"), range(5))
    bench.close()
    return made


@pytest.mark.postgres
def test_a_restore_drill_beside_production_reads_its_files_and_removes_none(
    production: Production,
) -> None:
    with production.open() as lake:
        lake.tables.tag(ORDERS, "first")
        leave_orphan(lake)
        backup = lake.backup(f"{production.folder.parent}/b.zip")
    restored = production.server.fresh_database()
    before = everything(production.folder)
    for database in (production.dump(), restored):
        with production.open(database) as drill:
            if database is restored:
                with pytest.raises(WrongDatabase, match="it is empty, and the lake is not"):
                    drill.tables.list()
                drill.restore(backup.path)
            assert list(drill.tables.list()) == [ORDERS]
            assert rows_of(drill) == [{"n": 5}]
            assert rows_of(drill, at="first") == [{"n": 5}]
            assert drill.fsck(sample=None).problems == 0
            for change in (drop, tag, land, run, clear, take_lease):
                with pytest.raises(NotOwner, match="lakebed takeover"):
                    change(drill)
            assert not drill.care(orphans=True).ok
            (finding,) = [one for one in examine(drill, {}) if one.component == "identity"]
            assert (finding.state, "lakebed takeover" in finding.fix) == ("problem", True)
    assert everything(production.folder) == before
    with production.open() as lake:
        lake.tables.tag(ORDERS, "second")


@pytest.mark.postgres
def test_a_process_that_is_open_across_a_takeover_loses_its_lease_and_writes_no_more(
    production: Production,
) -> None:
    with production.open() as former, production.open(production.dump()) as new:
        former.tables.tag(ORDERS, "first")
        orphan = leave_orphan(former)
        with former.tables.lease(ORDERS) as held:
            assert new.takeover().now.generation == 2
            with pytest.raises(LeaseLost, match="another database"):
                former.stores.leases.renew(held.lease)
        with pytest.raises(NotOwner):
            take_lease(former)
        assert not former.care(orphans=True).ok
        with pytest.raises(NotOwner):
            former.tables.tag(ORDERS, "second")
        assert orphan.exists()
        assert list(former.tables.list()) == [ORDERS]
        new.tables.tag(ORDERS, "second")


@pytest.mark.postgres
def test_the_database_of_another_lake_is_refused_to_a_new_lake_and_to_an_old_one(
    production: Production, tmp_path: Path
) -> None:
    other = Production(
        production.server, production.server.fresh_database(), tmp_path / "other lake"
    )
    catalog = {"kind": "postgres", "url": production.database.url, "user": production.database.user}
    password = {"LAKEBED_CATALOG_PASSWORD": production.database.password}
    with pytest.raises(WrongDatabase, match="belongs to the lake at"):
        lakebed.create(other.folder, settings={"catalog": catalog}, environment=password)
    assert not (other.folder / "lakebed.yaml").exists()
    lakebed.create(
        other.folder,
        settings={"catalog": catalog | {"url": other.database.url}},
        environment=password,
    ).close()
    with production.open(folder=other.folder) as mistaken:
        for act in (listed, run, care, take_over):
            with pytest.raises(WrongDatabase, match="belongs to the lake at"):
                act(mistaken)
    empty = production.server.fresh_database()
    with production.open(empty) as mistyped:
        for act in (listed, run, care):
            with pytest.raises(WrongDatabase, match="it is empty, and the lake is not"):
                act(mistyped)
    with empty.connect() as connection:
        count = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
        assert connection.execute(count).fetchone() == (0,)


@pytest.mark.postgres
def test_a_refused_database_is_left_without_connections(
    production: Production, tmp_path: Path
) -> None:
    empty = production.server.fresh_database()
    catalog = {"kind": "postgres", "url": production.database.url, "user": production.database.user}
    password = {"LAKEBED_CATALOG_PASSWORD": production.database.password}
    gc.disable()  # it would close them some day
    try:
        with production.open(empty) as mistyped, pytest.raises(WrongDatabase):
            mistyped.tables.list()
        with pytest.raises(WrongDatabase):
            lakebed.create(tmp_path / "new", settings={"catalog": catalog}, environment=password)
        for database in (empty, production.database):
            until(lambda: connections_to(database) == 0, seconds=60)  # noqa: B023
    finally:
        gc.enable()


def connections_to(database: Database) -> object:
    """How many others are connected."""
    others = "datname = current_database() AND pid <> pg_backend_pid() AND backend_type ="
    count = f"SELECT count(*) FROM pg_stat_activity WHERE {others} 'client backend'"
    with database.connect() as connection:
        (connected,) = connection.execute(count).fetchone() or (None,)
    return connected


@pytest.mark.postgres
def test_a_lake_moves_from_one_database_to_another_by_backup_restore_and_takeover(
    production: Production,
) -> None:
    with production.open() as old:
        old.tables.tag(ORDERS, "first")
        backup = old.backup(f"{production.folder.parent}/b.zip")
    with production.open(production.server.fresh_database()) as new:
        new.restore(backup.path, newest=True)
        new.takeover()
        new.tables.tag(ORDERS, "second")
    with production.open() as old, pytest.raises(NotOwner):
        old.tables.tag(ORDERS, "third")


# -- a bucket with PostgreSQL


@pytest.mark.s3
@pytest.mark.postgres
def test_a_replica_of_the_bucket_with_a_dump_becomes_a_lake_of_its_own(
    postgres_server: PostgresServer, database: Database, bucket: Bucket, tmp_path: Path
) -> None:
    bench = postgres_bench(database, bucket)
    bench.write(bench.table("orders"), range(5))
    dumps = Production(postgres_server, database, tmp_path)
    with Lake(bucket.root, bench.settings, environment={}) as lake:
        lake.tables.tag(ORDERS, "first")
        target = bucket.server.fresh_prefix()
        replica = open_files(target.root, bench.settings.files)
        for info in list(lake.stores.files.list()):
            replica.write(info.path, lake.stores.files.read(info.path))
    before = {info.path: info.etag for info in bench.stores.files.list()}
    with (
        Lake(target.root, bench.settings, environment={}) as mistaken,
        pytest.raises(UsageError, match="is that of the lake at"),
    ):
        mistaken.relocate()
    copied = Settings(catalog=dumps.dump().catalog, files=bucket.settings)
    with Lake(target.root, copied, environment={}) as copy:
        with pytest.raises(CopiedLake):
            land(copy)
        copy.relocate()
        copy.tables.drop(ORDERS)
        assert copy.care(orphans=True).ok
    assert {info.path: info.etag for info in bench.stores.files.list()} == before
    with Lake(bucket.root, bench.settings, environment={}) as lake:
        assert rows_of(lake) == [{"n": 5}]
        lake.tables.tag(ORDERS, "second")
    bench.close()
