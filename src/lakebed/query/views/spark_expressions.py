"""Expressions of Spark's SQL that mean the same in DuckDB, written in DuckDB's words.

Only what is on this list is written, each in the types it was tried with (`tests/query/test_views_alike.py` asks both engines,
over rows that are out of the ordinary). Left out on purpose: whatever the two do differently or may do in another order, such as
division, sums of floats, letters made upper or lower, LIKE, texts cut from numbers, and arithmetic where a condition guards it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from lakebed.names import duckdb_identifier

if TYPE_CHECKING:
    from sqlglot import exp

WHOLE = ("int", "long")
_FLOATS = ("float", "double")
_SIMPLE = (*WHOLE, "boolean", "date", "timestamp", "timestamptz", "string", "binary")
_DUCKDB = {"int": "INTEGER", "long": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE"}
_DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
_OTHERWISE = re.compile(r"\b(uuid|time|unknown|variant|geo\w+)\b|_ns|fixed")  # Spark shows these as something else
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_COMPARED = {"EQ": "=", "NEQ": "<>", "GT": ">", "GTE": ">=", "LT": "<", "LTE": "<=", "NullSafeEQ": "IS NOT DISTINCT FROM"}
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*"}
_NULL = "null"


class NotEquivalent(Exception):
    """Something that is not known to mean the same."""


@dataclass(frozen=True)
class DuckExpression:
    """An expression in DuckDB's words, and its type as Iceberg calls it. `literal` is the text of a number."""

    text: str
    type: str
    aggregates: bool = False
    literal: str = ""


Column = Callable[[str, str], DuckExpression]  # by qualifier and name


def require_only(node: "exp.Expr", *known: str) -> None:
    """Refuse a node that has more to say than this."""
    more = sorted(key for key, value in node.args.items() if value not in (None, False, []) and key not in known)
    if more:
        raise NotEquivalent(f"{node_name(node)} with {more[0].rstrip('_').replace('_', ' ')}")


def node_name(node: "exp.Expr") -> str:
    """What a node is called, for people."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    if isinstance(node, exp.Func):
        return f"the function {node.sql_name().lower()}"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()


def is_groupable(type_: str) -> bool:
    """Whether values of a type are equal in one engine if and only if they are in the other, and look the same then."""
    return type_ in _SIMPLE or _DECIMAL.fullmatch(type_) is not None


def is_same_type(type_: str) -> bool:
    """Whether a column of this type is the same in both engines, if it is only handed on."""
    return _OTHERWISE.search(type_) is None


def cast(value: DuckExpression) -> str:
    """The value as exactly its type, where DuckDB might take another."""
    if decimal := _DECIMAL.fullmatch(value.type):
        return f"CAST({value.text} AS DECIMAL({decimal[1]}, {decimal[2]}))"
    return f"CAST({value.text} AS {_DUCKDB[value.type]})" if value.type in _DUCKDB else value.text


class ExpressionTranslator:
    """Expressions over the columns of a FROM. `condition` of a method says that others may keep it from being computed."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def of(self, node: "exp.Expr", *, condition: bool = False) -> DuckExpression:
        """The expression, or `Different`."""
        kind = type(node).__name__
        if kind in _COMPARED:
            require_only(node, "this", "expression")
            return self._compared(node.this, node.expression, _COMPARED[kind])
        if kind in _ARITHMETIC and not condition:
            require_only(node, "this", "expression")
            return self._arithmetic(node.this, node.expression, _ARITHMETIC[kind])
        known: Mapping[str, Callable[[exp.Expr], DuckExpression]] = {
            "Column": self._named, "Literal": _literal, "Neg": self._negative, "Boolean": _boolean, "Null": _null,
            "And": self._both, "Or": self._both, "Not": self._not, "Is": self._is_null, "In": self._among,
            "Between": self._between, "Case": self._case, "If": self._if, "Coalesce": self._coalesce, "Cast": self._cast,
            "TryCast": self._cast, "Count": self._count, "Sum": self._sum, "Min": self._extreme, "Max": self._extreme,
        }  # fmt: skip
        if kind == "Paren":
            require_only(node, "this")
            return self.of(node.this, condition=condition)
        if kind not in known:
            raise NotEquivalent(node_name(node))
        return known[kind](node)

    def condition(self, node: "exp.Expr") -> DuckExpression:
        """An expression that is true or not."""
        found = self.of(node, condition=True)
        if found.type != "boolean":
            raise NotEquivalent(f"a condition that is a {found.type}")
        return found

    def _named(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "table")
        if type(node.this).__name__ != "Identifier":
            raise NotEquivalent(node_name(node.this))
        return self._column(node.text("table"), node.name)

    def _negative(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this")
        inner = node.this
        if type(inner).__name__ == "Literal" and not inner.is_string:
            return _number(f"-{inner.this}")
        raise NotEquivalent("a minus before a value")

    def _compared(self, left: "exp.Expr", right: "exp.Expr", sign: str) -> DuckExpression:
        return _comparison(self.of(left, condition=True), self.of(right, condition=True), sign)

    def _arithmetic(self, left: "exp.Expr", right: "exp.Expr", sign: str) -> DuckExpression:
        sides = [self.of(left), self.of(right)]
        if any(side.type not in WHOLE for side in sides):
            raise NotEquivalent(f"arithmetic of {' and '.join(side.type for side in sides)}")
        type_ = "long" if any(side.type == "long" for side in sides) else "int"
        return DuckExpression(f"({cast(sides[0])} {sign} {cast(sides[1])})", type_, any(side.aggregates for side in sides))

    def _both(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "expression")
        left, right = self.condition(node.this), self.condition(node.expression)
        sign = type(node).__name__.upper()
        return DuckExpression(f"({left.text} {sign} {right.text})", "boolean", left.aggregates or right.aggregates)

    def _not(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this")
        found = self.condition(node.this)
        return DuckExpression(f"(NOT {found.text})", "boolean", found.aggregates)

    def _is_null(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "expression")
        if type(node.expression).__name__ != "Null":
            raise NotEquivalent("IS without NULL")
        found = self.of(node.this, condition=True)
        return DuckExpression(f"({found.text} IS NULL)", "boolean", found.aggregates)

    def _among(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "expressions")
        found = self.of(node.this, condition=True)
        each = [_comparison(found, self.of(one, condition=True), "=") for one in node.expressions]
        if found.type in _FLOATS or not all(type(one).__name__ in ("Literal", "Neg") for one in node.expressions):
            raise NotEquivalent("IN of something else than literals")
        return DuckExpression(f"({' OR '.join(one.text for one in each)})", "boolean", found.aggregates)

    def _between(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "low", "high")
        found = self.of(node.this, condition=True)
        low = _comparison(found, self.of(node.args["low"], condition=True), ">=")
        high = _comparison(found, self.of(node.args["high"], condition=True), "<=")
        return DuckExpression(f"({low.text} AND {high.text})", "boolean", low.aggregates or high.aggregates)

    def _case(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "ifs", "default")
        for branch in node.args["ifs"]:
            require_only(branch, "this", "true")
        asked = [branch.this for branch in node.args["ifs"]]
        when = [self._compared(node.this, one, "=") if node.this else self.condition(one) for one in asked]
        then = [self.of(branch.args["true"], condition=True) for branch in node.args["ifs"]]
        default = node.args.get("default")
        return _chosen(when, then, self.of(default, condition=True) if default else DuckExpression("NULL", _NULL))

    def _if(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "true", "false")
        default = node.args.get("false")
        other = self.of(default, condition=True) if default else DuckExpression("NULL", _NULL)
        return _chosen([self.condition(node.this)], [self.of(node.args["true"], condition=True)], other)

    def _coalesce(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "expressions")
        each = [self.of(one, condition=True) for one in (node.this, *node.expressions)]
        return DuckExpression(f"coalesce({', '.join(map(cast, each))})", _one_type(each), any(one.aggregates for one in each))

    def _cast(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "to", "_type")
        require_only(node.args["to"], "this")
        to = node.args["to"].this.name
        inner = node.this
        if to == "DATE" and type(inner).__name__ == "Literal" and inner.is_string and _is_day(inner.this):
            return DuckExpression(f"DATE '{inner.this}'", "date")
        if to == "DOUBLE" and type(inner).__name__ == "Literal" and not inner.is_string:
            return DuckExpression(f"CAST('{inner.this}' AS DOUBLE)", "double")
        found = self.of(inner, condition=True)
        wanted = {"INT": "int", "BIGINT": "long"}.get(to)
        if found.type == wanted or (found.type == "int" and wanted == "long"):
            return DuckExpression(cast(DuckExpression(found.text, wanted)), wanted, found.aggregates)
        raise NotEquivalent(f"a cast of {found.type} to {to.lower()}")

    def _count(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "big_int")
        if type(node.this).__name__ == "Star":
            require_only(node.this)
            return DuckExpression("count(*)", "long", aggregates=True)
        distinct = type(node.this).__name__ == "Distinct"
        inner = self._inside(node.this.expressions[0] if distinct else node.this)
        if distinct:
            require_only(node.this, "expressions")
            if len(node.this.expressions) != 1 or not is_groupable(inner.type):
                raise NotEquivalent(f"count of distinct values of {inner.type}")
        return DuckExpression(f"count({'DISTINCT ' if distinct else ''}{inner.text})", "long", aggregates=True)

    def _sum(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this")
        inner = self._inside(node.this)
        if inner.type in WHOLE:
            return DuckExpression(f"CAST(sum({cast(inner)}) AS BIGINT)", "long", aggregates=True)
        decimal = _DECIMAL.fullmatch(inner.type)
        if decimal is None or int(decimal[1]) > 28:
            raise NotEquivalent(f"a sum of {inner.type}")
        found = DuckExpression(f"sum({inner.text})", f"decimal({int(decimal[1]) + 10}, {decimal[2]})", aggregates=True)
        return DuckExpression(cast(found), found.type, aggregates=True)

    def _extreme(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this")
        inner = self._inside(node.this)
        name = type(node).__name__.lower()
        if not is_groupable(inner.type) or inner.type in ("boolean", "binary"):
            raise NotEquivalent(f"{name} of {inner.type}")
        return DuckExpression(f"{name}({cast(inner)})", inner.type, aggregates=True)

    def _inside(self, node: "exp.Expr") -> DuckExpression:
        found = self.of(node)
        if found.aggregates:
            raise NotEquivalent("an aggregate inside of another")
        return found


def _comparison(left: DuckExpression, right: DuckExpression, sign: str) -> DuckExpression:
    sides = [_as_double(one, other) for one, other in ((left, right), (right, left))]
    types = {side.type for side in sides}
    same = len(types) == 1 and (is_groupable(left.type) or (types <= set(_FLOATS) and "DISTINCT" not in sign))
    if not (same or types == set(WHOLE)) or (types == {"boolean"} and sign not in ("=", "<>")):
        raise NotEquivalent(f"{left.type} compared with {right.type}")
    return DuckExpression(f"({sides[0].text} {sign} {sides[1].text})", "boolean", left.aggregates or right.aggregates)


def _as_double(value: DuckExpression, other: DuckExpression) -> DuckExpression:
    """A number that is compared with a double is one."""
    if other.type != "double" or not value.literal:
        return value
    return DuckExpression(f"CAST('{value.literal}' AS DOUBLE)", "double")


def _chosen(when: Sequence[DuckExpression], then: Sequence[DuckExpression], default: DuckExpression) -> DuckExpression:
    results = [*then, default]
    branches = " ".join(f"WHEN {one.text} THEN {cast(two)}" for one, two in zip(when, then, strict=True))
    return DuckExpression(
        f"(CASE {branches} ELSE {cast(default)} END)",
        _one_type(results),
        any(one.aggregates for one in (*when, *results)),
    )


def _one_type(values: Sequence[DuckExpression]) -> str:
    types = {value.type for value in values} - {_NULL}
    if len(types) != 1 or not all(map(is_same_type, types)):
        raise NotEquivalent(f"a choice between {' and '.join(sorted(types)) or 'NULLs'}")
    return types.pop()


def _literal(node: "exp.Expr") -> DuckExpression:
    if not node.is_string:
        return _number(node.this)
    if re.search(r"['\\\0]", node.this):
        raise NotEquivalent("a text with quotes or backslashes")
    return DuckExpression(f"'{node.this}'", "string")


def _number(text: str) -> DuckExpression:
    if re.fullmatch(r"-?\d+", text) and -(2**63) <= int(text) < 2**63:
        return DuckExpression(f"({text})", "int" if -(2**31) <= int(text) < 2**31 else "long", literal=text)
    if re.fullmatch(r"-?\d*\.?\d*", text):
        return DuckExpression(text, "a decimal number", literal=text)
    raise NotEquivalent(f"the number {text}")


def _boolean(node: "exp.Expr") -> DuckExpression:
    return DuckExpression(str(bool(node.this)).lower(), "boolean")


def _null(_: "exp.Expr") -> DuckExpression:
    return DuckExpression("NULL", _NULL)


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def column_value(alias: str, name: str, type_: str) -> DuckExpression:
    """A column of a source."""
    return DuckExpression(f"{duckdb_identifier(alias)}.{duckdb_identifier(name)}", type_)
