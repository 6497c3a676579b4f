"""Reading Avro files into plain Python values.

PyIceberg's reader takes half a second to import, half of what a small query may take. Manifests
need little of Avro, and their partition values and bounds are used as stored: logical types are not
applied.
"""

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lakebed.engines.iceberg.avro.rewriting import read_blocks
from lakebed.engines.iceberg.avro.values import long, sized

# from an offset in the data: the value, and the offset after it
Read = Callable[[bytes, int], tuple[Any, int]]


def read_records(data: bytes) -> tuple[Any, Mapping[str, bytes], Iterator[dict[str, Any]]]:
    """The schema, the headers, and every record; `ValueError` or `IndexError` for bytes that are
    not Avro.

    Maps with keys other than strings, which Iceberg writes as arrays of `key` and `value`, become
    dicts.
    """
    meta, blocks = read_blocks(data)
    schema = json.loads(meta["avro.schema"])
    return schema, meta, _records(reader(schema, {}), blocks)


def _records(read: Read, blocks: Iterator[tuple[int, bytes]]) -> Iterator[dict[str, Any]]:
    for count, body in blocks:
        at = 0
        for _ in range(count):
            value, at = read(body, at)
            yield value
        if at != len(body):
            raise ValueError("an Avro block holds more than its schema says")


def reader(schema: Any, named: dict[str, Any]) -> Read:
    """A reader for values of this schema. `named` are the types that it has defined so far."""
    if isinstance(schema, list):
        return _union([reader(branch, named) for branch in schema])
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, (dict, list)):
        return reader(kind, named)
    if isinstance(schema, dict) and "name" in schema:
        named |= {schema["name"]: schema, f"{schema.get('namespace', '')}.{schema['name']}": schema}
    match kind:
        case "record":
            return _record(
                [(field["name"], reader(field["type"], named)) for field in schema["fields"]]
            )
        case "array":
            return _array(schema["items"], named)
        case "map":
            return _pairs(_text, reader(schema["values"], named))
        case "fixed":
            return _fixed(schema["size"])
        case _:
            return _SIMPLE[kind] if kind in _SIMPLE else reader(named[kind], named)


def _record(fields: list[tuple[str, Read]]) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        record = {}
        for name, field in fields:
            record[name], at = field(data, at)
        return record, at

    return read


def _union(branches: list[Read]) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        branch, at = long(data, at)
        return branches[branch](data, at)

    return read


def _array(items: Any, named: dict[str, Any]) -> Read:
    fields = items.get("fields") if isinstance(items, dict) else None
    if fields and [field["name"] for field in fields] == ["key", "value"]:
        return _pairs(reader(fields[0]["type"], named), reader(fields[1]["type"], named))
    item = reader(items, named)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        values: list[Any] = []
        while True:
            count, at = _count(data, at)
            if count == 0:
                return values, at
            for _ in range(count):
                value, at = item(data, at)
                values.append(value)

    return read


def _pairs(key: Read, value: Read) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        pairs: dict[Any, Any] = {}
        while True:
            count, at = _count(data, at)
            if count == 0:
                return pairs, at
            for _ in range(count):
                name, at = key(data, at)
                pairs[name], at = value(data, at)

    return read


def _count(data: bytes, at: int) -> tuple[int, int]:
    count, at = long(data, at)
    if count < 0:  # then the size in bytes follows, for readers that skip
        _, at = long(data, at)
    return abs(count), at


def _text(data: bytes, at: int) -> tuple[Any, int]:
    value, at = sized(data, at)
    return value.decode(), at


def _fixed(size: int) -> Read:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        if at + size > len(data):
            raise ValueError("an Avro value is longer than its file")
        return data[at : at + size], at + size

    return read


def _packed_as(form: str) -> Read:
    unpack, size = struct.Struct(form).unpack_from, struct.calcsize(form)
    return lambda data, at: (unpack(data, at)[0], at + size)


_SIMPLE: dict[str, Read] = {
    "null": lambda _, at: (None, at),
    "boolean": lambda data, at: (data[at] == 1, at + 1),
    "int": long,
    "long": long,
    "enum": long,
    "float": _packed_as("<f"),
    "double": _packed_as("<d"),
    "string": _text,
    "bytes": sized,
}
