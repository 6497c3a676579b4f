"""Lines of JSON files that are what they seem: told by searching the text, which takes a third of
the time of parsing it once more. Whatever these checks do not vouch for is looked at closely.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add, and_, or_
from typing import TYPE_CHECKING

from lakebed.names import spark_identifier
from lakebed.ports import Field

if TYPE_CHECKING:
    from pyspark.sql import Column

RECORD = "record"
_IN_QUOTES = {"string", "date", "timestamp", "timestamp_ntz"}
_BARE = {"tinyint", "smallint", "int", "bigint", "float", "double", "boolean"}
# An escape, something in single quotes, and a blank between a key and its colon.
_UNCOMMON = ("\\", "'", " :", "\t")
_NULLS, _TEXTS = ("null", " null"), ('"', ' "')  # as they follow the colon of a key


def is_plain(columns: Sequence[Field]) -> "Column":
    """Whether a line (`value`) is surely one record of these columns (`RECORD` as it was parsed),
    with no other key, none twice, and texts in quotes.

    No text or key has a quote or backslash in it, so `":` follows every key, and is nowhere else
    but where a text begins with a colon. Each column that has a value, or an explicit null, has a
    key: if there are as many `":` as such columns, the line has no other keys.
    """
    from pyspark.sql import functions as f

    if any(column.type not in _IN_QUOTES | _BARE for column in columns) or not columns:
        return f.lit(False)
    value = f.col("value")
    checks = (
        f.startswith(value, f.lit("{")),
        *(~f.contains(value, f.lit(sign)) for sign in _UNCOMMON),
        *(_is_null(one) | _has(one, _TEXTS) for one in columns if one.type in _IN_QUOTES),
        ends_with_its_only_brace(),
        _length_without('":') + _two_for_each_key(columns) == f.octet_length("value"),
    )
    return f.coalesce(reduce(and_, checks), f.lit(False))


def ends_with_its_only_brace() -> "Column":
    """Whether the first brace that closes is the last character of a line."""
    from pyspark.sql import functions as f

    return f.expr("octet_length(substring_index(value, '}', 1)) + 1 = octet_length(value)")


def _two_for_each_key(columns: Sequence[Field]) -> "Column":
    """Twice the number of columns that have a value, or an explicit null."""
    from pyspark.sql import functions as f

    return reduce(
        add,
        (f.when(~_is_null(one) | _has(one, _NULLS), f.lit(2)).otherwise(0) for one in columns),
    )


def _is_null(column: Field) -> "Column":
    from pyspark.sql import functions as f

    return f.col(f"{RECORD}.{spark_identifier(column.name)}").isNull()


def _has(column: Field, beginnings: Sequence[str]) -> "Column":
    """Whether the column's key is in the line, with a value that begins in one of these ways."""
    from pyspark.sql import functions as f

    value = f.col("value")
    return reduce(or_, (f.contains(value, f.lit(f'"{column.name}":{text}')) for text in beginnings))


def _length_without(text: str) -> "Column":
    from pyspark.sql import functions as f

    return f.octet_length(f.replace(f.col("value"), f.lit(text), f.lit("")))
