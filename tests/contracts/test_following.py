"""A follower is in step with every catalog's tables, whether or not an event tells of a change."""

from lakebed.names import TableName, new_run_id
from lakebed.ports import ChangeRecords, Event, SetRef
from lakebed.tables import Follower, FollowerLook, PublishRequest, TableState, publish
from tests.support.benches import Bench


def follower(bench: Bench) -> Follower:
    return Follower(
        "mirror",
        catalog=bench.catalog,
        events=bench.events,
        records=bench.records,
        leases=bench.leases,
    )


class Followed:
    """A follower that handles whatever it finds."""

    def __init__(self, bench: Bench) -> None:
        self._follower, self._namespace = follower(bench), bench.namespace
        self.seen: tuple[TableState, ...] = ()

    def look(self) -> FollowerLook:
        """Looks, and remembers."""
        look = self._follower.look(self.seen)
        self.seen = look.states
        self._follower.acknowledge(look)
        return look

    def found(self) -> list[tuple[str, tuple[str, ...]]]:
        """What a look finds, without the tables of other tests on the same server."""
        return [
            (change.table.name, change.kinds)
            for change in self.look().changes
            if change.table.namespace == self._namespace
        ]


def test_a_follower_finds_what_ours_and_foreign_writers_did(bench: Bench) -> None:
    orders = bench.table("orders")
    followed = Followed(bench)
    assert followed.found() == [("orders", ("appeared",))]
    assert followed.found() == []
    bench.write(orders, [1])  # foreign: no event
    assert followed.found() == [("orders", ("moved",))]
    bench.write(orders, [2], branch="run_1")
    assert followed.found() == [("orders", ("amended",))]
    publish(bench.catalog, [PublishRequest(orders, "run_1")], run_id=new_run_id())
    look = followed.look()
    assert [one.event.kind for one in look.events] == ["published"]
    assert [(one.table, one.kinds) for one in look.changes] == [(orders, ("moved",))]
    assert followed.found() == []


def test_a_follower_finds_a_table_under_its_new_name_and_after_a_restore(bench: Bench) -> None:
    orders = bench.table("orders")
    bench.write(orders, [1])
    followed = Followed(bench)
    followed.look()
    other = TableName(bench.namespace, "silver", "older")
    bench.catalog.rename(orders, other)
    assert followed.found() == [("older", ("renamed",))]
    gone = bench.catalog.drop(other)
    assert gone
    assert followed.found() == [("older", ("dropped",))]
    bench.table("older")
    assert followed.found() == [("older", ("appeared",))]
    bench.catalog.restore(gone, orders)
    assert followed.found() == [("orders", ("restored", "renamed"))]
    again = bench.catalog.drop(orders)
    assert again
    followed.look()
    bench.catalog.delete_dropped(again)
    if not bench.catalog.owns_files:  # a server shared with tests that may leave damaged tables
        assert followed.found() == [("orders", ("gone",))]


def test_a_follower_that_dies_before_it_acknowledges_finds_everything_again(bench: Bench) -> None:
    orders = bench.table("orders")
    bench.write(orders, [1])
    seen = follower(bench).look(()).states
    head = next(state.snapshot for state in seen if state.table == orders)
    assert head
    records = ChangeRecords(events=(Event("tagged", orders, head),))
    bench.catalog.amend(orders, [SetRef("v1", head, kind="tag")], records=records)
    first, second = follower(bench).look(seen), follower(bench).look(seen)
    assert [one.event.kind for one in first.events] == ["tagged"]
    assert first == second
    follower(bench).acknowledge(first)
    after = follower(bench).look(first.states)
    assert (after.events, after.changes, after.states) == ((), (), first.states)
    follower(bench).forget()
    assert bench.events.followers() == ()


def test_a_follower_that_protects_by_an_old_name_takes_nothing_from_the_table_that_has_it_now(
    bench: Bench,
) -> None:
    first, second = bench.table("first"), bench.table("second")
    other = TableName(bench.namespace, "silver", "other")
    for table, row in ((first, 1), (second, 2)):
        bench.write(table, [row])
    mirror = follower(bench)
    before = {state.table: state for state in mirror.look(()).states}
    assert mirror.protect(before[first])
    assert mirror.protect(before[second])
    bench.catalog.rename(first, other)
    bench.catalog.rename(second, first)
    assert not mirror.protect(before[first])
    kept = {(one.table, one.snapshot) for one in bench.events.protected()}
    assert {(first, before[second].snapshot), (other, before[first].snapshot)} <= kept
    after = [state for state in mirror.look(tuple(before.values())).states if state.table == other]
    assert mirror.protect(after[0])
    mirror.release(but=after)
    assert {one.snapshot for one in bench.events.protected()} == {before[first].snapshot}
    gone = bench.catalog.drop(other)
    assert gone
    assert not mirror.protect(after[0])
    mirror.release(but=())
    assert bench.events.protected() == ()
