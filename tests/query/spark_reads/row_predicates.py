"""Predicates asked of rows in Python: SQL's three values, with NaN above all numbers as in Spark."""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from lakebed.ports import Always, And, Comparison, In, IsNull, Not, Or, Predicate, StartsWith

Row = Mapping[str, Any]
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def fulfils(row: Row, predicate: Predicate | None) -> bool:
    """Whether a row must be read for a predicate."""
    return predicate is None or _value(row, predicate) is True


def _value(row: Row, predicate: Predicate) -> bool | None:
    match predicate:
        case Always(value):
            return value
        case IsNull(column, negated):
            return (row[column] is None) != negated
        case Not(part):
            inner = _value(row, part)
            return None if inner is None else not inner
        case And(parts):
            found = [_value(row, part) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [_value(row, part) for part in parts]
            return True if True in found else None if None in found else False
        case Comparison(column, op, value):
            own = row[column]
            return None if own is None else _COMPARED[op](_sortable(own), _sortable(value))
        case In(column, values, negated):
            own = row[column]
            return None if own is None else (own in values) != negated
        case StartsWith(column, prefix, negated):
            own = row[column]
            return None if own is None else own.startswith(prefix) != negated


def _sortable(value: Any) -> Any:
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value.encode() if isinstance(value, str) else value
