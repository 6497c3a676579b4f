"""Frames of every kind into tables and out again: the values, and the types of the columns, stay as
they were.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest

from lakebed.app import Lake
from lakebed.errors import BadBatch
from lakebed.query.results.pandas_frame import as_pandas
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]

NOON = datetime.fromisoformat("2024-07-01T12:00:00.000001")
LONG_AGO = datetime.fromisoformat("1500-02-28T23:59:59")
ENTRY = pa.struct([("at", pa.timestamp("us")), ("n", pa.int64())])
COLUMNS: dict[str, tuple[Any, str, list[Any]]] = {
    "truth": (pa.bool_(), "boolean", [True, None]),
    "small": (pa.int32(), "int", [-(2**31), None]),
    "big": (pa.int64(), "long", [2**53 + 1, None]),
    "single": (pa.float32(), "float", [1.5, None]),
    "number": (pa.float64(), "double", [0.1, None]),
    "price": (pa.decimal128(12, 2), "decimal(12, 2)", [Decimal("1234567890.12"), None]),
    "exact": (
        pa.decimal128(38, 10),
        "decimal(38, 10)",
        [Decimal("1234567890123456789012345678.0123456789"), None],
    ),
    "word": (pa.string(), "string", ["grün", None]),
    "raw": (pa.binary(), "binary", [b"\x00\xff", None]),
    "day": (pa.date32(), "date", [LONG_AGO.date(), None]),
    "at": (pa.timestamp("us"), "timestamp", [NOON, None]),
    "old": (pa.timestamp("us"), "timestamp", [LONG_AGO, None]),
    "moment": (pa.timestamp("us", tz="UTC"), "timestamptz", [NOON.replace(tzinfo=UTC), None]),
    "numbers": (pa.list_(pa.int64()), "list<long>", [[2**53 + 1, None], None]),
    "entry": (ENTRY, "struct<at: timestamp, n: long>", [{"at": NOON, "n": 2**53 + 1}, None]),
    "entries": (
        pa.list_(ENTRY),
        "list<struct<at: timestamp, n: long>>",
        [[{"at": NOON, "n": 2**53 + 1}, {"at": None, "n": None}], None],
    ),
    "map": (pa.map_(pa.string(), pa.int64()), "map<string, long>", [[("k", 2**53 + 1)], None]),
}
ROWS = pa.table({name: pa.array(values, type_) for name, (type_, _, values) in COLUMNS.items()})
TYPES = {name: type_ for name, (_, type_, _) in COLUMNS.items()}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[TestLake]:
    """A lake whose zone is not UTC: times without a zone would be moved by an hour or two."""
    made = TestLake(
        tmp_path_factory.mktemp("frames") / "lake", settings={"timezone": "Europe/Berlin"}
    )
    yield made
    made.lake.close()


def types(lake: TestLake, name: str) -> dict[str, str]:
    """Iceberg's own, without the ids of nested fields."""
    fields = lake.lake.iceberg.load_table(lake.table(name).parts).schema().fields
    return {field.name: plain(field.field_type) for field in fields}


def plain(type_: Any) -> str:
    match type_.__class__.__name__:
        case "ListType":
            return f"list<{plain(type_.element_type)}>"
        case "MapType":
            return f"map<{plain(type_.key_type)}, {plain(type_.value_type)}>"
        case "StructType":
            return f"struct<{', '.join(f'{field.name}: {plain(field.field_type)}' for field in type_.fields)}>"
        case _:
            return str(type_)


def frames(rows: pa.Table) -> dict[str, Any]:
    """The same rows as every library has them."""
    return {
        "arrow": rows,
        "polars": pl.DataFrame(rows.drop_columns("map")),  # Polars has no maps
        "pandas": as_pandas(rows.drop_columns(["map", "price", "exact"])),
        "pandas_arrow": rows.to_pandas(types_mapper=pd.ArrowDtype),
        "duckdb": duckdb.from_arrow(rows),
    }


def read_as(lake: Lake, name: str) -> Iterator[tuple[str, Any]]:
    """A table as everything it can be read as; last the libraries that have no maps."""
    table, some = (
        lake.table(name),
        lake.table(name, columns=[column for column in TYPES if column != "map"]),
    )
    yield "lake.table", table
    yield "lake.query", lake.query(f"FROM {name}")
    yield "duckdb", table.to_duckdb()
    yield "spark", table.to_spark()
    yield "pandas_arrow", table.to_pandas(dtype_backend="pyarrow")
    yield "pandas", some.to_pandas()
    yield "polars", some.to_polars(lazy=True)


@pytest.mark.parametrize("kind", frames(ROWS))
def test_a_table_made_of_a_frame_has_its_values_and_types(lake: TestLake, kind: str) -> None:
    frame, name = frames(ROWS)[kind], f"shop.gold.{kind}"
    lake.lake.write(name, frame)
    there = [column for column in TYPES if column in lake.lake.table(name).columns]
    assert types(lake, f"gold.{kind}") == {column: TYPES[column] for column in there}
    assert lake.lake.table(name).to_arrow().to_pylist() == ROWS.select(there).to_pylist()
    assert len(there) >= len(TYPES) - 3


def test_what_was_read_of_a_table_can_be_written_back(lake: TestLake) -> None:
    lake.lake.write("shop.gold.kept", ROWS)
    for kind, frame in read_as(lake.lake, "shop.gold.kept"):
        lake.lake.write("shop.gold.kept", frame, mode="overwrite", on_schema_change="append")
        there = [column for column in TYPES if column != "map" or kind not in ("pandas", "polars")]
        found = lake.lake.table("shop.gold.kept", columns=there).to_arrow().to_pylist()
        assert types(lake, "gold.kept") == TYPES, kind
        assert sorted(found, key=repr) == sorted(ROWS.select(there).to_pylist(), key=repr), kind


def test_columns_without_values_are_the_tables_and_nothing_is_left_behind(lake: TestLake) -> None:
    lake.lake.write(
        "shop.gold.sparse",
        pa.table({"id": [1], "at": [NOON], "tags": [["a"]], "day": [date(2024, 1, 1)]}),
    )
    lake.lake.write(
        "shop.gold.sparse", pd.DataFrame({"id": [2], "at": [None], "tags": [[]], "day": [None]})
    )
    rows = lake.lake.table("shop.gold.sparse").to_arrow().to_pylist()
    assert sorted(rows, key=lambda row: row["id"]) == [
        {"id": 1, "at": NOON, "tags": ["a"], "day": date(2024, 1, 1)},
        {"id": 2, "at": None, "tags": [], "day": None},
    ]
    with pytest.raises(BadBatch, match=r"shop.gold.none: the column 'at' holds no value"):
        lake.lake.write("shop.gold.none", pd.DataFrame({"id": [2], "at": [None]}))
    with pytest.raises(BadBatch, match=r"'at' cannot be stored: .*lose data"):
        lake.lake.write(
            "shop.gold.sparse", pa.table({"id": [3], "at": pa.array([1], pa.timestamp("ns"))})
        )
    staging = lake.folder / ".data" / "staging"
    assert [path for path in staging.rglob("*") if staging.is_dir()] == []


def test_a_pipelines_frame_keeps_large_numbers_and_times_without_a_zone(lake: TestLake) -> None:
    lake.pipeline(
        "silver.nullable",
        "import pandas as pd\ndef run(spark, context):\n    numbers, noon = pd.array([2**53 + 1,"
        " None], dtype='Int64'), pd.Timestamp('2024-07-01 12:00')\n    return pd.DataFrame({'n':"
        " numbers, 'at': [noon, noon]})",
    )
    lake.run_one("silver.nullable")
    at = datetime.fromisoformat("2024-07-01T12:00:00")
    assert lake.rows("silver.nullable") == [{"n": 2**53 + 1, "at": at}, {"n": None, "at": at}]
