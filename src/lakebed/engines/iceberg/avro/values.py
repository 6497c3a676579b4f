"""Copying Avro values by their schema, with some of them changed."""

from collections.abc import Callable, Mapping
from typing import Any

Path = tuple[str, ...]
Change = Callable[[Any], Any]
# copies the value at an offset to the output; returns the offset after it
Copy = Callable[[bytes, int, bytearray], int]

_FIXED = {"null": 0, "boolean": 1, "float": 4, "double": 8}


def copier(schema: Any, path: Path, changes: Mapping[Path, Change], named: dict[str, Any]) -> Copy:
    """A copier for values of this schema. `named` are the types that it has defined so far."""
    if isinstance(schema, list):
        return _union([copier(branch, path, changes, named) for branch in schema])
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, (dict, list)):
        return copier(kind, path, changes, named)
    if isinstance(schema, dict) and "name" in schema:
        named |= {schema["name"]: schema, f"{schema.get('namespace', '')}.{schema['name']}": schema}
    match kind:
        case "record":
            return _record(
                [
                    copier(field["type"], (*path, field["name"]), changes, named)
                    for field in schema["fields"]
                ]
            )
        case "array":
            return _array(copier(schema["items"], (*path, "[]"), changes, named))
        case "map":
            return _array(
                _record([_text(None), copier(schema["values"], (*path, "[]"), changes, named)])
            )
        case "int" | "long" | "enum":
            return _number(changes.get(path))
        case "string" | "bytes":
            return _text(changes.get(path))
        case "fixed":
            return _skip(schema["size"])
        case _:
            return (
                _skip(_FIXED[kind]) if kind in _FIXED else copier(named[kind], path, changes, named)
            )


def _record(fields: list[Copy]) -> Copy:
    def copy(data: bytes, at: int, out: bytearray) -> int:
        for field in fields:
            at = field(data, at, out)
        return at

    return copy


def _union(branches: list[Copy]) -> Copy:
    def copy(data: bytes, at: int, out: bytearray) -> int:
        branch, after = long(data, at)
        out += data[at:after]
        return branches[branch](data, after, out)

    return copy


def _array(item: Copy) -> Copy:
    def copy(data: bytes, at: int, out: bytearray) -> int:
        while True:
            count, at = long(data, at)
            if count < 0:  # then its size in bytes follows, which may change and is optional
                _, at = long(data, at)
            out += packed(abs(count))
            for _ in range(abs(count)):
                at = item(data, at, out)
            if count == 0:
                return at

    return copy


def _skip(size: int) -> Copy:
    def copy(data: bytes, at: int, out: bytearray) -> int:
        out += data[at : at + size]
        return at + size

    return copy


def _number(change: Change | None) -> Copy:
    def copy(data: bytes, at: int, out: bytearray) -> int:
        value, after = long(data, at)
        out += data[at:after] if change is None else packed(change(value))
        return after

    return copy


def _text(change: Change | None) -> Copy:
    def copy(data: bytes, at: int, out: bytearray) -> int:
        value, after = sized(data, at)
        changed = value if change is None else change(value.decode()).encode()
        out += packed(len(changed)) + changed
        return after

    return copy


def long(data: bytes, at: int) -> tuple[int, int]:
    """A number, and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at


def sized(data: bytes, at: int) -> tuple[bytes, int]:
    """Length-prefixed bytes, and the offset after them."""
    size, at = long(data, at)
    if size < 0 or at + size > len(data):
        raise ValueError("an Avro value is longer than its file")
    return data[at : at + size], at + size


def packed(value: int) -> bytes:
    """A number in Avro's encoding."""
    number, out = (value << 1) ^ (value >> 63), bytearray()
    while number > 0x7F:
        out.append((number & 0x7F) | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
