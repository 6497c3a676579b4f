"""Frames of other libraries become what a table keeps: no value changes silently."""

import io
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from lakebed.engines.arrow import (
    as_storable,
    frame_reader,
    parquet_files,
    storable_schema,
    table_type,
)
from lakebed.errors import BadBatch
from lakebed.types import read_table_type

NOON = datetime.fromisoformat("2024-06-01T12:00:00")
BERLIN = pa.timestamp("us", tz="Europe/Berlin")
ID = UUID("12345678-1234-5678-1234-567812345678")


def staged(frame: Any, **known: str) -> pa.Table:
    """What Spark would be given to read."""
    reader = frame_reader(frame)
    schema = storable_schema(
        reader.schema, {name: read_table_type(type_) for name, type_ in known.items()}
    )
    files = [
        io.BytesIO(file) for file in parquet_files(as_storable(reader, schema), schema, size=1)
    ]
    return pa.concat_tables(map(pq.read_table, files)).cast(schema)


def column(frame: Any, **known: str) -> tuple[str, list[Any]]:
    table = staged(frame, **known)
    return table_type(table.schema.field(0).type).spark, table.column(0).to_pylist()


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        (pa.array([1, None], pa.int8()), "int", [1, None]),
        (pa.array([2**16 - 1], pa.uint16()), "int", [2**16 - 1]),
        (pa.array([2**32 - 1], pa.uint32()), "bigint", [2**32 - 1]),
        (pa.array([2**64 - 1, None], pa.uint64()), "decimal(20,0)", [Decimal(2**64 - 1), None]),
        (pa.array([np.float16(1.5)]), "float", [1.5]),
        (pa.array([float("nan"), None, float("inf")]), "double", ["nan", None, float("inf")]),
        (pa.array(["a", None, "a"]).dictionary_encode(), "string", ["a", None, "a"]),
        (pa.array(["a", None], pa.string_view()), "string", ["a", None]),
        (pa.array([b"ab", None], pa.binary(2)), "binary", [b"ab", None]),
        (pa.array([Decimal("1.50")], pa.decimal32(5, 2)), "decimal(5,2)", [Decimal("1.50")]),
        (pa.array([Decimal("1E3")], pa.decimal128(3, -2)), "decimal(5,0)", [Decimal(1000)]),
        (pa.array([NOON, None], pa.timestamp("s")), "timestamp_ntz", [NOON, None]),
        (pa.array([NOON], pa.timestamp("ns")), "timestamp_ntz", [NOON]),
        (
            pa.array([NOON.replace(tzinfo=UTC)], BERLIN),
            "timestamp",
            [NOON.replace(tzinfo=ZoneInfo("UTC"))],
        ),
        (pa.array([date(1500, 1, 1)], pa.date64()), "date", [date(1500, 1, 1)]),
        (pa.array([ID.bytes, None], pa.uuid()), "string", [str(ID), None]),
        (pa.array([[1, 2], None], pa.list_(pa.uint8(), 2)), "array<int>", [[1, 2], None]),
        (
            pa.array([[NOON], [None], None], pa.large_list(pa.timestamp("ns"))),
            "array<timestamp_ntz>",
            [[NOON], [None], None],
        ),
        (
            pa.StructArray.from_arrays([pa.array([ID.bytes], pa.uuid())], ["a"]),
            "struct<a:string>",
            [{"a": str(ID)}],
        ),
        (
            pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int8())),
            "map<string,int>",
            [[("k", 1)], None],
        ),
    ],
)
def test_types_that_no_table_has_become_ones_that_keep_every_value(
    values: pa.Array, type_: str, expected: list[Any]
) -> None:
    found = column(pa.table({"c": values}))
    assert (found[0].replace("`", ""), repr(found[1])) == (
        type_,
        repr(expected).replace("'nan'", "nan"),
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pa.table({"c": pa.array([time(12)])}), "'c'.*time"),
        (lambda: pd.DataFrame({"c": [timedelta(1)]}), "'c'.*duration"),
        (lambda: pl.DataFrame({"c": [[timedelta(1)]]}), "'c.element'.*duration"),
        (lambda: pa.table({"c": pa.array([1], pa.timestamp("ns"))}), "'c'.*lose data"),
        (lambda: pd.DataFrame({"c": pd.to_datetime([1], unit="ns")}), "'c'.*lose data"),
        (lambda: pa.table({"c": pa.array([Decimal(1)], pa.decimal256(50, 2))}), "'c'.*38 digits"),
        (
            lambda: duckdb.sql("SELECT 170141183460469231731687303715884105727::HUGEINT AS c"),
            "'c'.*precision",
        ),
        (lambda: duckdb.sql("SELECT 1 AS b, '101'::BIT AS c"), "'c'.*BIT"),
        (lambda: duckdb.sql("SELECT INTERVAL 1 DAY AS c"), "'c'.*interval"),
        (lambda: pa.table({"c": pa.array([[1]], pa.list_view(pa.int8()))}), "'c'.*list_view"),
        (lambda: pa.table({"c": pa.nulls(1)}), "'c' holds no value"),
        (lambda: pd.DataFrame({"c": [None, None]}), "'c' holds no value"),
        (lambda: pd.DataFrame({"c": [[], []]}), "'c.element' holds no value"),
        (
            lambda: pa.table([pa.array([1]), pa.array([2])], names=["c", "C"]),
            "'c' and 'C' have the same name",
        ),
        (lambda: pd.DataFrame([[1, 2]], columns=["c", "c"]), "Duplicate column names.*'c'"),
        (lambda: pd.DataFrame({"c": [1, "x"]}), "column c .*'x'"),
        (
            lambda: pd.DataFrame({"c": pd.Series([2**53 + 1, 0.5], dtype=object)}),
            "column c .*9007199254740993",
        ),
        (lambda: pd.DataFrame({"c": [date(2024, 1, 1), NOON]}), "'c' mixes dates and times"),
        (
            lambda: pd.DataFrame({"c": pd.Series([NOON, NOON.replace(tzinfo=UTC)], dtype=object)}),
            "'c' mixes times",
        ),
        (
            lambda: pd.DataFrame({"c": pd.period_range("2024-01", periods=1, freq="M")}),
            "'c'.*period",
        ),
        (
            lambda: pl.DataFrame({"b": [1], "c": [1]}, schema={"b": pl.Int8, "c": pl.Int128}),
            "'c'.*i128",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_name(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(BadBatch, match=said):
        staged(make())


def test_pandas_nullable_columns_keep_large_numbers_truths_and_nan() -> None:
    big = [2**53 + 1, None]
    assert column(pd.DataFrame({"c": pd.array(big, dtype="Int64")})) == ("bigint", big)
    assert column(pd.DataFrame({"c": pd.Series(big, dtype=pd.ArrowDtype(pa.int64()))})) == (
        "bigint",
        big,
    )
    assert column(pd.DataFrame({"c": pd.array([True, None], dtype="boolean")})) == (
        "boolean",
        [True, None],
    )
    assert column(pd.DataFrame({"c": pd.Categorical(["x", None, "x"])})) == (
        "string",
        ["x", None, "x"],
    )
    assert column(pd.DataFrame({"c": [float("nan"), 1.0]})) == (
        "double",
        [None, 1.0],
    )  # pandas has no other NULL there
    numbers = pd.arrays.FloatingArray(np.array([np.nan, 1.0, 0.0]), np.array([False, False, True]))
    assert repr(column(pd.DataFrame({"c": numbers}))) == repr(("double", [float("nan"), 1.0, None]))
    zoned = datetime(2024, 6, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert column(pd.DataFrame({"c": [zoned, pd.NaT]})) == ("timestamp", [zoned, None])
    assert column(pd.DataFrame({"c": [NOON]}, index=pd.Index([7], name="left_out"))) == (
        "timestamp_ntz",
        [NOON],
    )


def test_a_column_without_values_takes_the_type_that_the_table_has() -> None:
    assert column(pd.DataFrame({"C": [None, None]}), c="timestamp_ntz") == (
        "timestamp_ntz",
        [None, None],
    )
    assert column(pl.DataFrame({"c": [None]}), c="map<string,decimal(9,2)>") == (
        "map<string,decimal(9,2)>",
        [None],
    )
    assert column(pd.DataFrame({"c": [[], None]}), c="array<struct<a:int>>") == (
        "array<struct<`a`:int>>",
        [[], None],
    )
    nested = pa.table({"c": [{"a": 1, "b": None}]})
    assert column(nested, c="struct<b:date,a:bigint>") == (
        "struct<`a`:bigint,`b`:date>",
        [{"a": 1, "b": None}],
    )


def test_every_kind_of_frame_gives_all_its_rows() -> None:
    rows = [{"n": n, "words": [str(n)] * (n % 3) if n % 5 else None} for n in range(100_000)]
    table = pa.Table.from_pylist(rows)
    frame = pl.DataFrame(table)
    sliced = pa.concat_tables([table.slice(70_001), table.slice(0, 70_001)])
    lazy = frame.lazy().filter(pl.col("n") >= 0)
    kinds = (
        table,
        table.to_batches()[0],
        table.to_reader(),
        pa.dataset.dataset(table),
        frame,
        lazy,
        table.to_pandas(),
        sliced,
    )
    for kind in (*kinds, duckdb.from_arrow(table)):
        assert sorted(staged(kind).to_pylist(), key=lambda row: row["n"]) == rows, type(kind)
    for empty in (table.slice(0, 0), frame.clear(), frame.lazy().filter(pl.col("n") < 0)):
        assert (staged(empty).num_rows, staged(empty).schema) == (0, staged(table).schema)
    assert [frame_reader(other) for other in (5, None, [{"n": 1}], pd.Series([1]))] == [None] * 4
