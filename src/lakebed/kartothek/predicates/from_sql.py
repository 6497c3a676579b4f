"""Conditions of SQL as predicates that leave partitions out; the SQL itself filters the rows."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pyarrow as pa

from lakebed.errors import BadQuery
from lakebed.kartothek.predicates.literals import is_missing, literal
from lakebed.ports import And, Comparison, In, Or, Predicate

_MOST = 64  # conjunctions
_OPERATORS = {"=": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_NEVER_NAN = {"==", "<", "<="}  # to SQL, NaN is greater than every number
Terms = list[list[tuple[str, str, Any]]]


def weaker_predicates(condition: Predicate | None, types: Mapping[str, Any]) -> Terms | None:
    """Predicates that every row satisfies for which the condition is true; None for all rows."""
    found = _terms(condition, types) if condition is not None else None
    return found or None


def _terms(condition: Predicate, types: Mapping[str, Any]) -> Terms | None:
    """Any of these; None if every row may satisfy it."""
    match condition:
        case And(parts):
            return _all_of([_terms(part, types) for part in parts])
        case Or(parts):
            found = [_terms(part, types) for part in parts]
            known = [one for one in found if one is not None]
            joined = [term for one in known for term in one]
            return joined if len(known) == len(parts) and len(joined) <= _MOST else None
        case Comparison(column, op, value) if op in _OPERATORS:
            return _term(column, _OPERATORS[op], value, types)
        case In(column, values, negated=False):
            return _term(column, "in", list(values), types)
    return None


def _all_of(parts: list[Terms | None]) -> Terms | None:
    joined: Terms = [[]]
    for part in parts:
        if part is not None and len(joined) * len(part) <= _MOST:
            joined = [[*one, *other] for one, other in product(joined, part)]
    return joined if joined != [[]] else None


def _term(column: str, operator: str, value: Any, types: Mapping[str, Any]) -> Terms | None:
    type_ = types.get(column)
    listed = value if isinstance(value, list) else [value]
    if type_ is None or not listed or any(is_missing(one) for one in listed):
        return None
    if pa.types.is_floating(type_) and operator not in _NEVER_NAN:
        return None
    try:
        known = [literal(one, type_, column=column) for one in listed]
    except BadQuery:
        return None
    return [[(column, operator, known if operator == "in" else known[0])]]
