"""A lake, opened: folder and bucket, made tables, odd names, leases and publications through the
front door.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

import lakebed
from lakebed.app import examine
from lakebed.errors import (
    LakeExists,
    LeaseHeld,
    LeaseLost,
    NameCollision,
    NoLake,
    UnknownName,
    UsageError,
)
from lakebed.names import AssetKey, TableName, tables_of_assets
from lakebed.settings import Root, Settings, logs_folder
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer
from tests.support.benches import sqlite_bench
from tests.support.spark_sessions import OpenSpark
from tests.support.tables import create_statement, new_location, publish_branch


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[lakebed.Lake]:
    root = Root.parse(tmp_path / "my lake")  # a space is no obstacle
    lakebed.create(root, template="shop", environment={})
    with lakebed.open(root.folder, environment={}) as opened:
        yield opened


def test_a_lake_is_made_once(lake: lakebed.Lake) -> None:
    with pytest.raises(LakeExists):
        lakebed.create(lake.root, environment={})


def test_where_there_is_none_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoLake, match="lakebed init"):
        lakebed.open(tmp_path, environment={})


def test_a_table_is_found_by_the_end_of_its_name(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    bench.table("orders")
    (tmp_path / "lakebed.yaml").touch()
    with lakebed.open(tmp_path, environment={}) as lake:
        assert str(lake.tables.find("ORDERS")) == "shop.silver.orders"
        assert lake.tables.find("silver.orders") == lake.tables.find("shop.silver.orders")
        with pytest.raises(UnknownName, match="Did you mean orders"):
            lake.tables.find("order")
    bench.close()


def test_an_end_that_fits_several_tables_is_refused(lake: lakebed.Lake) -> None:
    bench = sqlite_bench(lake.root.folder)
    bench.table("orders")
    bench.namespace = "other"
    bench.table("orders")
    with pytest.raises(UsageError, match="is ambiguous"):
        lake.tables.find("orders")
    bench.close()


def test_a_folder_that_was_used_is_never_used_again(lake: lakebed.Lake) -> None:
    first = new_location(lake, "ecommerce.silver.orders")
    assert first == lake.root.at("ecommerce/warehouse/silver/orders")
    lake.stores.files.write("ecommerce/warehouse/silver/orders/metadata/left-over", b"")
    second = new_location(lake, "ecommerce.silver.orders")
    assert second is not None
    assert second.startswith(f"{first}-")
    assert new_location(lake, "ecommerce.silver.orders") != second


def test_a_table_that_differs_only_in_case_has_no_place(lake: lakebed.Lake) -> None:
    bench = sqlite_bench(lake.root.folder)
    bench.table("orders")
    with pytest.raises(NameCollision):
        new_location(lake, "shop.silver.Orders")
    bench.close()


def test_a_created_lake_is_open_at_once_whatever_names_its_place_and_settings(
    tmp_path: Path,
) -> None:
    by_text = lakebed.create(
        str(tmp_path / "a"), settings={"timezone": "Asia/Tokyo"}, environment={}
    )
    by_parts = lakebed.create(
        Root.parse(tmp_path / "b"), settings=Settings(timezone="Asia/Tokyo"), environment={}
    )
    with by_text, by_parts:
        for made in (by_text, by_parts):
            assert made.settings.timezone == "Asia/Tokyo"
            assert made.tables.list() == {}
    with lakebed.open(tmp_path / "b", environment={}) as again:
        assert again.settings == by_parts.settings


def asset_tables(lake: lakebed.Lake, keys: list[AssetKey]) -> dict[AssetKey, TableName]:
    assets = lake.settings.assets
    return tables_of_assets(keys, assets.namespace, assets.schema_mapping)


def test_assets_live_in_the_configured_namespace(tmp_path: Path) -> None:
    values = {"assets": {"namespace": "hospital", "schema_mapping": {"raw": "bronze"}}}
    lakebed.create(tmp_path / "l", settings=values, environment={})
    with lakebed.open(tmp_path / "l", environment={}) as lake:
        key = AssetKey(("raw", "omop", "person"))
        assert str(asset_tables(lake, [key])[key]) == "hospital.bronze.omop_person"
        with pytest.raises(NameCollision):
            asset_tables(lake, [key, AssetKey(("bronze", "omop_Person"))])


def test_a_lease_keeps_others_out_and_publishing_needs_it(lake: lakebed.Lake) -> None:
    bench = sqlite_bench(lake.root.folder)
    table = bench.table("orders")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    with lake.tables.lease(table, holder="Alice"), pytest.raises(LeaseHeld, match="Alice"):
        publish_branch(lake, [table], branch="run_1", run_id="r1")
    with lake.tables.lease(table) as held:
        publish_branch(lake, [table], branch="run_1", run_id="r1", held=[held])
    assert bench.rows(table) == [1, 2]
    bench.write(table, [3], branch="run_2")
    with pytest.raises(LeaseLost):
        publish_branch(lake, [table], branch="run_2", run_id="r2", held=[held])
    assert bench.rows(table) == [1, 2]
    bench.close()


@pytest.mark.spark
def test_tables_are_written_as_the_settings_say(tmp_path: Path, open_spark: OpenSpark) -> None:
    values = {"tables": {"shop.bronze.zipped": {"write": {"compression": "zstd"}}}}
    root = Root.parse(tmp_path / "l")
    settings = lakebed.create(root, settings=values, environment={}).settings
    with lakebed.open(root.folder, environment={}) as lake:
        spark = open_spark(settings, root)
        for name, codec in (("plain", "SNAPPY"), ("zipped", "ZSTD")):
            spark.sql(create_statement(lake, f"shop.bronze.{name}", "id BIGINT"))
            spark.sql(f"INSERT INTO shop.bronze.{name} VALUES (1)")
            (file,) = (root.folder / "shop" / "warehouse" / "bronze" / name / "data").glob(
                "*.parquet"
            )
            assert pq.read_metadata(file).row_group(0).column(0).compression == codec


@pytest.mark.spark
@pytest.mark.parametrize(
    "path",
    [("a-b",), ("a.b", "c.d"), ("Raw", "_x"), ("raw", "branch_x"), ("raw", "files"), ("1", "2")],
)
def test_odd_asset_names_work_in_every_engine(
    lake: lakebed.Lake, open_spark: OpenSpark, path: tuple[str, ...]
) -> None:
    key = AssetKey(path)
    table = asset_tables(lake, [key])[key]
    spark = open_spark(lake.settings, lake.root)
    spark.sql(create_statement(lake, table, "id BIGINT"))
    spark.sql(f"INSERT INTO {table.spark} VALUES (7)")
    assert [row.id for row in spark.table(table.spark).collect()] == [7]
    assert lake.iceberg.load_table(table.parts).scan().to_arrow()["id"].to_pylist() == [7]
    assert table in lake.tables.list()
    spark.sql(f"ALTER TABLE {table.spark} CREATE BRANCH run_1")
    spark.sql(f"INSERT INTO {table.spark}.branch_run_1 VALUES (8)")
    publish_branch(lake, [table], branch="run_1", run_id=f"r-{table}")
    assert spark.table(table.spark).count() == 2


@pytest.mark.spark
def test_spark_speaks_the_lakes_time_zone(tmp_path: Path, open_spark: OpenSpark) -> None:
    root = Root.parse(tmp_path / "l")
    settings = lakebed.create(root, settings={"timezone": "Asia/Tokyo"}, environment={}).settings
    spark = open_spark(settings, root)
    (row,) = spark.sql("SELECT unix_timestamp(TIMESTAMP '2026-01-01 00:00:00') AS at").collect()
    assert row["at"] == 1767193200  # midnight in Tokyo


@pytest.mark.spark
@pytest.mark.s3
@pytest.mark.postgres
def test_a_bucket_lake_works_like_a_folder(
    bucket: Bucket, database: Database, open_spark: OpenSpark, tmp_path: Path
) -> None:
    environment = {
        "LAKEBED_FILES_ENDPOINT": bucket.server.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": bucket.server.access_key_id,
        "LAKEBED_FILES_SECRET_ACCESS_KEY": bucket.server.secret_access_key,
        "LAKEBED_CATALOG_PASSWORD": database.password,
    }
    environment |= {"LAKEBED_CACHE": str(tmp_path), "PATH": os.environ["PATH"]}
    values = {
        "catalog": {"kind": "postgres", "url": database.url, "user": database.user},
        "places": {"logs": "bucket"},
    }
    lakebed.create(bucket.root, settings=values, template="shop", environment=environment)
    with lakebed.open(
        bucket.url, spark=open_spark(*_opened(bucket, environment)), environment=environment
    ) as lake:
        spark = lake.spark
        log = logs_folder(lake.settings, lake.root, environment) / "spark" / "today.log"
        log.parent.mkdir(parents=True)
        log.write_text("what Spark had to say")
        orders = TableName.parse("ecommerce.bronze.orders")
        spark.sql(create_statement(lake, orders, "order_id BIGINT, amount DECIMAL(12,2)"))
        spark.sql(f"ALTER TABLE {orders.spark} CREATE BRANCH run_1")
        landed = spark.read.option("header", True).csv(
            lake.root.at("ecommerce/landing/orders/*.csv")
        )
        landed.selectExpr(
            "CAST(order_id AS BIGINT) order_id", "CAST(amount AS DECIMAL(12,2)) amount"
        ).writeTo(f"{orders.spark}.branch_run_1").append()
        assert spark.table(orders.spark).count() == 0
        publish_branch(lake, [orders], branch="run_1", run_id="r1")
        assert spark.table(orders.spark).count() == 600
        head = lake.tables.list()[orders].head()
        assert head is not None
        assert head.count("total-records") == 600
        assert lake.tables.describe("orders").location == bucket.root.at(
            "ecommerce/warehouse/bronze/orders"
        )
        settings_file = lake.stores.files.read("lakebed.yaml").decode()
        assert database.password not in settings_file
        assert bucket.server.secret_access_key not in settings_file
        files = lake.stores.files
    assert files.read(".data/logs/spark/today.log") == b"what Spark had to say"


def _opened(bucket: Bucket, environment: dict[str, str]) -> tuple[Settings, Root]:
    with lakebed.open(bucket.url, environment=environment) as lake:
        return lake.settings, lake.root


@pytest.mark.spark
@pytest.mark.s3
@pytest.mark.postgres
def test_a_lake_on_a_rest_catalog_works_too(
    seaweed: SeaweedServer, bucket: Bucket, database: Database, open_spark: OpenSpark
) -> None:
    namespace = f"n{uuid4().hex[:8]}"
    environment = {
        "LAKEBED_FILES_ENDPOINT": bucket.server.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": bucket.server.access_key_id,
        "LAKEBED_FILES_SECRET_ACCESS_KEY": bucket.server.secret_access_key,
        "LAKEBED_CATALOG_PASSWORD": database.password,
        "LAKEBED_CATALOG_CREDENTIAL": seaweed.rest_credential,
    }
    rest = {
        "url": seaweed.rest_uri,
        "warehouse": seaweed.rest_warehouse,
        "oauth2_server_uri": seaweed.rest_oauth2_server_uri,
    }
    values = {"catalog": {"kind": "rest", **rest, "state_url": database.url, "user": database.user}}
    lakebed.create(bucket.root, settings=values, environment=environment)
    with lakebed.open(bucket.url, environment=environment) as lake:
        spark = open_spark(lake.settings, lake.root)
        tables = [TableName(namespace, "bronze", name) for name in ("a", "b")]
        for table in tables:
            spark.sql(create_statement(lake, table, "id BIGINT"))
            spark.sql(f"ALTER TABLE {table.spark} CREATE BRANCH run_1")
            spark.sql(f"INSERT INTO {table.spark}.branch_run_1 VALUES (1)")
        publish_branch(lake, tables, branch="run_1", run_id="r1")
        assert [spark.table(table.spark).count() for table in tables] == [1, 1]
        assert set(tables) <= set(lake.tables.list())
        assert {found.state for found in examine(lake, {"PATH": os.environ["PATH"]})} <= {
            "ok",
            "warning",
        }


@pytest.mark.spark
def test_a_session_of_the_users_own_is_used_and_left_running(
    lake: lakebed.Lake, open_spark: OpenSpark
) -> None:
    theirs = open_spark(lake.settings, lake.root)
    with lakebed.open(lake.root.folder, spark=theirs, environment=os.environ) as opened:
        opened.spark.sql(create_statement(opened, "shop.bronze.t", "id BIGINT"))
    assert theirs.table("lake.shop.bronze.t").count() == 0
