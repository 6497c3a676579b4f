"""What a check finds, and that mending loses nothing."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from lakebed.app import Lake
from lakebed.app.fsck import fsck_services
from lakebed.care.fsck import Finding
from lakebed.care.fsck.run import check, make_repairs
from lakebed.care.fsck.walk import Inventory, walk_tables
from lakebed.engines.database.state.intended_changes import (
    IntendedAmendments,
    IntendedChange,
    put_intended,
)
from lakebed.errors import DamagedTable, UnknownName, UsageError
from lakebed.names import TableName, new_run_id
from lakebed.pipelines.planning.hidden_tables import hidden_table
from lakebed.pipelines.releases.content import object_path
from lakebed.ports import ChangeRecords, Event, InputPin, Release, RemoveRef, RunRecord, SetRef
from tests.support.benches import RealBench
from tests.support.lakes.kept_lake import Kept, flip
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.shop import lakebed
from tests.support.tables import publish_branch, snapshots_of


def running(table: TableName, run_id: str) -> RunRecord:
    return RunRecord(run_id, "i1", table, "running", datetime.now(UTC))


def test_a_sound_lake_has_no_problem(kept: Kept) -> None:
    kept.tag(kept.table(), "q1")
    kept.table("empty", range(0))
    checked = kept.check()
    assert [found for found in checked.findings if found.severity == "problem"] == []
    assert checked.looked.tables == 2
    assert checked.looked.read == checked.looked.files > 5


def test_a_flipped_byte_is_found_once_the_file_was_seen(kept: Kept) -> None:
    table = kept.table()
    kept.check()
    file = kept.files(table, "data/*.parquet")[0]
    flip(file, 30)
    (found,) = [found for found in kept.check().findings if found.severity == "problem"]
    assert found.kind in {"changed file", "damaged file"}
    assert found.where == str(file)
    assert found.repair is None
    assert kept.kinds() == [found.kind], "it stays a problem until the file is back"
    flip(file, 30)
    assert kept.kinds() == []


def test_a_flipped_byte_of_a_manifest_is_found(kept: Kept) -> None:
    table = kept.table()
    kept.check()
    file = kept.files(table, "metadata/*-m0.avro")[0]
    flip(file, -40)
    assert set(kept.kinds()) & {"changed file", "damaged file", "missing file"}


@pytest.mark.spark
def test_a_flipped_byte_of_a_value_that_spark_wrote_is_found_at_the_first_look(
    shop: TestLake,
) -> None:

    shop.pipeline("silver.orders", "SELECT id, concat('order ', id) AS name FROM range(1000)")
    shop.run_one("silver.orders")
    assert shop.lake.fsck(sample=None).problems == 0
    file = next((shop.folder / "shop/warehouse/silver/orders/data").glob("*.parquet"))
    beside = file.with_name(f".{file.name}.crc").read_bytes()
    for at, sums in (
        (2000, True),
        (-60, True),
        (2000, False),
    ):  # a value, the footer; a value without Hadoop's checksums
        with shop.lake.stores.database.writing() as connection:
            connection.exec_driver_sql(
                "delete from lakebed_checksums"
            )  # as if it had never been looked at
        flip(file, at)
        file.with_name(f".{file.name}.crc").write_bytes(beside if sums else b"")
        (found,) = [
            found for found in shop.lake.fsck(sample=None).findings if found.severity == "problem"
        ]
        assert (found.kind, found.where) == ("damaged file", str(file))
        flip(file, at)
    assert shop.lake.fsck(sample=None).problems == 0


def test_a_deleted_data_file_is_found_and_never_forgotten(kept: Kept) -> None:
    table = kept.table()
    before = kept.pointed(table).read_bytes()
    file = kept.files(table, "data/*.parquet")[0]
    content = file.read_bytes()
    file.unlink()
    checked = kept.check(repair=True)
    assert [
        (found.kind, found.where) for found in checked.findings if found.severity == "problem"
    ] == [("missing file", str(file))]
    assert checked.repairs == ()
    assert kept.pointed(table).read_bytes() == before
    file.write_bytes(content)
    assert kept.kinds() == []


def test_a_data_file_of_another_size_is_found(kept: Kept) -> None:
    table = kept.table()
    with kept.files(table, "data/*.parquet")[0].open("ab") as file:
        file.write(b"x")
    assert "wrong size" in kept.kinds()


@pytest.mark.parametrize("pattern", ["metadata/*-m0.avro", "metadata/snap-*.avro"])
@pytest.mark.parametrize("how", ["deleted", "cut"])
def test_a_deleted_or_cut_manifest_or_manifest_list_is_found(
    kept: Kept, pattern: str, how: str
) -> None:
    table = kept.table()
    other = kept.table("other")
    files = kept.files(table, pattern)
    if how == "deleted":
        files[0].unlink()
    else:
        files[0].write_bytes(files[0].read_bytes()[:-20])
    problems = [found for found in kept.check(repair=True).findings if found.severity == "problem"]
    assert {found.where for found in problems} >= {str(files[0])}
    assert all(str(other) not in found.what for found in problems)


def test_a_deleted_metadata_file_whose_commit_added_rows_is_told_and_not_forgotten(
    kept: Kept,
) -> None:
    table = kept.table()
    pointer = kept.pointed(table)
    pointer.unlink()
    checked = kept.check(repair=True)
    (found,) = [found for found in checked.findings if found.severity == "problem"]
    assert found.kind == "damaged metadata"
    assert "does not know snapshot" in found.what
    assert found.repair is None
    assert kept.pointed(table) == pointer


@pytest.mark.parametrize("how", ["deleted", "damaged"])
def test_a_lost_metadata_file_that_added_nothing_is_replaced_by_the_one_before(
    kept: Kept, how: str
) -> None:
    table = kept.table()
    before = kept.state()
    kept.lake.stores.catalog.amend(table, [])
    kept.lake.iceberg.load_table(table.parts).transaction().set_properties(
        {"note": "x"}
    ).commit_transaction()
    pointer = kept.pointed(table)
    pointer.unlink() if how == "deleted" else pointer.write_bytes(b"{}")
    with pytest.raises(DamagedTable):
        kept.lake.tables.describe(table)
    (found,) = [found for found in kept.check().findings if found.severity == "problem"]
    assert found.repair
    checked = kept.check(repair=True)
    assert [outcome.done for outcome in checked.repairs] == [True]
    assert checked.problems == 0
    assert kept.state() == before


def test_a_lost_publication_is_done_again(kept: Kept) -> None:
    table = kept.table()
    kept.bench.write(table, [99], branch="run_1")
    publish_branch(kept.lake, [table], branch="run_1", run_id="r1")
    before = kept.state()
    kept.pointed(table).unlink()  # the one before knows the snapshot on its branch only
    assert kept.check(repair=True).problems == 0
    assert kept.state() == before == {table: {"main": [*range(20), 99]}}


def test_a_lost_metadata_file_is_not_replaced_by_one_that_contradicts_the_log(kept: Kept) -> None:
    table = kept.table()
    first = snapshots_of(kept.lake, table)[-1].id
    kept.lake.stores.catalog.amend(
        table,
        [SetRef("main", first)],
        records=ChangeRecords(events=(Event("rolled_back", table, first),)),
    )
    kept.pointed(table).unlink()
    (found,) = [found for found in kept.check(repair=True).findings if found.severity == "problem"]
    assert found.repair is None
    assert f"main stood at snapshot {first}" in found.what


def test_a_folder_without_a_table_is_found_and_left_alone(kept: Kept) -> None:
    table = kept.table()
    stranger = kept.lake.root.folder / "shop/warehouse/silver/stranger/data/x.parquet"
    stranger.parent.mkdir(parents=True)
    stranger.write_bytes(b"rows")
    kept.lake.stores.catalog.drop(kept.table("dropped"))
    (found,) = [
        found for found in kept.check(repair=True).findings if found.kind == "folder without table"
    ]
    assert (found.where, found.severity) == ("shop/warehouse/silver/stranger", "warning")
    assert stranger.exists()
    assert kept.bench.rows(table) == list(range(20))


def test_what_a_dead_run_staged_is_removed_and_not_offered_as_a_table_but_a_living_run_keeps_it(
    kept: Kept,
) -> None:
    table, run_ids = kept.table(), (new_run_id(), new_run_id(), new_run_id())
    lease = kept.lake.stores.leases.acquire("shop.silver.busy", holder="a run", limit=600)
    busy = TableName("shop", "silver", "busy")
    kept.lake.stores.records.write(running(table, run_ids[0]))
    kept.lake.stores.records.write(running(busy, run_ids[1]))
    folders = [
        kept.lake.root.folder / f"shop/warehouse/silver/stage_{run_id}" for run_id in run_ids
    ]
    for folder in folders:
        (folder / "data").mkdir(parents=True)
        (folder / "data/x.parquet").write_bytes(b"rows")
    found = [found for found in kept.check().findings if found.kind == "folder without table"]
    assert [(one.where.rpartition("_")[2], one.advice) for one in found] == [
        (run_id, "") for run_id in sorted(run_ids)
    ]
    repairs = kept.check(repair=True).repairs
    assert [(folder / "data/x.parquet").exists() for folder in folders] == [False, True, False]
    assert next(
        one.detail for one in repairs if not one.done and "staged" in one.repair
    ).startswith("shop.silver.busy is held")
    kept.lake.stores.leases.release(lease)
    assert kept.bench.rows(table) == list(range(20))


def test_stale_branches_dead_runs_and_pins_are_removed_and_nothing_else(kept: Kept) -> None:
    table, run_id = kept.table(), new_run_id()
    kept.tag(table, "q1")
    kept.bench.write(table, [50], branch="mine")
    before = kept.state()
    kept.lake.stores.records.write(running(table, run_id))
    kept.lake.stores.records.pin(run_id, [InputPin(table, 1)])
    kept.lake.stores.records.pin("unknown", [InputPin(table, 2)])
    kept.bench.write(table, [99], branch=f"run_{run_id}")
    assert sorted(kept.kinds("warning")) == [
        "dead pin",
        "dead run",
        "stale branch",
        "table without pipeline",
    ]
    checked = kept.check(repair=True)
    assert all(outcome.done for outcome in checked.repairs)
    assert [found.kind for found in checked.findings if found.severity == "warning"] == [
        "table without pipeline"
    ]
    assert kept.state() == before
    record = kept.lake.stores.records.run(run_id)
    assert record
    assert record.state == "failed"


def test_the_branch_of_a_living_run_is_left_alone(kept: Kept) -> None:
    table, run_id = kept.table(), new_run_id()
    kept.lake.stores.records.write(running(table, run_id))
    kept.bench.write(table, [99], branch=f"run_{run_id}")
    with kept.lake.tables.lease(table):
        checked = kept.check(repair=True)
    assert not checked.repairs
    assert f"run_{run_id}" in kept.lake.tables.describe(table).refs


def test_a_hidden_table_of_a_dead_run_goes_unless_others_use_its_folder(kept: Kept) -> None:
    table, run_id = kept.table(), new_run_id()
    hidden = hidden_table(table, run_id)
    kept.bench.iceberg.create_table(hidden.parts, kept.bench.iceberg.load_table(table.parts).schema(),
                                    location=kept.lake.root.at("shop/warehouse/silver/first"))  # fmt: skip
    twin = replace(hidden, name=f"run_{new_run_id()}")
    kept.bench.iceberg.create_table(twin.parts, kept.bench.iceberg.load_table(table.parts).schema(),
                                    location=kept.lake.root.at(table.folder))  # fmt: skip
    before = kept.bench.rows(table)
    checked = kept.check(repair=True)
    assert [outcome.repair for outcome in checked.repairs] == [f"remove the hidden table {hidden}"]
    assert [table for table in kept.lake.stores.catalog.pointers() if table.hidden] == [twin]
    assert kept.bench.rows(table) == before


def test_repair_releases_no_protection_that_somebody_may_need(kept: Kept) -> None:
    """It released those of dropped tables, which can be restored, and of renamed ones."""
    events, table, dropped = kept.lake.stores.events, kept.table(), kept.table("dropped")
    lost = TableName("shop", "silver", "lost")
    events.follow("mirror")
    events.protect("mirror", table, [1])
    events.protect("reader", lost, [1], seconds=3600)
    events.protect("unknown", lost, [1])  # its table may come back by --rebuild-catalog
    head = kept.lake.tables.describe(dropped).head()
    assert head
    events.protect("unknown", dropped, [head.id])
    kept.lake.tables.drop(dropped)
    needed = events.protected()
    events.protect("nobody", table, [1])
    checked = kept.check(repair=True)
    assert [one.repair for one in checked.repairs] == [f"release what nobody protects of {table}"]
    assert events.protected() == needed
    said = [one for one in checked.findings if one.kind == "protection without follower"]
    assert [(one.where, one.repair) for one in said] == [("unknown", None)]


def test_a_follower_that_is_gone_is_reported_until_it_is_removed(kept: Kept) -> None:
    """Events wait for it for ever, and what it protects never expires."""
    events, table = kept.lake.stores.events, kept.table()
    head = kept.lake.tables.describe(table).head()
    assert head
    events.follow("mirror")
    events.protect("mirror", table, [head.id])
    kept.lake.tables.tag(table, "q1")

    def said(*, repair: bool = False) -> list[Finding]:
        findings = kept.check(repair=repair).findings
        return [one for one in findings if "follower" in one.kind]

    assert said() == []
    with kept.lake.stores.database.writing() as connection:
        for name in ("lakebed_followers", "lakebed_events"):
            connection.exec_driver_sql(f"UPDATE {name} SET at = 0")
    (found,) = said(repair=True)
    assert (found.kind, found.where) == ("silent follower", "mirror")
    assert len(events.protected()) == 1
    assert found.advice.endswith("lakebed follower remove mirror")
    with pytest.raises(UnknownName, match="mirro'"):
        kept.lake.followers.remove("mirro")
    removed = kept.lake.followers.remove("mirror")
    assert (removed.registered, removed.protected_snapshots) == (True, 1)
    assert (said(), events.protected(), kept.lake.followers.list()) == ([], (), ())


def test_a_dropped_table_is_looked_after_too(kept: Kept) -> None:
    table = kept.table()
    gone = kept.lake.stores.catalog.drop(table)
    assert gone
    assert kept.kinds("warning") == []
    kept.files(table, "data/*.parquet")[0].unlink()
    assert kept.kinds("warning") == ["damaged dropped table"]
    assert kept.lake.stores.catalog.dropped() == (gone,)


def test_missing_and_changed_content_of_releases_is_found(kept: Kept) -> None:
    files, digests = (
        kept.lake.stores.files,
        [sha256(text).hexdigest() for text in (b"one", b"two", b"three")],
    )
    kept.lake.stores.releases.add(
        Release(
            TableName("shop", "silver", "a"),
            1,
            "d" * 64,
            datetime.now(UTC),
            "me",
            "",
            {str(n): d for n, d in enumerate(digests)},
        )
    )
    files.write(object_path(digests[0]), b"one")
    files.write(object_path(digests[1]), b"2")
    found = [found for found in kept.check().findings if found.kind == "damaged release"]
    assert {one.where for one in found} == {object_path(digest) for digest in digests[1:]}
    assert {one.severity for one in found} == {"problem"}


def test_pipelines_and_tables_are_compared(kept: Kept) -> None:
    table = kept.table()
    folder = kept.lake.root.folder / "shop/pipelines/silver"
    for name, text in (
        ("orders", "SELECT 1 AS id"),
        ("later", "SELECT 1 AS id"),
        ("wrong", "SELECT {{ nothing"),
    ):
        (folder / name).mkdir(parents=True)
        (folder / name / "pipeline.sql").write_text(text)
    found = {(one.kind, one.where) for one in kept.check().findings}
    assert ("table without pipeline", str(table)) not in found
    assert ("pipeline without table", "shop.silver.later") in found
    assert ("bad pipeline", "shop/pipelines/silver/wrong") in found


def test_a_lake_in_use_has_no_problem(kept: Kept) -> None:
    table, done = kept.table(), threading.Event()

    def work() -> None:
        bench = replace(kept.bench)
        for number in range(1000):
            if done.is_set():
                break
            bench.write(table, [number])
            loaded = bench.iceberg.load_table(table.parts)
            loaded.maintenance.expire_snapshots().by_id(loaded.history()[-2].snapshot_id).commit()
            if number == 3:
                bench.table("later")
        bench.close()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert [kept.kinds() for _ in range(4)] == [[]] * 4
    finally:
        done.set()
        worker.join()


def test_every_file_has_its_turn_in_small_samples(kept: Kept) -> None:
    table = kept.table()
    for _ in range(2):
        assert kept.check(sample=1).looked.read == 2  # one of data, one of metadata
    flip(kept.files(table, "data/*.parquet")[0], 30)
    assert [kept.check(sample=1).problems for _ in range(3)][1:] == [
        1,
        1,
    ], "and what is damaged is told each time"


def test_an_empty_catalog_over_tables_is_a_problem(kept: Kept) -> None:
    kept.table()
    with kept.lake.stores.database.writing() as connection:
        connection.exec_driver_sql("delete from iceberg_tables")
    (found,) = [found for found in kept.check(repair=True).findings if found.severity == "problem"]
    assert found.kind == "lost catalog"
    assert "--rebuild-catalog" in found.advice


@pytest.mark.parametrize("how", ["overwritten", "torn"])
def test_a_damaged_database_is_told(kept: Kept, how: str) -> None:
    kept.table()
    kept.lake.close()
    kept.bench.close()
    file = kept.lake.root.folder / ".data/lake.db"
    data = bytearray(file.read_bytes())
    data[:] = (
        b"x" * len(data) if how == "overwritten" else data[:8192] + b"\xff" * (len(data) - 8192)
    )
    file.write_bytes(data)
    ran = lakebed("fsck", "--lake", str(kept.lake.root))
    assert ran.exit_code in {1, 2}
    assert "the lake's database is damaged" in ran.output or "the database is damaged" in ran.output


@pytest.mark.s3
@pytest.mark.postgres
def test_a_lake_behind_a_rest_catalog_is_looked_over_too(rest_only_bench: RealBench) -> None:
    bench = rest_only_bench
    table = bench.table("orders")
    bench.write(table, range(10))
    with Lake(bench.root, bench.settings, environment={}) as lake:
        services = fsck_services(lake.pipelines.services, lake.stores.database)
        pointers = lake.stores.catalog.pointers([table])
        assert list(walk_tables(services, Inventory({}), pointers)) == []
        loaded = bench.iceberg.load_table(table.parts)
        (file,) = [task.file.file_path for task in loaded.scan().plan_files()]
        loaded.io.delete(file)
        assert [found.kind for found in walk_tables(services, Inventory({}), pointers)] == [
            "missing file"
        ]
        with pytest.raises(UsageError, match="separate server"):
            lake.rebuild_catalog()


@pytest.mark.s3
@pytest.mark.postgres
def test_a_change_that_a_kill_divided_from_its_event_is_reported_and_settled(
    rest_only_bench: RealBench,
) -> None:
    bench, database = rest_only_bench, rest_only_bench.stores.database
    table = bench.table("orders")
    bench.write(table, [1])
    lease = bench.leases.acquire(str(table), holder="a process that was killed", limit=60)
    bench.leases.release(lease)
    uuid = str(bench.iceberg.load_table(table.parts).metadata.table_uuid)
    change = IntendedAmendments("00000-before.metadata.json", (RemoveRef("kept"),))
    records = ChangeRecords(events=(Event("untagged", table, detail={"ref": "kept"}),))
    with database.writing() as connection:
        intended = IntendedChange(new_run_id(), table, uuid, change, records)
        put_intended(connection, database, intended, [lease])
    with Lake(bench.root, bench.settings, environment={}) as lake:
        services = fsck_services(lake.pipelines.services, lake.stores.database)
        looked = check(services, sample=0)
        found = [one for one in looked.findings if one.kind == "divided change"]
        assert [(one.where, one.severity) for one in found] == [(str(table), "warning")]
        assert bench.events.since(kinds=["untagged"]) == (), "a check changes nothing"
        (repaired,) = make_repairs(services, found)
        assert repaired.done, repaired.detail
    assert [one.event.table for one in bench.events.since(kinds=["untagged"])] == [table]
    assert bench.catalog.unsettled_changes() == ()


def test_the_command_says_what_it_found_by_its_exit_code(kept: Kept) -> None:
    table, lake = kept.table(), str(kept.lake.root)
    assert lakebed("fsck", "--lake", lake).exit_code == 0
    kept.files(table, "data/*.parquet")[0].unlink()
    ran = lakebed("fsck", "--json", "--lake", lake)
    assert ran.exit_code == 1
    (found,) = [
        found for found in json.loads(ran.stdout)["findings"] if found["severity"] == "problem"
    ]
    assert found["kind"] == "missing file"
    assert lakebed("fsck", "--all", "--sample", "3", "--lake", lake).exit_code == 2
