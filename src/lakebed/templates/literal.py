"""Values as Spark SQL writes them."""

import math
from collections.abc import Sequence

# A line break is escaped too: a value inside a `--` comment must not end the comment.
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"})


class EscapedText(str):
    """Text ready to stand between the quotes of a Spark SQL string; `literal` starts from what it was before."""

    _raw: str  # the sandbox hides names with an underscore from templates

    @classmethod
    def of(cls, raw: str) -> "EscapedText":
        text = cls(escaped(raw))
        text._raw = raw
        return text


def escaped(text: str) -> str:
    """The text as it must stand between the quotes, single or double, of a Spark SQL string."""
    return text.translate(_ESCAPES)


def literal(value: object) -> str:
    """One value, or a list of values for `IN (…)`, as Spark SQL writes it; nothing in it can end the literal."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case EscapedText():
            return f"'{escaped(value._raw)}'"
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
