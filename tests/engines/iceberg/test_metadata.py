"""Metadata read as plain JSON says what PyIceberg says."""

import json
from pathlib import Path

import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform
from pyiceberg.types import (
    DecimalType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)

from lakebed.engines.iceberg.metadata.parsing import read_metadata
from lakebed.engines.iceberg.metadata.reading import MetadataReader
from lakebed.errors import DamagedTable
from lakebed.names import TableName
from lakebed.ports import ColumnAlias, Pointer
from tests.support.benches import sqlite_bench

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="the key"),
    NestedField(2, "price", DecimalType(12, 2)),
    NestedField(3, "tags", ListType(10, StringType())),
    NestedField(4, "extra", MapType(11, StringType(), 12, LongType())),
    NestedField(5, "place", StructType(NestedField(13, "city", StringType()))),
    NestedField(6, "at", TimestamptzType()),
)
SPEC = PartitionSpec(
    PartitionField(6, 1000, DayTransform(), "day"),
    PartitionField(1, 1001, BucketTransform(8), "bucket"),
    PartitionField(2, 1002, IdentityTransform(), "price"),
)


def test_columns_layout_and_snapshots_are_read(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    bench.catalog.create_namespace("shop", "silver")
    location = bench.root.at("shop/warehouse/silver/t")
    down = SortField(
        2, IdentityTransform(), direction=SortDirection.DESC, null_order=NullOrder.NULLS_FIRST
    )
    order = SortOrder(SortField(1, IdentityTransform()), down)
    made = bench.iceberg.create_table(
        ("shop", "silver", "t"), SCHEMA, location=location, partition_spec=SPEC, sort_order=order
    )
    found = read_metadata(json.loads(made.metadata.model_dump_json()))
    assert [
        (column.name, column.type, column.required, column.doc) for column in found.columns
    ] == [
        ("id", "long", True, "the key"),
        ("price", "decimal(12, 2)", False, ""),
        ("tags", "list<string>", False, ""),
        ("extra", "map<string, long>", False, ""),
        ("place", "struct<city: string>", False, ""),
        ("at", "timestamptz", False, ""),
    ]
    assert found.partition_by == ("day(at)", "bucket(8, id)", "price")
    assert found.sort_by == ("id asc", "price desc nulls first")
    assert found.head() is None
    bench.close()


def test_snapshots_agree_with_pyiceberg(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    table = bench.table("orders")
    bench.write(table, [1, 2])
    bench.write(table, [3], branch="run_1")
    theirs = bench.iceberg.load_table(table.parts)
    ours = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    assert set(ours.snapshots) == {snapshot.snapshot_id for snapshot in theirs.snapshots()}
    assert {name: ref.snapshot for name, ref in ours.refs.items()} == {
        name: ref.snapshot_id for name, ref in theirs.metadata.refs.items()
    }
    head = ours.head()
    assert head is not None
    assert (head.operation, head.count("total-records"), head.count("nothing")) == (
        "append",
        2,
        None,
    )
    assert ours.uuid == str(theirs.metadata.table_uuid)
    bench.close()


@pytest.mark.parametrize("content", [None, b"", b"{", b"{}", b"[1]", b"\x1f\x8bnonsense"])
def test_a_damaged_file_is_told_with_table_and_place(tmp_path: Path, content: bytes | None) -> None:
    bench = sqlite_bench(tmp_path)
    reader = MetadataReader(bench.root, bench.stores.files, bench.settings.files)
    if content is not None:
        (tmp_path / "m.json").write_bytes(content)
    pointer = Pointer(TableName.parse("shop.silver.orders"), bench.root.at("m.json"))
    with pytest.raises(DamagedTable, match=r"shop\.silver\.orders"):
        reader.read([pointer])
    bench.close()


def test_a_snapshot_of_former_columns_tells_what_the_present_ones_were(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    table = bench.table("orders")
    bench.write(table, [1])
    loaded = bench.iceberg.load_table(table.parts)
    with loaded.update_schema() as schema:
        schema.rename_column("id", "key").add_column("note", StringType())
    found = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    head = found.head()
    assert head
    assert found.aliases_at(head.id) == (
        ColumnAlias("key", "id"),
    )  # note is not shown: a run may have added it, and fail
    assert found.aliases_at(None) == ()
    bench.close()
