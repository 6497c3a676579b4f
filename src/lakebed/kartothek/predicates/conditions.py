"""Predicates: any of several conjunctions of conditions, each on one column.

    [[("country", "==", "DE"), ("qty", ">", 5)], [("item", "in", [1, 2])]]

A value is missing if it is NULL or NaN. `== None` finds missing values and `!= None` the others.
`!= v`, `is distinct from v` and `not in [v]` find missing values too, as in plateau 4; the ordered
operators never do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.errors import BadQuery, UnknownName
from lakebed.kartothek.predicates.literals import is_missing, literal

ORDERED = frozenset({"<", "<=", ">", ">="})
EQUAL = frozenset({"=="})
UNEQUAL = frozenset({"!=", "is distinct from"})
LISTED = frozenset({"in", "not in"})
OPERATORS = ORDERED | EQUAL | UNEQUAL | LISTED


@dataclass(frozen=True)
class ColumnCondition:
    """A condition on one column.

    `values` are comparable with it in Python; `missing` says that a missing value was named too.
    """

    column: str
    operator: str
    values: tuple[Any, ...]
    missing: bool = False

    @property
    def accepts_missing(self) -> bool:
        """Whether a row without a value in the column satisfies it."""
        if self.operator in UNEQUAL or self.operator == "not in":
            return not self.missing
        return self.missing


Conjunction = tuple[ColumnCondition, ...]
Predicates = tuple[Conjunction, ...]


def parse_predicates(predicates: Any, types: Mapping[str, Any]) -> Predicates | None:
    """The predicates with values of the columns' types; None stands for all rows.

    `BadQuery` says which condition is malformed or of another type, `UnknownName` which column
    does not exist.
    """
    if predicates is None:
        return None
    if not isinstance(predicates, Sequence) or isinstance(predicates, str) or not predicates:
        raise BadQuery(f"predicates are a list of lists of conditions, not {predicates!r:.60}.")
    return tuple(_conjunction(conjunction, types) for conjunction in predicates)


def predicate_columns(predicates: Any) -> frozenset[str]:
    """The columns that predicates name, before they are checked."""
    if not isinstance(predicates, Iterable):
        return frozenset()
    conjunctions = [part for part in predicates if isinstance(part, Sequence)]
    conditions = [condition for part in conjunctions for condition in part]
    return frozenset(
        condition[0]
        for condition in conditions
        if isinstance(condition, Sequence) and condition and isinstance(condition[0], str)
    )


def _conjunction(conditions: Any, types: Mapping[str, Any]) -> Conjunction:
    if not isinstance(conditions, Sequence) or isinstance(conditions, str) or not conditions:
        raise BadQuery(f"a conjunction is a list of conditions, not {conditions!r:.60}.")
    return tuple(_condition(condition, types) for condition in conditions)


def _condition(condition: Any, types: Mapping[str, Any]) -> ColumnCondition:
    if not isinstance(condition, Sequence) or isinstance(condition, str) or len(condition) != 3:
        raise BadQuery(f"a condition is (column, operator, value), not {condition!r:.60}.")
    column, operator, value = condition
    if operator not in OPERATORS:
        known = ", ".join(sorted(OPERATORS))
        raise BadQuery(f"{operator!r} is not an operator of predicates; these are: {known}.")
    if column not in types:
        raise UnknownName("column", str(column), types)
    listed = _listed(column, operator, value)
    missing = any(is_missing(one) for one in listed)
    if missing and operator in ORDERED:
        raise BadQuery(f"{column!r} cannot be compared with a missing value by {operator!r}.")
    present = (one for one in listed if not is_missing(one))
    values = tuple(literal(one, types[column], column=column) for one in present)
    return ColumnCondition(column, operator, values, missing)


def _listed(column: str, operator: str, value: Any) -> tuple[Any, ...]:
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if is_list is not (operator in LISTED):
        wanted = "a list" if operator in LISTED else "one value"
        raise BadQuery(
            f"{operator!r} takes {wanted}, and {column!r} is compared with {value!r:.60}."
        )
    return tuple(value) if is_list else (value,)
