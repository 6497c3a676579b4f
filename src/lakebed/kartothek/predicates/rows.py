"""Predicates evaluated on rows, exactly: what pruning left over is decided here."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.kartothek.predicates.conditions import (
    LISTED,
    UNEQUAL,
    ColumnCondition,
    Conjunction,
    Predicates,
)

_ORDER: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "==": pc.equal,
}
_WIDE = pa.decimal128(38, 0)  # holds every 64-bit integer, and those just beyond
_BEYOND = 10**38 - 1


def matching_rows(table: Any, predicates: Predicates | None) -> Any:
    """The rows of a table that satisfy the predicates."""
    return table if predicates is None else table.filter(predicate_mask(table, predicates))


def predicate_mask(table: Any, predicates: Predicates) -> Any:
    """Which rows of a table satisfy the predicates; never NULL."""
    return _folded(pc.or_, [_all_of(table, conjunction) for conjunction in predicates])


def condition_mask(values: Any, condition: ColumnCondition) -> Any:
    """Which of a column's values satisfy a condition; never NULL."""
    missing = pc.is_null(values, nan_is_null=pa.types.is_floating(values.type))
    negated = condition.operator in UNEQUAL or condition.operator == "not in"
    if condition.operator in LISTED or negated or condition.missing:
        found = _is_one_of(values, condition.values)
    else:
        found = _compared(values, condition.operator, condition.values[0])
    present = pc.invert(found) if negated else found
    accepted = pc.and_(present, pc.invert(missing))
    return pc.or_(accepted, missing) if condition.accepts_missing else accepted


def _all_of(table: Any, conjunction: Conjunction) -> Any:
    masks = [condition_mask(table.column(one.column), one) for one in conjunction]
    return _folded(pc.and_, masks)


def _folded(join: Callable[[Any, Any], Any], masks: list[Any]) -> Any:
    found = masks[0]
    for mask in masks[1:]:
        found = join(found, mask)
    return found


def _is_one_of(values: Any, accepted: tuple[Any, ...]) -> Any:
    """Which values equal one of these; none does where there are none to equal."""
    if pa.types.is_null(values.type):
        return pc.is_valid(values)
    found = pa.scalar(False)
    in_range = [value for value in accepted if _fits(value, values.type)]
    if in_range:
        return pc.is_in(values, value_set=pa.array(in_range, values.type))
    return pc.and_(pc.is_valid(values), found)


def _compared(values: Any, operator: str, value: Any) -> Any:
    if pa.types.is_null(values.type):
        return pc.is_valid(values)
    if _fits(value, values.type):
        found = _ORDER[operator](values, pa.scalar(value, values.type))
    else:
        bounded = max(-_BEYOND, min(value, _BEYOND))  # whatever is further out compares the same
        found = _ORDER[operator](values.cast(_WIDE), pa.scalar(Decimal(bounded), _WIDE))
    return pc.fill_null(found, False)


def _fits(value: Any, type_: Any) -> bool:
    """Whether the column's type can hold a value: an integer may be too large or negative."""
    if not pa.types.is_integer(type_):
        return True
    lowest = -(2 ** (type_.bit_width - 1)) if pa.types.is_signed_integer(type_) else 0
    return bool(lowest <= value < lowest + 2**type_.bit_width)
