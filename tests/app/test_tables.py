"""Tables changed as a whole through the front door: tags, branches, clones, names, drops,
history.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import lakebed
from lakebed.errors import BadName, LeaseHeld, NameTaken, UnknownName, UsageError
from lakebed.names import TableName
from tests.support.benches import RealBench, sqlite_bench
from tests.support.tables import new_location, snapshots_of

ORDERS = "shop.silver.orders"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RealBench]:
    lakebed.create(tmp_path / "lake", environment={})
    made = sqlite_bench(tmp_path / "lake")
    yield made
    made.close()


@pytest.fixture
def lake(bench: RealBench) -> Iterator[lakebed.Lake]:
    orders = bench.table("orders")
    for row in (1, 2):
        bench.write(orders, [row])
    with lakebed.open(bench.root.folder, environment={}) as opened:
        yield opened


def kinds(lake: lakebed.Lake, name: str) -> list[str]:
    return [change.what for change in lake.tables.history(name)]


def test_everything_that_happened_shows_in_history(lake: lakebed.Lake, bench: RealBench) -> None:
    first, second = (snapshot.id for snapshot in reversed(snapshots_of(lake, "orders")))
    lake.tables.tag("orders", "v1", at=first)
    lake.tables.rollback("orders", "v1")
    assert bench.rows(TableName.parse(ORDERS)) == [1]
    assert kinds(lake, "orders") == ["rolled_back", "tagged", "append", "append"]
    happened = [(change.current, change.undone) for change in lake.tables.history("orders")]
    assert happened == [(False, False), (False, False), (False, True), (True, False)]
    lake.tables.rollback("orders", second)
    assert bench.rows(TableName.parse(ORDERS)) == [1, 2]
    lake.tables.untag("orders", "v1")
    assert kinds(lake, "orders")[:2] == ["untagged", "rolled_back"]
    lake.tables.rename("orders", "shop.silver.older")
    assert kinds(lake, "older")[0] == "renamed"


def test_a_tag_that_is_there_is_not_moved_unless_asked(lake: lakebed.Lake) -> None:
    first, second = (snapshot.id for snapshot in reversed(snapshots_of(lake, "orders")))
    lake.tables.tag("orders", "v1", at=first)
    with pytest.raises(NameTaken, match=f"at snapshot {first}"):
        lake.tables.tag("orders", "v1")
    assert lake.tables.describe("orders").refs["v1"].snapshot == first
    lake.tables.tag("orders", "v1", replace=True)
    assert lake.tables.describe("orders").refs["v1"].snapshot == second


@pytest.mark.parametrize(
    "name", ["main", "1st", "a b", "run_" + "0" * 32, "branch_x", "tag_x", "x" * 129, ""]
)
def test_a_name_that_engines_would_misread_is_no_tag(lake: lakebed.Lake, name: str) -> None:
    with pytest.raises(BadName):
        lake.tables.tag("orders", name)


def test_main_is_no_tag_to_be_removed(lake: lakebed.Lake) -> None:
    with pytest.raises(UnknownName):
        lake.tables.untag("orders", "main")
    with pytest.raises(UnknownName):
        lake.tables.untag("orders", "never")


def test_a_branch_is_worked_on_unseen(lake: lakebed.Lake, bench: RealBench) -> None:
    lake.tables.branch("orders", "dev", at=snapshots_of(lake, "orders")[-1].id)
    bench.write(TableName.parse(ORDERS), [7], branch="dev")
    assert bench.rows(TableName.parse(ORDERS), "dev") == [1, 7]
    assert bench.rows(TableName.parse(ORDERS)) == [1, 2]


@pytest.mark.parametrize("to", ["4711", "never", "2001-01-01", "1e5"])
def test_a_rollback_to_nowhere_changes_nothing(lake: lakebed.Lake, to: str) -> None:
    before = lake.stores.catalog.pointers()
    with pytest.raises(UsageError):
        lake.tables.rollback("orders", to)
    assert lake.stores.catalog.pointers() == before


def test_a_rollback_waits_for_whoever_has_the_table(lake: lakebed.Lake) -> None:
    first = snapshots_of(lake, "orders")[-1].id
    with lake.tables.lease(ORDERS), pytest.raises(LeaseHeld):
        lake.tables.rollback("orders", first, wait=0.3)
    assert lake.tables.rollback("orders", first, wait=5).to.id == first


def test_a_rollback_to_where_it_stands_does_nothing(lake: lakebed.Lake) -> None:
    head = snapshots_of(lake, "orders")[0].id
    assert lake.tables.rollback("orders", head).changes_nothing
    assert "rolled_back" not in kinds(lake, "orders")


def test_a_renamed_a_new_and_a_restored_table_keep_every_row_each(
    lake: lakebed.Lake, bench: RealBench
) -> None:
    lake.tables.rename("orders", "shop.silver.older")
    place = new_location(lake, ORDERS)
    assert place is not None
    assert place != lake.root.at("shop/warehouse/silver/orders")  # the older one lies there
    lake.tables.clone("older", ORDERS)
    again = TableName.parse(ORDERS)
    bench.write(again, [3])
    lake.tables.drop("older")
    with pytest.raises(UnknownName):
        lake.tables.describe("older")
    lake.tables.drop("orders")
    assert [str(gone.table) for gone in lake.tables.dropped()] == [ORDERS, "shop.silver.older"]
    assert lake.tables.restore("older") == TableName.parse("shop.silver.older")
    assert lake.tables.restore("orders", to="shop.gold.orders") == TableName.parse(
        "shop.gold.orders"
    )
    assert bench.rows(TableName.parse("shop.silver.older")) == [1, 2]
    assert bench.rows(TableName.parse("shop.gold.orders")) == [1, 2, 3]
    assert lake.tables.dropped() == ()


def test_a_name_that_is_taken_refuses_every_way_to_it(lake: lakebed.Lake, bench: RealBench) -> None:
    taken = bench.table("taken")
    bench.write(taken, [9])
    lake.tables.clone("orders", "shop.silver.copy")
    lake.tables.drop("copy")
    with pytest.raises(NameTaken):
        lake.tables.rename("orders", "shop.silver.taken")
    with pytest.raises(NameTaken):
        lake.tables.clone("orders", "shop.silver.taken")
    with pytest.raises(NameTaken):
        lake.tables.restore("copy", to="shop.silver.taken")
    assert bench.rows(taken) == [9]
    with pytest.raises(UnknownName):
        lake.tables.restore("never")
    with pytest.raises(UnknownName):
        lake.tables.drop("never")


def test_followers_learn_of_everything_once_and_in_order(lake: lakebed.Lake) -> None:
    events = lake.stores.events
    assert events.follow("mirror") == events.follow("mirror")
    lake.tables.tag("orders", "v1")
    lake.tables.rename("orders", "shop.silver.older")
    lake.tables.drop("older")
    lake.tables.restore("older")
    seen = events.since(events.follow("mirror"))
    assert [noted.event.kind for noted in seen] == [
        "tagged",
        "renamed",
        "renamed",
        "dropped",
        "restored",
    ]
    events.acknowledge("mirror", seen[1].number)
    assert [noted.event.kind for noted in events.since(events.follow("mirror"))] == [
        "renamed",
        "dropped",
        "restored",
    ]
    events.acknowledge("mirror", seen[0].number)  # a late word does not set it back
    assert [(one.name, one.acknowledged) for one in events.followers()] == [
        ("mirror", seen[1].number)
    ]
    assert events.delete(before=seen[-1].at.replace(year=2100)) == 2
    events.protect("mirror", TableName.parse(ORDERS), [1, 2])
    events.protect("reader", TableName.parse(ORDERS), [3], seconds=0.0)
    assert [(hold.holder, hold.snapshot) for hold in events.protected()] == [
        ("mirror", 1),
        ("mirror", 2),
    ]
    events.unfollow("mirror")
    assert (events.followers(), events.protected()) == ((), ())
