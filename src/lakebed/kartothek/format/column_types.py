"""Types as `_common_metadata` states them: one for all integers, one for all floats, one for text.

Data files keep the types of the rows that were written; their schema says what those rows mean.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


class StringProfile(StrEnum):
    """The type of text in a schema: plateau 4.6 expects `large_string`, older ones `string`."""

    LARGE_STRING = "large_string"
    STRING = "string"


def normal_type(type_: Any, *, strings: StringProfile = StringProfile.LARGE_STRING) -> Any:
    """The type that stands for this one in a schema or an index."""
    if pa.types.is_signed_integer(type_):
        return pa.int64()
    if pa.types.is_unsigned_integer(type_):
        return pa.uint64()
    if pa.types.is_floating(type_):
        return pa.float64()
    if is_text(type_):
        return pa.large_string() if strings is StringProfile.LARGE_STRING else pa.string()
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", tz=type_.tz)
    if pa.types.is_dictionary(type_):
        return normal_type(type_.value_type, strings=strings)
    if is_list(type_):
        return pa.list_(normal_type(type_.value_type, strings=strings))
    return type_


def is_text(type_: Any) -> bool:
    return type_ in {pa.string(), pa.large_string(), pa.string_view()}


def is_list(type_: Any) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))


def same_type(first: Any, second: Any) -> bool:
    """Whether two normal types agree: both types of text do, and a column without values always."""
    if pa.types.is_null(first) or pa.types.is_null(second):
        return True
    if is_text(first) and is_text(second):
        return True
    if is_list(first) and is_list(second):
        return same_type(first.value_type, second.value_type)
    return bool(first == second)


def strings_of(schemas: Iterable[Any]) -> StringProfile:
    """The profile that schemas follow: plain strings if one of their columns has that type."""
    plain = any(pa.types.is_string(field.type) for schema in schemas for field in schema)
    return StringProfile.STRING if plain else StringProfile.LARGE_STRING


_NANOSECONDS = 2**63 // 1000  # microseconds from 1970 to the limits, in 1677 and 2262


def beyond_nanoseconds(values: Any) -> bool:
    """Whether one of the times or dates cannot be counted in 64-bit nanoseconds, as pandas 2 and
    plateau do.
    """
    if not (pa.types.is_timestamp(values.type) or pa.types.is_date(values.type)):
        return False
    counted = values.cast(pa.timestamp("us")).cast(pa.int64())
    bounds = pc.min_max(counted).as_py()
    return any(abs(bound) >= _NANOSECONDS for bound in bounds.values() if bound is not None)
