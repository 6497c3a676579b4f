"""Whether integers that lie close together are unique: counted in bitmaps.

That takes a quarter of the time of sorting or hashing them.
"""

from collections.abc import Mapping
from typing import Any

from lakebed.errors import LakebedError
from lakebed.names import spark_identifier
from lakebed.ports import Compute
from lakebed.sql import UniquenessQuery, read_uniqueness
from lakebed.types import INTEGER_BITS

_BITS_A_ROW = 8  # of a bitmap, at most
_WIDEST = 2**26  # bits of a bitmap; every task may hold one


def count_if_unique(column: str, *, source: str, compute: Compute) -> int | None:
    """The number of rows of a source (what follows FROM) if each has another integer in this
    column; None if a value is repeated or absent, or if bitmaps would be too large to find out.
    """
    (found,) = compute.rows(range_query(column, source=source), limit=1)
    rows = int(found["rows"])
    if not is_dense(found):
        return None
    (counted,) = compute.rows(distinct_query(column, source=source), limit=1)
    return rows if (counted["different"] or 0) == rows else None


def finds_no_repeated_value(query: str, *, compute: Compute) -> bool:
    """Whether a gate looks for repeated integers and there are none; if not, the gate is asked."""
    asked = read_uniqueness(query)
    if asked is None:
        return False
    try:
        return _holds_integers(asked, compute) and _is_unique(asked, compute)
    except LakebedError:  # which the gate tells better
        return False


def _is_unique(asked: UniquenessQuery, compute: Compute) -> bool:
    return count_if_unique(asked.column, source=asked.source, compute=compute) is not None


def _holds_integers(asked: UniquenessQuery, compute: Compute) -> bool:
    rows = compute.query(f"SELECT {spark_identifier(asked.column)}\nFROM {asked.source}")
    (field,) = compute.fields(rows)
    return field.type in INTEGER_BITS


def range_query(column: str, *, source: str) -> str:
    """A query of one row: `rows`, how many of them are `filled`, the `lowest` and `highest` value.

    Iceberg answers it from metadata if the table's metrics have the bounds of the column.
    """
    name = spark_identifier(column)
    return (
        f"SELECT count(*) AS rows, count({name}) AS filled, min({name}) AS lowest, max({name}) AS"
        f" highest\nFROM {source}"
    )


def is_dense(found: Mapping[str, Any]) -> bool:
    """Whether bitmaps of the values are small; never if one is NULL."""
    rows, filled = found["rows"], found["filled"]
    if filled != rows:
        return False
    width = found["highest"] - found["lowest"] if rows else 0
    return bool(width <= min(_WIDEST, _BITS_A_ROW * rows))


def distinct_query(column: str, *, source: str) -> str:
    """A query of one row: how many `different` values there are, of which none is NULL."""
    name = spark_identifier(column)
    return (
        "SELECT sum(times) AS different FROM (SELECT"
        f" bitmap_count(bitmap_construct_agg(bitmap_bit_position({name}))) AS times\nFROM {source}"
        f"\nGROUP BY bitmap_bucket_number({name}))"
    )
