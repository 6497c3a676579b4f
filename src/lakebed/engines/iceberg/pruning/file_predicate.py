"""Whether a file may hold a row for which a predicate is true, from what is certain about its columns."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

from lakebed.engines.iceberg.pruning.comparable_values import Measure, Target, measure_of
from lakebed.engines.iceberg.pruning.transforms import Evidence, bucket, hashed
from lakebed.ports import Always, And, Comparison, In, IsNull, Not, Or, Predicate, StartsWith

Test = Callable[[Evidence], bool]
_OPPOSITE: Mapping[str, Any] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Witness(Protocol):
    """A file or manifest that can be asked about a column."""

    def about(self, field: int, measure: Measure) -> Sequence[Evidence]:
        """What is certain of the column in its rows, each by itself."""
        ...


@dataclass(frozen=True)
class Asked:
    """A column that a predicate may be about."""

    id: int
    measure: Measure


Judge = Callable[[Witness], bool]  # False: it certainly holds no such row


def judge_of(predicate: Predicate, fields: Sequence[Mapping[str, Any]]) -> Judge:
    """A judge by this predicate. Names that no column has, and columns whose type says nothing, are not judged by."""
    columns: dict[str, Asked | None] = {}
    for field in fields:
        measure = measure_of(field["type"])
        asked = Asked(field["id"], measure) if measure else None
        folded = field["name"].casefold()
        columns[folded] = None if folded in columns else asked  # which of two is meant, engines see differently
    return _judge(_positive(predicate, False), columns)


def _positive(predicate: Predicate, negated: bool) -> Predicate:
    """The same without NOT: pushed down to the leaves, which holds in SQL's three-valued logic too."""
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


def _judge(predicate: Predicate, columns: Mapping[str, Asked | None]) -> Judge:
    match predicate:
        case And(parts):
            judges = [_judge(part, columns) for part in parts]
            return lambda witness: all(judge(witness) for judge in judges)
        case Or(parts):
            judges = [_judge(part, columns) for part in parts]
            return lambda witness: any(judge(witness) for judge in judges)
        case Always(value):
            return lambda _: value
        case Comparison() | IsNull() | In() | StartsWith():
            asked = columns.get(predicate.column.casefold())
            test = _test(predicate, asked.measure) if asked else None
            return _by(asked, test) if asked and test else _keep
    return _keep


def _keep(_: Witness) -> bool:
    return True


def _by(asked: Asked, test: Test) -> Judge:
    return lambda witness: all(test(evidence) for evidence in witness.about(asked.id, asked.measure))


def _test(leaf: Comparison | IsNull | In | StartsWith, measure: Measure) -> Test | None:
    match leaf:
        case IsNull(_, negated):
            return (lambda known: known.values) if negated else (lambda known: known.nulls)
        case StartsWith(_, prefix, negated):
            return _starting(prefix.encode("utf-8", "surrogatepass"), negated) if measure.kind == "string" else None
        case In(_, values, negated):
            targets = [measure.target(value) for value in values]
            return None if None in targets else _among([one for one in targets if one], negated, measure)
        case Comparison(_, op, value):
            target = measure.target(value)
            return _compared(op, target, measure) if target else None


def _compared(op: str, target: Target, measure: Measure) -> Test:
    match op:
        case "=" | "!=":
            return _among([target], op == "!=", measure)
        case "<":
            return lambda known: known.values and (known.lower is None or _below(known.lower, target))
        case "<=":
            return lambda known: known.values and (known.lower is None or known.lower <= target.high)
        case _:
            return _above(target, measure, strictly=op == ">")


def _below(lower: Any, target: Target) -> bool:
    return bool(lower < target.low if target.exact else lower <= target.high)


def _above(target: Target, measure: Measure, *, strictly: bool) -> Test:
    floating = measure.kind in ("float", "double")  # NaN is more than any number, and in no bounds

    def test(known: Evidence) -> bool:
        if not known.values:
            return False
        if known.upper is None or (floating and known.nans):
            return True
        if known.prefixes and target.low.startswith(known.upper):
            return True
        return bool(known.upper > target.high if strictly and target.exact else known.upper >= target.low)

    return test


def _among(targets: list[Target], negated: bool, measure: Measure) -> Test:
    if negated:
        return _other_than(frozenset(one.low for one in targets if one.exact), measure)
    ordered = sorted(targets)
    lows = [one.low for one in ordered]
    highs = list(accumulate((one.high for one in ordered), max))  # ranges may overlap
    hashes = [hashed(one.low, measure) if one.exact else None for one in ordered]

    def test(known: Evidence) -> bool:
        if not known.values:
            return False
        if known.buckets and None not in hashes:
            count, first, last = known.buckets
            return any(first <= bucket(one, count) <= last for one in hashes if one is not None)
        at = 0 if known.lower is None else bisect_left(highs, known.lower)
        if at == len(ordered):
            return False
        return known.upper is None or _reaches(known, lows[at])

    return test


def _reaches(known: Evidence, low: Any) -> bool:
    return bool(low <= known.upper or (known.prefixes and low.startswith(known.upper)))


def _other_than(values: frozenset[Any], measure: Measure) -> Test:
    """Only rows that are all one and the same value can be told to be none other."""

    def test(known: Evidence) -> bool:
        if not known.values:
            return False
        single = known.lower is not None and known.lower == known.upper and not known.prefixes
        return not single or measure.kind in ("float", "double") or known.lower not in values

    return test


def _starting(prefix: bytes, negated: bool) -> Test:
    def outside(known: Evidence) -> bool:
        if not known.values:
            return False
        if known.lower is None or known.upper is None:
            return True
        return not (known.lower.startswith(prefix) and known.upper.startswith(prefix))

    def within(known: Evidence) -> bool:
        if not known.values:
            return False
        if known.lower is not None and known.lower[: len(prefix)] > prefix:
            return False
        return known.upper is None or _reaches(known, prefix)

    return outside if negated else within
