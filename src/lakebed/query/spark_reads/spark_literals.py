"""Literals of Spark's SQL as values of a column's type, where Spark certainly compares them as that
type.
"""

import re
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from lakebed.query.parsing.literals import Literal, value_for

_DIGITS = re.compile(r"\d+")
_DECIMAL = re.compile(r"\d+\.\d*|\.\d+")
_DOUBLE = re.compile(r"(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+")
_DECIMAL_TYPE = re.compile(r"decimal\((\d+), ?(\d+)\)")
_MOST_DIGITS = 38
_INTEGERS = {"TINYINT": 2**7, "SMALLINT": 2**15, "INT": 2**31, "BIGINT": 2**63}
_TIMES = {
    "DATE": "DATE",
    "TIMESTAMPNTZ": "TIMESTAMP",
    "TIMESTAMPLTZ": "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",  # Spark's TIMESTAMP
}


def spark_literal(node: exp.Expr | None) -> Literal | None:
    """The literal of an expression, with the name that DuckDB has for its type; None for NULL and
    anything else.
    """
    match node:
        case exp.Paren():
            return spark_literal(node.this)
        case exp.Boolean():
            return Literal("BOOLEAN", "t" if node.this else "f")
        case exp.Literal() if node.is_string:
            return Literal("VARCHAR", node.this)
        case exp.Literal():
            return _number(str(node.this))
        case exp.Neg():
            return _negative(spark_literal(node.this))
        case exp.Cast():  # TryCast too
            return _cast(spark_literal(node.this), node.to)
    return None


def spark_value(literal: Literal, type_: str, *, timezone: str) -> object | None:
    """The literal as a value of an Iceberg type; None if Spark may compare it as another type."""
    decimal = _DECIMAL_TYPE.fullmatch(type_)
    if decimal and isinstance(literal.value, int):
        # compared as a decimal that has room for both: digits that do not fit are rounded away
        room = 10 if abs(literal.value) < 2**31 else 20
        whole, scale = int(decimal[1]) - int(decimal[2]), int(decimal[2])
        if max(whole, room) + scale > _MOST_DIGITS:
            return None
    return value_for(literal, type_, timezone=timezone)


def _number(text: str) -> Literal | None:
    if _DIGITS.fullmatch(text):
        return Literal("INTEGER", int(text))
    if _DECIMAL.fullmatch(text):
        return Literal("DECIMAL", Decimal(text))
    return Literal("DOUBLE", float(text)) if _DOUBLE.fullmatch(text) else None


def _negative(inner: Literal | None) -> Literal | None:
    """A minus before a number; the least of a type has no counterpart, and may stay what it is."""
    if inner is None or not isinstance(inner.value, int | float | Decimal) or inner.value <= 0:
        return None
    value = inner.value
    return replace(inner, value=value.copy_negate() if isinstance(value, Decimal) else -value)


def _cast(inner: Literal | None, to: exp.DataType) -> Literal | None:
    """DATE '…', TIMESTAMP '…', 5L and 1.5D, which are casts to the parser, and such casts
    themselves.
    """
    kind = to.this.name if isinstance(to.this, exp.DType) else ""
    if inner is None or to.expressions or inner.cast:
        return None
    if kind in _TIMES and inner.type == "VARCHAR":
        return Literal(_TIMES[kind], inner.value, cast=True)
    if kind in _INTEGERS and isinstance(inner.value, int) and inner.type == "INTEGER":
        fits = -_INTEGERS[kind] <= inner.value < _INTEGERS[kind]
        return Literal("INTEGER", inner.value, cast=True) if fits else None
    if kind == "DOUBLE" and isinstance(inner.value, int | float | Decimal):
        return Literal("DOUBLE", float(inner.value), cast=True)
    return None
