"""Changing single values of an Avro file; all other bytes are copied as they are.

Manifests contain much that need not be understood here: bounds, metrics, keys, partition values of
any type. So only the requested values are decoded, and the schema and the other headers are kept
exactly.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping

from lakebed.engines.iceberg.avro.values import Change, Copy, Path, copier, long, packed, sized

_MAGIC, _SYNC, _CODEC, _SCHEMA = b"Obj\x01", 16, "avro.codec", "avro.schema"


def rewrite(data: bytes, changes: Mapping[Path, Change]) -> bytes:
    """The file with the strings and numbers at these field paths changed; `ValueError` for bytes
    that are not Avro.
    """
    meta, at = _header(data)
    copy = copier(json.loads(meta[_SCHEMA]), (), changes, {})
    codec = meta.get(_CODEC, b"null").decode()
    unpack, meta[_CODEC] = _unpacking(codec), b"null" if codec == "null" else b"deflate"
    sync = data[at : at + _SYNC]
    out = bytearray(_MAGIC + _packed_map(meta) + sync)
    for count, body in _blocks(data, at, unpack):
        block = _copied(count, body, copy)
        block = block if unpack is _as_is else _deflated(block)
        out += packed(count) + packed(len(block)) + block + sync
    return bytes(out)


def read_blocks(data: bytes) -> tuple[dict[str, bytes], Iterator[tuple[int, bytes]]]:
    """The headers, and for each block its number of values and their bytes; `ValueError` for bytes
    that are not Avro.
    """
    meta, at = _header(data)
    return meta, _blocks(data, at, _unpacking(meta.get(_CODEC, b"null").decode()))


def _blocks(data: bytes, at: int, unpack: Callable[[bytes], bytes]) -> Iterator[tuple[int, bytes]]:
    sync = data[at : at + _SYNC]
    at += _SYNC
    while at < len(data):
        count, at = long(data, at)
        size, at = long(data, at)
        if size < 0 or data[at + size : at + size + _SYNC] != sync:
            raise ValueError("an Avro block does not end where it should")
        yield count, unpack(data[at : at + size])
        at += size + _SYNC


def _copied(count: int, body: bytes, copy: Copy) -> bytes:
    made, place = bytearray(), 0
    for _ in range(count):
        place = copy(body, place, made)
    if place != len(body):
        raise ValueError("an Avro block holds more than its schema says")
    return bytes(made)


def _header(data: bytes) -> tuple[dict[str, bytes], int]:
    if not data.startswith(_MAGIC):
        raise ValueError("it is no Avro file")
    meta: dict[str, bytes] = {}
    at = len(_MAGIC)
    while True:
        count, at = long(data, at)
        if count < 0:
            _, at = long(data, at)
        for _ in range(abs(count)):
            key, at = sized(data, at)
            meta[key.decode()], at = sized(data, at)
        if count == 0:
            return meta, at


def _packed_map(meta: Mapping[str, bytes]) -> bytes:
    items = (
        packed(len(key.encode())) + key.encode() + packed(len(value)) + value
        for key, value in meta.items()
    )
    return packed(len(meta)) + b"".join(items) + packed(0)


def _unpacking(codec: str) -> Callable[[bytes], bytes]:
    known = {"null": _as_is, "deflate": _inflated, "zstandard": _unzstd}
    if codec not in known:
        raise ValueError(f"the Avro codec {codec} is not known here")
    return known[codec]


def _as_is(data: bytes) -> bytes:
    return data


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompress(data, -zlib.MAX_WBITS)
    except zlib.error as error:
        raise ValueError(str(error)) from error


def _unzstd(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        unpacked: bytes = stream.read()
    return unpacked


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()
