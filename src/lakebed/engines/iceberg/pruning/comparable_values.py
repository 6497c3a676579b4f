"""Comparable forms of Iceberg's values, for stored bounds on one side and a predicate's values on
the other.

Numbers are compared as they are, decimals by unscaled value, dates and times in microseconds,
strings as UTF-8. Where engines may disagree on a comparison between types, the value becomes a
range around itself.
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

from lakebed.types import Primitive, read_iceberg_type

DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:\d\d)?)?)?")
_DIGITS = 38  # no engine compares more digits exactly
_LONG_DIGITS = 19


class ValueRange(NamedTuple):
    """A value in comparable form. Unless `exact`, it is somewhere between the two."""

    low: Any
    high: Any
    exact: bool = True


@dataclass(frozen=True)
class ComparableType:
    """How values of one type are compared."""

    kind: str
    decode: Callable[[bytes], Any]  # a bound, or a partition value, in Iceberg's binary form
    range_of: Callable[[object], ValueRange | None]  # None: it cannot be compared
    from_partition: Callable[[Any], Any]  # a partition value as Avro has it


def comparable_type(type_: object) -> ComparableType | None:
    """How a type's values are compared; None for types whose bounds are not used."""
    if not isinstance(type_, str):
        return None
    match read_iceberg_type(type_):
        case Primitive("decimal", (precision, scale)):
            return ComparableType(
                "decimal", _unscaled, lambda value: _decimal(value, precision, scale), _unscaled
            )
        case Primitive("fixed"):
            return _COMPARABLE["binary"]
    return _COMPARABLE.get(type_)


def _whole(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)  # 4 bytes if the column was an int


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
    # a date that has become a timestamp
    return _whole(data) * DAY if len(data) == 4 else _whole(data)


def _as_is(value: Any) -> Any:
    return value


def _is_number(value: object) -> bool:
    if isinstance(value, (float, Decimal)):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(value: object) -> ValueRange | None:
    if not _is_number(value):
        return None
    if isinstance(value, Decimal):
        return _exactly(Fraction(value)) if _digits_after(value) + _LONG_DIGITS <= _DIGITS else None
    return _around(value, 1e-12) if isinstance(value, float) else _exactly(value)


def _decimal(value: object, precision: int, scale: int) -> ValueRange | None:
    if isinstance(value, float) and math.isfinite(value):
        around = _around(value, 1e-12)
        return ValueRange(
            Fraction(around.low) * 10**scale, Fraction(around.high) * 10**scale, False
        )
    if not _is_number(value) or not isinstance(value, (int, Decimal)):
        return None
    after = _digits_after(value) if isinstance(value, Decimal) else 0
    before = len(str(abs(int(value))))
    if max(precision - scale, before) + max(scale, after) > _DIGITS:
        return None
    return _exactly(Fraction(value) * 10**scale)


def _digits_after(value: Decimal) -> int:
    return max(0, -int(value.as_tuple().exponent))


def _single(value: object) -> ValueRange | None:
    return _around(float(value), 1e-6) if _is_number(value) and abs(value) < 3e38 else None  # type: ignore[arg-type]


def _double(value: object) -> ValueRange | None:
    return _around(float(value), 1e-12) if _is_number(value) and abs(value) < 1e308 else None  # type: ignore[arg-type]


def _around(value: float, share: float) -> ValueRange:
    slack = abs(value) * share + 1e-40
    return ValueRange(value - slack, value + slack, False)


def _exactly(value: Any) -> ValueRange:
    return ValueRange(value, value)


def _boolean(value: object) -> ValueRange | None:
    return _exactly(value) if isinstance(value, bool) else None


def _string(value: object) -> ValueRange | None:
    return _exactly(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else None


def _binary(value: object) -> ValueRange | None:
    return _exactly(bytes(value)) if isinstance(value, (bytes, bytearray)) else None


def _uuid(value: object) -> ValueRange | None:
    try:
        return _exactly((value if isinstance(value, UUID) else UUID(str(value))).bytes)
    except ValueError:
        return None


def _time(value: object) -> ValueRange | None:
    if not isinstance(value, time) or value.tzinfo:
        return None
    return _exactly(
        ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    )


def _on_calendar(*, zoned: bool) -> Callable[[object], ValueRange | None]:
    """A date or time to compare with dates and timestamps; if only one side has a zone, it may be
    up to a day off.
    """

    def target(value: object) -> ValueRange | None:
        moment = _parsed(value) if isinstance(value, str) else value
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - it has none
        if not isinstance(moment, datetime):
            return None
        at = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
        return (
            _exactly(at)
            if (moment.tzinfo is not None) == zoned
            else ValueRange(at - DAY, at + DAY, False)
        )

    return target


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None


_COMPARABLE = {
    "boolean": ComparableType("boolean", _truth, _boolean, _as_is),
    "int": ComparableType("int", _whole, _integer, _as_is),
    "long": ComparableType("long", _whole, _integer, _as_is),
    "float": ComparableType("float", _floating, _single, _as_is),
    "double": ComparableType("double", _floating, _double, _as_is),
    "date": ComparableType("date", _date, _on_calendar(zoned=False), lambda days: days * DAY),
    "time": ComparableType("time", _whole, _time, _as_is),
    "timestamp": ComparableType("timestamp", _moment, _on_calendar(zoned=False), _as_is),
    "timestamptz": ComparableType("timestamptz", _moment, _on_calendar(zoned=True), _as_is),
    "string": ComparableType(
        "string", _as_is, _string, lambda text: text.encode("utf-8", "surrogatepass")
    ),
    "binary": ComparableType("binary", _as_is, _binary, bytes),
    "uuid": ComparableType("uuid", _as_is, _uuid, bytes),
}
