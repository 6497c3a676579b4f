"""Mistakes in landing files that show only when all rows are read, by Spark."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.landing.conftest import spark
from tests.mistakes.data import table_of_reads

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]
pytestmark = pytest.mark.spark


def test_every_mistake_in_a_file_is_told_as_the_table_says(
    spark: "SparkSession", tmp_path: Path
) -> None:
    expected = (Path(__file__).parent / "files_read.txt").read_text()
    assert table_of_reads(spark, tmp_path).splitlines() == expected.splitlines()
