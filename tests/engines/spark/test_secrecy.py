"""Secrets on their way to Spark: nothing keeps them but Spark's own memory."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lakebed.engines.files import open_files
from lakebed.engines.spark import find_java
from lakebed.engines.spark.secrets import start_lines, would_log_secret
from lakebed.settings import SECRET_WORD
from tests.servers.postgres import Database
from tests.servers.processes import LOOPBACK, free_ports
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer
from tests.support.canaries import children, command_lines, files, logged, sightings, surroundings
from tests.support.lakes.spark_lakes import ENVIRONMENT, python

CANARY = "canary-of-the-catalog"
SECRETS = {
    "LAKEBED_CATALOG_PASSWORD": CANARY,
    "LAKEBED_FILES_ACCESS_KEY_ID": "canary-of-the-key",
    "LAKEBED_FILES_SECRET_ACCESS_KEY": "canary-of-the-bucket",
}
STARTING = """
import os, sys
from pathlib import Path
from lakebed.engines.spark import open_session
from lakebed.settings import Root, load_settings

root = Root.parse("s3://bucket/lake")
settings = load_settings(sys.argv[1], os.environ, root=root)
open_session(settings, root, environment=os.environ, logs=Path(sys.argv[2]))
"""
STUCK = """#!/bin/sh
echo $$ > {pid}
exec sleep 600
"""


def stuck_java(folder: Path) -> Path:
    """A Java that begins, tells its pid and gets no further."""
    real, home = find_java(ENVIRONMENT), folder / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(STUCK.format(pid=folder / "pid"))
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'JAVA_VERSION="{real.version}"')
    return home


@pytest.mark.parametrize("directly", ["true", "false"])
def test_a_start_that_is_killed_leaves_no_secret_on_the_disk(directly: str, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    environment = (
        ENVIRONMENT
        | SECRETS
        | {
            "TMPDIR": str(tmp_path / "temporary"),
            "JAVA_HOME": str(stuck_java(tmp_path)),
        }
    )
    yaml = (
        "catalog: {kind: postgres, url: 'postgresql://127.0.0.1:1/lake'}\nspark:"
        f" {{direct_launch: {directly}}}\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", STARTING, yaml, str(tmp_path / "logs")], env=environment
    )
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        assert process.poll() is None
        time.sleep(0.05)
    started = children(process.pid)
    seen = sightings(SECRETS.values(), command_lines(), surroundings(started))
    for pid in (process.pid, *started):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    assert started
    assert seen == []
    assert sightings(SECRETS.values(), files(tmp_path)) == []


TWO_SESSIONS = """
import json, os, sys
from pathlib import Path
from pydantic import SecretStr
from lakebed.engines.spark import open_session
from lakebed.errors import UsageError
from lakebed.settings import Root, load_settings
from tests.support.canaries import children, command_lines, pages, sightings, surroundings

root, folder = Root.parse(sys.argv[2]), Path(sys.argv[3])
settings = load_settings(sys.argv[1], os.environ, root=root)
opened = lambda of: open_session(of, root, environment=os.environ, logs=folder / "logs")
for session in (opened(settings), opened(settings)):
    session.sql("SHOW NAMESPACES IN lake").collect()
    lines = session.read.text(f"{root.url}/a.txt").groupBy("value").count().collect()
canaries = [value for name, value in os.environ.items() if name in json.loads(sys.argv[5])]
seen = sightings(canaries, pages(sys.argv[4]), command_lines(), surroundings(children(os.getpid())))
try:
    opened(settings.model_copy(update={"files": settings.files.model_copy(update={"secret_access_key": SecretStr("another")})}))
    said = "opened"
except UsageError as error:
    said = str(error)
print(json.dumps({"lines": len(lines), "canaries": len(canaries), "seen": seen, "said": said}))
"""


@pytest.mark.spark
@pytest.mark.s3
@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["postgres", "rest"])
def test_no_secret_of_a_local_spark_stands_in_its_event_log_or_on_its_pages(
    kind: str, bucket: Bucket, database: Database, seaweed: SeaweedServer, tmp_path: Path
) -> None:
    open_files(bucket.root, bucket.settings).write("a.txt", b"a line")
    server, (port,) = bucket.server, free_ports(1)
    secrets = dict(
        zip(
            SECRETS,
            (database.password, server.access_key_id, server.secret_access_key),
            strict=True,
        )
    )
    conf = {**logged(tmp_path / "events"), "spark.ui.enabled": "true", "spark.ui.port": str(port)}
    catalog = {"kind": "postgres", "url": database.url, "user": database.user}
    if kind == "rest":  # its server takes the keys of the bucket, as id:secret
        secrets |= {"LAKEBED_CATALOG_CREDENTIAL": seaweed.rest_credential}
        rest = seaweed.rest_catalog.model_dump(exclude={"credential", "password"})
        catalog = {**rest, "state_url": database.url, "user": database.user}
    (tmp_path / "temporary").mkdir()
    told = {"LAKEBED_FILES_ENDPOINT": server.endpoint, "TMPDIR": str(tmp_path / "temporary")}
    yaml = json.dumps(
        {"catalog": catalog, "spark": {"conf": conf, "quick": True, "master": "local[2]"}}
    )
    page = f"http://{LOOPBACK}:{port}"
    seen = python(
        TWO_SESSIONS,
        yaml,
        bucket.url,
        tmp_path,
        page,
        json.dumps([*secrets]),
        environment=ENVIRONMENT | secrets | told,
    )
    assert (seen["lines"], seen["canaries"], seen["seen"]) == (1, len(secrets), [])
    assert sightings(secrets.values(), files(tmp_path)) == []
    assert b"SparkListenerJobStart" in next((tmp_path / "events").iterdir()).read_bytes()
    assert "event log would show this lake's secrets" in seen["said"]


LOGGING = {"spark.eventLog.enabled": "true"}


@pytest.mark.parametrize(
    ("wanted", "told", "shown"),
    [
        ({"spark.sql.catalog.lake.jdbc.password": "x"}, LOGGING, True),
        ({"spark.sql.catalog.lake.jdbc.password": "x"}, {}, False),
        (
            {"spark.sql.catalog.lake.jdbc.password": "x"},
            LOGGING | {"spark.sql.catalog.lake.jdbc.password": "y"},
            False,
        ),
        ({"spark.sql.catalog.lake.jdbc.user": "x"}, LOGGING, False),
        ({"fs.s3a.secret.key": "x"}, LOGGING | {"spark.hadoop.fs.s3a.secret.key": "x"}, False),
        ({"fs.s3a.secret.key": "x"}, LOGGING | {"spark.hadoop.fs.s3a.secret.key": "y"}, True),
    ],
)
def test_a_secret_comes_to_light_under_a_key_that_spark_was_not_started_with(
    wanted: dict[str, str], told: dict[str, str], shown: bool
) -> None:
    assert would_log_secret(wanted, told) is shown


def test_what_a_server_lacks_is_named_as_its_settings_file_spells_it_without_the_value() -> None:
    assert start_lines(["fs.s3a.secret.key"], {}) == (
        "spark.hadoop.fs.s3a.secret.key …",
        f"spark.redaction.regex {SECRET_WORD}",
    )
    assert start_lines(["fs.s3a.secret.key"], {"spark.redaction.regex": SECRET_WORD}) == (
        "spark.hadoop.fs.s3a.secret.key …",
    )
