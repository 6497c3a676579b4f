"""Lazy tables by Spark: the same snapshot, columns and rows as by DuckDB."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import lakebed
from lakebed.app import create_lake, open_lake
from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.ports import Pointer
from tests.engines.iceberg.test_scanning import anything, files_with_rows, planned, sql
from tests.support.benches import sqlite_bench
from tests.support.lakes.iceberg_histories import ARROW, rows
from tests.support.spark_sessions import OpenSpark
from tests.support.tables import create_statement

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


def test_spark_and_duckdb_read_the_same_rows_of_what_spark_wrote(
    tmp_path: Path, open_spark: OpenSpark
) -> None:
    bench = sqlite_bench(tmp_path)
    (tmp_path / "lakebed.yaml").touch()
    spark = open_spark(bench.settings, bench.root)
    bench.catalog.create_namespace("shop", "silver")
    with lakebed.open(
        tmp_path, spark=spark, environment={"LAKEBED_CACHE": str(tmp_path / "cache")}
    ) as lake:
        columns = (
            "n INT, word STRING, price DECIMAL(8, 2), at TIMESTAMP_NTZ, there TIMESTAMP, day DATE,"
            " ok BOOLEAN, x DOUBLE"
        )
        layout = ["bucket(4, n)", "truncate(1, word)", "month(at)", "days(there)"]
        spark.sql(create_statement(lake, "shop.silver.mixed", columns, partition_by=layout))
        numbers = (
            (1, "'a'", "1.0"),
            (2, "'b'", "DOUBLE('NaN')"),
            (3, "NULL", "3.0"),
            (4, "'bc'", "NULL"),
        )
        values = ", ".join(
            f"({n}, {word}, {n}.50, TIMESTAMP_NTZ '2024-01-0{n} 12:00:00', TIMESTAMP '2024-01-0{n}"
            f" 12:00:00Z', DATE '2024-01-0{n}', true, {x})"
            for n, word, x in numbers
        )
        spark.sql(f"INSERT INTO lake.shop.silver.mixed VALUES {values}")
        for where in _CONDITIONS:
            table = lake.table("mixed", where=where)
            read = sorted(map(repr, table.to_arrow().to_pylist()))
            there = table.to_spark().toArrow().cast(table.schema)
            assert sorted(map(repr, there.to_pylist())) == read, where
            assert (len(read), where) == (table.count(), where)
        assert len(lake.table("mixed", where="n = 1").scan().files) == 1
        assert not any(column.nans for column in lake.table("mixed", where="n = 1").scan().columns)
        _after_a_rename(lake)
        with pytest.raises(UsageError, match="translated for Spark"):
            lake.table("mixed", where="upper(said) = 'A'").to_spark()
    bench.close()


def _after_a_rename(lake: lakebed.Lake) -> None:
    lake.spark.sql("ALTER TABLE lake.shop.silver.mixed RENAME COLUMN word TO said")
    lake.spark.sql("ALTER TABLE lake.shop.silver.mixed ADD COLUMN more BIGINT")
    table = lake.table("mixed", columns=["said", "more"], where="n < 3")
    assert [tuple(row) for row in table.to_spark().orderBy("said").collect()] == [
        ("a", None),
        ("b", None),
    ]
    assert sorted(row["said"] for row in table.to_arrow().to_pylist()) == ["a", "b"]


def test_no_file_that_spark_wrote_is_left_out_with_a_row_that_fits(
    tmp_path: Path, open_spark: OpenSpark
) -> None:
    bench, rng = sqlite_bench(tmp_path), random.Random(7)
    bench.catalog.create_namespace("shop", "silver")
    spark = open_spark(bench.settings, bench.root)
    table = TableName("shop", "silver", "grown")
    kept = pa.schema([field for field in ARROW if field.name not in ("u", "clock")])
    numbers, others = (
        "id BIGINT, n INT, f FLOAT, d DOUBLE, m DECIMAL(9, 2)",
        "s STRING, b BINARY, day DATE, flag BOOLEAN",
    )
    columns = f"{numbers}, {others}, at TIMESTAMP_NTZ, atz TIMESTAMP"
    spark.sql(
        f"CREATE TABLE {table.spark} ({columns}) USING iceberg LOCATION"
        f" '{bench.root.at(table.folder)}'"
    )
    for layout in (
        "bucket(4, s)",
        "truncate(2, s)",
        "years(at)",
        "hours(atz)",
        "bucket(3, m)",
        "d",
    ):
        spark.sql(f"ALTER TABLE {table.spark} ADD PARTITION FIELD {layout} AS p")
        for _ in range(2):
            spark.createDataFrame(rows(rng, kept, 4)).coalesce(1).writeTo(table.spark).append()
        spark.sql(f"ALTER TABLE {table.spark} DROP PARTITION FIELD p")
    loaded = bench.iceberg.load_table(table.parts)
    oracle, pointer = files_with_rows(loaded), Pointer(table, loaded.metadata_location)
    everything, left_out = planned(bench.stores.scans, pointer, loaded), 0
    for _ in range(400):
        predicate = anything(rng, loaded.schema().as_arrow())
        files = planned(bench.stores.scans, pointer, loaded, predicate)
        try:
            wanted = {
                found
                for (found,) in oracle.execute(
                    f"SELECT DISTINCT _file FROM every WHERE {sql(predicate)}"
                ).fetchall()
            }
        except duckdb.ConversionException:
            continue  # it cannot be asked at all
        assert wanted <= files, predicate
        left_out += len(everything - files)
    assert left_out > 400
    oracle.close()
    bench.close()


@pytest.mark.usefixtures("spark_home")
def test_a_lake_tells_when_it_starts_spark_and_when_it_runs(tmp_path: Path) -> None:
    told: list[str] = []

    @contextmanager
    def starting() -> Iterator[None]:
        told.append("starting")
        yield
        told.append("running")

    create_lake(tmp_path / "lake")
    with open_lake(tmp_path / "lake", starting=starting) as lake:
        assert told == []
        lake.spark.sql("SELECT 1").collect()
        assert told == ["starting", "running"]
