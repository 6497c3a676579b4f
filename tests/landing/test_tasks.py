"""How landing files are cut into the tasks of one job."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakebed.engines.spark.conf import TASKS_AT_ONCE
from lakebed.engines.spark.landing.landing_reader import SparkLandingReader
from lakebed.engines.spark.landing.reader import even_tasks
from lakebed.ports import Field, FileGroup

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIB = 1024 * 1024
COLUMNS = (Field("id", "int"),)


@pytest.mark.parametrize(
    ("size", "at_once", "tasks"),
    [
        (0, 2, 2),
        (MIB, 8, 8),
        (256 * MIB, 2, 2),
        (257 * MIB, 2, 4),
        (320 * MIB, 2, 4),
        (320 * MIB, 1, 3),
        (1024 * MIB, 6, 12),
    ],
)
def test_all_cores_have_equally_many_tasks(size: int, at_once: int, tasks: int) -> None:
    assert even_tasks(size, at_once=at_once) == tasks


def groups_of(folder: Path, *sizes: int) -> list[FileGroup]:
    """Groups of eight small files, each group said to be of this size."""
    for number in range(8):
        (folder / f"{number}.csv").write_text(f"id\n{number}\n")
    paths = tuple(f"file://{folder}/{number}.csv" for number in range(8))
    options = {"header": "true", "multiLine": "false"}
    return [FileGroup("csv", paths, options, COLUMNS, bytes=size) for size in sizes]


@pytest.mark.spark
def test_spark_cuts_the_files_of_a_zone_into_so_many_tasks(
    spark: "SparkSession", tmp_path: Path
) -> None:
    from pyspark.sql.functions import spark_partition_id

    reader, at_once = SparkLandingReader(spark), int(spark.conf.get(TASKS_AT_ONCE) or 0)
    large = at_once * 128 * MIB + 1
    for groups, tasks in (
        (groups_of(tmp_path, large), 2 * at_once),
        (groups_of(tmp_path, 8 * MIB), at_once),
        (groups_of(tmp_path, large, large), 2 * at_once),  # each as by default
    ):
        frame = reader.read_observed(groups, COLUMNS).frame
        used = frame.select(spark_partition_id().alias("task")).distinct().count()
        assert used == min(tasks, 8 * len(groups))
