"""Expressions in Spark's SQL that mean the same in DuckDB, translated into DuckDB's SQL.

Only what is listed here is translated, each with the types it was tried with
(`tests/query/test_views_alike.py` asks both engines, over unusual rows). Left out on purpose is
what the two do differently or may do in another order: division, sums of floats, upper and lower
case, LIKE, substrings of numbers, and arithmetic that is guarded by a condition.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lakebed.query.views.duck_expression import (
    DECIMAL,
    FLOATS,
    WHOLE,
    DuckExpression,
    NotEquivalent,
    cast,
    is_groupable,
    node_name,
    require_only,
)
from lakebed.query.views.typed_values import (
    NULL_TYPE,
    boolean,
    choose,
    compare,
    is_day,
    literal,
    null,
    number,
    one_type,
)

if TYPE_CHECKING:
    from sqlglot import exp

_COMPARED = {
    "EQ": "=",
    "NEQ": "<>",
    "GT": ">",
    "GTE": ">=",
    "LT": "<",
    "LTE": "<=",
    "NullSafeEQ": "IS NOT DISTINCT FROM",
}
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*"}


Column = Callable[[str, str], DuckExpression]  # by qualifier and name


class ExpressionTranslator:
    """Translates expressions over the columns of a FROM.

    `condition` marks an expression that another one may keep from being computed.
    """

    def __init__(self, column: Column) -> None:
        self._column = column

    def of(self, node: "exp.Expr", *, condition: bool = False) -> DuckExpression:
        """The expression in DuckDB's SQL; `NotEquivalent` if it has none."""
        kind = type(node).__name__
        if kind in _COMPARED:
            require_only(node, "this", "expression")
            return self._compared(node.this, node.expression, _COMPARED[kind])
        if kind in _ARITHMETIC and not condition:
            require_only(node, "this", "expression")
            return self._arithmetic(node.this, node.expression, _ARITHMETIC[kind])
        known: Mapping[str, Callable[[exp.Expr], DuckExpression]] = {
            "Column": self._named, "Literal": literal, "Neg": self._negative, "Boolean": boolean,
            "Null": null, "And": self._both, "Or": self._both, "Not": self._not,
            "Is": self._is_null, "In": self._among, "Between": self._between, "Case": self._case,
            "If": self._if, "Coalesce": self._coalesce, "Cast": self._cast, "TryCast": self._cast,
            "Count": self._count, "Sum": self._sum, "Min": self._extreme, "Max": self._extreme,
        }  # fmt: skip
        if kind == "Paren":
            require_only(node, "this")
            return self.of(node.this, condition=condition)
        if kind not in known:
            raise NotEquivalent(node_name(node))
        return known[kind](node)

    def condition(self, node: "exp.Expr") -> DuckExpression:
        """A boolean expression."""
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
            return number(f"-{inner.this}")
        raise NotEquivalent("a minus before a value")

    def _compared(self, left: "exp.Expr", right: "exp.Expr", sign: str) -> DuckExpression:
        return compare(self.of(left, condition=True), self.of(right, condition=True), sign)

    def _arithmetic(self, left: "exp.Expr", right: "exp.Expr", sign: str) -> DuckExpression:
        sides = [self.of(left), self.of(right)]
        if any(side.type not in WHOLE for side in sides):
            raise NotEquivalent(f"arithmetic of {' and '.join(side.type for side in sides)}")
        type_ = "long" if any(side.type == "long" for side in sides) else "int"
        return DuckExpression(
            f"({cast(sides[0])} {sign} {cast(sides[1])})",
            type_,
            any(side.aggregates for side in sides),
        )

    def _both(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "expression")
        left, right = self.condition(node.this), self.condition(node.expression)
        sign = type(node).__name__.upper()
        return DuckExpression(
            f"({left.text} {sign} {right.text})", "boolean", left.aggregates or right.aggregates
        )

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
        each = [compare(found, self.of(one, condition=True), "=") for one in node.expressions]
        if found.type in FLOATS or not all(
            type(one).__name__ in ("Literal", "Neg") for one in node.expressions
        ):
            raise NotEquivalent("IN of something else than literals")
        return DuckExpression(
            f"({' OR '.join(one.text for one in each)})", "boolean", found.aggregates
        )

    def _between(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "low", "high")
        found = self.of(node.this, condition=True)
        low = compare(found, self.of(node.args["low"], condition=True), ">=")
        high = compare(found, self.of(node.args["high"], condition=True), "<=")
        return DuckExpression(
            f"({low.text} AND {high.text})", "boolean", low.aggregates or high.aggregates
        )

    def _case(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "ifs", "default")
        for branch in node.args["ifs"]:
            require_only(branch, "this", "true")
        conditions = [branch.this for branch in node.args["ifs"]]
        when = [
            self._compared(node.this, one, "=") if node.this else self.condition(one)
            for one in conditions
        ]
        then = [self.of(branch.args["true"], condition=True) for branch in node.args["ifs"]]
        default = node.args.get("default")
        return choose(
            when,
            then,
            self.of(default, condition=True) if default else DuckExpression("NULL", NULL_TYPE),
        )

    def _if(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "true", "false")
        default = node.args.get("false")
        other = self.of(default, condition=True) if default else DuckExpression("NULL", NULL_TYPE)
        return choose(
            [self.condition(node.this)], [self.of(node.args["true"], condition=True)], other
        )

    def _coalesce(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "expressions")
        each = [self.of(one, condition=True) for one in (node.this, *node.expressions)]
        return DuckExpression(
            f"coalesce({', '.join(map(cast, each))})",
            one_type(each),
            any(one.aggregates for one in each),
        )

    def _cast(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this", "to", "_type")
        require_only(node.args["to"], "this")
        to = node.args["to"].this.name
        inner = node.this
        if (
            to == "DATE"
            and type(inner).__name__ == "Literal"
            and inner.is_string
            and is_day(inner.this)
        ):
            return DuckExpression(f"DATE '{inner.this}'", "date")
        if to == "DOUBLE" and type(inner).__name__ == "Literal" and not inner.is_string:
            return DuckExpression(f"CAST('{inner.this}' AS DOUBLE)", "double")
        found = self.of(inner, condition=True)
        wanted = {"INT": "int", "BIGINT": "long"}.get(to)
        if found.type == wanted or (found.type == "int" and wanted == "long"):
            return DuckExpression(
                cast(DuckExpression(found.text, wanted)), wanted, found.aggregates
            )
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
        return DuckExpression(
            f"count({'DISTINCT ' if distinct else ''}{inner.text})", "long", aggregates=True
        )

    def _sum(self, node: "exp.Expr") -> DuckExpression:
        require_only(node, "this")
        inner = self._inside(node.this)
        if inner.type in WHOLE:
            return DuckExpression(f"CAST(sum({cast(inner)}) AS BIGINT)", "long", aggregates=True)
        decimal = DECIMAL.fullmatch(inner.type)
        if decimal is None or int(decimal[1]) > 28:
            raise NotEquivalent(f"a sum of {inner.type}")
        found = DuckExpression(
            f"sum({inner.text})", f"decimal({int(decimal[1]) + 10}, {decimal[2]})", aggregates=True
        )
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
            raise NotEquivalent("an aggregate inside another")
        return found
