"""Reading a type from its text: `decimal(12,2)`, `array<struct<id:bigint>>`."""

import re
from collections.abc import Callable
from typing import TypeVar

from lakebed.errors import near
from lakebed.landing.types import NESTED, Type

T = TypeVar("T")

_TOKEN = re.compile(r"`(?:[^`]|``)*`|[\w$]+|[<>(),:]|\S")
_ALIASES = {
    "integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint", "real": "float", "dec": "decimal",
    "numeric": "decimal", "bool": "boolean", "text": "string", "timestamp_ltz": "timestamp", "object": "struct",
}  # fmt: skip
_KNOWN = frozenset(
    ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "string", "binary", "date", "timestamp")
) | {"timestamp_ntz", *NESTED}


def parse_type(text: str) -> Type:
    """The type a text names; `ValueError` for a text that names none."""
    reader = _Reader(text)
    found = reader.type()
    reader.expect("")
    return found


def known_type(text: str) -> Type:
    """Like `parse_type`, for what a person wrote: an unknown name is refused with the nearest known one."""
    found = parse_type(text)
    for name in found.names:
        if name not in _KNOWN:
            close = ("string",) if name in {"varchar", "char"} else near(name, (*_KNOWN, *_ALIASES))
            raise ValueError(f"there is no type {name!r}" + (f" (did you mean {' or '.join(close)}?)" if close else ""))
    return found


class _Reader:
    """Takes one type from the tokens of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_TOKEN.findall(text), ""]

    def type(self) -> Type:
        word = self._take().casefold()
        name = _ALIASES.get(word, word)
        if name in NESTED:
            return self._nested(name)
        if not re.fullmatch(r"[a-z_]\w*", name):
            raise self._wrong()
        numbers = self._list("(", ")", self._number) if self._tokens[0] == "(" else ()
        return Type(name, ((*numbers, 0) if numbers else (10, 0))[:2] if name == "decimal" else numbers)

    def expect(self, token: str) -> None:
        if self._take() != token:
            raise self._wrong()

    def _nested(self, name: str) -> Type:
        if name == "struct":
            return Type(name, (), self._list("<", ">", self._field))
        parts = self._list("<", ">", self.type)
        places = ("element",) if name == "array" else ("key", "value")
        if len(parts) != len(places):
            raise self._wrong()
        return Type(name, (), tuple(zip(places, parts, strict=True)))

    def _field(self) -> tuple[str, Type]:
        name = self._take()
        self.expect(":")
        return (name[1:-1].replace("``", "`") if name.startswith("`") else name), self.type()

    def _number(self) -> int:
        token = self._take()
        if not token.isdecimal():
            raise self._wrong()
        return int(token)

    def _list(self, opening: str, closing: str, one: Callable[[], T]) -> tuple[T, ...]:
        self.expect(opening)
        if self._tokens[0] == closing:
            self._take()
            return ()
        items = [one()]
        while self._tokens[0] == ",":
            self._take()
            items.append(one())
        self.expect(closing)
        return tuple(items)

    def _take(self) -> str:
        return self._tokens.pop(0) if self._tokens else ""

    def _wrong(self) -> ValueError:
        return ValueError(f"{self._text!r} is not a type")
