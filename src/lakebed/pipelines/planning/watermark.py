"""The newest value in a table, as text and as a Spark SQL literal."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from lakebed.errors import BadPipeline
from lakebed.tables import string_literal as quoted
from lakebed.templates import literal

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(second|minute|hour|day|week)s?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Watermark:
    """`text` goes between quotes, `literal` is typed."""

    value: Any
    text: str
    literal: str


# Used instead of the newest value where only the text of a query matters.
STAND_IN = Watermark(None, "2026-01-01 00:00:00+00:00", "TIMESTAMP '2026-01-01 00:00:00+00:00'")


def watermark_of(
    value: Any, *, lookback: str | float | None, timezone: str, where: str = ""
) -> Watermark | None:
    """The watermark for the newest value of a table, less `lookback`; None if the table has no
    value.
    """
    if value is None:
        return None
    moved = subtract_lookback(value, lookback, where=where)
    if isinstance(moved, datetime):
        if moved.tzinfo is None:
            return Watermark(moved, moved.isoformat(" "), f"TIMESTAMP_NTZ '{moved.isoformat(' ')}'")
        local = moved.astimezone(ZoneInfo(timezone)).isoformat(
            " "
        )  # the offset tells the two hours of a clock change apart
        return Watermark(moved, local, f"TIMESTAMP '{local}'")
    if isinstance(moved, date):
        return Watermark(moved, moved.isoformat(), f"DATE '{moved.isoformat()}'")
    if isinstance(moved, str):
        return Watermark(moved, moved, quoted(moved))
    if isinstance(moved, Decimal):
        return Watermark(moved, f"{moved:f}", f"{moved:f}BD")
    return Watermark(moved, str(moved), literal(moved))


def subtract_lookback(value: Any, lookback: str | float | None, *, where: str) -> Any:
    """The value less a time such as `3 days`, or less a number."""
    if lookback is None:
        return value
    span = _SPAN.fullmatch(str(lookback))
    if isinstance(value, date) and span:  # a datetime is a date too
        return value - timedelta(**{f"{span[2].casefold()}s": float(span[1])})
    if isinstance(value, int | float | Decimal) and _NUMBER.fullmatch(str(lookback)):
        less = Decimal(str(lookback))
        return value - less if isinstance(value, Decimal) else value - type(value)(less)
    raise BadPipeline(
        f"a lookback of {lookback!r} does not fit a watermark such as {value!r}.",
        where=where,
        next="Write `3 days` or `2 hours` for times, and a number for numbers.",
    )
