"""Iceberg's types as Arrow's, and batches cast to them."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from lakebed.errors import UsageError
from lakebed.ports import ScanColumn
from lakebed.types import Array, ColumnType, Map, Primitive, Struct, read_iceberg_type

_SIMPLE = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "uuid": pa.uuid(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", tz="UTC"),
}
_NARROW = 8 * 128  # bits of a row
_WIDE = _NARROW + 1
_ENOUGH = 4 * 1024 * 1024


def arrow_schema(columns: Iterable[ScanColumn]) -> Any:
    """The columns of a scan as a `pyarrow.Schema`."""
    return pa.schema(
        [
            pa.field(
                column.name,
                _type(read_iceberg_type(column.type), column.name),
                nullable=not column.required,
            )
            for column in columns
        ]
    )


def _type(type_: ColumnType, column: str) -> Any:
    match type_:
        case Array(element):
            return pa.list_(pa.field("element", _type(element, column)))
        case Map(key, value):
            return pa.map_(_type(key, column), _type(value, column))
        case Struct(fields):
            return pa.struct([pa.field(name, _type(part, column)) for name, part in fields])
        case Primitive("decimal", (digits, scale)):
            return pa.decimal128(digits, scale)
        case Primitive("fixed", (length,)):
            return pa.binary(length)
    if type_.name not in _SIMPLE:
        what = f"Arrow has no type for {type_.iceberg}, the type of {column}."
        raise UsageError(what, next="Choose other columns, or read with Spark.")
    return _SIMPLE[type_.name]


def cast_batches(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """The same rows with exactly these types."""
    for batch in batches:
        if batch.num_rows:
            arrays = [
                cast_array(array, field.type)
                for array, field in zip(batch.columns, schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def is_narrow(schema: Any) -> bool:
    """Whether every row takes the same few bytes."""
    widths = [
        field.type.bit_width if pa.types.is_primitive(field.type) else _WIDE for field in schema
    ]
    return sum(widths) <= _NARROW


def combine_batches(batches: Iterable[Any], *, rows: int) -> Iterator[Any]:
    """Small batches combined until they have `rows` rows or some megabytes."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if (
            sum(one.num_rows for one in waiting) >= rows
            or sum(one.nbytes for one in waiting) >= _ENOUGH
        ):
            batch, waiting = _one(waiting), []
            yield batch
    if waiting:
        yield _one(waiting)


def _one(batches: list[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def cast_array(array: Any, type_: Any) -> Any:
    """The same values with this type; `pyarrow.ArrowInvalid` if one of them would change."""
    if array.type == type_:
        return array
    if isinstance(type_, pa.UuidType):
        storage = array.storage if isinstance(array, pa.ExtensionArray) else array
        return pa.ExtensionArray.from_storage(type_, storage.cast(pa.binary(16)))
    if isinstance(array.type, pa.UuidType):
        return pa.array(
            [None if value is None else str(value) for value in array.to_pylist()], type_
        )
    if isinstance(array, pa.ExtensionArray):
        return cast_array(array.storage, type_)
    if isinstance(array, pa.DictionaryArray):
        return cast_array(array.dictionary_decode(), type_)
    if pa.types.is_nested(type_) and not pa.types.is_null(array.type):
        return _nested_as(array, type_)
    return array.cast(type_)


def _nested_as(array: Any, type_: Any) -> Any:
    """Cast part by part: engines name elements differently, and a cast does not reach nested
    extension types.
    """
    if pa.types.is_struct(type_):
        parts = [cast_array(array.field(index), field.type) for index, field in enumerate(type_)]
        return pa.StructArray.from_arrays(parts, fields=list(type_), mask=array.is_null())
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    array = _without_the_rest(array)
    if pa.types.is_map(type_):
        keys, items = (
            cast_array(array.keys, type_.key_type),
            cast_array(array.items, type_.item_type),
        )
        return pa.MapArray.from_arrays(array.offsets, keys, items, type_, mask=array.is_null())
    large = pa.types.is_large_list(type_)
    offsets = array.offsets.cast(pa.int64() if large else pa.int32())
    made = pa.LargeListArray if large else pa.ListArray
    return made.from_arrays(
        offsets, cast_array(array.values, type_.value_type), type_, mask=array.is_null()
    )


def _without_the_rest(array: Any) -> Any:
    """A slice still refers to the values of the whole array, at other offsets: copy it."""
    values = array.keys if pa.types.is_map(array.type) else array.values
    whole = not array.offset and (not len(array) or array.offsets[-1].as_py() == len(values))
    return array if whole else pa.concat_arrays([array])
