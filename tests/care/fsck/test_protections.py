"""What a check says of followers and of what they protect."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.care.fsck.protections import SILENCE, ProtectionState, judge_protections
from lakebed.care.fsck.spec import Finding, GiveBack
from lakebed.names import TableName
from lakebed.ports import RegisteredFollower, SnapshotProtection

NOW = datetime(2026, 11, 16, tzinfo=UTC)
LONG_AGO, LATELY = NOW - SILENCE - timedelta(hours=1), NOW - timedelta(hours=1)
ORDERS, LOST = TableName("shop", "silver", "orders"), TableName("shop", "silver", "lost")
MIRROR = RegisteredFollower("mirror", 3, LATELY)
STATE = ProtectionState(NOW, tables=frozenset({ORDERS}), snapshots=frozenset({7}))


def found(state: ProtectionState) -> list[Finding]:
    return list(judge_protections(state))


@pytest.mark.parametrize(
    ("looked_at", "waits_since", "silent"),
    [
        (LONG_AGO, LONG_AGO, True),
        (None, LONG_AGO, True),
        (LATELY, LONG_AGO, False),  # it is at work
        (LONG_AGO, LATELY, False),  # it may look at any moment
        (LONG_AGO, None, False),  # nothing has happened
    ],
)
def test_a_follower_that_is_gone_is_reported_with_the_command_that_removes_it(
    looked_at: datetime | None, waits_since: datetime | None, silent: bool
) -> None:
    follower = RegisteredFollower("mirror", 3, looked_at)
    waiting = {"mirror": waits_since} if waits_since else {}
    said = found(replace(STATE, followers=(follower,), waiting=waiting))
    assert [one.kind for one in said] == ["silent follower"] * silent
    assert all("lakebed follower remove mirror" in one.advice for one in said)


@pytest.mark.parametrize(
    ("protection", "kinds", "repair"),
    [
        (SnapshotProtection("mirror", ORDERS, 7), [], None),
        (SnapshotProtection("mirror", ORDERS, 8), ["dead protection"], None),
        (SnapshotProtection("mirror", LOST, 8), ["dead protection"], None),
        (SnapshotProtection("reader", ORDERS, 7, NOW + SILENCE), [], None),
        (SnapshotProtection("reader", ORDERS, 8, NOW + SILENCE), ["dead protection"], None),
        (SnapshotProtection("nobody", ORDERS, 7), ["protection without follower"], None),
        (SnapshotProtection("nobody", LOST, 8), ["protection without follower"], None),
        (
            SnapshotProtection("nobody", ORDERS, 8),
            ["dead protection"],
            GiveBack("nobody", ORDERS),
        ),
    ],
)
def test_only_a_protection_that_nobody_can_need_has_a_repair(
    protection: SnapshotProtection, kinds: list[str], repair: GiveBack | None
) -> None:
    state = replace(STATE, followers=(MIRROR,), protections=(protection,))
    said = found(state)
    assert [one.kind for one in said] == kinds
    assert [one.repair for one in said if one.repair] == ([repair] if repair else [])
    assert not any(one.repair for one in found(replace(state, unreadable=True)))


def test_what_is_dead_is_not_released_together_with_what_is_needed() -> None:
    both = (SnapshotProtection("nobody", ORDERS, 7), SnapshotProtection("nobody", ORDERS, 8))
    assert [one.repair for one in found(replace(STATE, protections=both))] == [None]
