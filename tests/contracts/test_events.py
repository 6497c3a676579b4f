"""What a store of events promises: followers miss none, and protected snapshots are known until
they are given up.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from lakebed.names import TableName
from lakebed.ports import Event, Events
from lakebed.testing import MemoryEvents
from tests.support.benches import POSTGRES, SQLITE, _real

ORDERS, SUMS = TableName("shop", "silver", "orders"), TableName("shop", "gold", "sums")
LONG = timedelta(hours=1)


@pytest.fixture(params=["memory", SQLITE, POSTGRES])
def events(request: pytest.FixtureRequest) -> Iterator[Events]:
    if request.param == "memory":
        yield MemoryEvents()
        return
    for bench in _real(request.param, request):
        yield bench.stores.events


def kinds(events: Events, number: int = 0) -> list[str]:
    return [recorded.event.kind for recorded in events.since(number)]


def test_events_come_back_as_they_were_oldest_first(events: Events) -> None:
    told = (Event("tagged", ORDERS, 2**62, {"ref": "ü"}), Event("dropped", SUMS))
    events.append(*told)
    found = events.since()
    assert tuple(recorded.event for recorded in found) == told
    assert found[0].number < found[1].number
    assert abs(found[0].at - datetime.now(UTC)) < LONG
    assert events.since(found[0].number) == found[1:]
    assert events.since(limit=1) == found[:1]


def test_events_can_be_asked_for_by_table_kind_and_time(events: Events) -> None:
    events.append(
        Event("tagged", ORDERS, 1), Event("untagged", ORDERS, 1), Event("branch_removed", SUMS, 2)
    )
    assert [
        recorded.event.snapshot for recorded in events.since(kinds=["untagged", "branch_removed"])
    ] == [1, 2]
    assert events.since(kinds=["untagged"], table=SUMS) == ()
    assert events.since(after=datetime.now(UTC) + LONG) == ()
    assert len(events.since(after=datetime.now(UTC) - LONG)) == 3


def test_a_follower_starts_at_the_present_and_never_goes_back(events: Events) -> None:
    events.append(Event("tagged", ORDERS))
    start = events.follow("mirror")
    events.append(Event("untagged", ORDERS))
    assert (kinds(events, start), events.follow("mirror")) == (["untagged"], start)
    last = events.since(start)[-1].number
    events.acknowledge("mirror", last)
    events.acknowledge("mirror", start)
    events.acknowledge("nobody", 7)
    assert [(one.name, one.acknowledged) for one in events.followers()] == [("mirror", last)]


def test_the_time_of_a_followers_last_look_is_known(events: Events) -> None:
    looks = (
        partial(events.follow, "mirror"),
        partial(events.acknowledge, "mirror", 0),
        partial(events.follow, "mirror"),
    )
    times = []
    for look in looks:
        look()
        times += [one.looked_at for one in events.followers() if one.looked_at]
        time.sleep(0.01)  # more than the finest step of SQLite's clock
    assert len(set(times)) == 3
    assert abs(times[0] - datetime.now(UTC)) < LONG


def test_a_number_is_never_issued_again_even_if_every_event_was_deleted(events: Events) -> None:
    events.follow("mirror")
    events.append(*[Event("tagged", ORDERS, number) for number in range(5)])
    last = events.since()[-1].number
    events.acknowledge("mirror", last)
    assert events.delete(before=datetime.now(UTC) + LONG) == 5
    assert events.follow("late") == last
    events.append(Event("untagged", ORDERS))
    assert kinds(events, events.follow("mirror")) == ["untagged"]
    assert kinds(events, events.follow("late")) == ["untagged"]


def test_no_event_is_deleted_before_every_follower_has_handled_it(events: Events) -> None:
    soon = datetime.now(UTC) + LONG
    first, second = events.follow("first"), events.follow("second")
    events.append(Event("tagged", ORDERS), Event("untagged", ORDERS))
    numbers = [recorded.number for recorded in events.since()]
    assert events.delete(before=soon) == 0
    events.acknowledge("first", numbers[1])
    events.acknowledge("second", numbers[0])
    assert events.delete(before=datetime.now(UTC) - LONG) == 0
    assert (events.delete(before=soon), kinds(events, min(first, second))) == (1, ["untagged"])
    events.unfollow("second")
    assert (events.delete(before=soon), kinds(events)) == (1, [])


def protected(events: Events) -> set[tuple[str, str, int]]:
    return {(one.holder, one.table.name, one.snapshot) for one in events.protected()}


def test_a_holder_protects_what_it_named_last_of_each_table(events: Events) -> None:
    events.protect("reader", ORDERS, [1, 2, 2])
    events.protect("reader", SUMS, [3])
    events.protect("mirror", ORDERS, [1])
    events.protect("reader", ORDERS, [2, 4])
    assert protected(events) == {
        ("reader", "orders", 2),
        ("reader", "orders", 4),
        ("reader", "sums", 3),
        ("mirror", "orders", 1),
    }
    events.unprotect("reader", ORDERS)
    assert protected(events) == {("reader", "sums", 3), ("mirror", "orders", 1)}
    events.follow("mirror")
    events.unfollow("mirror")
    events.unprotect("reader")
    assert protected(events) == set()


def test_what_a_holder_protects_can_be_added_to_and_released_by_snapshot(events: Events) -> None:
    events.protect("mirror", ORDERS, [1])
    events.protect("mirror", SUMS, [1])
    events.protect("reader", ORDERS, [2])
    events.protect("mirror", ORDERS, [1, 2], add=True)
    assert [one for one in sorted(protected(events)) if one[1] == "orders"] == [
        ("mirror", "orders", 1),
        ("mirror", "orders", 2),
        ("reader", "orders", 2),
    ]
    events.unprotect("mirror", snapshots=[2, 9])
    assert ("reader", "orders", 2) in protected(events)
    assert ("mirror", "orders", 2) not in protected(events)
    events.unprotect("mirror", ORDERS, snapshots=[1])
    assert protected(events) == {("mirror", "sums", 1), ("reader", "orders", 2)}
    events.unprotect("mirror", snapshots=[])
    assert protected(events) == {("mirror", "sums", 1), ("reader", "orders", 2)}


def test_a_protection_ends_with_its_time(events: Events) -> None:
    events.protect("over", ORDERS, [1], seconds=0)
    events.protect("lasting", ORDERS, [1], seconds=3600)
    events.protect("endless", ORDERS, [1])
    assert [(one.holder, one.until is None) for one in events.protected()] == [
        ("endless", True),
        ("lasting", False),
    ]


def test_a_renewed_protection_lasts_longer_and_one_that_lapsed_is_not_stored_for_ever(
    events: Events,
) -> None:
    events.protect("reader", ORDERS, [1], seconds=0)
    events.protect("follower", ORDERS, [1])
    assert (events.renew("reader", seconds=60), events.renew("nobody", seconds=60)) == (
        False,
        False,
    )
    events.protect("reader", ORDERS, [1], seconds=0)
    assert events.renew("reader", seconds=3600)
    assert events.renew("follower", seconds=3600)
    assert [(one.holder, one.until is None) for one in events.protected()] == [
        ("follower", True),
        ("reader", False),
    ]
