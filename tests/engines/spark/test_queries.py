"""`--engine spark`: Spark's SQL over the states that DuckDB would read."""

import pytest

from lakebed.errors import BadQuery, UnknownName
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]


def test_spark_reads_pinned_tables_by_any_name(shop: TestLake) -> None:
    lake = shop.lake
    lake.write("shop.silver.numbers", lake.spark.range(5))
    lake.tables.tag("numbers", "first")
    lake.write("numbers", lake.spark.range(5, 8))
    for name in (
        "shop.silver.numbers",
        "silver.numbers",
        "numbers",
        "`numbers`",
        "lake.shop.silver.numbers",
    ):
        assert lake.query(f"SELECT count(*) AS n FROM {name}", engine="spark").fetchall() == [(8,)]
    assert lake.query(
        "SELECT count(*) FROM numbers AS n WHERE n.id < 2", engine="spark", at="first"
    ).fetchall() == [(2,)]
    result = lake.query("SELECT id FROM numbers ORDER BY id", engine="spark", limit=3)
    assert result.to_arrow().to_pylist() == [{"id": 0}, {"id": 1}, {"id": 2}]
    again = lake.query("SELECT id FROM numbers WHERE id < 2 ORDER BY id").to_spark()
    assert [tuple(row) for row in again.collect()] == [(0,), (1,)]
    assert lake.table("numbers", where="id = 3").to_spark().count() == 1
    assert lake.query(
        "SELECT count(*) FROM silver.numbers.snapshots", engine="spark"
    ).fetchall() == [(2,)]
    assert (
        lake.query("SELECT id FROM numbers", engine="spark").plan.text.count("VERSION AS OF") == 1
    )
    with pytest.raises(UnknownName):
        lake.query("SELECT * FROM numbesr", engine="spark")
    for attack in (
        "SELECT reflect('java.lang.System', 'getenv')",
        "SELECT * FROM csv.`/etc/passwd`",
        "DROP TABLE numbers",
    ):
        with pytest.raises(BadQuery):
            lake.query(attack, engine="spark")
    with pytest.raises(BadQuery):
        lake.query("SELECT nix FROM numbers", engine="spark").fetchall()
    with pytest.raises(BadQuery):
        lake.query("SELECT 1", engine="spark", untrusted=True)
    assert lake.query(
        "SELECT engine, status FROM system.query_log ORDER BY ts LIMIT 1"
    ).fetchall() == [("spark", "ok")]
