"""Iceberg's types and Python's values, in DuckDB's words."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from lakebed.names import duckdb_identifier

_SIMPLE = {
    "boolean": "BOOLEAN",
    "int": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "binary": "BLOB",
    "uuid": "UUID",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",  # declared TIMESTAMP it would be read without a word, hours away
    "timestamp_ns": "TIMESTAMP_NS",
}
_DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")


def duckdb_type(type_: str | Mapping[str, Any]) -> str | None:
    """DuckDB's type for one of Iceberg's, given as its text or JSON; None for one that DuckDB does not have."""
    if isinstance(type_, str) and type_.startswith("{"):
        type_ = json.loads(type_)
    if isinstance(type_, str):
        if decimal := _DECIMAL.fullmatch(type_):
            return f"DECIMAL({decimal[1]},{decimal[2]})"
        return "BLOB" if type_.startswith("fixed[") else _SIMPLE.get(type_)
    match type_["type"]:
        case "list":
            element = duckdb_type(type_["element"])
            return f"{element}[]" if element else None
        case "map":
            key, value = duckdb_type(type_["key"]), duckdb_type(type_["value"])
            return f"MAP({key}, {value})" if key and value else None
        case "struct":
            fields = [(duckdb_identifier(field["name"]), duckdb_type(field["type"])) for field in type_["fields"]]
            return f"STRUCT({', '.join(f'{name} {inner}' for name, inner in fields)})" if all(t for _, t in fields) else None
    return None


def text(value: str) -> str:
    """A text as a literal."""
    return "'" + value.replace("'", "''") + "'"


def literal(value: object) -> str:
    """A value as a literal of its own type."""
    match value:
        case None:
            return "NULL"
        case bool() | int():
            return str(value).lower()
        case float():
            return f"{text(repr(value))}::DOUBLE"
        case datetime():
            return f"{text(value.isoformat(sep=' '))}::{'TIMESTAMPTZ' if value.tzinfo else 'TIMESTAMP'}"
        case Mapping():
            keys, values = (", ".join(literal(part) for part in parts) for parts in (value.keys(), value.values()))
            return f"MAP([{keys}], [{values}])"
    return text(as_text(value))


def as_text(value: object) -> str:
    """A value as a text that DuckDB casts back to it."""
    match value:
        case bool():
            return str(value).lower()
        case bytes():
            return "".join(f"\\x{byte:02x}" for byte in value)
        case datetime():
            return value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case Decimal() | UUID() | int() | float() | str():
            return str(value)
    raise TypeError(f"no text for a {type(value).__name__}")
