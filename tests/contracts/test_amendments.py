"""What every catalog promises to those who change tables without writing rows: refs, names, drops,
clones.
"""

import pytest

from lakebed.errors import LeaseLost, PointerMoved, UsageError
from lakebed.names import TableName, new_run_id
from lakebed.ports import RemoveRef, RemoveSnapshots, SetProperties, SetRef, TableMetadata
from lakebed.tables import find_point, settle_times
from tests.support.benches import Bench, RealBench
from tests.support.clocks import write_ahead


def a_name() -> str:
    return f"orders_{new_run_id()[:16]}"


def filled(bench: Bench, *batches: list[int]) -> TableName:
    table = bench.table(a_name())
    for batch in batches or ([1], [2]):
        bench.write(table, batch)
    return table


def metadata(bench: Bench, table: TableName) -> TableMetadata:
    return bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]


def first_snapshot(bench: Bench, table: TableName) -> int:
    head = metadata(bench, table).head()
    assert head
    return list(metadata(bench, table).ancestry(head.id))[-1].id


def test_a_ref_goes_back_and_what_came_after_is_not_lost(bench: Bench) -> None:
    table = filled(bench)
    head = metadata(bench, table).refs["main"].snapshot
    bench.catalog.amend(table, [SetRef("main", first_snapshot(bench, table))])
    assert bench.rows(table) == [1]
    bench.catalog.amend(table, [SetRef("main", head)])
    assert bench.rows(table) == [1, 2]


def test_a_tag_stays_where_it_was_put(bench: Bench) -> None:
    table = filled(bench)
    bench.catalog.amend(table, [SetRef("v1", first_snapshot(bench, table), "tag")])
    bench.write(table, [3])
    assert (bench.rows(table, "v1"), bench.rows(table)) == ([1], [1, 2, 3])
    assert metadata(bench, table).refs["v1"].kind == "tag"
    bench.catalog.amend(table, [RemoveRef("v1"), RemoveRef("never")])
    assert set(metadata(bench, table).refs) == {"main"}


def test_a_snapshot_that_is_removed_is_known_no_more_and_the_rest_reads_as_before(
    bench: Bench,
) -> None:
    table = filled(bench)
    gone = first_snapshot(bench, table)
    bench.catalog.amend(table, [RemoveSnapshots((gone, 12345))])
    assert gone not in metadata(bench, table).snapshots
    assert bench.rows(table) == [1, 2]


@pytest.mark.parametrize("by", ["Lakebed", "PyIceberg"])
def test_a_moment_whose_state_has_expired_is_not_answered_with_the_state_before_it(
    real_bench: RealBench, by: str
) -> None:
    table = filled(real_bench, [1], [2], [3])
    first, second, third = sorted(
        metadata(real_bench, table).snapshots.values(), key=lambda one: one.sequence
    )
    real_bench.catalog.amend(table, [SetRef("v1", first.id, "tag")])
    if by == "Lakebed":
        real_bench.catalog.amend(table, [RemoveSnapshots((second.id,))])
    else:
        real_bench.iceberg.load_table(table.parts).maintenance.expire_snapshots().by_id(
            second.id
        ).commit()
    left = metadata(real_bench, table)
    with pytest.raises(UsageError, match=r"expired|there is no record"):
        find_point(table, left, second.at.isoformat())
    assert find_point(table, left, third.at.isoformat()).id == third.id
    assert find_point(table, left, "v1").id == first.id


def test_properties_are_set_and_taken_away(bench: Bench) -> None:
    table = filled(bench)
    bench.catalog.amend(table, [SetProperties({"owner": "ann"})])
    assert metadata(bench, table).properties["owner"] == "ann"
    bench.catalog.amend(table, [SetProperties({"owner": None})])
    assert "owner" not in metadata(bench, table).properties


def test_a_change_decided_on_an_older_state_is_refused(bench: Bench) -> None:
    table = filled(bench)
    seen = bench.catalog.pointers([table])[table]
    bench.write(table, [3])
    with pytest.raises(PointerMoved):
        bench.catalog.amend(table, [SetRef("main", first_snapshot(bench, table))], expected=seen)
    assert bench.rows(table) == [1, 2, 3]


def test_a_rollback_through_a_rest_catalog_undoes_no_commit_that_came_in_between(
    rest_only_bench: RealBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = rest_only_bench
    table = filled(bench)
    first, load, late = first_snapshot(bench, table), bench.catalog._load, [[3]]  # type: ignore[attr-defined]

    def overtaken(name: TableName) -> object:
        found = load(name)
        if late:
            bench.write(table, late.pop())
        return found

    monkeypatch.setattr(bench.catalog, "_load", overtaken)
    with pytest.raises(PointerMoved):
        bench.catalog.amend(table, [SetRef("main", first)])
    assert bench.rows(table) == [1, 2, 3]


def test_what_a_pointer_points_at_is_told_though_others_have_looked_since(bench: Bench) -> None:
    table, other = filled(bench), filled(bench)
    seen, before = bench.catalog.pointers([table]), metadata(bench, table).head()
    bench.write(table, [3])
    bench.catalog.pointers([other])
    assert bench.catalog.metadata(seen.values())[table].head() == before


def test_whoever_lost_the_lease_changes_nothing(bench: Bench) -> None:
    table = filled(bench)
    lost = bench.leases.acquire(str(table), holder="a", limit=60)
    bench.leases.release(lost)
    bench.leases.acquire(str(table), holder="b", limit=60)
    with pytest.raises(LeaseLost):
        bench.catalog.amend(table, [SetRef("main", first_snapshot(bench, table))], leases=[lost])
    assert bench.rows(table) == [1, 2]


def test_a_table_gets_another_name_also_in_another_layer(bench: Bench) -> None:
    table = filled(bench)
    to = TableName(table.namespace, "gold", a_name())
    bench.catalog.rename(table, to)
    assert bench.rows(to) == [1, 2]
    assert table not in bench.catalog.pointers([table, to])


def test_a_name_that_is_taken_is_given_to_nobody_else(bench: Bench) -> None:
    table, other = filled(bench), filled(bench, [9])
    with pytest.raises(PointerMoved):
        bench.catalog.rename(table, other)
    assert (bench.rows(table), bench.rows(other)) == ([1, 2], [9])


def test_a_dropped_table_comes_back_with_its_rows_under_any_free_name(bench: Bench) -> None:
    table = filled(bench)
    gone = bench.catalog.drop(table)
    assert gone
    assert table not in bench.catalog.pointers([table])
    assert gone.uuid in {one.uuid for one in bench.catalog.dropped()}
    to = TableName(table.namespace, table.layer, a_name())
    bench.catalog.restore(gone, to)
    assert bench.rows(to) == [1, 2]
    assert gone.uuid not in {one.uuid for one in bench.catalog.dropped()}
    bench.write(to, [3])
    assert bench.rows(to) == [1, 2, 3]


def test_dropping_what_is_not_there_drops_nothing(bench: Bench) -> None:
    assert bench.catalog.drop(TableName("shop", "silver", a_name())) is None


def test_a_table_is_not_restored_over_another(bench: Bench) -> None:
    table = filled(bench)
    gone = bench.catalog.drop(table)
    assert gone
    other = filled(bench, [9])
    with pytest.raises(PointerMoved):
        bench.catalog.restore(gone, other)
    assert bench.rows(other) == [9]
    assert gone.uuid in {one.uuid for one in bench.catalog.dropped()}


def test_a_clone_has_the_rows_of_its_snapshot_and_a_life_of_its_own(bench: Bench) -> None:
    table = filled(bench)
    pointer = bench.catalog.pointers([table])[table]
    to = TableName(table.namespace, table.layer, a_name())
    if not bench.catalog.atomic:
        with pytest.raises(UsageError, match="own"):
            bench.catalog.clone(pointer, to, snapshot=first_snapshot(bench, table), location=None)
        return
    root = bench.root.at(to.folder) if isinstance(bench, RealBench) else None
    bench.catalog.clone(pointer, to, snapshot=first_snapshot(bench, table), location=root)
    assert bench.rows(to) == [1]
    bench.write(to, [7])
    bench.write(table, [3])
    assert (bench.rows(to), bench.rows(table)) == ([1, 7], [1, 2, 3])
    assert metadata(bench, to).uuid != metadata(bench, table).uuid


def test_what_a_table_reaches_is_there_and_says_its_size(real_bench: RealBench) -> None:
    table = filled(real_bench)
    pointer = real_bench.catalog.pointers([table])[table]
    reached = list(real_bench.stores.reach.files(pointer))
    kinds = [file.kind for file in reached]
    assert [kinds.count(kind) for kind in ("manifest list", "manifest", "data")] == [2, 2, 2]
    assert kinds.count("metadata") == 3
    first = first_snapshot(real_bench, table)
    assert [
        file.rows
        for file in real_bench.stores.reach.files(pointer, snapshots=[first])
        if file.kind == "data"
    ] == [1]
    below = {
        path: file.size for file in reached if (path := real_bench.root.relative(file.location))
    }
    there = {path: real_bench.stores.files.info(path).size for path in below}
    assert {path: size for path, size in below.items() if size is not None} == {
        path: size for path, size in there.items() if below[path] is not None
    }


@pytest.mark.parametrize("amendments", [(), (SetProperties({"a": "b"}),)])
def test_times_of_a_clock_that_was_ahead_are_set_to_now_and_snapshots_keep_theirs(
    atomic_bench: RealBench, amendments: tuple[SetProperties, ...]
) -> None:
    table = filled(atomic_bench)
    write_ahead(atomic_bench, table)
    ahead = metadata(atomic_bench, table)
    now = atomic_bench.leases.store_time()
    assert ahead.is_ahead(now)
    former = atomic_bench.catalog.pointers([table])[table].location
    atomic_bench.catalog.amend(table, amendments)
    settled = metadata(atomic_bench, table)
    assert not settled.is_ahead(now)
    assert settled.metadata_log == (*ahead.metadata_log, former)
    assert [snapshot for _, snapshot in settled.snapshot_log] == [
        snapshot for _, snapshot in ahead.snapshot_log
    ]
    assert settled.snapshots == ahead.snapshots
    assert atomic_bench.rows(table) == [1, 2]
    head = settled.head()
    assert find_point(table, settled, settled.updated_at.isoformat(), timezone="UTC") == head


def test_a_table_whose_times_are_right_is_not_written_again(bench: Bench) -> None:
    table = filled(bench)
    before = bench.catalog.pointers([table])
    settle_times(bench.catalog, table, now=bench.leases.store_time())
    assert bench.catalog.pointers([table]) == before
