"""Conditions by which files can be left out of a scan.

A predicate only leaves out files that certainly contain no wanted row; the engine filters the rows
themselves. A condition that has no form here is simply omitted. Comparisons are SQL's: only
`IsNull` is true for NULL.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Operator = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Comparison:
    """A column compared with a value: int, float, Decimal, str, bytes, bool, date, time, datetime
    or UUID; never None.
    """

    column: str
    op: Operator
    value: object


@dataclass(frozen=True)
class IsNull:
    """Rows with NULL in the column; `negated`: rows with a value."""

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
    """Rows whose text starts with the prefix."""

    column: str
    prefix: str
    negated: bool = False


@dataclass(frozen=True)
class And:
    """All of these; without parts, every row."""

    parts: tuple["Predicate", ...]


@dataclass(frozen=True)
class Or:
    """At least one of these; without parts, no row."""

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
