"""Derived tables, hidden but kept: care keeps them small as it keeps their sources, and nothing that
belongs to a run is mistaken for one.
"""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from lakebed.app import Lake
from lakebed.care.fsck import FsckReport
from lakebed.errors import BadName
from lakebed.names import TableName, new_run_id
from lakebed.ports import SOURCE_UUID, RunRecord, SetProperties, SetRef
from lakebed.tables import USED_MARKER
from tests.support.benches import RealBench, ids
from tests.support.lakes.care_lakes import CareLake, entry, states
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import new_location, protected

MV = f"silver.mv_{uuid4().hex}"
NAME = f"shop.{MV}"


def derive(cared: CareLake, source: str = "silver.orders", *, table: str = MV) -> TableName:
    """A source, and a table that is derived from it, with a snapshot each that nobody needs."""
    cared.make(source, [1])
    cared.overwrite(source, [1, 2])
    cared.make(table, [1], properties={SOURCE_UUID: cared.meta(source).uuid})
    cared.overwrite(table, [1, 2])
    return cared.name(table)


def kinds(report: FsckReport) -> set[str]:
    return {found.kind for found in report.findings if found.kind != "table without pipeline"}


@pytest.mark.parametrize("lead", ["mv_", "_mv_"])
def test_old_snapshots_and_orphans_of_a_derived_table_go_with_their_files(
    cared: CareLake, lead: str
) -> None:
    table = f"silver.{lead}{uuid4().hex}"
    name = derive(cared, table=table)
    folder = name.folder
    former = {path for path in cared.files(folder) if path.endswith(".parquet")}
    orphan = f"{folder}/data/orphan.parquet"
    cared.lake.stores.files.write(orphan, b"1234")
    cared.age(orphan, days=30)
    with cared.lake.tables.lease(name, holder="a builder"):
        assert states(cared.care(days=9, orphans=True)) == {
            ("expire_snapshots", "shop.silver.orders"): "done",
            ("expire_snapshots", str(name)): "skipped",
            ("remove_orphans", folder): "skipped",
        }
    assert states(cared.care(days=9, orphans=True)) == {
        ("expire_snapshots", str(name)): "done",
        ("remove_orphans", folder): "done",
    }
    assert len(cared.meta(table).snapshots) == 1
    assert cared.rows(table) == [1, 2]
    left = {path for path in cared.files(folder) if path.endswith(".parquet")}
    assert left < former
    assert len(left) == 1
    assert {told.event.table for told in cared.lake.stores.events.since(kinds=["expired"])} == {
        cared.name("silver.orders"),
        name,
    }
    assert cared.care(days=9, orphans=True).entries == ()


def test_a_protected_snapshot_of_a_derived_table_stays_with_its_files(cared: CareLake) -> None:
    name = derive(cared)
    first, *_ = sorted(cared.meta(MV).snapshots.values(), key=lambda one: one.sequence)
    with protected(cared.lake, name, at=first.id):
        cared.care(days=9)
        assert cared.rows(MV, first.id) == [1]
    cared.care(days=9)
    assert set(cared.meta(MV).snapshots) == {cared.meta(MV).refs["main"].snapshot}


def test_what_follows_the_tagged_checkpoint_of_a_derived_table_never_expires(
    cared: CareLake,
) -> None:
    name = derive(cared)
    checkpoint = cared.meta(MV).refs["main"].snapshot
    cared.lake.stores.catalog.amend(name, [SetRef("checkpoint", checkpoint, "tag")])
    later = [cared.append(MV, [number]) for number in (3, 4)]
    cared.care(days=40)
    assert set(cared.meta(MV).snapshots) == {checkpoint, *later}, "they say how fresh it is"


def test_care_of_a_table_includes_what_is_derived_from_it_and_nothing_else(cared: CareLake) -> None:
    derive(cared)
    derive(cared, "silver.others", table=f"silver.mv_{uuid4().hex}")
    wanted = {("expire_snapshots", NAME), ("expire_snapshots", "shop.silver.orders")}
    for asked in ("silver.orders", "shop.silver.ord*"):
        assert set(states(cared.care(asked, days=9, dry_run=True))) == wanted
    assert set(states(cared.care(NAME, days=9, dry_run=True))) == {("expire_snapshots", NAME)}
    assert len(states(cared.care("shop.*", days=9, dry_run=True))) == 4
    cared.lake.tables.rename("silver.orders", "mart.gold.sales")
    assert set(states(cared.care("mart.gold.sales", days=9, dry_run=True))) == {
        ("expire_snapshots", "mart.gold.sales"),
        ("expire_snapshots", NAME),
    }


def test_a_derived_table_is_cared_for_with_the_settings_of_its_source(cared: CareLake) -> None:
    derive(cared)
    config = cared.folder / "shop/pipelines/silver/orders/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("care: {snapshot_max_age_days: 20}\n")
    assert cared.lake.care_settings(NAME).effective["snapshot_max_age_days"] == 20
    assert cared.care(days=9).entries == ()
    config.write_text("care: {snapshot_max_age_dayz: 20}\n")
    left = cared.care(NAME, days=40)
    assert states(left) == {("expire_snapshots", NAME): "skipped"}
    assert "cannot be read" in entry(left, "expire_snapshots").message
    config.write_text("care: {snapshot_max_age_days: 20}\n")
    assert states(cared.care(NAME, days=40)) == {("expire_snapshots", NAME): "done"}


def test_a_derived_table_outlives_a_dropped_source_and_fsck_tells_when_that_is_purged(
    cared: CareLake,
) -> None:
    derive(cared)
    assert kinds(cared.lake.fsck()) == set()
    cared.lake.tables.drop("silver.orders")
    assert kinds(cared.lake.fsck()) == set()
    assert states(cared.care("silver.orders", days=9)) == {("expire_snapshots", NAME): "done"}
    cared.lake.tables.restore("silver.orders")
    assert kinds(cared.lake.fsck()) == set()
    cared.lake.tables.drop("silver.orders")
    cared.care(days=40)
    (found,) = [
        one for one in cared.lake.fsck().findings if one.kind == "derived table without source"
    ]
    assert (found.where, found.advice) == (NAME, f"If nobody needs it: lakebed table drop {NAME}")
    assert cared.rows(MV) == [1, 2]


def test_tables_of_runs_beside_a_derived_table_go_as_before(cared: CareLake) -> None:
    derive(cared)
    run_id = new_run_id()
    record = RunRecord(run_id, "i", cared.name("silver.orders"), "failed", datetime.now(UTC))
    cared.lake.stores.records.write(record)
    for kind in ("run", "stage", "replay"):
        cared.make(f"silver.{kind}_{run_id}", [1])
        cared.overwrite(f"silver.{kind}_{run_id}", [2])
    done = cared.care(days=1)
    assert [one.action for one in done.entries] == ["drop_leftovers"] * 3
    assert {table.name for table in cared.lake.stores.catalog.pointers()} == {
        "orders",
        cared.name(MV).name,
    }


def test_the_folder_of_a_dropped_and_purged_derived_table_is_never_used_again(
    cared: CareLake,
) -> None:
    name = derive(cared)
    cared.lake.tables.drop(NAME)
    assert cared.lake.tables.restore(NAME) == name
    cared.lake.tables.drop(NAME)
    cared.care(days=40)
    assert cared.files(name.folder) == {f"{name.folder}/{USED_MARKER}"}


def test_listings_leave_derived_tables_out_and_their_full_name_finds_them(cared: CareLake) -> None:
    name, lake = derive(cared), cared.lake
    shown = [cared.name("silver.orders")]
    assert list(lake.tables.list()) == list(lake.tables.readable()) == shown
    for pattern in ("shop.*", "silver", "*mv*", "*"):
        assert list(lake.tables.list(pattern)) in (shown, [])
    assert list(lake.tables.list(NAME)) == [name]
    assert lake.query("SHOW ALL TABLES").to_arrow()["name"].to_pylist() == ["orders"]
    assert lake.query(f"SELECT count(*) AS n FROM {NAME}").to_arrow()["n"].to_pylist() == [2]


def test_no_manual_change_touches_a_derived_table(cared: CareLake) -> None:
    name, before = derive(cared), cared.meta(MV)
    with pytest.raises(BadName, match="hidden"):
        cared.lake.write(name.name, ids([9]))
    for change in (f"DELETE FROM {NAME}", f"ALTER TABLE {NAME} ADD COLUMN x INT"):
        with pytest.raises(BadName, match="hidden"):
            cared.lake.execute(change)
    assert cared.meta(MV) == before


def test_no_table_of_a_user_takes_a_hidden_name(cared: CareLake) -> None:
    cared.make("silver.orders", [1])
    tables = cared.lake.tables
    with pytest.raises(BadName, match="hidden"):
        tables.rename("silver.orders", NAME)
    with pytest.raises(BadName, match="hidden"):
        tables.clone("silver.orders", NAME)
    with pytest.raises(BadName, match="hidden"):
        tables.target(NAME)
    tables.drop("silver.orders")
    with pytest.raises(BadName, match="hidden"):
        tables.restore("silver.orders", to=NAME)
    assert [gone.table.name for gone in tables.dropped()] == ["orders"]


@pytest.mark.spark
def test_small_files_and_manifests_of_a_derived_table_become_few(shop: TestLake) -> None:
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    lake, source, name = shop.lake, shop.table("silver.orders"), shop.table(MV)
    schema = Schema(NestedField(1, "id", LongType()))
    lake.iceberg.create_table(source.parts, schema, location=new_location(lake, source))
    identity = {SOURCE_UUID: lake.tables.describe(source).uuid}
    lake.iceberg.create_table(
        name.parts, schema, location=new_location(lake, name), properties=identity
    )
    config = shop.folder / "shop/pipelines/silver/orders/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("care: {compact_min_files: 5, compact_min_manifests: 3}\n")
    table = lake.iceberg.load_table(name.parts)
    for number in range(5):
        table.append(ids([number]))
    done = entry(lake.care("silver.orders"), "compact_files")
    assert (done.subject, done.state, done.counts) == (
        NAME,
        "done",
        {"rewritten data files": 5, "added data files": 1},
    )
    for number in range(5, 8):
        lake.iceberg.load_table(name.parts).append(ids([number]))
    done = entry(lake.care(only=["rewrite_manifests"]), "rewrite_manifests")
    assert (done.subject, done.state) == (NAME, "done")
    head = lake.tables.describe(name).head()
    assert head
    assert head.operation == "replace"
    assert [row["id"] for row in shop.rows(MV)] == list(range(8))
    assert {told.event.table for told in lake.stores.events.since(kinds=["compacted"])} == {name}


@pytest.mark.s3
@pytest.mark.postgres
def test_a_derived_table_on_a_rest_catalog_is_cared_for_with_its_source(
    rest_only_bench: RealBench,
) -> None:
    bench = rest_only_bench
    source, derived = bench.table("orders"), bench.table(f"mv_{uuid4().hex}")
    for table in (source, derived):
        for rows in ([1], [2]):
            bench.write(table, rows)
    with Lake(bench.root, bench.settings, environment={}) as lake:
        identity = {SOURCE_UUID: lake.tables.describe(source).uuid}
        bench.catalog.amend(derived, [SetProperties(identity)])
        lake.tables.drop(source)
        now = datetime.now(UTC) + timedelta(days=9)
        assert states(lake.care(str(source), now=now)) == {
            ("expire_snapshots", str(derived)): "done"
        }
        found = {one.kind for one in lake.fsck().findings if bench.namespace in one.where}
        assert found <= {"table without pipeline"}
        assert bench.rows(derived) == [1, 2]
