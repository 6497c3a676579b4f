"""Folders in buckets become tables, and their files stay."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.names import TableName
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.support.lakes.stored_source import encoded
from tests.support.scale import in_turn

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]


@pytest.fixture
def in_bucket(
    bucket: Bucket, database: Database, spark_home: Path
) -> Iterator[tuple[Lake, TableName]]:
    """A lake in a bucket, its catalog in PostgreSQL."""
    environment = {
        **os.environ,
        "LAKEBED_FILES_ENDPOINT": bucket.server.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": bucket.server.access_key_id,
        "LAKEBED_FILES_SECRET_ACCESS_KEY": bucket.server.secret_access_key,
        "LAKEBED_CATALOG_PASSWORD": database.password,
    }
    catalog = {"kind": "postgres", "url": database.url, "user": database.user}
    create_lake(bucket.root, settings={"catalog": catalog}, environment=environment)
    with open_lake(bucket.url, environment=environment) as lake:
        yield lake, TableName("shop", "bronze", "income")


@in_turn(1, of=3)
def test_a_folder_of_a_bucket_becomes_a_table_and_outlives_it(
    in_bucket: tuple[Lake, TableName],
) -> None:
    lake, table = in_bucket
    files, paths = lake.stores.files, list[str]()
    for year, kind in ((2020, "a b"), (2021, "a%20b"), (2021, "ü+")):
        path = f"exports/year={year}/kind={kind}/x.parquet"
        files.write(path, encoded("x.parquet", ({"id": year}, {"id": len(paths)})))
        paths.append(path)
    before = {info.path: info.etag for info in files.list("exports")}
    lake.adopt(lake.root.at("exports"), table)
    wanted = sorted([(2020, 2020), (0, 2020), (2021, 2021), (1, 2021), (2021, 2021), (2, 2021)])
    query = f"SELECT id, year FROM {table} WHERE kind IN ('a b', 'ü+') ORDER BY id, year"
    assert list(lake.query(query)) == list(lake.query(query, engine="spark")) == wanted
    scanned = lake.iceberg.load_table(table.parts).scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["year"]) for row in scanned) == wanted

    lake.execute(f"DELETE FROM {table} WHERE id > 0")
    lake.care(str(table), only=["expire_snapshots"], now=datetime.now(UTC) + timedelta(days=30))
    lake.tables.drop(table)
    lake.care(str(table), now=datetime.now(UTC) + timedelta(days=60))
    assert lake.stores.catalog.dropped() == ()
    assert {info.path: info.etag for info in files.list("exports")} == before
