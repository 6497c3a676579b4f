"""The `pandas` entry of a Parquet schema, without which plateau reads neither schema nor index."""

import json
from collections.abc import Collection
from functools import cache
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from lakebed.kartothek.format.column_types import is_list, is_text

PANDAS = b"pandas"
_PLAIN = {
    pa.bool_(): ("bool", "bool"),
    pa.date32(): ("date", "object"),
    pa.date64(): ("date", "object"),
    pa.null(): ("empty", "object"),
    pa.string(): ("unicode", "object"),
    pa.large_string(): ("object", "str"),
}


def with_pandas_metadata(schema: Any, *, nullable: Collection[str] = ()) -> Any:
    """The same fields with an entry that describes each of them; other entries are dropped.

    `nullable` are the columns with NULLs. Integers among them are described as pandas' nullable
    ones, as it does itself: otherwise it would read them as floats, and round large ones, also
    those of other files that it puts together with these.
    """
    columns = [_column(field, is_nullable=field.name in nullable) for field in schema]
    entry = {
        "index_columns": [],
        "column_indexes": [_names()],
        "columns": columns,
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": _pandas_version(),
    }
    text = json.dumps(entry, sort_keys=True)
    return pa.schema(list(schema), metadata={PANDAS: text.encode()})


@cache
def _pandas_version() -> str:
    return version("pandas")  # reads a file each time


def _names() -> dict[str, Any]:
    """How pandas describes names of columns that are plain text."""
    kind: dict[str, Any] = {"pandas_type": "unicode", "numpy_type": "object"}
    return {"name": None, "field_name": None, **kind, "metadata": {"encoding": "UTF-8"}}


def _column(field: Any, *, is_nullable: bool) -> dict[str, Any]:
    pandas_type, numpy_type = _kinds(field.type)
    if is_nullable and pa.types.is_integer(field.type):
        numpy_type = nullable_dtype(field.type)
    return {
        "name": field.name,
        "field_name": field.name,
        "pandas_type": pandas_type,
        "numpy_type": numpy_type,
        "metadata": _details(field.type),
    }


def nullable_dtype(type_: Any) -> str:
    """pandas' name for integers of an Arrow type beside NULLs: `Int64`, `UInt8`."""
    return str(type_).replace("int", "Int").replace("u", "U")


def _kinds(type_: Any) -> tuple[str, str]:
    if type_ in _PLAIN:
        return _PLAIN[type_]
    if pa.types.is_integer(type_):
        return str(type_), str(type_)
    if pa.types.is_floating(type_):
        name = f"float{type_.bit_width}"
        return name, name
    if pa.types.is_timestamp(type_):
        return ("datetimetz" if type_.tz else "datetime"), "datetime64[ns]"
    if pa.types.is_decimal(type_):
        return "decimal", "object"
    if is_list(type_):
        return f"list[{_kinds(type_.value_type)[0]}]", "object"
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return "bytes", "object"
    return "unicode" if is_text(type_) else "object", "object"


def _details(type_: Any) -> dict[str, Any] | None:
    if pa.types.is_timestamp(type_) and type_.tz:
        return {"timezone": type_.tz}
    if pa.types.is_decimal(type_):
        return {"precision": type_.precision, "scale": type_.scale}
    return None
