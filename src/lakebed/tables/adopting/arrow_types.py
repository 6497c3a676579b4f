"""Columns of Parquet files as types of a table, and why a table cannot have some as they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lakebed.types import Array, ColumnType, Map, Primitive, Struct

_PLAIN = {
    "bool": "boolean", "int8": "int", "int16": "int", "int32": "int", "int64": "bigint",
    "float": "float", "double": "double", "string": "string", "binary": "binary",
    "date32[day]": "date",
}  # fmt: skip
# what Spark makes of types that a table does not have
_REWRITTEN = {
    "uint8": "int", "uint16": "int", "uint32": "bigint", "uint64": "decimal(20,0)",
    "timestamp[ns]": "timestamp_ntz", "halffloat": "float",
}  # fmt: skip


@dataclass(frozen=True)
class FileColumn:
    """A top-level column; `fault` says why a table cannot have it as it is, `void` that no file
    tells its type.
    """

    name: str
    type: ColumnType
    fault: str = ""
    void: bool = False


def file_columns(schema: Any, parquet: Any) -> tuple[FileColumn, ...]:
    """The columns of a file, from its Arrow and its Parquet schema."""
    old = _old_timestamps(parquet)
    leaf, found = 0, list[FileColumn]()
    for field in schema:
        count = leaf_count(field.type)
        fault, kind = next(_faults(field, field.name), ""), _type(field.type)
        if old & set(range(leaf, leaf + count)):
            fault = f"{field.name} has timestamps of type INT96, which no table has"
            kind = kind if kind.is_nested else Primitive("timestamp")
        found.append(FileColumn(field.name, kind, fault, _is_void(field.type)))
        leaf += count
    return tuple(found)


def _old_timestamps(parquet: Any) -> set[int]:
    return {at for at in range(len(parquet)) if parquet.column(at).physical_type == "INT96"}


def leaf_count(type_: Any) -> int:
    """How many columns of a Parquet file a type takes."""
    if type_.num_fields and _is_nested(type_):
        return sum(leaf_count(type_.field(at).type) for at in range(type_.num_fields))
    return 0 if _is_nested(type_) else 1


def _is_nested(type_: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_struct(type_)
        or types.is_list(type_)
        or types.is_large_list(type_)
        or types.is_fixed_size_list(type_)
        or types.is_map(type_)
    )


def _is_void(type_: Any) -> bool:
    return str(type_) == "null"


def _type(type_: Any) -> ColumnType:
    """The type of a table's column; for types that it cannot have, what Spark makes of them."""
    from pyarrow import types

    if types.is_dictionary(type_):
        return _type(type_.value_type)
    if types.is_struct(type_):
        fields = (type_.field(at) for at in range(type_.num_fields))
        return Struct(tuple((field.name, _type(field.type)) for field in fields))
    if types.is_map(type_):
        return Map(_type(type_.key_type), _type(type_.item_type))
    if _is_nested(type_):
        return Array(_type(type_.value_type))
    if types.is_timestamp(type_):
        return Primitive("timestamp" if type_.tz else "timestamp_ntz")
    if types.is_decimal(type_):
        return Primitive("decimal", (type_.precision, type_.scale))
    text = str(type_).removeprefix("large_")
    return Primitive(_PLAIN.get(text) or _REWRITTEN.get(text) or "string")


def _faults(field: Any, path: str) -> Iterator[str]:
    """Why readers of a table could not read a column of a file as it is."""
    from pyarrow import types

    type_ = field.type
    if b"PARQUET:field_id" in (field.metadata or {}):
        yield f"{path} has a field id, which is not that of the table"
    if _is_nested(type_):
        for at in range(type_.num_fields):
            inner = type_.field(at)
            yield from _faults(inner, f"{path}.{inner.name}")
        return
    text = str(type_).removeprefix("large_")
    if types.is_dictionary(type_):
        yield f"{path} is a category of pandas, which PyIceberg cannot read beside plain values"
    elif types.is_timestamp(type_):
        if type_.unit == "ns":
            yield f"{path} counts nanoseconds, and a table counts microseconds"
    elif types.is_decimal(type_):
        if type_.precision > 38:
            yield f"{path} is {text}, which has too many digits"
    elif text not in _PLAIN and not _is_void(type_):
        yield f"{path} is {text}, which is no type of a table"
