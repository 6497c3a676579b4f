"""Literals, comparisons and choices of a view, where Spark and DuckDB agree on their types."""

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from lakebed.query.views.duck_expression import (
    FLOATS,
    WHOLE,
    DuckExpression,
    NotEquivalent,
    cast,
    is_groupable,
    is_same_type,
)

if TYPE_CHECKING:
    from sqlglot import exp

NULL_TYPE = "null"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def compare(left: DuckExpression, right: DuckExpression, sign: str) -> DuckExpression:
    """Two values compared; `NotEquivalent` for types that the engines compare differently."""
    sides = [_as_double(one, other) for one, other in ((left, right), (right, left))]
    types = {side.type for side in sides}
    same = len(types) == 1 and (
        is_groupable(left.type) or (types <= set(FLOATS) and "DISTINCT" not in sign)
    )
    if not (same or types == set(WHOLE)) or (types == {"boolean"} and sign not in ("=", "<>")):
        raise NotEquivalent(f"{left.type} compared with {right.type}")
    return DuckExpression(
        f"({sides[0].text} {sign} {sides[1].text})", "boolean", left.aggregates or right.aggregates
    )


def _as_double(value: DuckExpression, other: DuckExpression) -> DuckExpression:
    """A literal number that is compared with a double is a double too."""
    if other.type != "double" or not value.literal:
        return value
    return DuckExpression(f"CAST('{value.literal}' AS DOUBLE)", "double")


def choose(
    when: Sequence[DuckExpression], then: Sequence[DuckExpression], default: DuckExpression
) -> DuckExpression:
    """A CASE over conditions and results of one type."""
    results = [*then, default]
    branches = " ".join(
        f"WHEN {one.text} THEN {cast(two)}" for one, two in zip(when, then, strict=True)
    )
    return DuckExpression(
        f"(CASE {branches} ELSE {cast(default)} END)",
        one_type(results),
        any(one.aggregates for one in (*when, *results)),
    )


def one_type(values: Sequence[DuckExpression]) -> str:
    """The one type of several values; NULLs have every type."""
    types = {value.type for value in values} - {NULL_TYPE}
    if len(types) != 1 or not all(map(is_same_type, types)):
        raise NotEquivalent(f"a choice between {' and '.join(sorted(types)) or 'NULLs'}")
    return types.pop()


def literal(node: "exp.Expr") -> DuckExpression:
    """A literal of text or a number."""
    if not node.is_string:
        return number(node.this)
    if re.search(r"['\\\0]", node.this):
        raise NotEquivalent("a text with quotes or backslashes")
    return DuckExpression(f"'{node.this}'", "string")


def number(text: str) -> DuckExpression:
    """A number as an int, a long or a decimal."""
    if re.fullmatch(r"-?\d+", text) and -(2**63) <= int(text) < 2**63:
        return DuckExpression(
            f"({text})", "int" if -(2**31) <= int(text) < 2**31 else "long", literal=text
        )
    if re.fullmatch(r"-?\d*\.?\d*", text):
        return DuckExpression(text, "a decimal number", literal=text)
    raise NotEquivalent(f"the number {text}")


def boolean(node: "exp.Expr") -> DuckExpression:
    """TRUE or FALSE."""
    return DuckExpression(str(bool(node.this)).lower(), "boolean")


def null(_: "exp.Expr") -> DuckExpression:
    """NULL, which has every type."""
    return DuckExpression("NULL", NULL_TYPE)


def is_day(text: str) -> bool:
    """Whether a text is a date as both engines read it."""
    try:
        return bool(_DAY.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False
