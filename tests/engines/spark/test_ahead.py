"""A JVM that boots ahead and is not needed after all. Java is a script here: no Spark starts."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.engines.spark import end_ahead, session, start_ahead
from lakebed.settings import Root, Settings, SparkSettings
from tests.support.lakes.spark_lakes import new_lake

NEVER_ANSWERING = """#!/bin/sh
trap 'rm "$TMPDIR/spark-1"; exit' TERM
touch "$TMPDIR/spark-1"
while :; do sleep 0.05; done
"""


@pytest.fixture
def lake(tmp_path: Path) -> Root:
    return new_lake(tmp_path / "lake")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The environment of a machine with a Java that never answers, and its own temporary folder.

    Other tests of this process may have started Spark: here it has none.
    """
    monkeypatch.setattr(session, "_local", None)
    monkeypatch.setattr(session, "require_no_other_spark", lambda: None)
    home, temporary = tmp_path / "jdk", tmp_path / "tmp"
    (home / "bin").mkdir(parents=True)
    temporary.mkdir()
    (home / "bin" / "java").write_text(NEVER_ANSWERING)
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text('JAVA_VERSION="17.0.1"')
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield {**os.environ, "JAVA_HOME": str(home), "TMPDIR": str(temporary)}
    end_ahead()


def boots(lake: Root, machine: dict[str, str], **spark: object) -> bool:
    """Whether a JVM was started ahead for the lake."""
    jar = lake.folder / "iceberg.jar"
    jar.touch()
    settings = Settings(spark=SparkSettings.model_validate({"jars": (str(jar),), **spark}))
    start_ahead(settings, lake, environment=machine, logs=lake.folder / "logs")
    return session._ahead is not None


def test_a_run_without_work_leaves_no_jvm_no_secret_no_log_and_no_temporary_file(
    lake: Root, machine: dict[str, str]
) -> None:
    assert boots(lake, machine)
    ahead = session._ahead
    assert ahead is not None
    left = Path(tempfile.gettempdir(), "spark-1")
    while not left.exists():
        assert ahead.booting.process.poll() is None
        time.sleep(0.01)
    end_ahead()
    assert ahead.booting.process.poll() is not None
    assert list(Path(tempfile.gettempdir()).iterdir()) == []
    assert list((lake.folder / "logs").rglob("*.log")) == []


def test_only_one_jvm_boots_however_often_it_is_asked_for(
    lake: Root, machine: dict[str, str]
) -> None:
    assert boots(lake, machine)
    first = session._ahead
    assert boots(lake, machine)
    assert session._ahead is first


@pytest.mark.parametrize(
    "spark",
    [
        {"master": "spark://far:7077"},
        {"master": "sc://far"},
        {"direct_launch": False},
        {"jars": ("/no/such.jar",)},
    ],
)
def test_what_cannot_start_ahead_is_left_to_the_session(
    lake: Root, machine: dict[str, str], spark: dict[str, object]
) -> None:
    assert not boots(lake, machine, **spark)
