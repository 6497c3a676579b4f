"""Partitions in paths, as Hive writes them: `year=2020/month=7/x.parquet`. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import unquote

from lakebed.batches.pattern import NULL_PART, Captured, SourcePattern
from lakebed.types import STRING, ColumnType, Primitive

_PART = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_INT, _BIGINT, _DAY = Primitive("int"), Primitive("bigint"), Primitive("date")
_NARROWEST_FIRST = (_INT, _BIGINT, _DAY, STRING)
_EPOCH = date(1970, 1, 1)
Values = tuple[str | None, ...]


def partition_of(path: str) -> tuple[tuple[str, ...], Values]:
    """The names and values in the folders of a path below the adopted folder; `ValueError` for a
    value that is not UTF-8.
    """
    found = [match for part in path.split("/")[:-1] if (match := _PART.fullmatch(part))]
    names = tuple(match[1] for match in found)
    return names, tuple(_value(match[2]) for match in found)


def _value(text: str) -> str | None:
    return None if text == NULL_PART else unquote(text, errors="strict")


@dataclass
class KeyTypes:
    """The narrowest type that holds all values of each key: an integer, a date, or text.

    Text such as `07` is no integer: it could not be written back.
    """

    kinds: list[ColumnType | None]

    @classmethod
    def of(cls, count: int) -> "KeyTypes":
        """Nothing is known yet."""
        return cls([None] * count)

    def take(self, values: Values) -> None:
        """Widen the types so that they hold these values, too."""
        for at, value in enumerate(values):
            if value is not None:
                self.kinds[at] = _widened(self.kinds[at], _narrowest(value))

    @property
    def types(self) -> tuple[ColumnType, ...]:
        return tuple(kind or STRING for kind in self.kinds)


def _narrowest(value: str) -> ColumnType:
    return next(kind for kind in _NARROWEST_FIRST if _holds(kind, value))


def _holds(kind: ColumnType, value: str) -> bool:
    try:
        return kind == STRING or str_of(typed(value, kind), kind) == value
    except ValueError:
        return False


def _widened(one: ColumnType | None, other: ColumnType) -> ColumnType:
    if one is None or one == other:
        return other
    return _BIGINT if {one, other} == {_INT, _BIGINT} else STRING


def typed(value: str | None, kind: ColumnType) -> object:
    """A value as Iceberg stores it; `ValueError` if the text is not one of this type."""
    if value is None or kind == STRING:
        return value
    if kind == _DAY:
        if not _DATE.fullmatch(value):
            raise ValueError(f"{value!r} is not a date")
        return (date.fromisoformat(value) - _EPOCH).days
    limit = {"int": 2**31, "bigint": 2**63}.get(kind.name)
    if limit is None or not _INTEGER.fullmatch(value) or not -limit <= int(value) < limit:
        raise ValueError(f"{value!r} is not of type {kind}")
    return int(value)


def str_of(value: object, kind: ColumnType) -> str:
    """The text that a value was read from."""
    if kind == _DAY and isinstance(value, int):
        return date.fromordinal(_EPOCH.toordinal() + value).isoformat()
    return str(value)


def hive_pattern(folder: str, names: Sequence[str], *, text: str) -> SourcePattern:
    """A pattern by which Spark gets the values out of paths."""
    between = "(?:[^/]+/)*?"
    keys = "".join(f"{between}{re.escape(name)}=([^/]*)/" for name in names)
    start = f"{re.escape(folder)}/" if folder else ""
    captured = tuple(Captured(name, at, True) for at, name in enumerate(names, start=1))
    return SourcePattern(text, "", folder, captured, f"{start}{keys}(?:[^/]+/)*[^/]+")


def repeated(names: Iterable[str]) -> str:
    """A name that occurs twice, to Spark; empty if there is none."""
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            return name
        seen.add(name.casefold())
    return ""
