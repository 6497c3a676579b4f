"""Whether amendments were committed, as the table's metadata files tell after a crash."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.engines.iceberg.metadata.effect import took_effect
from lakebed.names import TableName
from lakebed.ports import MAIN, Amendment, RemoveRef, RemoveSnapshots, SetProperties, SetRef
from tests.support.benches import RealBench, sqlite_bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RealBench]:
    bench = sqlite_bench(tmp_path / "lake")
    yield bench
    bench.close()


def prepared(bench: RealBench) -> tuple[TableName, list[int], str]:
    """A table with three snapshots and a tag; and its metadata file."""
    table = bench.table("orders")
    for row in range(3):
        bench.write(table, [row])
    loaded = bench.iceberg.load_table(table.parts)
    numbers = [snapshot.snapshot_id for snapshot in loaded.snapshots()]
    loaded.manage_snapshots().create_tag(numbers[1], "kept").commit()
    return table, numbers, bench.iceberg.load_table(table.parts).metadata_location


def amendments_of(numbers: list[int]) -> dict[str, tuple[Amendment, ...]]:
    return {
        "rollback": (SetRef(MAIN, numbers[1]),),
        "tag": (SetRef("q1", numbers[0], "tag"),),
        "untag": (RemoveRef("kept"),),
        "expire": (RemoveSnapshots((numbers[0],)),),
        "properties": (SetProperties({"a": "1"}),),
    }


@pytest.mark.parametrize("what", amendments_of([0, 0]))
def test_an_amendment_is_seen_though_others_have_committed_after_it(
    bench: RealBench, what: str
) -> None:
    table, numbers, before = prepared(bench)
    amendments = amendments_of(numbers)[what]
    assert not took_effect(bench.iceberg.load_table(table.parts), amendments, since=before)
    bench.catalog.amend(table, amendments)
    assert took_effect(bench.iceberg.load_table(table.parts), amendments, since=before)
    bench.write(table, [8])
    bench.write(table, [9])
    assert took_effect(bench.iceberg.load_table(table.parts), amendments, since=before)


@pytest.mark.parametrize("what", amendments_of([0, 0]))
def test_an_amendment_that_was_not_made_is_not_taken_for_a_commit_of_others(
    bench: RealBench, what: str
) -> None:
    table, numbers, before = prepared(bench)
    bench.write(table, [8])
    bench.write(table, [9])
    loaded = bench.iceberg.load_table(table.parts)
    assert not took_effect(loaded, amendments_of(numbers)[what], since=before)


def test_a_tag_that_another_removed_since_was_set(bench: RealBench) -> None:
    table, numbers, before = prepared(bench)
    amendments = amendments_of(numbers)["tag"]
    bench.catalog.amend(table, amendments)
    bench.iceberg.load_table(table.parts).manage_snapshots().remove_tag("q1").commit()
    bench.write(table, [9])
    assert took_effect(bench.iceberg.load_table(table.parts), amendments, since=before)


def test_metadata_files_that_are_gone_are_passed_over(bench: RealBench) -> None:
    table, numbers, before = prepared(bench)
    bench.write(table, [8])
    gone = bench.iceberg.load_table(table.parts)
    bench.write(table, [9])
    gone.io.delete(gone.metadata_location)
    loaded = bench.iceberg.load_table(table.parts)
    assert not took_effect(loaded, amendments_of(numbers)["tag"], since=before)
