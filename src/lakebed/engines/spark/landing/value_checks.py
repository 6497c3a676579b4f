"""What Spark's readers accept without a word: digits that are lost, bytes that mean nothing."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lakebed.names import spark_identifier
from lakebed.ports import Field

if TYPE_CHECKING:
    from pyspark.sql import Column

_SIGNS = (("quote", '"'), ("escape", "\\"))  # with Spark's defaults
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def with_more_digits(column: Field) -> Field:
    """A decimal with room for digits that the column would round away."""
    found = _DECIMAL.fullmatch(column.type)
    if not found:
        return column
    whole, scale = int(found[1]) - int(found[2]), int(found[2])
    return Field(column.name, f"decimal(38,{min(38 - whole, scale + 18)})")


def loses_digits(column: Field, wide: Field) -> "Column | None":
    """Whether a number has digits that its column does not keep; None if that cannot happen."""
    from pyspark.sql import functions as f

    if column == wide:
        return None
    name = spark_identifier(column.name)
    return f.expr(
        f"{name} IS NOT NULL AND NOT ({name} <=> CAST(try_cast({name} AS {column.type}) AS"
        f" {wide.type}))"
    )


def has_odd_sign(column: Field, options: Mapping[str, str]) -> "Column":
    """Whether a text has a replacement character, for bytes that are invalid in the encoding, a
    NUL, or a quote that may close one which another line has opened.

    Where quotes are doubled, a line that begins inside quotes leaves an odd number of them in the
    field in which they end.
    """
    from pyspark.sql import functions as f

    text = f.col(spark_identifier(column.name))
    quote, escape = (options.get(sign, usual) for sign, usual in _SIGNS)
    odd = f.contains(text, f.lit("\ufffd")) | f.contains(text, f.lit("\0"))
    if options.get("multiLine") == "true":
        return odd
    may_close = f.contains(text, f.lit(quote))
    if escape == quote:
        without = f.replace(text, f.lit(quote), f.lit(""))
        may_close &= (f.octet_length(text) - f.octet_length(without)) % 2 == 1
    return odd | may_close


def count_any(conditions: "Sequence[Column | None]") -> "Column":
    """The number of rows for which any of the conditions holds."""
    from pyspark.sql import functions as f

    return f.count_if(any_of(conditions))


def any_of(conditions: "Sequence[Column | None]") -> "Column":
    """Whether any of the conditions holds."""
    from pyspark.sql import functions as f

    told = [
        f.coalesce(condition, f.lit(False)) for condition in conditions if condition is not None
    ]
    return _joined(told) if told else f.lit(False)


def _joined(conditions: "Sequence[Column]") -> "Column":
    """Joined by halves: a chain of a thousand is nested too deeply for Spark."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return _joined(conditions[:middle]) | _joined(conditions[middle:])


def is_large_or_no_number(column: Field) -> "Column":
    """Whether a double is NaN or infinite, as which Spark reads JSON texts such as "NaN", or so
    large that it may stand for several integers.
    """
    from pyspark.sql import functions as f

    name = f.col(spark_identifier(column.name))
    return f.isnan(name) | (f.abs(name) >= 2.0**53)
