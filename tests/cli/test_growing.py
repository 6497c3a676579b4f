"""A lake in a bucket from the command line: what init prints leads on."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.postgres import Database
from tests.servers.s3 import Bucket

pytestmark = [pytest.mark.s3, pytest.mark.postgres]


def lakebed(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = (str(Path(sys.executable).parent / "lakebed"), *arguments)
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_what_init_prints_is_all_that_the_next_command_needs(
    bucket: Bucket, database: Database
) -> None:
    server = bucket.server
    secrets = {
        "LAKEBED_CATALOG_PASSWORD": database.password,
        "LAKEBED_FILES_ACCESS_KEY_ID": server.access_key_id,
        "LAKEBED_FILES_SECRET_ACCESS_KEY": server.secret_access_key,
    }
    told = (
        f"files.endpoint={server.endpoint}",
        "files.path_style=true",
        "catalog.kind=postgres",
        f"catalog.url={database.url}",
    )
    settings = [word for setting in told for word in ("--set", setting)]
    made = lakebed("init", bucket.url, *settings, **secrets)
    assert made.returncode == 0, made.stderr
    printed = made.stdout.splitlines()
    exports = dict(
        shlex.split(line)[1].split("=", 1) for line in printed if line.strip().startswith("export ")
    )
    assert exports == {
        "LAKEBED_FILES_ENDPOINT": server.endpoint,
        "LAKEBED_FILES_PATH_STYLE": "true",
    }
    (following,) = [
        line.removeprefix("next: lakebed ") for line in printed if line.startswith("next: ")
    ]
    done = lakebed(*shlex.split(following), **secrets, **exports)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [
        secret
        for secret in secrets.values()
        if secret in made.stdout + made.stderr + done.stdout + done.stderr
    ]
