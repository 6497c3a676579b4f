"""Lakes in a bucket: on a REST catalog with its state in PostgreSQL, or in PostgreSQL altogether."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.names import TableName
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer


@dataclass(frozen=True)
class BucketLake:
    """A lake in a bucket, what another process needs to open it, and a namespace of its own: tests share the
    server.
    """

    lake: Lake
    url: str
    environment: dict[str, str]
    namespace: str

    def table(self, name: str) -> TableName:
        return TableName(self.namespace, *name.split("."))

    def pipeline(self, name: str, source: str, config: str = "", **gates: str) -> None:
        """`silver.orders`, and its files."""
        folder = self.table(name).pipeline_folder
        files = self.lake.stores.files
        files.write(f"{folder}/pipeline.sql", source.encode())
        files.write(f"{folder}/config.yaml", config.encode())
        for gate, query in gates.items():
            files.write(f"{folder}/tests/quality/{gate}.sql", query.encode())

    def rows(self, name: str) -> list[dict[str, Any]]:
        """What a reader sees now, sorted; through PyIceberg."""
        loaded = self.lake.iceberg.load_table(self.table(name).parts)
        return sorted(loaded.scan().to_arrow().to_pylist(), key=repr)


class RestLake(BucketLake):
    """One on a REST catalog."""


def _secrets(bucket: Bucket, database: Database) -> dict[str, str]:
    files = bucket.settings
    assert files.access_key_id
    assert files.secret_access_key
    return {
        "LAKEBED_FILES_ENDPOINT": files.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": files.access_key_id.get_secret_value(),
        "LAKEBED_FILES_SECRET_ACCESS_KEY": files.secret_access_key.get_secret_value(),
        "LAKEBED_CATALOG_PASSWORD": database.password,
    }


@pytest.fixture
def rest_lake(
    seaweed: SeaweedServer, bucket: Bucket, database: Database, spark_home: Path
) -> Iterator[RestLake]:
    catalog = seaweed.rest_catalog.model_dump(exclude={"credential", "password"})
    state = {"state_url": database.url, "user": database.user}
    credential = seaweed.rest_catalog.credential
    assert credential
    environment = {
        **os.environ,
        **_secrets(bucket, database),
        "LAKEBED_CATALOG_CREDENTIAL": credential.get_secret_value(),
    }
    create_lake(bucket.root, settings={"catalog": catalog | state}, environment=environment)
    with open_lake(bucket.url, environment=environment) as opened:
        yield RestLake(opened, bucket.url, environment, f"rest{uuid4().hex[:8]}")


@pytest.fixture
def bucket_lake(bucket: Bucket, database: Database, spark_home: Path) -> Iterator[BucketLake]:
    environment = {**os.environ, **_secrets(bucket, database)}
    catalog = {"kind": "postgres", "url": database.url, "user": database.user}
    create_lake(bucket.root, settings={"catalog": catalog}, environment=environment)
    with open_lake(bucket.url, environment=environment) as opened:
        yield BucketLake(opened, bucket.url, environment, "shop")
