"""Polars' filters, split into a predicate that can be pushed down and the whole expression.

Polars serializes its expressions as JSON. What is unknown here, or differs in a newer Polars, is
not pushed down: the whole expression filters again.
"""

import io
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

from lakebed.ports import And, Comparison, In, IsNull, Not, Or, Predicate, ScanColumn, StartsWith
from lakebed.types import Primitive, decimal_of, fitted, read_iceberg_type

_OPS: Mapping[str, Any] = {
    "Eq": "=",
    "NotEq": "!=",
    "Lt": "<",
    "LtEq": "<=",
    "Gt": ">",
    "GtEq": ">=",
}
_MIRRORED: Mapping[str, Any] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_BETWEEN: Mapping[str, tuple[Any, Any]] = {
    "Both": (">=", "<="),
    "Left": (">=", "<"),
    "Right": (">", "<="),
    "None": (">", "<"),
}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - Polars counts from there
_EXACT = 2**53
Json = Any
Types = Mapping[str, str]  # of the columns, by name


def split_filter(
    expression: pl.Expr, columns: tuple[ScanColumn, ...]
) -> tuple[Predicate | None, pl.Expr | None]:
    """A predicate that is true wherever the expression is, and the expression to filter by."""
    try:
        tree = json.loads(expression.meta.serialize(format="json"))
    except Exception:  # Python functions in it cannot always be serialized
        return None, expression
    plain = _without_hints(tree)
    if plain is None:
        return None, None
    types = {column.name: column.type for column in columns}
    parts = tuple(part for one in _conjuncts(plain) if (part := _translate(one, types)))
    whole = (
        expression
        if plain == tree
        else pl.Expr.deserialize(io.BytesIO(json.dumps(plain).encode()), format="json")
    )
    return And(parts) if parts else None, whole


def _without_hints(tree: Json) -> Json | None:
    """The expression without the dynamic predicates that Polars adds above a slice and that cannot
    be evaluated here.
    """
    if isinstance(tree, dict) and str((tree.get("Display") or {}).get("fmt_str", "")).startswith(
        "dynamic_pred"
    ):
        return None
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if not binary or binary.get("op") != "And":
        return tree
    left, right = _without_hints(binary["left"]), _without_hints(binary["right"])
    if left is None or right is None:
        return right if left is None else left
    return {"BinaryExpr": {**binary, "left": left, "right": right}}


def _conjuncts(tree: Json) -> list[Json]:
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if binary and binary.get("op") in ("And", "LogicalAnd"):
        return [*_conjuncts(binary["left"]), *_conjuncts(binary["right"])]
    return [tree]


def _translate(tree: Json, types: Types) -> Predicate | None:
    """The exact predicate of an expression, or None."""
    try:
        match tree:
            case {
                "BinaryExpr": {
                    "left": left,
                    "op": "And" | "LogicalAnd" | "Or" | "LogicalOr" as op,
                    "right": right,
                }
            }:
                parts = [_translate(left, types), _translate(right, types)]
                known = tuple(part for part in parts if part is not None)
                return None if len(known) < 2 else And(known) if op.endswith("And") else Or(known)
            case {"BinaryExpr": {"left": left, "op": op, "right": right}} if op in _OPS:
                return _compared(left, _OPS[op], right, types)
            case {"Function": {"input": inputs, "function": function}}:
                return _function(function, inputs, types)
            case {"Column": str(name)} if types.get(name) == "boolean":
                return Comparison(name, "=", True)
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError):
        pass
    return None


def _compared(left: Json, op: Any, right: Json, types: Types) -> Predicate | None:
    if "Column" not in left:
        left, op, right = right, _MIRRORED[op], left
    name = left["Column"]
    value = _value(right, types[name])
    return None if value is None else Comparison(name, op, value)


def _function(function: Json, inputs: list[Json], types: Types) -> Predicate | None:
    match function:
        case {"Boolean": "Not"}:
            part = _translate(inputs[0], types)
            return Not(part) if part else None
        case {"Boolean": "IsNull" | "IsNotNull" as kind}:
            return IsNull(_column(inputs[0], types), kind == "IsNotNull")
        case {"Boolean": {"IsIn": {"nulls_equal": False}}}:
            return _among(inputs, types)
        case {"Boolean": {"IsBetween": {"closed": closed}}}:
            low, high = _BETWEEN[closed]
            parts = [
                _compared(inputs[0], low, inputs[1], types),
                _compared(inputs[0], high, inputs[2], types),
            ]
            known = tuple(part for part in parts if part)
            return And(known) if len(known) == 2 else None
        case {"StringExpr": "StartsWith"}:
            prefix = _value(inputs[1], "string")
            named = types[_column(inputs[0], types)] == "string"
            return (
                StartsWith(inputs[0]["Column"], prefix)
                if named and isinstance(prefix, str)
                else None
            )
    return None


def _column(tree: Json, types: Types) -> str:
    name: str = tree["Column"]
    _ = types[name]
    return name


def _among(inputs: list[Json], types: Types) -> Predicate | None:
    name = _column(inputs[0], types)
    listed = inputs[1]["Literal"]["Scalar"]["List"]
    values = pl.read_ipc_stream(io.BytesIO(bytes(listed))).to_series().to_list()
    fits = _LISTED.get(types[name])
    if not values or fits is None or not all(type(value) is fits for value in values):
        return None
    return In(name, tuple(values))


_LISTED = {"int": int, "long": int, "string": str, "date": date}


def _value(tree: Json, type_: str) -> object | None:
    """A literal, if Polars compares it with a column of this type as that type."""
    match tree["Literal"]:
        case (
            {"Dyn": {"Int": int(value)}}
            | {"Scalar": {"Int32": int(value)}}
            | {"Scalar": {"Int64": int(value)}}
        ):
            return _number(value, type_)
        case {"Dyn": {"Float": float(value)}} | {"Scalar": {"Float64": float(value)}} if (
            type_ == "double"
        ):
            return value
        case {"Dyn": {"Str": str(value)}} | {"Scalar": {"String": str(value)}} if type_ == "string":
            return value
        case {"Scalar": {"Boolean": bool(value)}} if type_ == "boolean":
            return value
        case {"Scalar": {"Binary": list(value)}} if type_ == "binary":
            return bytes(value)
        case {"Scalar": {"Date": int(days)}} if type_ == "date":
            return (_EPOCH + timedelta(days=days)).date()
        case {"Scalar": {"Datetime": [int(at), "Microseconds", zone]}}:
            moment = _EPOCH + timedelta(microseconds=at)
            if type_ != ("timestamptz" if zone else "timestamp"):
                return None
            return moment.replace(tzinfo=UTC) if zone else moment
        case {"Scalar": {"Decimal": [int(unscaled), _, int(scale)]}} if type_.startswith(
            "decimal("
        ):
            return _decimal(decimal_of(unscaled, scale), type_)
    return None


def _decimal(value: Decimal, type_: str) -> Decimal | None:
    """None for one that the column cannot hold: DuckDB would round it to the column's type."""
    column = read_iceberg_type(type_)
    return fitted(value, *column.numbers) if isinstance(column, Primitive) else None


def _number(value: int, type_: str) -> object | None:
    if type_ in ("int", "long"):
        return value
    return float(value) if type_ == "double" and abs(value) < _EXACT else None
