"""A lake to write tables in."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakebed.settings import Settings
from tests.support.lakes.spark_lakes import new_lake
from tests.support.spark_sessions import OpenSpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def spark(open_spark: OpenSpark, tmp_path: Path) -> "SparkSession":
    session = open_spark(Settings(), new_lake(tmp_path / "lake"))
    for namespace in ("lake.shop", "lake.shop.silver"):
        session.sql(f"CREATE NAMESPACE {namespace}")
    return session
