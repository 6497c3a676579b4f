"""Which row groups may hold a matching row, by their statistics."""

from dataclasses import dataclass
from typing import Any

from lakebed.kartothek.predicates.conditions import UNEQUAL, ColumnCondition


@dataclass(frozen=True)
class GroupRange:
    """The smallest and largest value of a column in a row group, as Python's type for it.

    Without `bounds` nothing is known of the values. `missing` says that NULL or NaN may occur.
    """

    bounds: tuple[Any, Any] | None
    missing: bool


def may_match(condition: ColumnCondition, found: GroupRange) -> bool:
    """Whether a row of the row group may satisfy the condition; never False for one that does."""
    if found.missing and condition.accepts_missing:
        return True
    if found.bounds is None:
        return True
    lowest, highest = found.bounds
    match condition.operator:
        case "<":
            return bool(lowest < condition.values[0])
        case "<=":
            return bool(lowest <= condition.values[0])
        case ">":
            return bool(highest > condition.values[0])
        case ">=":
            return bool(highest >= condition.values[0])
        case "==" | "in":
            return any(lowest <= value <= highest for value in condition.values)
    if condition.operator in UNEQUAL or condition.operator == "not in":
        return bool(lowest != highest) or lowest not in condition.values
    return True
