"""Iceberg's `time`, which Spark cannot read: DuckDB and PyIceberg see the same."""

from datetime import time
from pathlib import Path

from lakebed.app import create_lake, open_lake
from lakebed.names import TableName

TABLE = TableName("shop", "silver", "times")
VALUES = [time(0), time(23, 59, 59, 999999), time(12, 30, 0, 1), None]


def test_times_are_read_and_compared_alike(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyiceberg.expressions import parser
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, TimeType

    create_lake(tmp_path / "lake")
    with open_lake(tmp_path / "lake") as lake:
        lake.stores.catalog.create_namespace(TABLE.namespace, TABLE.layer)
        schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "t", TimeType()))
        table = lake.iceberg.create_table(TABLE.parts, schema, location=lake.root.at(TABLE.folder))
        for number, value in enumerate(VALUES):
            table.append(
                pa.table(
                    {"id": pa.array([number], pa.int64()), "t": pa.array([value], pa.time64("us"))}
                )
            )
        assert [row[1] for row in lake.query(f"SELECT * FROM {TABLE.duckdb} ORDER BY id")] == VALUES
        assert (
            lake.query(f"SELECT t FROM {TABLE.duckdb} ORDER BY id").to_arrow()["t"].to_pylist()
            == VALUES
        )
        for value in VALUES[:3]:
            for op in ("=", "!=", "<", "<=", ">", ">="):
                found = lake.query(
                    f"SELECT id FROM {TABLE.duckdb} WHERE t {op} TIME '{value}' ORDER BY id"
                )
                asked = (
                    table.scan(row_filter=parser.parse(f"t {op} '{value}'"))
                    .to_arrow()["id"]
                    .to_pylist()
                )
                assert [row[0] for row in found] == sorted(asked), (op, value)
