"""What is known of the rows that are wanted, in a form that files can be judged by.

A predicate leaves out files that certainly hold no such row, and does nothing else: the engine filters the rows themselves.
So a condition that cannot be said here is simply left away, and every comparison is SQL's: a NULL fits nothing but `IsNull`.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Operator = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Comparison:
    """A column against a value: int, float, Decimal, str, bytes, bool, date, time, datetime or UUID; never None."""

    column: str
    op: Operator
    value: object


@dataclass(frozen=True)
class IsNull:
    """Rows without a value in the column; `negated`, those with one."""

    column: str
    negated: bool = False


@dataclass(frozen=True)
class In:
    """Rows whose value is one of these."""

    column: str
    values: tuple[object, ...]
    negated: bool = False


@dataclass(frozen=True)
class StartsWith:
    """Rows whose text begins so."""

    column: str
    prefix: str
    negated: bool = False


@dataclass(frozen=True)
class And:
    """All of these; without parts, every row."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Or:
    """One of these at least; without parts, no row."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Not:
    """SQL's NOT: rows for which the part is false, not those for which it is unknown."""

    part: "Predicate"


@dataclass(frozen=True)
class Always:
    """Every row, or none."""

    value: bool = True


Predicate: TypeAlias = Comparison | IsNull | In | StartsWith | And | Or | Not | Always
