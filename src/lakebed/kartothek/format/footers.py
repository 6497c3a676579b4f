"""Statistics in the footer of a Parquet file."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from lakebed.kartothek.predicates.statistics import GroupRange

_UNKNOWN = GroupRange(None, missing=True)


def group_range(group: Any, column: str, type_: Any) -> GroupRange:
    """The values of a column in a row group, comparable with literals of the column's type."""
    chunk = next((one for one in _chunks(group) if one.path_in_schema == column), None)
    if chunk is None or not chunk.is_stats_set:
        return _UNKNOWN
    statistics = chunk.statistics
    never_missing = statistics.has_null_count and statistics.null_count == 0
    missing = not never_missing or pa.types.is_floating(type_)  # NaN is in no statistics
    if not statistics.has_min_max:
        return GroupRange(None, missing)
    bounds = (_plain(statistics.min, type_), _plain(statistics.max, type_))
    known = all(bound is not None and bound == bound for bound in bounds)
    return GroupRange(bounds if known else None, missing)


def _chunks(group: Any) -> list[Any]:
    return [group.column(number) for number in range(group.num_columns)]


def _plain(value: Any, type_: Any) -> Any:
    """A bound as a value of predicates; None if it cannot be compared with them."""
    if pa.types.is_timestamp(type_):
        return _time(value, type_)
    if pa.types.is_integer(type_):
        return value if isinstance(value, int) else None
    if pa.types.is_floating(type_) or pa.types.is_boolean(type_) or pa.types.is_date(type_):
        return value
    try:
        return pa.scalar(value, type_).as_py()
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _time(value: Any, type_: Any) -> datetime | None:
    if not isinstance(value, datetime):
        return None
    if hasattr(value, "to_pydatetime"):
        return None  # nanoseconds, which the literals do not have
    if type_.tz is None:
        return value.replace(tzinfo=None)
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
