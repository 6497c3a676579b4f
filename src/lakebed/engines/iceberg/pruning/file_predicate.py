"""Whether a file may hold a row that matches a predicate, judged by the bounds of its columns."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

from lakebed.engines.iceberg.pruning.comparable_values import (
    ComparableType,
    ValueRange,
    comparable_type,
)
from lakebed.engines.iceberg.pruning.transforms import ColumnBounds, bucket, bucket_hash
from lakebed.ports import Always, And, Comparison, In, IsNull, Not, Or, Predicate, StartsWith

Test = Callable[[ColumnBounds], bool]
_OPPOSITE: Mapping[str, Any] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Statistics(Protocol):
    """Column statistics of a data file or a manifest."""

    def bounds_of(self, field: int, comparable: ComparableType) -> Sequence[ColumnBounds]:
        """Bounds on the column's values, one for each source; every one of them holds."""
        ...


@dataclass(frozen=True)
class PredicateColumn:
    """A column that a predicate can be tested on."""

    id: int
    type: ComparableType


FilePredicate = Callable[[Statistics], bool]  # False: no row of the file can match


def file_predicate(predicate: Predicate, fields: Sequence[Mapping[str, Any]]) -> FilePredicate:
    """The predicate as a test of files.

    Unknown names and columns without comparable bounds match every file.
    """
    columns: dict[str, PredicateColumn | None] = {}
    for field in fields:
        comparable = comparable_type(field["type"])
        column = PredicateColumn(field["id"], comparable) if comparable else None
        folded = field["name"].casefold()
        # engines disagree on which of the two is meant
        columns[folded] = None if folded in columns else column
    return _compiled(_positive(predicate, False), columns)


def _positive(predicate: Predicate, negated: bool) -> Predicate:
    """The predicate with NOT pushed down to the leaves; valid in SQL's three-valued logic too."""
    match predicate:
        case Not(part):
            return _positive(part, not negated)
        case And(parts) | Or(parts):
            both = tuple(_positive(part, negated) for part in parts)
            return And(both) if isinstance(predicate, And) != negated else Or(both)
        case Always(value):
            return Always(value != negated)
        case Comparison(column, op, value):
            return Comparison(column, _OPPOSITE[op], value) if negated else predicate
        case IsNull(column, given):
            return IsNull(column, given != negated)
        case In(column, values, given):
            return In(column, values, given != negated)
        case StartsWith(column, prefix, given):
            return StartsWith(column, prefix, given != negated)


def _compiled(predicate: Predicate, columns: Mapping[str, PredicateColumn | None]) -> FilePredicate:
    match predicate:
        case And(parts):
            predicates = [_compiled(part, columns) for part in parts]
            return lambda statistics: all(matches(statistics) for matches in predicates)
        case Or(parts):
            predicates = [_compiled(part, columns) for part in parts]
            return lambda statistics: any(matches(statistics) for matches in predicates)
        case Always(value):
            return lambda _: value
        case Comparison() | IsNull() | In() | StartsWith():
            column = columns.get(predicate.column.casefold())
            test = _test(predicate, column.type) if column else None
            return _by(column, test) if column and test else _keep
    return _keep


def _keep(_: Statistics) -> bool:
    return True


def _by(column: PredicateColumn, test: Test) -> FilePredicate:
    return lambda statistics: all(
        test(bounds) for bounds in statistics.bounds_of(column.id, column.type)
    )


def _test(leaf: Comparison | IsNull | In | StartsWith, comparable: ComparableType) -> Test | None:
    match leaf:
        case IsNull(_, negated):
            return (
                (lambda known: known.may_have_values)
                if negated
                else (lambda known: known.may_have_nulls)
            )
        case StartsWith(_, prefix, negated):
            return (
                _starting(prefix.encode("utf-8", "surrogatepass"), negated)
                if comparable.kind == "string"
                else None
            )
        case In(_, values, negated):
            targets = [comparable.range_of(value) for value in values]
            return (
                None
                if None in targets
                else _among([one for one in targets if one], negated, comparable)
            )
        case Comparison(_, op, value):
            target = comparable.range_of(value)
            return _compared(op, target, comparable) if target else None


def _compared(op: str, target: ValueRange, comparable: ComparableType) -> Test:
    match op:
        case "=" | "!=":
            return _among([target], op == "!=", comparable)
        case "<":
            return lambda known: (
                known.may_have_values and (known.lower is None or _below(known.lower, target))
            )
        case "<=":
            return lambda known: (
                known.may_have_values and (known.lower is None or known.lower <= target.high)
            )
        case _:
            return _above(target, comparable, strictly=op == ">")


def _below(lower: Any, target: ValueRange) -> bool:
    return bool(lower < target.low if target.exact else lower <= target.high)


def _above(target: ValueRange, comparable: ComparableType, *, strictly: bool) -> Test:
    # NaN is larger than any number and not in the bounds
    floating = comparable.kind in ("float", "double")

    def test(known: ColumnBounds) -> bool:
        if not known.may_have_values:
            return False
        if known.upper is None or (floating and known.may_have_nans):
            return True
        if known.prefixes and target.low.startswith(known.upper):
            return True
        return bool(
            known.upper > target.high if strictly and target.exact else known.upper >= target.low
        )

    return test


def _among(targets: list[ValueRange], negated: bool, comparable: ComparableType) -> Test:
    if negated:
        return _other_than(frozenset(one.low for one in targets if one.exact), comparable)
    ordered = sorted(targets)
    lows = [one.low for one in ordered]
    highs = list(accumulate((one.high for one in ordered), max))  # ranges may overlap
    hashes = [bucket_hash(one.low, comparable) if one.exact else None for one in ordered]

    def test(known: ColumnBounds) -> bool:
        if not known.may_have_values:
            return False
        if known.buckets and None not in hashes:
            count, first, last = known.buckets
            return any(first <= bucket(one, count) <= last for one in hashes if one is not None)
        at = 0 if known.lower is None else bisect_left(highs, known.lower)
        if at == len(ordered):
            return False
        return known.upper is None or _reaches(known, lows[at])

    return test


def _reaches(known: ColumnBounds, low: Any) -> bool:
    return bool(low <= known.upper or (known.prefixes and low.startswith(known.upper)))


def _other_than(values: frozenset[Any], comparable: ComparableType) -> Test:
    """A file can be skipped only if all its rows hold one and the same excluded value."""

    def test(known: ColumnBounds) -> bool:
        if not known.may_have_values:
            return False
        single = known.lower is not None and known.lower == known.upper and not known.prefixes
        return not single or comparable.kind in ("float", "double") or known.lower not in values

    return test


def _starting(prefix: bytes, negated: bool) -> Test:
    def outside(known: ColumnBounds) -> bool:
        if not known.may_have_values:
            return False
        if known.lower is None or known.upper is None:
            return True
        return not (known.lower.startswith(prefix) and known.upper.startswith(prefix))

    def within(known: ColumnBounds) -> bool:
        if not known.may_have_values:
            return False
        if known.lower is not None and known.lower[: len(prefix)] > prefix:
            return False
        return known.upper is None or _reaches(known, prefix)

    return outside if negated else within
