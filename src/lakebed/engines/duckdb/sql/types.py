"""Iceberg's types and Python's values in DuckDB's SQL."""

from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

from lakebed.names import duckdb_identifier
from lakebed.types import Array, ColumnType, Map, Primitive, Struct

_SIMPLE = {
    "boolean": "BOOLEAN",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "binary": "BLOB",
    "uuid": "UUID",
    "date": "DATE",
    "time": "TIME",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMPTZ",  # as TIMESTAMP it would silently be read hours off
    "timestamp_ns": "TIMESTAMP_NS",
    "fixed": "BLOB",
}
_NUL = "' || chr(0) || '"


def duckdb_type(type_: ColumnType) -> str | None:
    """The type in DuckDB's words; None for one that DuckDB does not have."""
    inside = [duckdb_type(part) for _, part in type_.parts]
    if not all(inside):
        return None
    match type_:
        case Primitive("decimal", (digits, scale)):
            return f"DECIMAL({digits},{scale})"
        case Primitive(name):
            return _SIMPLE.get(name)
        case Array():
            return f"{inside[0]}[]"
        case Map():
            return f"MAP({inside[0]}, {inside[1]})"
        case Struct(fields):
            names = [duckdb_identifier(name) for name, _ in fields]
            columns = (f"{name} {part}" for name, part in zip(names, inside, strict=True))
            return f"STRUCT({', '.join(columns)})"


def text(value: str) -> str:
    """A text as SQL; a NUL would end the statement."""
    literal = "'" + value.replace("'", "''") + "'"
    return f"({literal.replace(chr(0), _NUL)})" if "\0" in value else literal


def literal(value: object) -> str:
    """A literal of the value's own type."""
    match value:
        case None:
            return "NULL"
        case bool() | int():
            return str(value).lower()
        case float():
            return f"{text(repr(value))}::DOUBLE"
        case datetime():
            kind = "TIMESTAMPTZ" if value.tzinfo else "TIMESTAMP"
            return f"{text(value.isoformat(sep=' '))}::{kind}"
        case Decimal():
            return f"{text(as_text(value))}::{_decimal_type(value)}"
        case Mapping():
            keys, values = (
                ", ".join(literal(part) for part in parts)
                for parts in (value.keys(), value.values())
            )
            return f"MAP([{keys}], [{values}])"
    return text(as_text(value))


def _decimal_type(value: Decimal) -> str:
    """The least type that holds a value: as a text it would be rounded to that of the column it is
    compared with.
    """
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return f"DECIMAL({max(len(digits) + max(0, int(exponent)), scale, 1)},{scale})"


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
        case Decimal():
            return f"{value:f}"
        case UUID() | int() | float() | str():
            return str(value)
    raise TypeError(f"no text for a {type(value).__name__}")
