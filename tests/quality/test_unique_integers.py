"""Integers that lie close together: bitmaps must find every repeated one."""

from random import Random

import pytest

from lakebed.quality.unique_integers import distinct_query, is_dense, range_query
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.recorded_queries import record_queries
from tests.support.scale import SCALE


def key_range(rows: int, lowest: int, highest: int, *, filled: int | None = None) -> dict[str, int]:
    filled = rows if filled is None else filled
    return {"rows": rows, "filled": filled, "lowest": lowest, "highest": highest}


def test_keys_that_lie_far_apart_or_are_absent_are_sorted() -> None:
    assert is_dense(key_range(1_000, -500, 499))
    assert is_dense(key_range(1_000, 0, 8_000))
    assert not is_dense(key_range(1_000, 0, 8_001))
    assert not is_dense(key_range(2**40, 0, 2**27))
    assert not is_dense(key_range(1_000, 0, 999, filled=999))


@pytest.mark.spark
def test_bitmaps_count_different_keys_as_a_set_does(shop: TestLake) -> None:
    spark = shop.lake.spark
    chance = Random(7)
    around = (0, -1, 32_768, -32_768, 65_535, 2**63 - 200, -(2**63) + 200, 2**31)
    for _ in range(4 * SCALE):
        middle = chance.choice(around)
        keys = [middle + chance.randint(-150, 150) for _ in range(chance.randint(1, 400))]
        spark.createDataFrame([(key,) for key in keys], "id bigint").createOrReplaceTempView("keys")
        (found,) = spark.sql(range_query("id", source="keys")).collect()
        assert found.asDict() == key_range(len(keys), min(keys), max(keys))
        (counted,) = spark.sql(distinct_query("id", source="keys")).collect()
        assert counted["different"] == len(set(keys))


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


REPEATED = "SELECT id, count(*) AS times FROM {{ this }} GROUP BY id HAVING count(*) > 1"


@pytest.mark.spark
def test_a_gate_for_repeated_integers_finds_them_all_and_sorts_nothing_if_there_are_none(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = record_queries(monkeypatch)
    rows = "SELECT IF(id = 9, {last}, id) AS id FROM range(-5, 10)"
    shop.pipeline("silver.a", rows.format(last="9"), gates={"repeated": REPEATED})
    assert shop.run("silver.a")["silver.a"].state == "success"
    assert not any("HAVING" in query for query in asked)
    for last, bad in (("7", 1), ("NULL", 0), ("9000000", 0)):
        shop.pipeline("silver.a", rows.format(last=last), gates={"repeated": REPEATED})
        (verdict,) = shop.run("silver.a")["silver.a"].verdicts
        assert (verdict.bad_rows, verdict.error) == (bad, "")
        assert any("HAVING" in query for query in asked)
        asked.clear()
