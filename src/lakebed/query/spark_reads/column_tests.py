"""Conditions of Spark's SQL as tests of single columns, joined by all-of and any-of.

Each result holds whenever the condition does, and may hold more often: what has no form here is
left out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias, TypeVar

from sqlglot import exp

from lakebed.query.parsing.literals import Literal
from lakebed.query.spark_reads.spark_literals import spark_literal

NameInQuery: TypeAlias = tuple[str, str]  # the qualifier, empty without one, and the column
TestKind: TypeAlias = OneOf[
    "=", "!=", "<", "<=", ">", ">=", "in", "not in", "between", "not between", "is null",
    "is not null", "starts with",
]  # fmt: skip

_COMPARED: Mapping[type[exp.Expr], TestKind] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_MIRRORED: Mapping[TestKind, TestKind] = {
    "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip
_OPPOSITE: Mapping[TestKind, TestKind] = {
    "=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "in": "not in",
    "between": "not between", "is null": "is not null", "is not null": "is null",
}  # fmt: skip
_WILDCARD = re.compile("[%_]")
_YES, _NO = Literal("BOOLEAN", "t"), Literal("BOOLEAN", "f")


@dataclass(frozen=True)
class ColumnTest:
    """What the value of one column must fulfil."""

    name: NameInQuery
    kind: TestKind
    values: tuple[Literal, ...] = ()


@dataclass(frozen=True)
class AllOf:
    """Every one of these; there is at least one."""

    parts: tuple["RowTest", ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one of these; there is at least one."""

    parts: tuple["RowTest", ...]


RowTest: TypeAlias = ColumnTest | AllOf | AnyOf
Built = TypeVar("Built")


def built_from(
    test: RowTest,
    leaf: Callable[[ColumnTest], Built | None],
    both: Callable[[tuple[Built, ...]], Built],
    either: Callable[[tuple[Built, ...]], Built],
) -> Built | None:
    """Something made of a test, or of a weaker one where `leaf` makes nothing of a part."""
    if isinstance(test, ColumnTest):
        return leaf(test)
    parts = [built_from(part, leaf, both, either) for part in test.parts]
    found = tuple(part for part in parts if part is not None)
    if isinstance(test, AllOf):
        return _joined(found, both)
    return _joined(found, either) if len(found) == len(parts) else None


def weakened(test: RowTest, leaf: Callable[[ColumnTest], RowTest | None]) -> RowTest | None:
    """A test with other leaves; weaker where there is none."""
    return built_from(test, leaf, _all_of, _any_of)


def _all_of(parts: tuple[RowTest, ...]) -> RowTest:
    return AllOf(parts)


def _any_of(parts: tuple[RowTest, ...]) -> RowTest:
    return AnyOf(parts)


def _joined(parts: tuple[Built, ...], joined: Callable[[tuple[Built, ...]], Built]) -> Built | None:
    return joined(parts) if len(parts) > 1 else parts[0] if parts else None


def leaves(test: RowTest) -> Iterator[ColumnTest]:
    """The tests of single columns in a test."""
    if isinstance(test, ColumnTest):
        yield test
    else:
        for part in test.parts:
            yield from leaves(part)


def row_tests(condition: exp.Expr | None) -> tuple[RowTest, ...]:
    """What rows certainly fulfil for which the condition is true; all of these together."""
    found = _test(condition, negated=False) if condition else None
    return found.parts if isinstance(found, AllOf) else (found,) if found else ()


def _test(node: exp.Expr, *, negated: bool) -> RowTest | None:
    """What holds if the condition is true; if `negated`, what holds if it is false."""
    match node:
        case exp.Paren() | exp.Not():
            return _test(node.this, negated=negated != isinstance(node, exp.Not))
        case exp.And() | exp.Or():
            return _connected(node, negated=negated)
        case exp.Column():
            value = _NO if negated else _YES
            return ColumnTest(name, "=", (value,)) if (name := _name(node)) else None
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            return _null_safe(node, negated=negated != isinstance(node, exp.NullSafeNEQ))
    found = _plain_test(node)
    if found is None or not negated:
        return found
    return (
        ColumnTest(found.name, opposite, found.values)
        if (opposite := _OPPOSITE.get(found.kind))
        else None
    )


def _connected(node: exp.Expr, *, negated: bool) -> RowTest | None:
    """AND and OR; if false, the one is the other of what is false."""
    parts = [_test(part, negated=negated) for part in node.flatten()]
    found = tuple(part for part in parts if part is not None)
    if isinstance(node, exp.And) != negated:
        return _joined(found, _all_of)
    return _joined(found, _any_of) if len(found) == len(parts) else None


def _plain_test(node: exp.Expr) -> ColumnTest | None:
    if type(node) in _COMPARED and has_only(node, "this", "expression"):
        return _compared(node.this, node.expression, _COMPARED[type(node)])
    match node:
        case exp.Is() if has_only(node, "this", "expression"):
            return _of(node.this, "is null") if isinstance(node.expression, exp.Null) else None
        case exp.In() if has_only(node, "this", "expressions"):
            return _of(node.this, "in", *node.expressions)
        case exp.Between() if has_only(node, "this", "low", "high"):
            return _of(node.this, "between", node.args["low"], node.args["high"])
        case exp.Like() | exp.StartsWith() if has_only(node, "this", "expression"):
            return _prefix(node)
    return None


def _compared(left: exp.Expr, right: exp.Expr, kind: TestKind) -> ColumnTest | None:
    if _name(left) is None:
        left, right, kind = right, left, _MIRRORED[kind]
    return _of(left, kind, right)


def _null_safe(node: exp.Expr, *, negated: bool) -> RowTest | None:
    """`<=>`, which is never unknown."""
    if not has_only(node, "this", "expression"):
        return None
    column, other = node.this, node.expression
    if _name(column) is None:
        column, other = other, column
    if isinstance(other, exp.Null):
        return _of(column, "is not null" if negated else "is null")
    found = _of(column, "!=" if negated else "=", other)
    return AnyOf((found, ColumnTest(found.name, "is null"))) if found and negated else found


def _of(column: exp.Expr, kind: TestKind, *values: exp.Expr) -> ColumnTest | None:
    name, found = _name(column), [spark_literal(value) for value in values]
    literals = tuple(literal for literal in found if literal is not None)
    if name is None or len(literals) < len(found) or (kind == "in" and not literals):
        return None
    return ColumnTest(name, kind, literals)


def _prefix(node: exp.Expr) -> ColumnTest | None:
    found = _of(node.this, "starts with", node.expression)
    if found is None or found.values[0].type != "VARCHAR" or found.values[0].cast:
        return None
    text = str(found.values[0].value)
    beginning = _WILDCARD.split(text)[0] if isinstance(node, exp.Like) else text
    return (
        ColumnTest(found.name, "starts with", (Literal("VARCHAR", beginning),))
        if beginning
        else None
    )


def _name(node: exp.Expr) -> NameInQuery | None:
    """A column, with at most one qualifier."""
    if isinstance(node, exp.Paren):
        return _name(node.this)
    plain = isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier)
    return (node.text("table"), node.name) if plain and has_only(node, "this", "table") else None


def has_only(node: exp.Expr, *known: str) -> bool:
    """Whether a part of the tree has no other parts than these."""
    return all(key in known or value in (None, False, []) for key, value in node.args.items())
