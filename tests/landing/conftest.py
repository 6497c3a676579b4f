"""Zones for tests."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakebed.engines.spark import close_session, open_session
from lakebed.settings import Root, Settings
from tests.support.lakes.landing_zones import Zone, folder_zone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark(spark_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """One session for all tests of a file."""
    root = Root.parse(tmp_path_factory.mktemp("lake"))
    (root.folder / ".data").mkdir()
    session = open_session(Settings(), root, environment=os.environ, logs=spark_home)
    yield session
    close_session(session)


@pytest.fixture
def zone(spark: "SparkSession", tmp_path: Path) -> Zone:
    """An empty zone in a folder."""
    return folder_zone(tmp_path / "a lake", spark)
