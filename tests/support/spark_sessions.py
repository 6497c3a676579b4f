"""One Spark for all tests of a process; a session of its own for every lake."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakebed.engines.spark import ALL_JARS, close_session, open_session
from lakebed.engines.spark.jars.fetch import local_jars
from lakebed.settings import Root, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OpenSpark = Callable[[Settings, Root], "SparkSession"]


@pytest.fixture(scope="session", autouse=True)
def fetched_jars(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Fetches jars before the first test that needs any: a command that fetches them says so, and
    so would print more on a fresh machine than on one that has been used.
    """
    if any(item.get_closest_marker("spark") for item in request.session.items):
        root = Root.parse(tmp_path_factory.mktemp("no-lake"))
        local_jars(Settings(), root, environment=os.environ, report=print, also=ALL_JARS)


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keeps Spark running, with the jars of every kind of lake, until the last test."""
    logs = tmp_path_factory.mktemp("spark-logs")
    root = Root.parse(tmp_path_factory.mktemp("spark-keeper"))
    (root.folder / ".data").mkdir()
    session = open_session(Settings(), root, environment=os.environ, logs=logs, also=ALL_JARS)
    yield logs
    close_session(session)


@pytest.fixture
def open_spark(spark_home: Path) -> Iterator[OpenSpark]:
    """Sessions for lakes, as many as a test wants."""
    opened = []

    def opening(settings: Settings, root: Root) -> "SparkSession":
        opened.append(open_session(settings, root, environment=os.environ, logs=spark_home))
        return opened[-1]

    yield opening
    for session in opened:
        close_session(session)
