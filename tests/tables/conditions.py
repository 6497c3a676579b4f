"""Random conditions as SQL, and their meaning in plain Python: true, false or unknown (None)."""

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

Row = Mapping[str, Any]
Truth = bool | None
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class RandomCondition:
    """A condition's text and meaning."""

    text: str
    holds: Callable[[Row], Truth]


def random_condition(
    draw: random.Random, values: Mapping[str, Sequence[Any]], *, depth: int = 3
) -> RandomCondition:
    """A condition over columns, by their values; half of them are put together from others."""
    if depth and draw.random() < 0.6:
        one = random_condition(draw, values, depth=depth - 1)
        if draw.random() < 0.3:
            return RandomCondition(f"NOT ({one.text})", lambda row: _not(one.holds(row)))
        other = random_condition(draw, values, depth=depth - 1)
        if draw.random() < 0.5:
            return RandomCondition(
                f"({one.text}) AND ({other.text})",
                lambda row: _and(one.holds(row), other.holds(row)),
            )
        return RandomCondition(
            f"({one.text}) OR ({other.text})",
            lambda row: _not(_and(_not(one.holds(row)), _not(other.holds(row)))),
        )
    column = draw.choice(list(values))
    return _simple(draw, column, values[column])


def _simple(draw: random.Random, column: str, values: Sequence[Any]) -> RandomCondition:
    named = f"`{column}`"
    match draw.choice(["null", "in", "same", *_COMPARISONS]):
        case "null":
            return RandomCondition(f"{named} IS NULL", lambda row: row[column] is None)
        case "same":
            value = draw.choice([*values, None])
            return RandomCondition(
                f"{named} <=> {literal(value)}", lambda row: bool(row[column] == value)
            )
        case "in":
            some = draw.sample([*values, None], 2)
            listed = ", ".join(map(literal, some))
            return RandomCondition(f"{named} IN ({listed})", lambda row: _in(row[column], some))
        case sign:
            value = draw.choice(values)
            return RandomCondition(
                f"{named} {sign} {literal(value)}",
                lambda row: None if row[column] is None else _COMPARISONS[sign](row[column], value),
            )


def literal(value: Any) -> str:
    """A value as Spark SQL writes it."""
    match value:
        case None:
            return "NULL"
        case date():
            return f"DATE '{value}'"
        case _:
            return repr(value)


def _not(one: Truth) -> Truth:
    return None if one is None else not one


def _and(one: Truth, other: Truth) -> Truth:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _in(value: Any, some: Sequence[Any]) -> Truth:
    if value is None:
        return None
    return True if value in some else (None if None in some else False)
