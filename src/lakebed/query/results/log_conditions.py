"""What a predicate says of the way a table was read: columns and operators, never values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lakebed.ports import And, Comparison, In, IsNull, Or, Predicate, StartsWith

LoggedOperator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null", "starts with"
]


@dataclass(frozen=True)
class ReadCondition:
    """A column that a query asked for, and how."""

    column: str
    op: LoggedOperator


def read_conditions(predicate: Predicate | None) -> tuple[ReadCondition, ...]:
    """The conditions that all rows fulfil, each once.

    Of an OR only values of one column count: `n = 1 OR n IN (2, 3)` is `n in`.
    """
    return tuple(dict.fromkeys(_conditions(predicate))) if predicate else ()


def _conditions(predicate: Predicate) -> Iterator[ReadCondition]:
    match predicate:
        case And(parts):
            for part in parts:
                yield from _conditions(part)
        case Or(parts):
            found = [[*_conditions(part)] for part in parts]
            columns = {one.column for each in found for one in each}
            if len(columns) == 1 and all(_is_by_value(each) for each in found):
                yield ReadCondition(columns.pop(), "in")
        case Comparison(column, op, _):
            yield ReadCondition(column, op)
        case In(column, _, negated):
            yield ReadCondition(column, "!=" if negated else "in")
        case IsNull(column, negated):
            yield ReadCondition(column, "is not null" if negated else "is null")
        case StartsWith(column, _, False):
            yield ReadCondition(column, "starts with")


def _is_by_value(conditions: list[ReadCondition]) -> bool:
    return len(conditions) == 1 and conditions[0].op in ("=", "in")
