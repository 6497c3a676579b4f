"""Columns, literals and a plain-Python oracle for predicates."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa

OPERATORS = ["==", "!=", "<", "<=", ">", ">=", "in", "not in", "is distinct from"]
COLUMNS: Mapping[str, tuple[Any, list[Any]]] = {
    "int": (pa.int64(), [-1, 0, 1, 2, 2**53 + 1]),
    "uint": (pa.uint64(), [0, 1, 2, 2**64 - 1]),
    "float": (pa.float64(), [-1.5, 0.0, 0.1, float("nan"), float("inf")]),
    "text": (pa.large_string(), ["", "a", "a/b", "ü", "z=1"]),
    "bool": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [date(2024, 1, day) for day in (1, 2, 3)]),
    "time": (
        pa.timestamp("us"),
        [datetime.fromisoformat(f"2024-01-01 0{hour}:00") for hour in (0, 1, 2)],
    ),
    "zoned": (
        pa.timestamp("us", tz="UTC"),
        [datetime(2024, 1, 1, hour, tzinfo=UTC) for hour in (0, 1, 2)],
    ),
    "bytes": (pa.large_binary(), [b"", b"a", b"\xff"]),
}


def missing(value: Any) -> bool:
    return value is None or value != value


def satisfies(row: Mapping[str, Any], predicates: Sequence[Any] | None) -> bool:
    """Whether a row satisfies predicates: the documented meaning, spelled out."""
    if predicates is None:
        return True
    return any(all(_holds(row[c], op, v) for c, op, v in conjunction) for conjunction in predicates)


def _holds(found: Any, operator: str, value: Any) -> bool:
    if operator in {"==", "in"}:
        return any(_same(found, one) for one in (value if operator == "in" else [value]))
    if operator in {"!=", "is distinct from"}:
        return not _same(found, value)
    if operator == "not in":
        return not any(_same(found, one) for one in value)
    if missing(found):
        return False
    ordered: dict[str, bool] = {
        "<": found < value,
        "<=": found <= value,
        ">": found > value,
        ">=": found >= value,
    }
    return ordered[operator]


def _same(first: Any, second: Any) -> bool:
    return bool(first == second) or (missing(first) and missing(second))
