"""The columns of a scan, and whether files store their nested fields as they are now."""

import json
from base64 import b16decode
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from lakebed.engines.iceberg.metadata.outlines import Field
from lakebed.errors import UnknownName
from lakebed.ports import ScanColumn


def scan_columns(
    table: str, fields: Sequence[Field], names: Collection[str] | None
) -> tuple[ScanColumn, ...]:
    """These columns in the given order, or all.

    Case matters only if names differ in nothing else.
    """
    if names is None:
        return tuple(_column(field) for field in fields)
    exact = {field["name"]: field for field in fields}
    folded: dict[str, list[Field]] = {}
    for field in fields:
        folded.setdefault(field["name"].casefold(), []).append(field)
    found = []
    for name in dict.fromkeys(names):
        near = folded.get(name.casefold(), [])
        if name not in exact and len(near) != 1:
            raise UnknownName(f"column of {table}", name, exact)
        found.append(exact.get(name) or near[0])
    return tuple(dict.fromkeys(_column(field) for field in found))


def _column(field: Field) -> ScanColumn:
    type_ = field["type"]
    text = type_ if isinstance(type_, str) else json.dumps(type_)
    default = field.get("initial-default")
    return ScanColumn(
        field["id"],
        field["name"],
        text,
        field["required"],
        None if default is None else _value(default, text),
    )


def _value(default: Any, type_: str) -> object:
    """A default in the metadata's JSON as a Python value."""
    match type_.partition("(")[0].partition("[")[0]:
        case "decimal":
            return Decimal(default)
        case "date":
            return date.fromisoformat(default)
        case "time":
            return time.fromisoformat(default)
        case "timestamp" | "timestamptz":
            return datetime.fromisoformat(default)
        case "uuid":
            return UUID(default)
        case "fixed" | "binary":
            return b16decode(default, casefold=True)
    return default


def stored_as_named(name: str) -> bool:
    """Whether every writer uses the table's name for a column in its files.

    Iceberg's writers encode characters that Avro does not allow (`my_x20col`), in different ways;
    other writers do not. All keep letters, digits and underscores.
    """
    return all(_is_kept(char, first=place == 0) for place, char in enumerate(name))


def _is_kept(char: str, *, first: bool) -> bool:
    return char == "_" or (
        char <= "\uffff" and (char.isalpha() or (not first and char.isdecimal()))
    )


def nested_alike(
    ids: Collection[int], fields: Sequence[Field], schemas: Iterable[Sequence[Field]]
) -> bool:
    """Whether files store the nested fields of these columns with their present names and order."""
    now = {field["id"]: tuple(_inside(field["type"])) for field in fields if field["id"] in ids}
    nested = {id_ for id_, inside in now.items() if inside}
    if not nested:
        return True
    if not all(stored_as_named(name) for id_ in nested for _, name, _ in now[id_]):
        return False
    then = (field for schema in schemas for field in schema if field["id"] in nested)
    return all(tuple(_inside(field["type"])) == now[field["id"]] for field in then)


def _inside(type_: Any) -> Iterator[tuple[int, str, bool]]:
    """The ids and names of the fields inside a type, in order, and whether each is primitive."""
    if isinstance(type_, str):
        return
    for id_, name, below in _below(type_):
        yield id_, name, isinstance(below, str)
        yield from _inside(below)


def _below(type_: Field) -> Iterator[tuple[int, str, Any]]:
    match type_["type"]:
        case "list":
            yield type_["element-id"], "element", type_["element"]
        case "map":
            yield type_["key-id"], "key", type_["key"]
            yield type_["value-id"], "value", type_["value"]
        case _:
            for field in type_["fields"]:
                yield field["id"], field["name"], field["type"]
