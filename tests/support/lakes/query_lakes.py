"""A lake with tables of every common type in several files each, and the same rows as plain tables
of DuckDB.
"""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from lakebed.app import Lake, create_lake, open_lake
from lakebed.names import TableName
from tests.support.benches import RealBench, sqlite_bench

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("n", pa.int32()),
        pa.field("x", pa.float64()),
        pa.field("m", pa.decimal128(9, 2)),
        pa.field("s", pa.string()),
        pa.field("day", pa.date32()),
        pa.field("at", pa.timestamp("us")),
        pa.field("atz", pa.timestamp("us", tz="UTC")),
        pa.field("flag", pa.bool_()),
        pa.field("h", pa.decimal128(38, 0)),
        pa.field("w", pa.decimal128(38, 10)),
    ]
)
_TEXTS = ["", "a", "ab", "abc", "b", "ba", "é", "z%", "_", "A"]
WIDE = 12345678901234567890123456789012345600  # rows differ in the last of 38 digits
# the calendar's ends, as Python, Iceberg and all engines know them
_FIRST, _LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001
_FLOATS = [0.0, -0.0, 1.5, -2.25, 1e300, float("inf"), float("-inf"), float("nan")]


def make_lake(folder: Path, **values: Any) -> Lake:
    create_lake(
        folder, settings=values, environment={"LAKEBED_CACHE": str(folder.parent / "cache")}
    )
    return open_lake(folder, environment={"LAKEBED_CACHE": str(folder.parent / "cache")})


def bench_of(lake: Lake, namespace: str = "shop") -> RealBench:
    bench = sqlite_bench(lake.root.folder)
    return RealBench(lake.settings, bench.root, namespace)


def add_table(
    bench: RealBench,
    name: str,
    parts: Sequence[pa.Table],
    *,
    layer: str = "silver",
    schema: pa.Schema = SCHEMA,
) -> TableName:
    """A table whose every part is a commit, hence a file."""
    table = TableName(bench.namespace, layer, name)
    bench.catalog.create_namespace(table.namespace, table.layer)
    made = bench.iceberg.create_table(table.parts, schema, location=bench.root.at(table.folder))
    for part in parts:
        made.append(part)
    return table


def random_rows(chance: random.Random, count: int, *, around: int) -> pa.Table:
    """Rows whose ids and days lie near each other, with NULLs everywhere."""

    def some(value: Any) -> Any:
        return None if chance.random() < 0.12 else value

    moment = datetime(2026, 1, 1) + timedelta(days=around)  # noqa: DTZ001

    def time(value: datetime) -> datetime:
        """In one file of several, the ends of the calendar are among the times."""
        return chance.choice([value, _FIRST, _LAST]) if around == 5 else value

    def wide(scale: int) -> Decimal:
        digits = WIDE + around * 10 + chance.randrange(12)
        return Decimal(f"{chance.choice(['', '', '-'])}{digits}e-{scale}")

    rows = [
        {
            "id": some(around * 10 + chance.randrange(12)),
            "n": some(chance.randrange(-3, 4) + around),
            "x": some(chance.choice([*_FLOATS, float(around)])),
            "m": some(Decimal(chance.randrange(-500, 500)).scaleb(-2) + around),
            "s": some(chance.choice(_TEXTS)),
            "day": some(time(moment).date()),
            "at": some(time(moment + timedelta(hours=chance.randrange(30)))),
            "atz": some(time(moment + timedelta(hours=chance.randrange(30))).replace(tzinfo=UTC)),
            "flag": some(chance.random() < 0.5),
            "h": some(wide(0)),
            "w": some(wide(10)),
        }
        for _ in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def plain_copy(tables: Mapping[str, Sequence[pa.Table]]) -> Any:
    """The same rows in a DuckDB of their own, which prunes nothing."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(
        "SET disabled_optimizers = 'join_filter_pushdown'"
    )  # DuckDB's issue 22924: other rows below a LIMIT
    for name, parts in tables.items():
        connection.register("rows_", pa.concat_tables(parts))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows_")
        connection.unregister("rows_")
    return connection
