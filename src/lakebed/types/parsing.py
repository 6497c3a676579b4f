"""Reading a type from text: `decimal(12,2)`, `array<struct<id:bigint>>`, `list<struct<id:
long>>`.
"""

import re

from lakebed.errors import near
from lakebed.types.column_type import NESTED, Array, ColumnType, Map, Primitive, Struct, primitives

_ALIASES = {
    "integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint", "real": "float",
    "dec": "decimal", "numeric": "decimal", "bool": "boolean", "text": "string",
    "timestamp_ltz": "timestamp", "object": "struct", "list": "array",
}  # fmt: skip
_KNOWN = frozenset(
    (
        "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "string",
        "binary", "date", "timestamp", "timestamp_ntz", *NESTED,
    )
)  # fmt: skip
_WORD = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_ARGUMENTS = re.compile(r"([(\[])\s*(\d+(?:\s*,\s*\d+)*)\s*[)\]]\s*")
_FIELD_NAME = re.compile(r"\s*(?:`((?:[^`]|``)*)`\s*|([^`:<>,()]+)):")
_DEFAULT_DECIMAL = (10, 0)


def parse_type(text: str, *, strict: bool = True) -> ColumnType:
    """The type that a text names, in Spark's spelling or as a person would write it.

    `ValueError` for a text that names no type; unless `strict`, what cannot be read becomes a
    primitive type of that name, inside nested types too.
    """
    return _Parser(text, strict=strict).whole()


def known_type(text: str) -> ColumnType:
    """Like `parse_type`, for what a person wrote: unknown names are refused with a suggestion."""
    found = parse_type(text)
    for name in (part.name for part in primitives(found)):
        if name not in _KNOWN:
            close = ("string",) if name in {"varchar", "char"} else near(name, (*_KNOWN, *_ALIASES))
            advice = f" (did you mean {' or '.join(close)}?)" if close else ""
            raise ValueError(f"there is no type {name!r}{advice}")
    return found


class _Parser:
    """Reads one type, from left to right."""

    def __init__(self, text: str, *, strict: bool) -> None:
        self._text, self._strict, self._at = text, strict, 0

    def whole(self) -> ColumnType:
        found = self._type()
        if self._at < len(self._text):
            raise self._error()
        return found

    def _type(self) -> ColumnType:
        start = self._at
        try:
            found = self._known_type()
            self._require_end()
        except ValueError:
            if self._strict:
                raise
            self._at = start
            return Primitive(self._skip())
        return found

    def _known_type(self) -> ColumnType:
        word = _WORD.match(self._text, self._at)
        if not word:
            raise self._error()
        self._at = word.end()
        name = _ALIASES.get(word[1].casefold(), word[1].casefold())
        return self._nested(name) if name in NESTED else Primitive(name, self._arguments(name))

    def _arguments(self, name: str) -> tuple[int, ...]:
        found = _ARGUMENTS.match(self._text, self._at)
        if found is None:
            return _DEFAULT_DECIMAL if name == "decimal" else ()
        self._at = found.end()
        numbers = tuple(int(number) for number in found[2].split(","))
        return (*numbers, 0)[:2] if name == "decimal" else numbers

    def _nested(self, name: str) -> ColumnType:
        self._take("<")
        if name == "struct":
            return Struct(self._fields())
        parts = [self._type()]
        while self._next() == ",":
            self._take(",")
            parts.append(self._type())
        self._take(">")
        if len(parts) != (2 if name == "map" else 1):
            raise self._error()
        return Map(*parts) if name == "map" else Array(*parts)

    def _fields(self) -> tuple[tuple[str, ColumnType], ...]:
        if self._next() == ">":
            self._take(">")
            return ()
        fields = [self._field()]
        while self._next() == ",":
            self._take(",")
            fields.append(self._field())
        self._take(">")
        return tuple(fields)

    def _field(self) -> tuple[str, ColumnType]:
        found = _FIELD_NAME.match(self._text, self._at)
        if not found:
            raise self._error()
        self._at = found.end()
        name = found[2].strip() if found[2] is not None else found[1].replace("``", "`")
        return name, self._type()

    def _next(self) -> str:
        return self._text[self._at :].lstrip()[:1]

    def _take(self, sign: str) -> None:
        if self._next() != sign:
            raise self._error()
        self._at = self._text.index(sign, self._at) + 1

    def _require_end(self) -> None:
        """A type ends with the text, or where the next one begins."""
        if self._next() not in {"", ",", ">"}:
            raise self._error()
        if not self._next():
            self._at = len(self._text)

    def _skip(self) -> str:
        """The text up to the end of this type, whatever it is."""
        depth, quoted, start = 0, False, self._at
        while self._at < len(self._text):
            letter = self._text[self._at]
            quoted ^= letter == "`"
            if not quoted:
                if not depth and letter in ",>":
                    break
                depth += (letter in "<(") - (letter in ">)")
            self._at += 1
        return self._text[start : self._at].strip()

    def _error(self) -> ValueError:
        return ValueError(f"{self._text!r} is not a type")
