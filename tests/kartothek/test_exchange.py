"""Tables exported to datasets: only what changed, in one commit, and never over others' rows."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from lakebed.app import Lake
from lakebed.errors import BadBatch, NameTaken, UnknownName, UsageError
from lakebed.kartothek import collect_garbage, copy, load_state, read_table, store, update, verify
from lakebed.names import TableName
from lakebed.ports.files.files import Files
from lakebed.testing.files import MemoryFiles
from tests.support.benches import RealBench
from tests.support.lakes.query_lakes import SCHEMA, add_table, bench_of, make_lake, random_rows

ROWS = pa.schema([("id", pa.int64()), ("country", pa.string())])


def part(*ids: int) -> Any:
    return pa.table({"id": list(ids), "country": ["DE" if i % 2 else "FR" for i in ids]}, ROWS)


class Exchange:
    """A lake with a table of two files, and a location beside it."""

    def __init__(self, folder: Path) -> None:
        self.lake: Lake = make_lake(folder / "lake")
        self.bench: RealBench = bench_of(self.lake)
        self.table: TableName = add_table(self.bench, "t", [part(1, 2), part(3)], schema=ROWS)
        self.address = f"{folder}/exports/d"
        self.files: Files = self.lake.kartothek.files(f"{folder}/exports")

    @property
    def iceberg(self) -> Any:
        return self.bench.iceberg.load_table(self.table.parts)

    def export(self, **options: Any) -> Any:
        return self.lake.kartothek.export_table("t", self.address, **options)

    def ids(self, predicates: Any = None) -> list[int]:
        return sorted(read_table(self.files, "d", predicates=predicates)["id"].to_pylist())

    def protected(self) -> set[int]:
        return {one.snapshot for one in self.lake.stores.events.protected()}

    @property
    def head(self) -> int:
        found = self.iceberg.current_snapshot()
        assert found is not None
        return int(found.snapshot_id)


@pytest.fixture
def exchange(tmp_path: Path) -> Iterator[Exchange]:
    made = Exchange(tmp_path)
    yield made
    made.lake.close()


def test_an_export_writes_what_changed_and_protects_what_it_exported(exchange: Exchange) -> None:
    first = exchange.export(partition_by=["country"], index=["id"])
    assert (first.files_read, first.partitions, first.anew) == (2, 3, "")
    assert exchange.ids() == [1, 2, 3]
    assert exchange.ids([[("id", "==", 3)]]) == [3]
    assert exchange.protected() == {exchange.head}
    before = load_state(exchange.files, "d").partitions.keys()

    exchange.iceberg.append(part(4))
    second = exchange.export()
    assert (second.files_read, second.partitions_added, second.partitions_removed) == (1, 1, 0)
    assert before < load_state(exchange.files, "d").partitions.keys()
    assert exchange.ids([[("id", ">=", 3)]]) == [3, 4]
    assert exchange.protected() == {exchange.head}

    exchange.iceberg.delete("id = 1")  # rewrites the file of 1 and 2
    third = exchange.export()
    assert (third.files_read, third.anew) == (1, "")
    assert exchange.ids() == [2, 3, 4]
    assert exchange.export().files_read == 0
    collect_garbage(exchange.files, "d", older_than=timedelta(0))
    exchange.iceberg.append(part(5))
    assert exchange.export().files_read == 1
    assert not [one for one in verify(exchange.files, "d", full=True) if one.level == "problem"]
    follower = exchange.lake.followers.list()[0]
    assert (follower.registered, follower.protected_snapshots) == (True, 1)


def test_after_a_rewrite_or_without_its_record_a_table_is_exported_anew(exchange: Exchange) -> None:
    exchange.export()
    exchange.iceberg.overwrite(part(1, 2, 3))  # as compaction does
    again = exchange.export()
    assert "no file of the last export is left" in again.anew
    assert exchange.ids() == [1, 2, 3]
    exchange.files.delete(load_state(exchange.files, "d").metadata["lakebed.export"])
    assert "record of the last export is lost" in exchange.export().anew
    with exchange.iceberg.update_schema() as change:
        change.add_column("note", _text())
    assert "columns of the table have changed" in exchange.export().anew
    assert read_table(exchange.files, "d")["note"].null_count == 3


def _text() -> Any:
    from pyiceberg.types import StringType

    return StringType()


def test_rows_of_others_are_never_replaced_unasked(exchange: Exchange) -> None:
    store(exchange.files, "d", part(9))
    with pytest.raises(NameTaken, match="not an export"):
        exchange.export()
    assert exchange.ids() == [9]
    assert exchange.protected() == set()
    assert exchange.export(anew=True).anew == "as requested"
    update(exchange.files, "d", part(9))
    exchange.iceberg.append(part(4))
    with pytest.raises(NameTaken, match="changed by others"):
        exchange.export()
    assert exchange.ids() == [1, 2, 3, 9]
    add_table(exchange.bench, "other", [part(7)], schema=ROWS)
    with pytest.raises(NameTaken, match="another table"):
        exchange.lake.kartothek.export_table("other", exchange.address)
    exchange.export(anew=True)
    assert exchange.ids() == [1, 2, 3, 4]


def test_a_failed_export_leaves_the_dataset_and_its_folder_as_they_were(
    exchange: Exchange,
) -> None:
    exchange.export()
    paths = {info.path for info in exchange.files.list()}
    exchange.iceberg.append(pa.table({"id": [5], "country": [None]}, ROWS))
    with pytest.raises(UsageError, match="partition keys"):
        exchange.export(partition_by=["id"])
    with pytest.raises(BadBatch, match="without a value"):
        exchange.export(partition_by=["country"], anew=True)
    with pytest.raises(UnknownName, match="large_string"):
        exchange.export(string_profile="large-string")
    assert {info.path for info in exchange.files.list()} == paths
    assert exchange.ids() == [1, 2, 3]


def test_every_type_is_exported_and_what_plateau_misreads_is_named(exchange: Exchange) -> None:
    import random

    rows = random_rows(random.Random(7), 40, around=3)
    add_table(exchange.bench, "wide", [rows], schema=SCHEMA)
    result = exchange.lake.kartothek.export_table("wide", exchange.address, index=["id"])
    found = read_table(exchange.files, "d").select(rows.column_names)
    key = [("id", "ascending"), ("n", "ascending"), ("at", "ascending"), ("atz", "ascending")]
    mine = [repr(row) for row in found.sort_by(key).to_pylist()]
    assert sorted(mine) == sorted(repr(row) for row in rows.to_pylist())
    said = " ".join(result.warnings)
    assert "'m'" in said
    assert "'atz'" in said


def test_uuids_are_exported_as_text_and_fixed_bytes_as_binary(exchange: Exchange) -> None:
    uuid = UUID(int=7)
    stored = pa.array([uuid.bytes, None], pa.binary(16))
    rows = pa.table(
        {
            "u": pa.ExtensionArray.from_storage(pa.uuid(), stored),
            "f": pa.array([b"abcd", None], pa.binary(4)),
        }
    )
    add_table(exchange.bench, "odd", [rows], schema=rows.schema)
    result = exchange.lake.kartothek.export_table("odd", exchange.address, index=["u"])
    found = read_table(exchange.files, "d", predicates=[[("u", "==", str(uuid))]])
    assert found.to_pylist() == [{"f": b"abcd", "u": str(uuid)}]
    assert read_table(exchange.files, "d").num_rows == 2
    assert len(result.warnings) == 2
    assert "'u' is of type uuid and was exported as text" in result.warnings[0]
    assert "'f' is of type fixed[4] and was exported as binary" in result.warnings[1]


def test_a_copy_of_an_export_is_a_dataset_of_its_own(exchange: Exchange) -> None:
    exchange.export()
    assert "lakebed.export" not in copy(exchange.files, "d", to=MemoryFiles()).metadata
