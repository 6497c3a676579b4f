"""Rows that are out of the ordinary, in two tables that can be joined: each value of each type,
NULLs, and pairs of alike.
"""

import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("n", pa.int32()),
        ("k", pa.int64()),
        ("x", pa.float64()),
        ("f", pa.float32()),
        ("m", pa.decimal128(9, 2)),
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("d", pa.date32()),
        ("t", pa.timestamp("us")),
        ("z", pa.timestamp("us", tz="UTC")),
        ("r", pa.struct([("a", pa.int32()), ("c", pa.string())])),
        ("u", pa.binary()),
    ]
)
_TIMES = ["0001-01-01", "1582-10-04T12:00", "", "2026-03-29T02:30", "9999-12-31T23:59:59.999999"]
_VALUES: dict[str, list[Any]] = {
    "n": [None, 0, 1, -1, 2, 7, 2**31 - 1, -(2**31), 1],
    "k": [0, None, 1, 5, -5, 7, 2**62, -(2**62)],
    "x": [0.0, -0.0, float("nan"), None, 1.5, float("inf"), float("-inf"), 1e308, 5e-324, 0.1],
    "f": [0.0, None, -0.0, float("nan"), 1.5, float("inf"), float("-inf")],
    "m": [Decimal("0.00"), Decimal("-0.01"), None, Decimal("9999999.99"), Decimal("-9999999.99"), Decimal("1.50")],
    "s": ["", "a", "A", None, "ä", "z", "ß", " a", "a ", "\uffff", "😀", "é", "é", "'", '"', "\\", "\x01", "NULL", "%"],
    "b": [True, None, False],
    "d": [date(1, 1, 1), None, date(1582, 10, 4), date(1582, 10, 15), date(1970, 1, 1), date(2026, 2, 28), date(9999, 12, 31)],
    "t": [datetime.fromisoformat(text) if text else None for text in _TIMES],
}  # fmt: skip


def odd_rows(count: int, *, step: int = 1) -> pa.Table:
    """So many rows; with another `step` the same values meet others."""
    rows: list[dict[str, Any]] = []
    for number in range(count):
        row = {
            name: values[(number * (step + at)) % len(values)]
            for at, (name, values) in enumerate(_VALUES.items())
        }
        moment = row["t"]
        more = {
            "z": moment.replace(tzinfo=UTC) if moment and 1 < moment.year < 9999 else None,
            "r": None if number % 4 == 0 else {"a": row["n"], "c": row["s"]},
            "u": None if row["s"] is None else row["s"].encode(),
        }
        rows.append({"id": number, **row, **more})
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def told(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows so that they can be compared: moments as numbers, NaN is itself, and -0.0 is not
    0.0.
    """
    columns = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for column in table.columns
    ]
    return [
        tuple(map(_told, row))
        for row in zip(*(column.to_pylist() for column in columns), strict=True)
    ]


def _told(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if value != value else struct.pack("d", value)
    return tuple(value.items()) if isinstance(value, dict) else value
