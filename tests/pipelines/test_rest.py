"""Pipelines on a REST catalog: the same promises, save that it commits one table at a time and has
no views.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.names import TableName
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]


@pytest.fixture
def lake(
    seaweed: SeaweedServer, bucket: Bucket, database: Database, spark_home: Path
) -> Iterator[Lake]:
    rest, files = seaweed.rest_catalog, bucket.settings
    assert rest.credential
    assert files.access_key_id
    assert files.secret_access_key
    secrets = {
        "LAKEBED_FILES_ENDPOINT": files.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": files.access_key_id.get_secret_value(),
        "LAKEBED_FILES_SECRET_ACCESS_KEY": files.secret_access_key.get_secret_value(),
        "LAKEBED_CATALOG_CREDENTIAL": rest.credential.get_secret_value(),
        "LAKEBED_CATALOG_PASSWORD": database.password,
    }
    values = {
        "catalog": (
            rest.model_dump(exclude={"credential", "password"})
            | {"state_url": database.url, "user": database.user}
        )
    }
    environment = {**os.environ, **secrets}
    create_lake(bucket.root, settings=values, environment=environment)
    with open_lake(bucket.url, environment=environment) as opened:
        yield opened


def write(lake: Lake, name: str, source: str, config: str = "", **gates: str) -> None:
    folder = f"{NAMESPACE}/pipelines/{name.replace('.', '/')}"
    lake.stores.files.write(f"{folder}/pipeline.sql", source.encode())
    lake.stores.files.write(f"{folder}/config.yaml", config.encode())
    for gate, query in gates.items():
        lake.stores.files.write(f"{folder}/tests/quality/{gate}.sql", query.encode())


NAMESPACE = f"rest{os.getpid()}"
UPSERT = "merge_strategy: incremental\nunique_key: id"


def rows(lake: Lake, name: str) -> list[tuple[int, int]]:
    table = lake.iceberg.load_table(TableName(NAMESPACE, *name.split(".")).parts)
    return sorted((row["id"], row["v"]) for row in table.scan().to_arrow().to_pylist())


def test_a_first_run_a_merge_a_blocked_batch_and_a_build_together_on_a_rest_catalog(
    lake: Lake,
) -> None:
    write(
        lake,
        "silver.a",
        "SELECT * FROM VALUES (1, 1), (2, 2) AS t(id, v)",
        UPSERT,
        ok="SELECT * FROM {{ this }} WHERE v < 0",
    )
    write(lake, "gold.b", "SELECT count(*) AS id, sum(v) AS v FROM {{ ref('silver.a') }}")
    assert lake.run(together=True).ok
    assert (rows(lake, "silver.a"), rows(lake, "gold.b")) == ([(1, 1), (2, 2)], [(2, 3)])
    write(lake, "silver.a", "SELECT * FROM VALUES (2, -5), (3, 3) AS t(id, v)", UPSERT)
    failed = lake.run("silver.a").records[0]
    assert failed.error["kind"] == "GateFailed"
    assert rows(lake, "silver.a") == [(1, 1), (2, 2)]
    write(
        lake,
        "silver.a",
        "SELECT * FROM VALUES (2, 5, 'x'), (3, 3, 'y') AS t(id, v, note)",
        f"{UPSERT}\non_schema_change: append",
    )
    assert lake.run().ok
    assert (rows(lake, "silver.a"), rows(lake, "gold.b")) == ([(1, 1), (2, 5), (3, 3)], [(3, 9)])
    ours = [
        table for table in lake.stores.catalog.pointers() if table.namespace == NAMESPACE
    ]  # other tests share the server
    assert not [table for table in ours if table.hidden]


def test_a_view_is_refused_with_the_reason_where_the_catalog_has_none(lake: Lake) -> None:
    write(lake, "silver.base", "SELECT 1 AS id, 1 AS v")
    write(lake, "silver.v", "SELECT * FROM {{ ref('silver.base') }}", "materialized: view")
    record = lake.run("silver.base", "silver.v").records[-1]
    assert (record.state, record.error["kind"]) == ("failed", "BadPipeline")
    assert "no views" in record.error["what"]


def test_a_rename_is_seen_by_readers_although_a_rest_catalogs_snapshot_keeps_the_schema_of_its_writing(
    lake: Lake,
) -> None:
    write(lake, "silver.r", "SELECT 1 AS id, 1 AS old", UPSERT)
    assert lake.run("silver.r").ok
    write(
        lake,
        "silver.r",
        "-- @rename: old -> v\nSELECT 2 AS id, 2 AS v",
        UPSERT,
        ok="SELECT v FROM {{ this }} WHERE v < 0",
    )
    write(lake, "gold.s", "SELECT id, v FROM {{ ref('silver.r') }}")
    assert lake.run("silver.r", "gold.s", together=True).ok
    assert (rows(lake, "silver.r"), rows(lake, "gold.s")) == ([(1, 1), (2, 2)], [(1, 1), (2, 2)])
    assert lake.run("gold.s").ok
