"""What a plan tells of a file: bytes of its columns, and values that all its rows have."""

import marshal
import pickle
import random
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg import transforms as t
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.table import FileScanTask, Table

from lakebed.engines.iceberg.metadata.outlines import MetadataOutline
from lakebed.engines.iceberg.scan.file_values import FileValues
from lakebed.engines.iceberg.scan.manifests import _constants
from lakebed.names import TableName
from lakebed.ports import Pointer, ScanFile
from lakebed.settings import normalized_location
from tests.support.benches import RealBench, sqlite_bench
from tests.support.lakes.iceberg_histories import grow, transforming
from tests.support.scale import SCALE

EXACT = ("int", "long", "string", "boolean", "date", "decimal")


def planned(bench: RealBench, pointer: Pointer, table: Table) -> dict[str, ScanFile]:
    head = table.current_snapshot()
    assert head is not None
    scan = bench.stores.scans.plan(pointer, snapshot=head.snapshot_id)
    return {file.location: file for file in scan.files}


def rows_of(table: Table, task: FileScanTask) -> pa.Table:
    scan = table.scan()
    return ArrowScan(table.metadata, table.io, table.schema(), scan.row_filter).to_table([task])


@pytest.mark.parametrize("seed", range(100, 100 + 8 * SCALE))
def test_every_value_is_what_readers_see_in_every_row(tmp_path: Path, seed: int) -> None:
    bench = sqlite_bench(tmp_path)
    pointer, table = grow(random.Random(seed), bench, "grown")
    names = {field.field_id: field.name for field in table.schema().fields}
    files, told = planned(bench, pointer, table), 0
    for task in table.scan().plan_files():
        file, seen = files[normalized_location(task.file.file_path)], rows_of(table, task)
        assert dict(file.column_sizes) == dict(task.file.column_sizes or {})
        for (column, transform), value in file.partition.items():
            if transform == "identity" and column in names:
                assert set(seen[names[column]].to_pylist()) == {value}
                told += 1
        assert _missing(table, task) - set(file.partition) == set()
    assert told
    bench.close()


def _missing(table: Table, task: FileScanTask) -> set[tuple[int, str]]:
    """The partition fields that must be there."""
    spec = table.specs()[task.file.spec_id]
    types = {field.field_id: str(field.field_type) for field in table.schema().fields}
    return {
        (field.source_id, str(field.transform))
        for field in spec.fields
        if not isinstance(field.transform, t.VoidTransform)
        and types.get(field.source_id, "").partition("(")[0] in EXACT
    }


def one_file(
    bench: RealBench, rows: pa.Table, *, by: Mapping[str, Any], **properties: str
) -> ScanFile:
    name = TableName(bench.namespace, "silver", "one")
    bench.catalog.create_namespace(name.namespace, name.layer)
    table = bench.iceberg.create_table(
        name.parts, rows.schema, location=bench.root.at(name.folder), properties=properties
    )
    with table.update_spec() as update:
        for column, transform in by.items():
            update.add_field(column, transform, f"p_{column}")
    with transforming():
        table.append(rows)
    (file,) = planned(bench, Pointer(name, table.metadata_location), table).values()
    return file


def test_transforms_are_told_by_iceberg_s_own_numbers_and_others_left_out(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    day = date(2020, 1, 2)
    rows = pa.table(
        {
            "a": pa.array([None, None], pa.int64()),
            "b": pa.array(["text longer than what bounds hold"] * 2),
            "c": pa.array([day] * 2),
            "d": pa.array([Decimal("12345678901234567890123456789012.34")] * 2),
            "e": pa.array([1.5] * 2),
            "f": pa.array([7, 8], pa.int64()),
        }
    )
    by: dict[str, t.Transform[Any, Any]] = {
        "a": t.IdentityTransform(),
        "b": t.TruncateTransform(4),
        "c": t.DayTransform(),
        "d": t.IdentityTransform(),
        "e": t.IdentityTransform(),
        "f": t.BucketTransform(1),
    }
    file = one_file(bench, rows, by=by)
    assert file.partition == {
        (1, "identity"): None,
        (2, "truncate[4]"): "text",
        (3, "day"): (day - date(1970, 1, 1)).days,
        (3, "identity"): day,
        (4, "identity"): Decimal("12345678901234567890123456789012.34"),
        (6, "bucket[1]"): 0,
    }
    bench.close()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["short"] * 2, True),
        (["fifteen bytes.."] * 2, True),
        (["sixteen bytes..."] * 2, False),
        (["longer than sixteen, a"] * 2, False),
        (["longer than sixteen, a", "longer than sixteen, b"], False),
        (["short", None], False),
        ([None, None], False),
        (["a", "b"], False),
        (["é" * 7] * 2, True),
        (["é" * 8] * 2, False),
    ],
)
def test_a_column_without_a_partition_field_is_told_only_if_bounds_are_certain(
    tmp_path: Path, values: list[str | None], told: bool
) -> None:
    bench = sqlite_bench(tmp_path)
    file = one_file(bench, pa.table({"s": pa.array(values, pa.string())}), by={})
    assert file.partition == ({(1, "identity"): values[0]} if told else {})
    bench.close()


@pytest.mark.parametrize("cut", [1, 2])
def test_bounds_that_were_cut_differ_and_so_tell_nothing(tmp_path: Path, cut: int) -> None:
    bench = sqlite_bench(tmp_path)
    kept = {"write.metadata.metrics.default": f"truncate({cut})"}
    file = one_file(bench, pa.table({"s": ["abc", "abc"]}), by={}, **kept)
    assert file.partition == {}
    bench.close()


FIVE = {1: (5).to_bytes(8, "little")}
CERTAIN = {
    "record_count": 2,
    "lower_bounds": FIVE,
    "upper_bounds": FIVE,
    "value_counts": {1: 2},
    "null_value_counts": {1: 0},
}


@pytest.mark.parametrize(
    "doubt",
    [
        {"value_counts": None},
        {"value_counts": {1: 1}},
        {"null_value_counts": None},
        {"null_value_counts": {1: 1}},
        {"upper_bounds": None},
        {"upper_bounds": {1: (6).to_bytes(8, "little")}},
        {"content": 2},  # an equality delete file: rows of other values may be meant
    ],
)
def test_without_equal_bounds_and_counts_of_a_data_file_nothing_is_certain(
    doubt: dict[str, object],
) -> None:
    assert _constants(CERTAIN) == FIVE
    assert _constants(CERTAIN | doubt) == {}


def test_a_planned_file_is_equal_hashed_shown_and_pickled_like_any(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    pointer, table = grow(random.Random(1), bench, "grown")
    head = table.current_snapshot()
    assert head is not None
    one, two = (bench.stores.scans.plan(pointer, snapshot=head.snapshot_id) for _ in range(2))
    assert one.files[0].partition is one.files[0].partition  # made once
    assert one == two
    assert hash(one.files) == hash(two.files)
    sent = pickle.loads(pickle.dumps(one))
    assert sent == one
    assert [dict(file.partition) for file in sent.files] == [file.partition for file in one.files]
    assert "partition" not in repr(one.files[0])
    bench.close()


def values_of(type_: object, transform: str, stored: object) -> Mapping[tuple[int, str], object]:
    fields = [{"id": 1, "name": "x", "type": type_, "required": False}]
    spec = [{"source-id": 1, "field-id": 1000, "transform": transform, "name": "p"}]
    outline = MetadataOutline(0, {0: fields}, {0: spec}, {}, False)
    return FileValues(outline, 0).of({1000: stored}, marshal.dumps(({}, {})))


@pytest.mark.parametrize(
    ("type_", "transform", "stored", "told"),
    [
        ("date", "identity", 18_262, date(2020, 1, 1)),
        ("date", "identity", None, None),
        ("decimal(9, 2)", "identity", b"\xfb\x2e", Decimal("-12.34")),
        ("decimal(9,2)", "truncate[10]", b"\x04\xd2", Decimal("12.34")),
        ("timestamptz", "hour", -5, -5),
        ("boolean", "identity", False, False),
    ],
)
def test_values_as_stored_become_python_s(
    type_: str, transform: str, stored: object, told: object
) -> None:
    assert values_of(type_, transform, stored) == {(1, transform): told}


@pytest.mark.parametrize(
    ("type_", "transform", "stored"),
    [
        ("date", "identity", 10_000_000),  # beyond Python's calendar
        ("timestamp", "identity", 5),
        ("double", "identity", 0.5),
        ("uuid", "identity", b"\x00" * 16),
        ("binary", "truncate[2]", b"ab"),
        ("int", "void", None),
        ("int", "unheard-of", 3),
        ("string", "identity", 3),
        ({"type": "struct", "fields": []}, "identity", 3),
    ],
)
def test_what_cannot_be_given_exactly_is_left_out(
    type_: object, transform: str, stored: object
) -> None:
    assert values_of(type_, transform, stored) == {}
