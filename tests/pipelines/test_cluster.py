"""The demo's pipelines, unchanged, on a cluster that loses a worker and through Connect; on SeaweedFS and PostgreSQL."""

import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.app import create_lake, open_lake
from tests.engines.spark.lakes import jvm_of, listens_on
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.servers.spark import connect_server, standalone

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]

ROWS = {"ecommerce.bronze.orders": 600, "ecommerce.silver.clean_orders": 600, "ecommerce.gold.revenue": 15}


def environment_of(bucket: Bucket, database: Database, master: str) -> dict[str, str]:
    files = bucket.settings
    assert files.access_key_id
    assert files.secret_access_key
    return {
        **os.environ,
        "LAKEBED_FILES_ENDPOINT": files.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": files.access_key_id.get_secret_value(),
        "LAKEBED_FILES_SECRET_ACCESS_KEY": files.secret_access_key.get_secret_value(),
        "LAKEBED_CATALOG_PASSWORD": database.password,
        "LAKEBED_SPARK_MASTER": master,
        "LAKEBED_LAKE": bucket.url,
    }


def make_shop(bucket: Bucket, database: Database, environment: dict[str, str]) -> None:
    values = {"catalog": {"kind": "postgres", "url": database.url, "user": database.user}}
    create_lake(bucket.root, values=values, template="shop", environment=environment)


def start(environment: dict[str, str]) -> "subprocess.Popen[str]":
    command = [str(Path(sys.executable).parent / "lakebed"), "run", "--json"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, errors = process.communicate(timeout=500)
    assert process.returncode == 0, (out, errors)
    told: dict[str, Any] = json.loads(out)
    return told


def rows(bucket: Bucket, environment: dict[str, str]) -> dict[str, int | None]:
    with open_lake(bucket.url, environment=environment) as lake:
        heads = {str(table): metadata.head() for table, metadata in lake.tables().items()}
    return {name: head.count("total-records") if head else None for name, head in heads.items() if name in ROWS}


def until_running(bucket: Bucket, environment: dict[str, str], process: "subprocess.Popen[str]", table: str) -> None:
    """Wait until a run of the table has begun, and is not over."""
    with open_lake(bucket.url, environment=environment) as lake:
        while process.poll() is None:
            if any(str(record.table) == table for record in lake.stores.records.runs(state="running")):
                return
            time.sleep(0.1)
    raise AssertionError(process.communicate())


def test_a_cluster_that_loses_a_worker_in_mid_run_finishes_with_the_right_rows(
    bucket: Bucket, database: Database, tmp_path: Path
) -> None:
    with standalone(tmp_path) as cluster:
        environment = environment_of(bucket, database, cluster.master)
        make_shop(bucket, database, environment)
        process = start(environment)
        until_running(bucket, environment, process, "ecommerce.silver.clean_orders")
        driver = [listens_on(jvm) for jvm in jvm_of(process.pid)]
        executors = cluster.workers[0].kill()
        told = ended(process)
    assert driver == [{"127.0.0.1"}], "others than this machine's could reach the driver"
    assert executors, "the worker had no executor: nothing was lost"
    assert {run["state"] for run in told["runs"]} == {"success"}
    assert rows(bucket, environment) == ROWS


def test_the_same_pipelines_run_and_frames_come_in_whole_through_spark_connect(
    bucket: Bucket, database: Database, tmp_path: Path
) -> None:
    with connect_server(tmp_path) as url:
        environment = environment_of(bucket, database, url)
        make_shop(bucket, database, environment)
        told = ended(start(environment))
        written = write_frame(tmp_path, environment)
    assert {run["state"] for run in told["runs"]} == {"success"}
    assert rows(bucket, environment) == ROWS
    with open_lake(bucket.url, environment=environment) as lake:
        assert lake.table("ecommerce.gold.frame").arrow().to_pylist() == written.to_pylist()
        assert not list(lake.stores.files.list(".data/staging"))


def write_frame(tmp_path: Path, environment: dict[str, str]) -> pa.Table:
    """Rows whose values would change if they went as Spark takes frames."""
    times = pa.array([datetime.fromisoformat("2024-07-01T12:00:00"), None], pa.timestamp("us"))
    table = pa.table({"n": [2**53 + 1, None], "at": times})
    pq.write_table(table, tmp_path / "frame.parquet")
    command = (Path(sys.executable).parent / "lakebed", "table", "write", "ecommerce.gold.frame", tmp_path / "frame.parquet")
    done = subprocess.run(
        [*map(str, command)], env={**environment, "LAKEBED_TIMEZONE": "Europe/Berlin"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return table
