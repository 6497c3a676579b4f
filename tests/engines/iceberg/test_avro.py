"""Avro files with single values changed: everything else is as it was."""

import io
import json
import pathlib
import zlib
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.avro.file import AvroFile
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    UUIDType,
)

from lakebed.engines.iceberg.avro.rewriting import rewrite
from lakebed.engines.iceberg.avro.values import Change, Path, long, packed
from tests.support.benches import sqlite_bench

_PATH = ("data_file", "file_path")


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_packed_as_avro_does(value: int) -> None:
    data = packed(value)
    assert long(data, 0) == (value, len(data))


def container(schema: object, codec: str, *blocks: tuple[int, bytes]) -> bytes:
    """An Avro file by hand."""
    meta = {
        "avro.schema": json.dumps(schema).encode(),
        "avro.codec": codec.encode(),
        "kept": b"\x00\xff",
    }
    out, sync = io.BytesIO(), bytes(range(16))
    out.write(b"Obj\x01" + packed(len(meta)))
    for key, value in meta.items():
        out.write(packed(len(key)) + key.encode() + packed(len(value)) + value)
    out.write(packed(0) + sync)
    for count, body in blocks:
        data = (
            body
            if codec == "null"
            else _deflate(body)
            if codec == "deflate"
            else bytes(pa.compress(body, codec="zstd", asbytes=True))
        )
        out.write(packed(count) + packed(len(data)) + data + sync)
    return out.getvalue()


def _deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def text(value: str) -> bytes:
    return packed(len(value.encode())) + value.encode()


SCHEMA = {
    "type": "record",
    "name": "entry",
    "fields": [
        {"name": "path", "type": "string"},
        {"name": "size", "type": "long"},
        {"name": "maybe", "type": ["null", "string"], "default": None},
        {
            "name": "inner",
            "type": {
                "type": "record",
                "name": "r2",
                "fields": [{"name": "path", "type": "string"}],
            },
        },
        {"name": "again", "type": ["null", "r2"]},
        {"name": "list", "type": {"type": "array", "items": {"type": "map", "values": "bytes"}}},
        {"name": "rest", "type": {"type": "fixed", "name": "f", "size": 3}},
        {"name": "kind", "type": {"type": "enum", "name": "e", "symbols": ["A", "B"]}},
        {"name": "numbers", "type": ["null", "double", "float", "boolean"]},
    ],
}


def entry(path: str, size: int, *, sized: bool) -> bytes:
    """`sized`: blocks of an array may come with their size in bytes."""
    inside = packed(1) + text("k") + text("\x00v") + packed(0)
    items = packed(-1) + packed(len(inside)) + inside if sized else packed(1) + inside
    parts = (
        text(path),
        packed(size),
        packed(1),
        text(path),
        text(path),
        packed(1),
        text(path),
        items,
        packed(0),
    )
    return b"".join((*parts, b"abc", packed(1), packed(1), b"12345678"))


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard"])
def test_only_what_is_asked_for_changes(codec: str) -> None:
    data = container(
        SCHEMA,
        codec,
        (2, entry("/old/a", 1, sized=True) + entry("/old/ü", 2, sized=False)),
        (1, entry("", -7, sized=True)),
    )
    changes: dict[Path, Change] = {
        ("path",): lambda path: path.replace("/old", "/new place"),
        ("size",): lambda size: size + 300,
        ("maybe",): str.upper,
    }
    made = rewrite(data, changes)
    seen: dict[str, list[object]] = {"path": [], "size": [], "maybe": [], "inner": []}

    def note(key: str) -> Change:
        def noting(value: object) -> object:
            seen[key].append(value)
            return value

        return noting

    paths: dict[Path, str] = {
        ("path",): "path",
        ("size",): "size",
        ("maybe",): "maybe",
        ("inner", "path"): "inner",
    }
    again = rewrite(made, {path: note(key) for path, key in paths.items()})
    assert again == made
    assert seen == {
        "path": ["/new place/a", "/new place/ü", ""],
        "size": [301, 302, 293],
        "maybe": ["/OLD/A", "/OLD/Ü", ""],
        "inner": ["/old/a", "/old/ü", ""],
    }
    assert b"kept" in made


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-5],
        lambda data: data[:40],
        lambda data: b"PAR1",
        lambda data: data[:-20] + data[-16:],
    ],
)
def test_what_is_no_whole_avro_file_is_refused(damage: object) -> None:
    data = container(SCHEMA, "deflate", (1, entry("/old/a", 1, sized=False)))
    with pytest.raises((ValueError, IndexError, KeyError)):
        rewrite(damage(data), {})  # type: ignore[operator]


def test_a_codec_that_is_not_known_is_said() -> None:
    with pytest.raises(ValueError, match="snappy"):
        rewrite(container(SCHEMA, "snappy"), {})


def test_a_manifest_of_every_type_keeps_all_it_says(tmp_path: pathlib.Path) -> None:
    bench = sqlite_bench(tmp_path)
    kinds = [
        LongType(),
        StringType(),
        DateType(),
        TimestampType(),
        DecimalType(20, 3),
        BooleanType(),
        DoubleType(),
        BinaryType(),
        UUIDType(),
    ]
    schema = Schema(
        *(NestedField(number, f"c{number}", kind) for number, kind in enumerate(kinds, 1))
    )
    spec = PartitionSpec(
        *(PartitionField(n, 1000 + n, IdentityTransform(), f"p{n}") for n in range(1, 6))
    )
    bench.catalog.create_namespace("shop", "silver")
    table = bench.iceberg.create_table(
        ("shop", "silver", "all"), schema, location=bench.root.at("t"), partition_spec=spec
    )
    row = (
        7,
        "ünï",
        date(1583, 1, 1),
        datetime(1, 1, 1),  # noqa: DTZ001
        Decimal("-99999999999999999.999"),
        True,
        float("inf"),
        b"\x00",
        UUID(int=1).bytes,
    )
    arrow = pa.table(
        {f"c{n}": [value, None] for n, value in enumerate(row, 1)}, schema=schema.as_arrow()
    )
    table.append(arrow)
    snapshot = table.current_snapshot()
    assert snapshot
    for manifest in snapshot.manifests(table.io):
        data = pathlib.Path(manifest.manifest_path.removeprefix("file://")).read_bytes()
        made = rewrite(data, {_PATH: lambda path: f"/elsewhere/{path.rsplit('/', 1)[-1]}"})
        (tmp_path / "made.avro").write_bytes(made)
        before, after = (
            _entries(manifest, manifest.manifest_path),
            _entries(manifest, str(tmp_path / "made.avro")),
        )
        assert [one[2:] for one in before] == [one[2:] for one in after]
        assert all(str(one[1]).startswith("/elsewhere/") for one in after)
        header, header_after = _header(manifest.manifest_path), _header(str(tmp_path / "made.avro"))
        assert header == header_after
    bench.close()


def _entries(manifest: ManifestFile, place: str) -> list[tuple[object, ...]]:
    moved = ManifestFile.from_args(
        **{
            name: getattr(manifest, name)
            for name in ("manifest_length", "partition_spec_id", "content", "sequence_number")
        },
        manifest_path=place,
        min_sequence_number=manifest.min_sequence_number,
        added_snapshot_id=manifest.added_snapshot_id,
    )
    entries = moved.fetch_manifest_entry(PyArrowFileIO(), discard_deleted=False)
    return [
        (
            entry.status,
            entry.data_file.file_path,
            entry.snapshot_id,
            *list(entry.data_file._data)[2:],
        )
        for entry in entries
    ]


def _header(place: str) -> dict[str, str]:
    file: AvroFile[Any] = AvroFile(PyArrowFileIO().new_input(place))
    with file:
        return dict(file.header.meta)
