"""Iceberg's types as Arrow's, and rows brought to them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from lakebed.errors import UsageError
from lakebed.ports import ScanColumn

_SIMPLE = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "uuid": pa.uuid(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", tz="UTC"),
}
_NARROW = 8 * 128  # bits of a row
_WIDE = _NARROW + 1
_ENOUGH = 4 * 1024 * 1024
_DECIMAL = re.compile(r"decimal\((\d+), ?(\d+)\)")
_FIXED = re.compile(r"fixed\[(\d+)\]")


def arrow_schema(columns: Iterable[ScanColumn]) -> Any:
    """The columns of a scan as a `pyarrow.Schema`."""
    return pa.schema([pa.field(column.name, _type(column.type, column.name), nullable=not column.required) for column in columns])


def _type(type_: str | Mapping[str, Any], column: str) -> Any:
    if isinstance(type_, str) and type_.startswith("{"):
        type_ = json.loads(type_)
    if not isinstance(type_, str):
        return _nested(type_, column)
    if decimal := _DECIMAL.fullmatch(type_):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if fixed := _FIXED.fullmatch(type_):
        return pa.binary(int(fixed[1]))
    if type_ not in _SIMPLE:
        raise UsageError(f"the type {type_} of {column} is not known to Arrow.", next="Choose other columns, or read with Spark.")
    return _SIMPLE[type_]


def _nested(type_: Mapping[str, Any], column: str) -> Any:
    match type_["type"]:
        case "list":
            return pa.list_(pa.field("element", _type(type_["element"], column)))
        case "map":
            return pa.map_(_type(type_["key"], column), _type(type_["value"], column))
        case _:
            return pa.struct([pa.field(field["name"], _type(field["type"], column)) for field in type_["fields"]])


def cast_batches(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """The same rows with exactly these types."""
    for batch in batches:
        if batch.num_rows:
            arrays = [cast_array(array, field.type) for array, field in zip(batch.columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def is_narrow(schema: Any) -> bool:
    """Whether every row takes the same few bytes."""
    widths = [field.type.bit_width if pa.types.is_primitive(field.type) else _WIDE for field in schema]
    return sum(widths) <= _NARROW


def combine_batches(batches: Iterable[Any], *, rows: int) -> Iterator[Any]:
    """Small batches put together until they have so many rows, or take some megabytes."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= rows or sum(one.nbytes for one in waiting) >= _ENOUGH:
            batch, waiting = _one(waiting), []
            yield batch
    if waiting:
        yield _one(waiting)


def _one(batches: list[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def cast_array(array: Any, type_: Any) -> Any:
    """The same values as ones of this type; `pyarrow.ArrowInvalid` where one of them would change."""
    if array.type == type_:
        return array
    if isinstance(type_, pa.UuidType):
        storage = array.storage if isinstance(array, pa.ExtensionArray) else array
        return pa.ExtensionArray.from_storage(type_, storage.cast(pa.binary(16)))
    if isinstance(array.type, pa.UuidType):
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], type_)
    if isinstance(array, pa.ExtensionArray):
        return cast_array(array.storage, type_)
    if isinstance(array, pa.DictionaryArray):
        return cast_array(array.dictionary_decode(), type_)
    if pa.types.is_nested(type_) and not pa.types.is_null(array.type):
        return _nested_as(array, type_)
    return array.cast(type_)


def _nested_as(array: Any, type_: Any) -> Any:
    """Part by part: names of elements differ between engines, and a cast does not reach extension types inside."""
    if pa.types.is_struct(type_):
        parts = [cast_array(array.field(index), field.type) for index, field in enumerate(type_)]
        return pa.StructArray.from_arrays(parts, fields=list(type_), mask=array.is_null())
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    array = _without_the_rest(array)
    if pa.types.is_map(type_):
        keys, items = cast_array(array.keys, type_.key_type), cast_array(array.items, type_.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type_, mask=array.is_null())
    large = pa.types.is_large_list(type_)
    offsets = array.offsets.cast(pa.int64() if large else pa.int32())
    made = pa.LargeListArray if large else pa.ListArray
    return made.from_arrays(offsets, cast_array(array.values, type_.value_type), type_, mask=array.is_null())


def _without_the_rest(array: Any) -> Any:
    """A slice refers to the values of the whole, and its offsets begin elsewhere."""
    values = array.keys if pa.types.is_map(array.type) else array.values
    whole = not array.offset and (not len(array) or array.offsets[-1].as_py() == len(values))
    return array if whole else pa.concat_arrays([array])
