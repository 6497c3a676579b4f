"""Snapshots written out of files that exist: rows of some files move to new files, and whatever
others do meanwhile is kept.
"""

import pytest

from lakebed.errors import Diverged
from lakebed.names import TableName, new_run_id
from lakebed.ports import (
    MAIN,
    AddSnapshot,
    Amendment,
    Pointer,
    RemoveRef,
    RemoveSnapshots,
    SetRef,
    SetSpec,
    Snapshot,
    TableMetadata,
)
from tests.support.benches import RealBench, ids


def present(bench: RealBench, table: TableName) -> tuple[Pointer, TableMetadata]:
    pointer = bench.catalog.pointers([table])[table]
    return pointer, bench.catalog.metadata([pointer])[table]


def head(bench: RealBench, table: TableName, ref: str = MAIN) -> Snapshot:
    found = present(bench, table)[1].head(ref)
    assert found
    return found


def files_of(bench: RealBench, table: TableName, snapshot: int) -> dict[str, int | None]:
    """Data files, and the partition spec of each."""
    pointer, _ = present(bench, table)
    return {
        file.location: file.partition.spec if file.partition else None
        for file in bench.stores.reach.files(pointer, snapshots=[snapshot])
        if file.kind == "data"
    }


def two_files(bench: RealBench) -> tuple[TableName, str]:
    """A table with the rows 1, 2 in one file and 3 in another, and the first of them; new files are
    partitioned by id.
    """
    table = bench.table(f"orders_{new_run_id()[:16]}")
    bench.write(table, [1, 2])
    (first,) = files_of(bench, table, head(bench, table).id)
    bench.write(table, [3])
    with bench.iceberg.load_table(table.parts).update_spec() as change:
        change.add_identity("id")
    return table, first


def pick(bench: RealBench, table: TableName, file: str) -> AddSnapshot:
    """The file alone, on the branch `b`."""
    pointer, _ = present(bench, table)
    picked = bench.stores.snapshots.of_files(pointer, [file])
    assert picked
    bench.catalog.amend(table, [picked, SetRef("b", picked.snapshot)], expected=pointer)
    return picked


def written(bench: RealBench, table: TableName, rows: list[int]) -> int:
    """Rows in new files, instead of those on the branch."""
    bench.iceberg.load_table(table.parts).overwrite(ids(rows), branch="b")
    return head(bench, table, "b").id


def publish(bench: RealBench, table: TableName, picked: AddSnapshot, by: int) -> Snapshot:
    pointer, _ = present(bench, table)
    made = bench.stores.snapshots.replacing(
        pointer, picked=picked.snapshot, by=by, summary={"lakebed.x": "1"}
    )
    amendments: list[Amendment] = [made, SetRef(MAIN, made.snapshot), RemoveRef("b")]
    bench.catalog.amend(table, amendments, expected=pointer)
    return head(bench, table)


def test_the_rows_of_a_file_move_and_those_that_others_add_meanwhile_stay(
    real_bench: RealBench,
) -> None:
    table, file = two_files(real_bench)
    before = head(real_bench, table)
    picked = pick(real_bench, table, file)
    assert real_bench.rows(table, "b") == [1, 2]
    by = written(real_bench, table, [1, 2])
    real_bench.write(table, [4])
    after = publish(real_bench, table, picked, by)
    assert real_bench.rows(table) == [1, 2, 3, 4]
    assert (after.operation, after.summary["lakebed.x"]) == ("replace", "1")
    assert (after.count("total-records"), after.count("total-data-files")) == (4, 4)
    found = files_of(real_bench, table, after.id)
    assert file not in found
    assert sorted(spec or 0 for spec in found.values()) == [0, 1, 1, 1]
    real_bench.catalog.amend(table, [SetRef(MAIN, before.id), SetSpec(0)])
    assert real_bench.rows(table) == [1, 2, 3]
    assert present(real_bench, table)[1].partition_by == ()
    real_bench.write(table, [5])
    assert set(files_of(real_bench, table, head(real_bench, table).id).values()) == {0}


def test_a_file_that_another_writer_replaced_meanwhile_is_not_brought_back(
    real_bench: RealBench,
) -> None:
    table, file = two_files(real_bench)
    picked = pick(real_bench, table, file)
    by = written(real_bench, table, [1, 2])
    real_bench.iceberg.load_table(table.parts).delete("id = 2")
    with pytest.raises(Diverged):
        publish(real_bench, table, picked, by)
    assert real_bench.rows(table) == [1, 3]
    pointer, _ = present(real_bench, table)
    assert real_bench.stores.snapshots.of_files(pointer, [file]) is None


def test_new_files_of_another_partitioning_than_the_table_has_by_now_are_refused(
    real_bench: RealBench,
) -> None:
    table, file = two_files(real_bench)
    picked = pick(real_bench, table, file)
    by = written(real_bench, table, [1, 2])
    with real_bench.iceberg.load_table(table.parts).update_spec() as change:
        change.remove_field("id")
    with pytest.raises(Diverged):
        publish(real_bench, table, picked, by)
    assert real_bench.rows(table) == [1, 2, 3]


def test_files_of_an_append_follow_what_others_have_appended_under_a_new_number(
    real_bench: RealBench,
) -> None:
    table = real_bench.table(f"orders_{new_run_id()[:16]}")
    real_bench.write(table, [1])
    real_bench.write(table, [2, 3], branch="b")
    made = head(real_bench, table, "b")
    real_bench.write(table, [4])
    theirs = head(real_bench, table)
    pointer, _ = present(real_bench, table)
    fresh = real_bench.stores.snapshots.appending(pointer, made=made.id)
    moved = (fresh, SetRef("b", fresh.snapshot), RemoveSnapshots((made.id,)))
    real_bench.catalog.amend(table, moved, expected=pointer)
    assert (real_bench.rows(table), real_bench.rows(table, "b")) == ([1, 4], [1, 2, 3, 4])
    now = head(real_bench, table, "b")
    assert (now.parent, now.operation) == (theirs.id, "append")
    assert (now.count("added-records"), now.count("total-records")) == (2, 4)
    assert now.sequence > theirs.sequence
    entries = real_bench.iceberg.load_table(table.parts).inspect.entries(now.id).to_pylist()
    own = [entry for entry in entries if entry["snapshot_id"] == now.id]
    assert {entry["sequence_number"] for entry in own} == {now.sequence}
    assert len(own) == 1
    assert made.id not in present(real_bench, table)[1].snapshots
