"""Types of tables' columns, as the engine that writes them says them, and as Arrow's."""

from typing import Any

import pyarrow as pa

from lakebed.tables import Array, Map, Plain, Struct, Type

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


def arrow_type(type_: Type) -> Any:
    """A type of a table's column as Arrow's."""
    match type_:
        case Array(element):
            return pa.large_list(arrow_type(element))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([(name, arrow_type(part)) for name, part in fields])
    if type_.name in _OF_TABLES:
        return _OF_TABLES[type_.name]
    digits, _, scale = type_.name.removeprefix("decimal(").removesuffix(")").partition(",")
    return pa.decimal128(int(digits), int(scale))


def table_type(type_: Any) -> Type:
    """The other way round, for a type that `kept_schema` gave."""
    if pa.types.is_large_list(type_):
        return Array(table_type(type_.value_type))
    if pa.types.is_map(type_):
        return Map(table_type(type_.key_type), table_type(type_.item_type))
    if pa.types.is_struct(type_):
        return Struct(tuple((field.name, table_type(field.type)) for field in type_))
    if pa.types.is_decimal(type_):
        return Plain(f"decimal({type_.precision},{type_.scale})")
    return Plain(_IN_TABLES[type_])
