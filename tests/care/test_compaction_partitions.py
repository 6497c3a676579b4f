"""Which files are worth a rewrite is decided by their partitions, whatever folders they are in."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.settings import Root
from tests.support.lakes.care_lakes import CareLake
from tests.support.tables import new_location

if TYPE_CHECKING:
    from pyiceberg.table import Table

FEW = 5  # the least that Iceberg makes one of


@pytest.fixture
def few(tmp_path: Path) -> Iterator[CareLake]:
    """A lake that compacts tables of five small files."""
    cared = CareLake(Root.parse(tmp_path / "lake"), settings={"care": {"compact_min_files": FEW}})
    yield cared
    cared.lake.close()


def parted(cared: CareLake, **properties: str) -> "Table":
    """A table partitioned by a text, as PyIceberg makes it."""
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import LongType, NestedField, StringType

    name = cared.name("silver.orders")
    return cared.lake.iceberg.create_table(
        name.parts,
        Schema(NestedField(1, "id", LongType()), NestedField(2, "part", StringType())),
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part")),
        location=new_location(cared.lake, name),
        properties=properties,
    )


def rows(*parts: str | None) -> pa.Table:
    ids = pa.array(range(len(parts)), pa.int64())
    return pa.table({"id": ids, "part": pa.array(parts, pa.string())})


def due(cared: CareLake) -> list[Any]:
    """The small files that care would rewrite."""
    found = cared.care(only=["compact_files"], dry_run=True).entries
    return [entry.counts["small files"] for entry in found]


def test_small_files_in_hashed_folders_are_compacted(few: CareLake) -> None:
    table = parted(few, **{"write.object-storage.enabled": "true"})
    for _ in range(FEW):
        assert due(few) == []
        table.append(rows("a", "b"))
    folders = {path.rpartition("/")[0] for path in few.files() if path.endswith(".parquet")}
    assert len(folders) == 2 * FEW
    assert due(few) == [2 * FEW]


def test_files_of_many_partitions_in_one_folder_do_not_make_care_start_spark_for_nothing(
    few: CareLake,
) -> None:
    table, folder = parted(few), few.folder / "shop/landing/taken_up"
    folder.mkdir(parents=True)
    for number in range(2 * FEW):
        pq.write_table(rows(f"part {number}"), folder / f"{number}.parquet")
    table.add_files([f"file://{file}" for file in sorted(folder.iterdir())])
    assert due(few) == []


def test_files_of_a_former_partitioning_are_compacted_together(few: CareLake) -> None:
    table = parted(few)
    table.append(rows(*"abcd"))
    table.append(rows(None))
    assert due(few) == []
    with table.update_spec() as update:
        update.add_identity("id")
    assert due(few) == [FEW]
    few.lake.stores.catalog.clone(
        few.lake.stores.catalog.pointers([few.name("silver.orders")])[few.name("silver.orders")],
        few.name("silver.copy"),
        snapshot=few.meta("silver.orders").refs["main"].snapshot,
        location=few.lake.root.at("shop/warehouse/silver/copy"),
    )
    assert due(few) == [FEW, FEW]
