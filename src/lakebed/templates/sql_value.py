"""A value in the words of Spark SQL."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from lakebed.templates.literal import literal


@dataclass(frozen=True)
class SqlValue:
    """A value as Python code sees it; its `text` goes between quotes, its `literal` is typed."""

    value: Any
    text: str
    literal: str


def sql_value(value: Any, *, timezone: str) -> SqlValue:
    """A value for templates and code. A moment is shown in the time zone, with its offset: that
    tells the two hours of a clock change apart.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return SqlValue(value, value.isoformat(" "), f"TIMESTAMP_NTZ '{value.isoformat(' ')}'")
        local = value.astimezone(ZoneInfo(timezone)).isoformat(" ")
        return SqlValue(value, local, f"TIMESTAMP '{local}'")
    if isinstance(value, date):
        return SqlValue(value, value.isoformat(), f"DATE '{value.isoformat()}'")
    if isinstance(value, Decimal):
        return SqlValue(value, f"{value:f}", f"{value:f}BD")
    return SqlValue(value, str(value), literal(value))


# Used instead of a value where only the text of a query matters.
STAND_IN = SqlValue(None, "2026-01-01 00:00:00+00:00", "TIMESTAMP '2026-01-01 00:00:00+00:00'")
