"""Spark on the stores of a grown-up lake: PostgreSQL, S3, a REST catalog."""

from typing import TYPE_CHECKING
from uuid import uuid4

import obstore
import pytest
from obstore.store import S3Store

from lakebed.settings import Settings
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer
from tests.support.lakes.spark_lakes import make_table, run_once
from tests.support.spark_sessions import OpenSpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]


def land(bucket: Bucket, path: str, content: bytes) -> str:
    """Put a file into the bucket; its address as the lake spells it."""
    server = bucket.server
    store = S3Store(
        server.bucket,
        endpoint=server.endpoint,
        access_key_id=server.access_key_id,
        secret_access_key=server.secret_access_key,
        region=server.region,
        client_options={"allow_http": True},
    )
    obstore.put(store, f"{bucket.prefix}/{path}", content)
    return bucket.root.at(path)


def test_a_lake_in_a_bucket_with_its_catalog_in_postgres(
    open_spark: OpenSpark, bucket: Bucket, database: Database
) -> None:
    session = open_spark(Settings(catalog=database.catalog, files=bucket.settings), bucket.root)
    make_table(session)
    assert run_once(session) == [1, 2, 3]
    files = [row.file_path for row in session.table("lake.shop.silver.orders.files").collect()]
    assert files
    assert all(file.startswith(bucket.url) for file in files)


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_landed_files_are_read_from_the_bucket(
    open_spark: OpenSpark, bucket: Bucket, database: Database, scheme: str
) -> None:
    session = open_spark(Settings(catalog=database.catalog, files=bucket.settings), bucket.root)
    address = land(bucket, "shop/landing/orders/a.csv", b"id,v\n1,a\n2,b\n").replace(
        "s3:", f"{scheme}:"
    )
    read = session.read.csv(address, header=True, schema="id BIGINT, v STRING")
    assert [(row.id, row.v) for row in read.collect()] == [(1, "a"), (2, "b")]


def test_a_lake_behind_a_rest_catalog(
    open_spark: OpenSpark, bucket: Bucket, seaweed: SeaweedServer
) -> None:
    session = open_spark(Settings(catalog=seaweed.rest_catalog, files=bucket.settings), bucket.root)
    assert _merged_in(session, f"n{uuid4().hex[:8]}") == 2


def _merged_in(session: "SparkSession", namespace: str) -> int:
    table = f"lake.{namespace}.orders"
    session.sql(f"CREATE NAMESPACE lake.{namespace}")
    session.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    session.sql(f"ALTER TABLE {table} CREATE BRANCH run_1")
    session.sql(f"INSERT INTO {table}.branch_run_1 VALUES (1), (2)")
    assert session.table(table).count() == 0
    session.sql(f"CALL lake.system.fast_forward('{table}', 'main', 'run_1')").collect()
    return session.table(table).count()
