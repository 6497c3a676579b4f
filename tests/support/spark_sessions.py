"""One Spark for all tests of a process; a session of its own for every lake."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakebed.engines.spark import ALL_JARS, close_session, open_session
from lakebed.settings import Root, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OpenSpark = Callable[[Settings, Root], "SparkSession"]


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
