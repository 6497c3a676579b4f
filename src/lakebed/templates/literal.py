"""Values as Spark SQL literals."""

import math
from collections.abc import Sequence

# A line break is escaped too: a value inside a `--` comment must not end the comment.
_ESCAPED = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "\n": "\\n",
    "\r": "\\r",
    "\0": "\\0",
    "\x1a": "\\Z",
}
# noncharacters of Unicode: no text contains them
_STAND_INS = {sign: chr(0xFDD0 + place) for place, sign in enumerate(_ESCAPED)}
_ESCAPES = str.maketrans(_ESCAPED)
_COVER = str.maketrans(_STAND_INS)
_UNCOVER = str.maketrans({stand_in: sign for sign, stand_in in _STAND_INS.items()})
_WRITE = str.maketrans({stand_in: _ESCAPED[sign] for sign, stand_in in _STAND_INS.items()})


def mask_escapes(raw: str) -> str:
    """Text for a template, with a placeholder for each character that must be escaped.

    However the template slices and joins it, `write_escapes` finds whole placeholders; an escape
    could be cut in half.
    """
    return raw.translate(_COVER)


def reserved_character(raw: str) -> str | None:
    """A character of a text that is one of the placeholders, if there is any."""
    return next((sign for sign in raw if ord(sign) in _WRITE), None)


def write_escapes(text: str) -> str:
    """A template's output, with escapes in place of the placeholders."""
    return text.translate(_WRITE)


def escaped(text: str) -> str:
    """The text escaped for a Spark SQL string, between single or double quotes."""
    return text.translate(_UNCOVER).translate(_ESCAPES)


def literal(value: object) -> str:
    """A value, or a list of values for `IN (…)`, as a Spark SQL literal; nothing in it can end the
    literal.
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return f"'{escaped(value)}'"
        case int() | float():
            return _number(value)
        case list() | tuple():
            return _listed(value)
        case _:
            raise TypeError(f"a value of type {type(value).__name__} has no SQL literal.")


def _number(value: float) -> str:
    if isinstance(value, int):
        text = str(value)
    elif math.isfinite(value):
        text = f"{value!r}D"
    else:
        return f"CAST('{value}' AS DOUBLE)"
    # `a -{{ x|literal }}` must not become the comment `a --5`.
    return f"({text})" if text.startswith("-") else text


def _listed(values: Sequence[object]) -> str:
    if not values:
        raise ValueError("an empty list has no SQL literal: IN () is not SQL.")
    if any(isinstance(value, list | tuple) for value in values):
        raise TypeError("a list of lists has no SQL literal.")
    return ", ".join(literal(value) for value in values)
