"""Literals as values of a column's type, where the engine certainly compares them as that type."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from lakebed.types import decimal_of, fitted, unscaled_value

Json = Mapping[str, Any]

_INTEGERS = {
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
}
_RANGES = {"int": 2**31, "long": 2**63}
EXACT = 2**53  # integers below this are exact as doubles
_DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?)?")
_ZONED = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?)(Z|[+-]\d\d(?::\d\d)?)")


@dataclass(frozen=True)
class Literal:
    """A constant as written, with the engine's type.

    A text that is cast has the type of the cast.
    """

    type: str
    value: object
    cast: bool = False


def literal_of(expression: Json) -> Literal | None:
    """The literal of an expression; None for NULL and anything else."""
    if expression["class"] == "CAST" and not expression.get("try_cast"):
        inner = literal_of(expression["child"])
        plain = inner is not None and inner.type == "VARCHAR" and not inner.cast
        return (
            Literal(expression["cast_type"]["id"], inner.value, cast=True)
            if inner and plain
            else None
        )
    if expression["class"] != "CONSTANT" or expression["value"]["is_null"]:
        return None
    kind, value = expression["value"]["type"], expression["value"]["value"]
    if kind["id"] == "DECIMAL":
        number = _integer(value)
        return (
            None
            if number is None
            else Literal("DECIMAL", decimal_of(number, kind["type_info"]["scale"]))
        )
    if kind["id"] in _INTEGERS:
        number = _integer(value)
        return None if number is None else Literal("INTEGER", number)
    return Literal(kind["id"], value)


def _integer(value: Any) -> int | None:
    if isinstance(value, Mapping):
        return int(value["upper"]) * 2**64 + int(value["lower"])
    return value if isinstance(value, int) else None


def value_for(literal: Literal, type_: str, *, timezone: str) -> object | None:
    """The literal as a value of an Iceberg type.

    None if the engine may compare it as another type.
    """
    match type_:
        case "int" | "long":
            return _whole_number(literal, _RANGES[type_])
        case "double":
            return _floating(literal)
        case "string":
            return literal.value if literal.type == "VARCHAR" and not literal.cast else None
        case "boolean":
            return (
                literal.value == "t"
                if literal.type == "BOOLEAN" and literal.value in ("t", "f")
                else None
            )
        case "date":
            return _day(literal)
        case "timestamp":
            return _moment(literal)
        case "timestamptz":
            return _instant(literal, timezone)
    return _decimal(literal, type_)


def parameter_for(value: object, type_: str) -> object | None:
    """A parameter's value, if it has the column's own type and so is compared as that.

    None otherwise.
    """
    match type_, value:
        case _, bool():
            return value if type_ == "boolean" else None
        case (("int" | "long"), int()):
            return value if -_RANGES[type_] <= value < _RANGES[type_] else None
        case "string", str():
            return value
        case "double", float():
            return value if math.isfinite(value) else None
        case (("timestamp" | "timestamptz"), datetime()):
            zoned = value.tzinfo is not None
            if zoned != (type_ == "timestamptz"):
                return None
            return _in_utc(value) if zoned else value
        case "date", date() if not isinstance(value, datetime):
            return value
    return None


def _whole_number(literal: Literal, limit: int) -> int | None:
    value = literal.value
    return (
        value
        if literal.type == "INTEGER" and isinstance(value, int) and -limit <= value < limit
        else None
    )


def _floating(literal: Literal) -> float | None:
    value = literal.value
    if literal.type == "INTEGER" and isinstance(value, int) and abs(value) < EXACT:
        return float(value)
    if literal.type == "DOUBLE" and isinstance(value, float) and abs(value) < float("inf"):
        return value
    if isinstance(value, Decimal) and _scale(value) <= 22:
        unscaled = unscaled_value(value, _scale(value))
        return float(value) if unscaled is not None and abs(unscaled) < EXACT else None
    return None


def _scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _decimal(literal: Literal, type_: str) -> Decimal | None:
    wanted = _DECIMAL.fullmatch(type_)
    if (
        wanted is None
        or literal.type not in ("INTEGER", "DECIMAL")
        or not isinstance(literal.value, int | Decimal)
    ):
        return None
    return fitted(Decimal(literal.value), int(wanted[1]), int(wanted[2]))


def _day(literal: Literal) -> date | None:
    fits = literal.type in ("VARCHAR", "DATE") and _DAY.fullmatch(str(literal.value))
    return _parsed(date, str(literal.value)) if fits else None


def _moment(literal: Literal) -> datetime | None:
    fits = literal.type in ("VARCHAR", "DATE", "TIMESTAMP") and _MOMENT.fullmatch(
        str(literal.value)
    )
    return _parsed(datetime, str(literal.value)) if fits and not _cut(literal) else None


def _instant(literal: Literal, timezone: str) -> datetime | None:
    """With an offset of its own, or without one if the session's time zone is UTC."""
    text = str(literal.value)
    if literal.type in ("VARCHAR", "TIMESTAMP WITH TIME ZONE") and (
        zoned := _ZONED.fullmatch(text)
    ):
        offset = zoned[2] if ":" in zoned[2] or zoned[2] == "Z" else f"{zoned[2]}:00"
        found = _parsed(datetime, f"{zoned[1]}{offset}")
        return _in_utc(found) if found else None
    fits = literal.type in (
        "VARCHAR",
        "DATE",
        "TIMESTAMP",
        "TIMESTAMP WITH TIME ZONE",
    ) and _MOMENT.fullmatch(text)
    if timezone != "UTC" or not fits or _cut(literal):
        return None
    found = _parsed(datetime, text)
    return found.replace(tzinfo=UTC) if found else None


def _in_utc(moment: datetime) -> datetime | None:
    """None for a moment beyond the calendar, such as the last hour of 9999 further west."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


def _cut(literal: Literal) -> bool:
    """Whether a cast to a date cuts off a time of day."""
    return literal.type == "DATE" and not _DAY.fullmatch(str(literal.value))


def _parsed(kind: Any, text: str) -> Any:
    try:
        return kind.fromisoformat(text)
    except ValueError:
        return None
