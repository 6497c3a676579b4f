"""Lazy tables by Spark: the same snapshot, columns and rows as by DuckDB."""

from pathlib import Path

import pytest

import lakebed
from lakebed.errors import UsageError
from tests.contracts.benches import sqlite_bench
from tests.spark_sessions import OpenSpark

pytestmark = [pytest.mark.spark]

_CONDITIONS = [
    None,
    "n > 1",
    "NOT (n = 1 OR word IS NULL)",
    "word IN ('a', 'b') AND price >= 2.50",
    "at < TIMESTAMP '2024-01-02 00:00:00'",
    "there >= TIMESTAMPTZ '2024-01-02 00:00:00+01'",
    "day BETWEEN DATE '2024-01-01' AND DATE '2024-01-02'",
    "starts_with(word, 'b') AND ok",
    "x > 1.5",
]


def test_spark_and_duckdb_read_the_same_rows_of_what_spark_wrote(tmp_path: Path, open_spark: OpenSpark) -> None:
    bench = sqlite_bench(tmp_path)
    (tmp_path / "lakebed.yaml").touch()
    spark = open_spark(bench.settings, bench.root)
    bench.catalog.create_namespace("shop", "silver")
    with lakebed.open(tmp_path, spark=spark, environment={"LAKEBED_CACHE": str(tmp_path / "cache")}) as lake:
        columns = "n INT, word STRING, price DECIMAL(8, 2), at TIMESTAMP_NTZ, there TIMESTAMP, day DATE, ok BOOLEAN, x DOUBLE"
        layout = ["bucket(4, n)", "truncate(1, word)", "month(at)", "days(there)"]
        spark.sql(lake.creation_of("shop.silver.mixed", columns, partition_by=layout))
        numbers = ((1, "'a'", "1.0"), (2, "'b'", "DOUBLE('NaN')"), (3, "NULL", "3.0"), (4, "'bc'", "NULL"))
        values = ", ".join(
            f"({n}, {word}, {n}.50, TIMESTAMP_NTZ '2024-01-0{n} 12:00:00', TIMESTAMP '2024-01-0{n} 12:00:00Z',"
            f" DATE '2024-01-0{n}', true, {x})"
            for n, word, x in numbers
        )
        spark.sql(f"INSERT INTO lake.shop.silver.mixed VALUES {values}")
        for where in _CONDITIONS:
            table = lake.table("mixed", where=where)
            read = sorted(map(repr, table.arrow().to_pylist()))
            there = table.spark().toArrow().cast(table.schema)
            assert sorted(map(repr, there.to_pylist())) == read, where
            assert (len(read), where) == (table.count(), where)
        assert len(lake.table("mixed", where="n = 1").scan().files) == 1
        assert not any(column.nans for column in lake.table("mixed", where="n = 1").scan().columns)
        _after_a_rename(lake)
        with pytest.raises(UsageError, match="Spark's words"):
            lake.table("mixed", where="upper(word) = 'A'").spark()
    bench.close()


def _after_a_rename(lake: lakebed.Lake) -> None:
    lake.spark.sql("ALTER TABLE lake.shop.silver.mixed RENAME COLUMN word TO said")
    lake.spark.sql("ALTER TABLE lake.shop.silver.mixed ADD COLUMN more BIGINT")
    table = lake.table("mixed", columns=["said", "more"], where="n < 3")
    assert [tuple(row) for row in table.spark().orderBy("said").collect()] == [("a", None), ("b", None)]
    assert sorted(row["said"] for row in table.arrow().to_pylist()) == ["a", "b"]
