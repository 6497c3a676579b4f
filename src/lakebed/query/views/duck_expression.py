"""Expressions of a view in DuckDB's SQL, with the types for which DuckDB and Spark are known to
agree.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.names import duckdb_identifier

if TYPE_CHECKING:
    from sqlglot import exp

WHOLE = ("int", "long")
FLOATS = ("float", "double")
_SIMPLE = (*WHOLE, "boolean", "date", "timestamp", "timestamptz", "string", "binary")
_DUCKDB = {
    "int": "INTEGER",
    "long": "BIGINT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
}
DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
_OTHERWISE = re.compile(
    r"\b(uuid|time|unknown|variant|geo\w+)\b|_ns|fixed"
)  # Spark shows these as something else


class NotEquivalent(Exception):
    """A construct that is not known to mean the same in both engines; the message names it."""


@dataclass(frozen=True)
class DuckExpression:
    """An expression in DuckDB's SQL, and its Iceberg type.

    `literal` is the text of a literal number.
    """

    text: str
    type: str
    aggregates: bool = False
    literal: str = ""


def require_only(node: "exp.Expr", *known: str) -> None:
    """Raise `NotEquivalent` for a node with other parts than these."""
    more = sorted(
        key
        for key, value in node.args.items()
        if value not in (None, False, []) and key not in known
    )
    if more:
        raise NotEquivalent(f"{node_name(node)} with {more[0].rstrip('_').replace('_', ' ')}")


def node_name(node: "exp.Expr") -> str:
    """What a node is called in messages."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    if isinstance(node, exp.Func):
        return f"the function {node.sql_name().lower()}"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()


def is_groupable(type_: str) -> bool:
    """Whether both engines agree on which values of a type are equal, and equal values look the
    same.
    """
    return type_ in _SIMPLE or DECIMAL.fullmatch(type_) is not None


def is_same_type(type_: str) -> bool:
    """Whether a column of this type that is only passed on is the same in both engines."""
    return _OTHERWISE.search(type_) is None


def cast(value: DuckExpression) -> str:
    """The value cast to exactly its type, where DuckDB might choose another."""
    if decimal := DECIMAL.fullmatch(value.type):
        return f"CAST({value.text} AS DECIMAL({decimal[1]}, {decimal[2]}))"
    return f"CAST({value.text} AS {_DUCKDB[value.type]})" if value.type in _DUCKDB else value.text


def column_value(alias: str, name: str, type_: str) -> DuckExpression:
    """A column of a source."""
    return DuckExpression(f"{duckdb_identifier(alias)}.{duckdb_identifier(name)}", type_)
