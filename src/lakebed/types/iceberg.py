"""Types as Iceberg has them: in the JSON of its metadata, or as text."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from lakebed.types.column_type import (
    ICEBERG_NAMES,
    Array,
    ColumnType,
    Map,
    Primitive,
    Struct,
    with_parts,
)
from lakebed.types.parsing import parse_type

_NAMES = {iceberg: name for name, iceberg in ICEBERG_NAMES.items()}


def read_iceberg_type(type_: str | Mapping[str, Any]) -> ColumnType:
    """The type, from the metadata's JSON or from text; unknown types keep their names."""
    if isinstance(type_, str):
        if type_.startswith("{"):
            return read_iceberg_type(json.loads(type_))
        return _read_text(type_)
    match type_["type"]:
        case "list":
            return Array(read_iceberg_type(type_["element"]))
        case "map":
            return Map(read_iceberg_type(type_["key"]), read_iceberg_type(type_["value"]))
        case _:
            fields = type_["fields"]
            return Struct(
                tuple((field["name"], read_iceberg_type(field["type"])) for field in fields)
            )


@lru_cache(maxsize=1024)  # a lake has many columns of few types
def _read_text(text: str) -> ColumnType:
    return _renamed(parse_type(text, strict=False))


def _renamed(type_: ColumnType) -> ColumnType:
    """Iceberg's `timestamp` is Spark's `timestamp_ntz`."""
    if isinstance(type_, Primitive):
        return Primitive(_NAMES.get(type_.name, type_.name), type_.numbers)
    return with_parts(type_, tuple((name, _renamed(part)) for name, part in type_.parts))
