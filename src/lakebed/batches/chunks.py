"""The range of a backfill, cut into chunks: by the calendar of the lake's time zone, or by a count.
Pure.

Moments are held in UTC: Python compares two times of one other zone by their clock faces.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from lakebed.types import ColumnType, Primitive

Kind = Literal["integer", "date", "timestamp", "timestamp_ntz"]
Unit = Literal["hour", "day", "week", "month", "year"]
Bound = int | date | datetime
UNITS: tuple[Unit, ...] = get_args(Unit)

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
}
# Kinds of columns that bounds can be compared with: a date is also the midnight that begins it.
_FITTING: dict[Kind, tuple[Kind, ...]] = {
    "integer": ("integer",),
    "date": ("date", "timestamp", "timestamp_ntz"),
    "timestamp": ("timestamp", "timestamp_ntz"),
    "timestamp_ntz": ("timestamp_ntz",),
}
_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?")
_WIDEST = 1 << 63
_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class ChunkRange:
    """All values from `start` on and before `end`."""

    start: Bound
    end: Bound


def kind_of(type_: ColumnType) -> Kind | None:
    """What the values of a column are; None if no range of them can be cut."""
    return _KINDS.get(type_.name) if isinstance(type_, Primitive) else None


def fits(kind: Kind, type_: ColumnType) -> bool:
    """Whether bounds of a kind can be compared with a column of this type."""
    return kind_of(type_) in _FITTING[kind]


def guess_kind(*texts: str) -> Kind:
    """What bounds are by their spelling alone, for a column whose type is not known yet."""
    if all(_NUMBER.fullmatch(text) for text in texts):
        return "integer"
    return "date" if all(_DATE.fullmatch(text) for text in texts) else "timestamp"


def read_bound(text: str, kind: Kind, *, zone: ZoneInfo) -> Bound:
    """The value that a text spells; `ValueError` if it spells none of this kind.

    A time without an offset is one of the zone.
    """
    if kind == "integer":
        if not _NUMBER.fullmatch(text) or not -_WIDEST <= int(text) < _WIDEST:
            raise ValueError(f"{text!r} is not an integer")
        return int(text)
    try:
        found = datetime.fromisoformat(f"{text}-01" if _MONTH.fullmatch(text) else text)
    except ValueError:
        raise ValueError(f"{text!r} is neither a date nor a time") from None
    return _of_kind(found, kind, text, zone)


def _of_kind(found: datetime, kind: Kind, text: str, zone: ZoneInfo) -> Bound:
    if kind == "date":
        if found.time() != time() or found.tzinfo:
            raise ValueError(f"{text!r} has a time of day, and the column holds dates")
        return found.date()
    if kind == "timestamp_ntz":
        if found.tzinfo:
            raise ValueError(f"{text!r} has an offset, and the column's times have no zone")
        return found
    try:
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is too far away") from None


def read_size(text: str, kind: Kind) -> Unit | int:
    """How large chunks are; `ValueError` if that does not fit the column."""
    if kind == "integer":
        if not _NUMBER.fullmatch(text) or int(text) < 1:
            raise ValueError(f"a chunk of integers is a count, such as 1000, not {text!r}")
        return int(text)
    name = text.casefold().removesuffix("s")
    fitting = [unit for unit in UNITS if kind != "date" or unit != "hour"]
    for unit in fitting:
        if unit == name:
            return unit
    raise ValueError(f"a chunk is one of {', '.join(fitting)}, not {text!r}")


def cut(whole: ChunkRange, by: Unit | int, *, zone: ZoneInfo) -> Iterator[ChunkRange]:
    """The chunks of a range, in order: they begin where a day, month … begins, so that the first
    and the last may be shorter; those of a count begin at the start.
    """
    at = whole.start
    while _before(at, whole.end):
        following = _following(at, by, zone)
        to = following if following is not None and _before(following, whole.end) else whole.end
        yield ChunkRange(at, to)
        at = to


def is_empty(whole: ChunkRange) -> bool:
    """Whether a range has no value."""
    return not _before(whole.start, whole.end)


def _before(one: Bound, other: Bound) -> bool:
    return one < other  # type: ignore[operator] # bounds of one range are of one kind


def _following(at: Bound, by: Unit | int, zone: ZoneInfo) -> Bound | None:
    """The next beginning of a chunk after a value; None beyond what the calendar has."""
    if isinstance(at, int):
        return at + int(by)
    try:
        if not isinstance(at, datetime):
            return _next_day(at, by)
        if at.tzinfo:
            return _next_moment(at, by, zone)
        if by == "hour":
            return _hour(at) + _HOUR
        return datetime.combine(_next_day(at.date(), by), time())
    except (OverflowError, ValueError):
        return None


def _next_day(day: date, by: Unit | int) -> date:
    """The first day of the next day, week, month or year."""
    if by == "day":
        return day + timedelta(days=1)
    if by == "week":
        return day + timedelta(days=7 - day.weekday())
    if by == "month":
        return date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return date(day.year + 1, 1, 1)


def _next_moment(at: datetime, by: Unit | int, zone: ZoneInfo) -> datetime:
    """The next beginning in a time zone, whose clocks may be set forward and back."""
    local = at.astimezone(zone)
    if by == "hour":
        offset = local.utcoffset() or timedelta()
        wall = at.replace(tzinfo=None) + offset
        return (_hour(wall) + _HOUR - offset).replace(tzinfo=UTC)
    day = local.date()
    while True:
        day = _next_day(day, by)
        for fold in (0, 1):  # a midnight that comes twice may be behind us the first time
            midnight = datetime.combine(day, time(fold=fold), zone).astimezone(UTC)
            if midnight > at:
                return midnight


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def spelt(bound: Bound, *, zone: ZoneInfo) -> str:
    """A bound as people write it: a midnight is its date, whatever the column's type."""
    if not isinstance(bound, datetime):
        return str(bound)
    local = bound.astimezone(zone) if bound.tzinfo else bound
    if local.time() == time() and not local.fold:
        return local.date().isoformat()
    return local.isoformat()


def chunk_label(column: str, part: ChunkRange, *, zone: ZoneInfo) -> str:
    """A chunk as records and states store it: `at=2024-01-01..2024-02-01`."""
    return f"{column}={spelt(part.start, zone=zone)}..{spelt(part.end, zone=zone)}"
