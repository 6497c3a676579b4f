"""Small tables are read by several cores."""

import pytest

from tests.support.lakes.pipeline_lake import TestLake


@pytest.mark.spark
def test_each_small_file_of_a_table_is_read_by_a_task_of_its_own(shop: TestLake) -> None:
    shop.pipeline("bronze.a", "SELECT /*+ REPARTITION(2) */ id FROM range(1000)")
    shop.run_one("bronze.a")
    asked = "SELECT DISTINCT task FROM (SELECT spark_partition_id() AS task FROM {})"
    read = shop.lake.spark.sql(asked.format("lake.shop.bronze.a")).collect()
    assert len(read) == 2
