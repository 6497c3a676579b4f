"""What a file is created from: bytes, or a stream of which only a part is in memory at a time."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO

Content = bytes | Iterable[bytes] | BinaryIO

_READ_AT_ONCE = 1024 * 1024


def chunks(data: Content) -> Iterator[bytes]:
    """The bytes in pieces: a binary file is read in pieces too, not by lines."""
    if isinstance(data, bytes | bytearray | memoryview):
        yield bytes(data)
    elif hasattr(data, "read"):
        while piece := data.read(_READ_AT_ONCE):
            yield piece
    else:
        yield from data


def in_parts(data: Content, size: int) -> Iterator[bytes]:
    """The bytes in parts of one size; only the last part is shorter, and it may be empty."""
    part = bytearray()
    for chunk in chunks(data):
        rest = memoryview(chunk)
        while len(part) + len(rest) >= size:
            taken = size - len(part)
            part += rest[:taken]
            yield _taken(part)
            rest = rest[taken:]
        part += rest
    yield _taken(part)


def _taken(part: bytearray) -> bytes:
    """The bytes, which are kept by nobody else while they are used."""
    data = bytes(part)
    part.clear()
    return data
