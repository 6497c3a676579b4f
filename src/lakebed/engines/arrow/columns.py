"""Types of tables' columns: those of the engine that writes them, and Arrow's."""

from typing import Any

import pyarrow as pa

from lakebed.types import Array, ColumnType, Map, Primitive, Struct

_OF_TABLES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.large_string(),
    "binary": pa.large_binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
_IN_TABLES = {type_: name for name, type_ in _OF_TABLES.items()}


def arrow_type(type_: ColumnType) -> Any:
    """A type of a table's column as Arrow's."""
    match type_:
        case Array(element):
            return pa.large_list(arrow_type(element))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([(name, arrow_type(part)) for name, part in fields])
        case Primitive("decimal", (digits, scale)):
            return pa.decimal128(digits, scale)
    return _OF_TABLES[type_.name]


def table_type(type_: Any) -> ColumnType:
    """The reverse, for a type from `storable_schema`."""
    if pa.types.is_large_list(type_):
        return Array(table_type(type_.value_type))
    if pa.types.is_map(type_):
        return Map(table_type(type_.key_type), table_type(type_.item_type))
    if pa.types.is_struct(type_):
        return Struct(tuple((field.name, table_type(field.type)) for field in type_))
    if pa.types.is_decimal(type_):
        return Primitive("decimal", (type_.precision, type_.scale))
    return Primitive(_IN_TABLES[type_])
