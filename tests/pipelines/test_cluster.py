"""The demo's pipelines, unchanged, on a cluster that loses a worker and through Connect; on
SeaweedFS and PostgreSQL.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.app import create_lake, open_lake
from lakebed.engines.files import open_files
from lakebed.engines.spark import needed_jars, session_conf
from lakebed.settings import PostgresCatalog, Root, Settings
from tests.servers.postgres import Database, PostgresServer, postgres_folder, postgres_in
from tests.servers.processes import LOOPBACK, free_ports
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer
from tests.servers.spark import Cluster, connect_server, documented_defaults, standalone
from tests.support.canaries import (
    children,
    command_lines,
    files,
    logged,
    objects,
    pages,
    sightings,
    surroundings,
)
from tests.support.canaries import rows as rows_kept
from tests.support.lakes.spark_lakes import jvm_of, listens_on
from tests.support.lakes.stored_source import StoredSource
from tests.support.production_site import Site, versioned_bucket
from tests.support.scale import in_turn

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]

PLACES = (
    "spark.jars.packages",
    "spark.connect.grpc.binding.address",
)  # the test's server has them already
READING = """
from typer.testing import CliRunner
from lakebed.cli.main import app
import lakebed

reads = ["ls"], ["table", "describe", "orders"], ["table", "history", "orders"], ["runs"], ["lineage"], ["zone", "ls"]
for command in reads:
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, (command, done.output)
with lakebed.open() as lake:
    print(lake.query("SELECT count(*) AS n FROM bronze.orders").to_arrow().to_pylist()[0]["n"], "rows")
"""
ROWS = {
    "ecommerce.bronze.orders": 600,
    "ecommerce.silver.clean_orders": 600,
    "ecommerce.gold.revenue": 15,
}


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


def secrets_of(bucket: Bucket, database: Database) -> tuple[str, ...]:
    return (bucket.server.access_key_id, bucket.server.secret_access_key, database.password)


def shown(folder: Path, port: int) -> dict[str, str]:
    """Settings with which Spark shows as much as it can: an event log, and its pages."""
    return {**logged(folder), "spark.ui.enabled": "true", "spark.ui.port": str(port)}


def make_shop(bucket: Bucket, database: Database, environment: dict[str, str]) -> None:
    values = {"catalog": {"kind": "postgres", "url": database.url, "user": database.user}}
    create_lake(bucket.root, settings=values, template="shop", environment=environment)


def kept_in(folder: Path, conf: dict[str, str]) -> dict[str, str]:
    """Variables by which whatever Lakebed and Spark write on this machine lies below a folder."""
    (folder / "temporary").mkdir()
    places = {"LAKEBED_PLACES_LOGS": str(folder / "logs"), "TMPDIR": str(folder / "temporary")}
    return {**places, "LAKEBED_SPARK_CONF": json.dumps(conf)}


def start(environment: dict[str, str]) -> "subprocess.Popen[str]":
    return lakebed(environment, "run", "--json")


def lakebed(environment: dict[str, str], *arguments: str) -> "subprocess.Popen[str]":
    command = [str(Path(sys.executable).parent / "lakebed"), *arguments]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: "subprocess.Popen[str]") -> dict[str, Any]:
    out, errors = process.communicate(timeout=500)
    assert process.returncode == 0, (out, errors)
    told: dict[str, Any] = json.loads(out)
    return told


def rows(bucket: Bucket, environment: dict[str, str]) -> dict[str, int | None]:
    with open_lake(bucket.url, environment=environment) as lake:
        heads = {str(table): metadata.head() for table, metadata in lake.tables.list().items()}
    return {
        name: head.count("total-records") if head else None
        for name, head in heads.items()
        if name in ROWS
    }


def until_running(
    bucket: Bucket, environment: dict[str, str], process: "subprocess.Popen[str]", table: str
) -> None:
    """Wait until a run of the table has begun, and is not over."""
    with open_lake(bucket.url, environment=environment) as lake:
        while process.poll() is None:
            if any(
                str(record.table) == table for record in lake.stores.records.runs(state="running")
            ):
                return
            time.sleep(0.1)
    raise AssertionError(process.communicate())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers at first; the test that kills one leaves the other to whoever comes next."""
    with standalone(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@contextmanager
def stopped(process: "subprocess.Popen[str]") -> Iterator[int]:
    """While inside, the command asks nothing more of its Spark, and so cannot end. The pid of the
    child that runs it.
    """
    command, *_ = children(process.pid)
    os.kill(command, signal.SIGSTOP)
    try:
        yield command
    finally:
        os.kill(command, signal.SIGCONT)


@in_turn(0, of=4)
def test_a_cluster_that_loses_a_worker_in_mid_run_finishes_with_the_right_rows(
    cluster: Cluster, bucket: Bucket, database: Database, tmp_path: Path
) -> None:
    (port,), canaries = free_ports(1), secrets_of(bucket, database)
    environment = environment_of(bucket, database, cluster.master) | kept_in(
        tmp_path, shown(tmp_path / "events", port)
    )
    make_shop(bucket, database, environment)
    process = start(environment)
    until_running(bucket, environment, process, "ecommerce.silver.clean_orders")
    with stopped(process) as command:
        (driver,) = jvm_of(command)
        listens = listens_on(command) | listens_on(driver)
        started = [
            pid
            for parent in (command, *(worker.pid for worker in cluster.workers))
            for pid in children(parent)
        ]
        seen = sightings(
            canaries, pages(f"http://{LOOPBACK}:{port}"), command_lines(), surroundings(started)
        )
        executors = cluster.workers[0].kill()
    told = ended(process)
    with open_lake(bucket.url, environment=environment) as lake:
        lake.backup(str(tmp_path / "backup.zip"))
    assert executors, "the worker had no executor: nothing was lost"
    assert {run["state"] for run in told["runs"]} == {"success"}
    assert rows(bucket, environment) == ROWS
    assert listens == {LOOPBACK}, "others than this machine's could reach the driver"
    assert (
        seen
        + sightings(canaries, files(tmp_path, cluster.folder), objects(bucket), rows_kept(database))
        == []
    )
    assert b"SparkListenerJobStart" in next((tmp_path / "events").iterdir()).read_bytes()


@pytest.fixture
def encrypted_server(tmp_path: Path) -> Iterator[PostgresServer]:
    """A PostgreSQL of the test's own, whose certificate is `ca.pem` in the test's folder."""
    with postgres_folder() as folder, postgres_in(folder, encrypted=True) as server:
        shutil.copy(folder / "server.crt", tmp_path / "ca.pem")
        yield server


@pytest.fixture
def site(
    cluster: Cluster, encrypted_server: PostgresServer, seaweed: SeaweedServer, tmp_path: Path
) -> Site:
    return Site(encrypted_server, versioned_bucket(seaweed), seaweed, cluster.master, tmp_path)


@in_turn(2, of=4)
def test_whoever_follows_the_page_on_production_has_a_lake_on_a_cluster_and_can_go_back(
    site: Site,
) -> None:
    site.follow()
    tags = site.type("lakebed", "table", "describe", "bronze.orders", "--json").stdout
    waiting = site.type("lakebed", "zone", "show", "orders").stdout
    assert "mistake" not in tags + waiting, "bucket and database are not as they were"
    site.grant()
    reader, store = (
        {"LAKEBED_CATALOG_USER": site.here("lake_reader")},
        open_files(site.bucket.root, site.bucket.settings),
    )
    there = list(store.list())
    done = site.type(sys.executable, "-c", READING, **reader)
    assert (done.returncode, done.stdout) == (0, "600 rows\n"), done.stderr
    assert list(store.list()) == there, "keys that only read would not do"
    refused = site.type("lakebed", "table", "tag", "bronze.orders", "mine", **reader)
    assert (refused.returncode, "may not" in refused.stderr) == (2, True), refused.stderr


def test_the_page_on_production_names_the_jars_that_a_connect_server_needs() -> None:
    settings = Settings(catalog=PostgresCatalog(kind="postgres", url="postgresql://db/lake"))
    needed = needed_jars(settings, Root.parse("s3://lake/prod"))
    assert documented_defaults()["spark.jars.packages"] == ",".join(map(str, needed))


@in_turn(3, of=4)
def test_the_same_pipelines_run_and_frames_come_in_whole_through_spark_connect(
    bucket: Bucket, database: Database, tmp_path: Path
) -> None:
    (port,), canaries = free_ports(1), secrets_of(bucket, database)
    ours = session_conf(Settings(catalog=database.catalog, files=bucket.settings), bucket.root)
    conf = {
        key: ours[key] if value == "…" else value
        for key, value in documented_defaults().items()
        if key not in PLACES
    }
    conf |= shown(tmp_path / "events", port)
    with connect_server(tmp_path, conf=conf.items()) as url:
        environment = environment_of(bucket, database, url) | kept_in(tmp_path, {})
        make_shop(bucket, database, environment)
        with open_lake(bucket.url, environment=environment) as lake:
            source = StoredSource(lake, namespace="ecommerce")
            source.put_all(2020)
        told = ended(start(environment))
        written = write_frame(tmp_path, environment)
        findings = json.loads(lakebed(environment, "doctor", "--json").communicate()[0])
        seen = sightings(canaries, pages(f"http://{LOOPBACK}:{port}"), command_lines())
    kept = files(*(tmp_path / name for name in ("events", "logs", "temporary", "connect.log")))
    assert seen + sightings(canaries, kept) == []
    assert [found["state"] for found in findings if found["component"] == "spark"] == ["ok"], (
        findings
    )
    assert b"SparkListenerJobStart" in next((tmp_path / "events").iterdir()).read_bytes()
    assert {run["state"] for run in told["runs"]} == {"success"}
    assert rows(bucket, environment) == ROWS
    with open_lake(bucket.url, environment=environment) as lake:
        assert lake.table("ecommerce.gold.frame").to_arrow().to_pylist() == written.to_pylist()
        source.lake = lake
        source.check()
        assert not list(lake.stores.files.list(".data/staging"))


def write_frame(tmp_path: Path, environment: dict[str, str]) -> pa.Table:
    """Rows whose values would change if they went as Spark takes frames."""
    times = pa.array([datetime.fromisoformat("2024-07-01T12:00:00"), None], pa.timestamp("us"))
    table = pa.table({"n": [2**53 + 1, None], "at": times})
    pq.write_table(table, tmp_path / "frame.parquet")
    command = (
        Path(sys.executable).parent / "lakebed",
        "table",
        "write",
        "ecommerce.gold.frame",
        tmp_path / "frame.parquet",
    )
    done = subprocess.run(
        [*map(str, command)],
        env={**environment, "LAKEBED_TIMEZONE": "Europe/Berlin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return table
