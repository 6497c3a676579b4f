"""Integer keys that lie close together: bitmaps must find every repeated key."""

from random import Random
from typing import TYPE_CHECKING

import pytest

from lakebed.ports import Field
from lakebed.tables import distinct_keys_query, integer_key, is_dense, key_range_query
from lakebed.tables.merging.strategies import DeleteInsert, Incremental, SoftDelete
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.recorded_queries import record_queries
from tests.support.scale import SCALE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = (Field("Id", "bigint"), Field("day", "date"), Field("small", "tinyint"))


def key_range(rows: int, lowest: int, highest: int, *, filled: int | None = None) -> dict[str, int]:
    filled = rows if filled is None else filled
    return {"rows": rows, "filled": filled, "lowest": lowest, "highest": highest}


def test_only_one_integer_column_is_counted_in_bitmaps() -> None:
    assert integer_key(Incremental(unique_key=("id",)), COLUMNS) == "Id"
    assert integer_key(SoftDelete(unique_key=("small",)), COLUMNS) == "small"
    assert integer_key(Incremental(unique_key=("day",)), COLUMNS) is None
    assert integer_key(Incremental(unique_key=("id", "small")), COLUMNS) is None
    assert integer_key(DeleteInsert(unique_key=("id",)), COLUMNS) is None


def test_keys_that_lie_far_apart_or_are_absent_are_sorted() -> None:
    assert is_dense(key_range(1_000, -500, 499))
    assert is_dense(key_range(1_000, 0, 8_000))
    assert not is_dense(key_range(1_000, 0, 8_001))
    assert not is_dense(key_range(2**40, 0, 2**27))
    assert not is_dense(key_range(1_000, 0, 999, filled=999))


@pytest.mark.spark
def test_bitmaps_count_different_keys_as_a_set_does(spark: "SparkSession") -> None:
    chance = Random(7)
    around = (0, -1, 32_768, -32_768, 65_535, 2**63 - 200, -(2**63) + 200, 2**31)
    for _ in range(4 * SCALE):
        middle = chance.choice(around)
        keys = [middle + chance.randint(-150, 150) for _ in range(chance.randint(1, 400))]
        spark.createDataFrame([(key,) for key in keys], "id bigint").createOrReplaceTempView("keys")
        (found,) = spark.sql(key_range_query("id", staged="keys")).collect()
        assert found.asDict() == key_range(len(keys), min(keys), max(keys))
        (counted,) = spark.sql(distinct_keys_query("id", staged="keys")).collect()
        assert counted["keys"] == len(set(keys))


@pytest.mark.spark
def test_unique_integers_are_not_sorted_and_repeated_ones_are_refused_all_the_same(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = record_queries(monkeypatch)
    keyed = "merge_strategy: incremental\nunique_key: ID\n"
    shop.pipeline("silver.a", "SELECT id, id * 2 AS twice FROM range(-5, 5)", keyed)
    shop.run_one("silver.a")
    assert shop.run_one("silver.a").rows["updated"] == 10
    assert not any("row_number" in query for query in asked)
    shop.pipeline("silver.a", "SELECT id % 4 AS id, id AS twice FROM range(10)", keyed)
    record = shop.run("silver.a")["silver.a"]
    assert "4 keys occur in more than one row" in record.error["what"]
    assert any("row_number" in query for query in asked)
