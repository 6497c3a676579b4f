"""Values of predicates, as Python's type for their column."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from lakebed.errors import BadQuery
from lakebed.kartothek.format.column_types import is_text


def is_missing(value: Any) -> bool:
    """Whether a value stands for no value: None, NaN, and pandas' NaT and NA."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float) and value != value


def literal(value: Any, type_: Any, *, column: str) -> Any:
    """A value that compares with the column's; `BadQuery` if the type does not allow it.

    Nothing is converted, except whole numbers for a float column, and dates for a timestamp (they
    mean midnight). In a column of times with a zone, a time without one is UTC, as in plateau.
    """
    plain = _plain(value)
    found = _converted(plain, type_)
    if found is None:
        kind = type(value).__name__
        raise BadQuery(
            f"the column {column!r} is of type {type_} and cannot be compared with {value!r:.60}"
            f" ({kind})."
        )
    return found


def _plain(value: Any) -> Any:
    """Scalars of NumPy and pandas as Python's."""
    if type(value).__module__ == "numpy":
        is_time = type(value).__name__ == "datetime64"
        return value.astype("datetime64[us]").item() if is_time else value.item()
    if isinstance(value, datetime) and hasattr(value, "to_pydatetime"):
        return value.to_pydatetime(warn=False)
    return value


def _converted(value: Any, type_: Any) -> Any:
    if pa.types.is_boolean(type_):
        return value if isinstance(value, bool) else None
    if pa.types.is_null(type_):
        return value
    if isinstance(value, bool):
        return None
    if pa.types.is_integer(type_):
        return value if isinstance(value, int) else None
    if pa.types.is_floating(type_):
        return _float(value) if isinstance(value, int | float) else None
    if pa.types.is_decimal(type_):
        return _decimal(value, type_) if isinstance(value, int | Decimal) else None
    if is_text(type_):
        return value if isinstance(value, str) else None
    if pa.types.is_timestamp(type_):
        return _time(value, type_)
    if pa.types.is_date(type_):
        return value if isinstance(value, date) and not isinstance(value, datetime) else None
    is_binary = pa.types.is_binary(type_) or pa.types.is_large_binary(type_)
    return value if is_binary and isinstance(value, bytes) else None


def _decimal(value: int | Decimal, type_: Any) -> Decimal | None:
    """The value, if the column's type can hold it exactly."""
    try:
        found: Decimal = pa.scalar(Decimal(value), type_).as_py()
    except pa.ArrowException:
        return None
    return found


def _float(value: float) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _time(value: Any, type_: Any) -> datetime | None:
    if not isinstance(value, date):
        return None
    at = value if isinstance(value, datetime) else datetime.combine(value, time.min)
    if type_.tz is None:
        return at if at.tzinfo is None else None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
