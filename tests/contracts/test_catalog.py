"""What every catalog promises, tried on the fake and on each real one."""

import pytest

from lakebed.errors import Diverged, LeaseLost, PointerMoved, UnknownName
from lakebed.names import TableName
from lakebed.ports import Publication
from lakebed.settings import RestCatalog
from lakebed.tables import PublishRequest, plan_publication, publish
from tests.support.benches import Bench, RealBench


def test_an_unknown_table_has_no_pointer(bench: Bench) -> None:
    known = bench.table("orders")
    absent = TableName(known.namespace, known.layer, "nothing")
    assert set(bench.catalog.pointers([known, absent])) == {known}


def test_all_pointers_are_those_of_all_tables(bench: Bench) -> None:
    tables = {bench.table("orders"), bench.table("customers")}
    assert tables <= set(bench.catalog.pointers())


def test_pointers_by_name_are_those_of_tables_that_end_so(bench: Bench) -> None:
    orders, customers = bench.table("orders"), bench.table("customers")
    named = bench.catalog.pointers(named=["ORDERS", "nothing"])
    assert named[orders] == bench.catalog.pointers([orders])[orders]
    assert {table.name for table in named} == {"orders"}
    assert set(bench.catalog.pointers([orders, customers], named=["customers"])) == {customers}
    assert bench.catalog.pointers(named=[]) == {}


def test_a_table_that_no_name_of_ours_fits_is_known_as_somebody_elses(
    real_bench: RealBench,
) -> None:
    """Whoever removes files asks about all tables: one that is left out would lose its own."""
    ours = real_bench.table("orders")
    rest = isinstance(real_bench.settings.catalog, RestCatalog)
    odd = [
        (ours.namespace, "plain"),
        *([] if rest else [(ours.namespace, "bronze", "umsätze 2024"), ("A", "b", "c", "d")]),
    ]
    schema = real_bench.iceberg.load_table(ours.parts).schema()
    for number, parts in enumerate(odd):
        real_bench.iceberg.create_namespace_if_not_exists(parts[:-1])
        place = None if rest else real_bench.root.at(f"shop/odd{number}")
        real_bench.iceberg.create_table(parts, schema, location=place)
    expected = {
        ".".join(parts): real_bench.iceberg.load_table(parts).metadata_location for parts in odd
    }
    found = {one.table: one.location for one in real_bench.catalog.foreign() if one.kind == "table"}
    assert expected.items() <= found.items()
    assert not {str(table) for table in real_bench.catalog.pointers()} & found.keys()
    assert all(
        list(real_bench.stores.reach.files(one))
        for one in real_bench.catalog.foreign()
        if one.table in expected
    )


def test_where_there_is_no_view_none_is_found_and_none_dropped(bench: Bench) -> None:
    table = bench.table("orders")
    absent = TableName(table.namespace, table.layer, "nothing")
    assert (bench.catalog.view(absent), bench.catalog.view(table)) == (None, None)
    assert not bench.catalog.drop_view(absent)
    assert not bench.catalog.drop_view(table)
    assert table in bench.catalog.pointers()


def test_a_pointer_moves_with_every_commit(bench: Bench) -> None:
    table = bench.table("orders")
    before = bench.catalog.pointers([table])
    bench.write(table, [1])
    assert bench.catalog.pointers([table]) != before


def test_metadata_tells_heads_and_ancestry(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1])
    bench.write(table, [2])
    metadata = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    head = metadata.head()
    assert head is not None
    assert [step.id for step in metadata.ancestry(head.id)] == [head.id, head.parent]


def test_a_namespace_may_be_made_twice(bench: Bench) -> None:
    bench.table("orders")
    bench.catalog.create_namespace("shop", "silver")
    bench.catalog.create_namespace("shop", "silver")


def test_publishing_moves_main_and_removes_the_branch(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    assert bench.rows(table) == [1]
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    assert bench.rows(table) == [1, 2]
    metadata = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    assert set(metadata.refs) == {"main"}


def test_a_first_publication_gives_main_its_first_snapshot(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1, 2], branch="run_1")
    assert bench.rows(table) == []
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    assert bench.rows(table) == [1, 2]


def test_a_column_gets_its_new_name_when_its_rows_are_published(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    done = publish(
        bench.catalog, [PublishRequest(table, "run_1", renames=(("id", "key"),))], run_id="r1"
    )
    metadata = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    assert [column.name for column in metadata.columns] == ["key"]
    assert bench.catalog.published("r1") == done


def test_several_tables_are_published_together(bench: Bench) -> None:
    tables = [bench.table(name) for name in ("c", "a", "b")]
    for table in tables:
        bench.write(table, [1], branch="run_1")
    done = publish(bench.catalog, [PublishRequest(table, "run_1") for table in tables], run_id="r1")
    assert [move.table.name for move in done.moves] == ["a", "b", "c"]
    assert [bench.rows(table) for table in tables] == [[1]] * 3


def test_a_publication_is_found_by_its_run_and_happens_once(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1], branch="run_1")
    assert bench.catalog.published("r1") is None
    done = publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    assert bench.catalog.published("r1") == done
    assert publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1") == done
    assert bench.rows(table) == [1]


def test_a_pointer_that_moved_refuses_the_whole_publication(bench: Bench) -> None:
    first, second = bench.table("a"), bench.table("b")
    for table in (first, second):
        bench.write(table, [1], branch="run_1")
    seen = bench.catalog.pointers([first, second])
    plan = plan_publication(
        "r1",
        [PublishRequest(first, "run_1"), PublishRequest(second, "run_1")],
        bench.catalog.metadata(seen.values()),
    )
    bench.write(first, [9])
    with pytest.raises(PointerMoved):
        bench.catalog.commit(plan, expected=seen)
    assert (bench.rows(first), bench.rows(second)) == ([9], [])
    assert bench.catalog.published("r1") is None


def test_a_commit_to_another_branch_only_makes_the_publisher_look_again(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1], branch="run_1")
    bench.write(table, [9], branch="run_2")
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    assert bench.rows(table) == [1]


def test_a_ref_that_gained_rows_is_never_overwritten(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    bench.write(table, [3])
    with pytest.raises(Diverged, match="gained snapshots"):
        publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    assert bench.rows(table) == [1, 3]


def test_an_unknown_branch_is_refused_with_the_nearest(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1], branch="run_1")
    with pytest.raises(UnknownName, match="Did you mean run_1"):
        publish(bench.catalog, [PublishRequest(table, "run_2")], run_id="r1")


def test_whoever_lost_the_lease_cannot_publish(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1], branch="run_1")
    mine = bench.leases.acquire(str(table), holder="me", limit=60)
    bench.leases.release(mine)
    theirs = bench.leases.acquire(str(table), holder="they", limit=60)
    with pytest.raises(LeaseLost, match="they"):
        publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1", leases=[mine])
    assert bench.rows(table) == []
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1", leases=[theirs])
    assert bench.rows(table) == [1]


def test_nothing_is_left_unsettled(bench: Bench) -> None:
    table = bench.table("orders")
    bench.write(table, [1], branch="run_1")
    published: Publication = publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    assert published.moves
    assert bench.catalog.unsettled() == ()
    assert bench.catalog.unsettled_changes() == ()
