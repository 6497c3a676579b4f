"""Values of partition keys: written into labels as text, restored with their type."""

from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from lakebed.errors import BadBatch, DamagedDataset
from lakebed.kartothek.format.column_types import is_text

_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def require_key_type(type_: Any, *, column: str) -> None:
    """Refuse a partition key whose values have no text from which they can be restored."""
    is_plain = pa.types.is_primitive(type_) or pa.types.is_decimal(type_) or is_text(type_)
    is_binary = pa.types.is_binary(type_) or pa.types.is_large_binary(type_)
    is_span = pa.types.is_time(type_) or pa.types.is_duration(type_) or pa.types.is_interval(type_)
    if is_span or not (is_plain or is_binary or pa.types.is_null(type_)):
        raise BadBatch(
            f"the column {column!r} is of type {type_} and cannot be a partition key.",
            next="Leave it out of the partition keys.",
        )


def value_text(value: Any, *, column: str) -> str | bytes:
    """A value as plateau writes it into a path; `BadBatch` for NULL, which has no text."""
    if value is None or value != value:
        raise BadBatch(
            f"the partition key {column!r} has rows without a value.",
            safe="Nothing was committed.",
            next="Fill the column, or leave it out of the partition keys.",
        )
    if isinstance(value, bytes):
        return value
    return repr(value) if isinstance(value, float) else str(value)


def restored_value(text: bytes, type_: Any, *, column: str, path: str) -> Any:
    """The value that a path holds, as Python's type for the column."""
    try:
        return _parsed(text, type_)
    except (ValueError, InvalidOperation, KeyError) as error:
        what = f"the value {text!r} of the partition key {column!r} is not of type {type_}."
        raise DamagedDataset(path, what) from error


def _parsed(data: bytes, type_: Any) -> Any:
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return data
    text = data.decode()
    if is_text(type_) or pa.types.is_null(type_):
        return text
    if pa.types.is_integer(type_):
        return int(text)
    if pa.types.is_floating(type_):
        return float(text)
    if pa.types.is_boolean(type_):
        return _TRUTH[text.lower()]
    if pa.types.is_date(type_):
        return date.fromisoformat(text[:10])
    if pa.types.is_timestamp(type_):
        return datetime.fromisoformat(text)
    return Decimal(text)
