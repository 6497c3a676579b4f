"""Values of Iceberg's types on scales that can be compared: stored bounds on one side, what a predicate asks for on the other.

Numbers stand for themselves, decimals for their unscaled number, dates and times for microseconds, texts for their UTF-8.
Engines do not agree on every comparison between types; where they may not, the value becomes a range around itself.
"""

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from uuid import UUID

DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:\d\d)?)?)?")
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_DIGITS = 38  # more than these no engine compares exactly
_LONG_DIGITS = 19


class Target(NamedTuple):
    """Where a value lies on a scale. Not `exact`: somewhere between the two."""

    low: Any
    high: Any
    exact: bool = True


@dataclass(frozen=True)
class Measure:
    """The scale of one type."""

    kind: str
    decode: Callable[[bytes], Any]  # a bound, or a partition value, in Iceberg's binary form
    target: Callable[[object], Target | None]  # None: nothing can be said
    stored: Callable[[Any], Any]  # a partition value as Avro has it


def measure_of(type_: object) -> Measure | None:
    """The scale of a type; None for types whose bounds say nothing here."""
    if not isinstance(type_, str):
        return None
    if found := _DECIMAL.fullmatch(type_):
        precision, scale = int(found[1]), int(found[2])
        return Measure("decimal", _unscaled, lambda value: _decimal(value, precision, scale), _unscaled)
    if type_.startswith("fixed["):
        return _MEASURES["binary"]
    return _MEASURES.get(type_)


def _whole(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)  # 4 bytes where the column was an int then


def _unscaled(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def _floating(data: bytes) -> float:
    form = "<f" if len(data) == 4 else "<d"  # a float that has become a double
    return float(struct.unpack(form, data)[0])


def _truth(data: bytes) -> bool:
    return data != b"\x00"


def _date(data: bytes) -> int:
    return _whole(data) * DAY


def _moment(data: bytes) -> int:
    return _whole(data) * DAY if len(data) == 4 else _whole(data)  # a date that has become a timestamp


def _as_is(value: Any) -> Any:
    return value


def _is_number(value: object) -> bool:
    if isinstance(value, (float, Decimal)):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(value: object) -> Target | None:
    if not _is_number(value):
        return None
    if isinstance(value, Decimal):
        return _exactly(Fraction(value)) if _digits_after(value) + _LONG_DIGITS <= _DIGITS else None
    return _around(value, 1e-12) if isinstance(value, float) else _exactly(value)


def _decimal(value: object, precision: int, scale: int) -> Target | None:
    if isinstance(value, float) and math.isfinite(value):
        around = _around(value, 1e-12)
        return Target(Fraction(around.low) * 10**scale, Fraction(around.high) * 10**scale, False)
    if not _is_number(value) or not isinstance(value, (int, Decimal)):
        return None
    after = _digits_after(value) if isinstance(value, Decimal) else 0
    before = len(str(abs(int(value))))
    if max(precision - scale, before) + max(scale, after) > _DIGITS:
        return None
    return _exactly(Fraction(value) * 10**scale)


def _digits_after(value: Decimal) -> int:
    return max(0, -int(value.as_tuple().exponent))


def _single(value: object) -> Target | None:
    return _around(float(value), 1e-6) if _is_number(value) and abs(value) < 3e38 else None  # type: ignore[arg-type]


def _double(value: object) -> Target | None:
    return _around(float(value), 1e-12) if _is_number(value) and abs(value) < 1e308 else None  # type: ignore[arg-type]


def _around(value: float, share: float) -> Target:
    slack = abs(value) * share + 1e-40
    return Target(value - slack, value + slack, False)


def _exactly(value: Any) -> Target:
    return Target(value, value)


def _boolean(value: object) -> Target | None:
    return _exactly(value) if isinstance(value, bool) else None


def _string(value: object) -> Target | None:
    return _exactly(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else None


def _binary(value: object) -> Target | None:
    return _exactly(bytes(value)) if isinstance(value, (bytes, bytearray)) else None


def _uuid(value: object) -> Target | None:
    try:
        return _exactly((value if isinstance(value, UUID) else UUID(str(value))).bytes)
    except ValueError:
        return None


def _time(value: object) -> Target | None:
    if not isinstance(value, time) or value.tzinfo:
        return None
    return _exactly(((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond)


def _on_calendar(*, zoned: bool) -> Callable[[object], Target | None]:
    """A moment against dates and timestamps. Without a zone on one side only, it may mean any moment within a day."""

    def target(value: object) -> Target | None:
        moment = _parsed(value) if isinstance(value, str) else value
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - it has none
        if not isinstance(moment, datetime):
            return None
        at = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
        return _exactly(at) if (moment.tzinfo is not None) == zoned else Target(at - DAY, at + DAY, False)

    return target


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None


_MEASURES = {
    "boolean": Measure("boolean", _truth, _boolean, _as_is),
    "int": Measure("int", _whole, _integer, _as_is),
    "long": Measure("long", _whole, _integer, _as_is),
    "float": Measure("float", _floating, _single, _as_is),
    "double": Measure("double", _floating, _double, _as_is),
    "date": Measure("date", _date, _on_calendar(zoned=False), lambda days: days * DAY),
    "time": Measure("time", _whole, _time, _as_is),
    "timestamp": Measure("timestamp", _moment, _on_calendar(zoned=False), _as_is),
    "timestamptz": Measure("timestamptz", _moment, _on_calendar(zoned=True), _as_is),
    "string": Measure("string", _as_is, _string, lambda text: text.encode("utf-8", "surrogatepass")),
    "binary": Measure("binary", _as_is, _binary, bytes),
    "uuid": Measure("uuid", _as_is, _uuid, bytes),
}
