"""The newest value in a table, less what is read again."""

import re
from datetime import date, timedelta
from decimal import Context, Decimal
from typing import Any

from lakebed.errors import BadPipeline
from lakebed.templates import SqlValue, sql_value

_ALL_DIGITS = Context(prec=100)  # Python's own rounds to 28 digits
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(second|minute|hour|day|week)s?\s*", re.IGNORECASE)


def watermark_of(
    value: Any, *, lookback: str | float | None, timezone: str, where: str = ""
) -> SqlValue | None:
    """The watermark for the newest value of a table, less `lookback`; None if the table has no
    value.
    """
    if value is None:
        return None
    return sql_value(subtract_lookback(value, lookback, where=where), timezone=timezone)


def subtract_lookback(value: Any, lookback: str | float | None, *, where: str) -> Any:
    """The value less a time such as `3 days`, or less a number."""
    if lookback is None:
        return value
    span = _SPAN.fullmatch(str(lookback))
    if isinstance(value, date) and span:  # a datetime is a date too
        return value - timedelta(**{f"{span[2].casefold()}s": float(span[1])})
    if isinstance(value, int | float | Decimal) and _NUMBER.fullmatch(str(lookback)):
        less = Decimal(str(lookback))
        if isinstance(value, Decimal):
            return _ALL_DIGITS.subtract(value, less)  # rounded up, it would pass over rows
        return value - type(value)(less)
    raise BadPipeline(
        f"a lookback of {lookback!r} does not fit a watermark such as {value!r}.",
        where=where,
        next="Write `3 days` or `2 hours` for times, and a number for numbers.",
    )
