"""Followers and protected snapshots: who is gone, and what is protected for nobody.

A protection is live while its holder exists: a follower that is registered, or a reader whose time
has not passed. `--repair` never touches a live one, whatever became of its table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lakebed.care.all_tables import Stocktaking
from lakebed.care.fsck.services import FsckServices
from lakebed.care.fsck.spec import Finding, GiveBack
from lakebed.names import TableName
from lakebed.ports import RegisteredFollower, SnapshotProtection

SILENCE = timedelta(days=7)  # a follower that has not looked for longer may be gone


@dataclass(frozen=True)
class ProtectionState:
    """Protections that have not lapsed, followers, and which snapshots exist."""

    now: datetime
    protections: tuple[SnapshotProtection, ...] = ()
    followers: tuple[RegisteredFollower, ...] = ()
    # since when the first event waits for each follower that has not handled all of them
    waiting: Mapping[str, datetime] = field(default_factory=dict)
    tables: frozenset[TableName] = frozenset()  # dropped ones by their hidden names
    snapshots: frozenset[int] = frozenset()  # of all these tables
    unreadable: bool = False  # one of them cannot be read: it may have any snapshot

    def absent(self, one: SnapshotProtection) -> bool:
        """Whether no table has the snapshot."""
        return not self.unreadable and one.snapshot not in self.snapshots

    def ownerless(self, one: SnapshotProtection) -> bool:
        """Whether it has no end and its holder is no follower."""
        return one.until is None and one.holder not in {known.name for known in self.followers}

    def dead(self, one: SnapshotProtection) -> bool:
        """Whether nobody can need it. A table that the catalog does not know may come back, by
        `--rebuild-catalog` or from a backup.
        """
        return self.ownerless(one) and self.absent(one) and one.table in self.tables


def read_protections(services: FsckServices) -> ProtectionState:
    """Protections are read before tables and followers, so that the table and the follower of each
    are found.
    """
    events = services.ports.events
    protections = events.protected()
    stock = Stocktaking(services.ports.catalog, services.ports.files, services.ports.root).take()
    known = [member.metadata for member in stock.members]
    dropped = (member.dropped.hidden_name for member in stock.members if member.dropped)
    followers = events.followers()
    first = {one.name: events.since(one.acknowledged, limit=1) for one in followers}
    return ProtectionState(
        services.ports.now(),
        protections,
        followers,
        waiting={name: event.at for name, found in first.items() for event in found},
        tables=frozenset((*stock.tables, *dropped)),
        snapshots=frozenset(id for metadata in known if metadata for id in metadata.snapshots),
        unreadable=None in known or stock.in_the_way is not None,
    )


def judge_protections(state: ProtectionState) -> Iterator[Finding]:
    """What followers and holders need of the user."""
    yield from _silent_followers(state)
    yield from _ownerless(state)
    yield from _dead(state)


def _silent_followers(state: ProtectionState) -> Iterator[Finding]:
    limit = state.now - SILENCE
    for follower in state.followers:
        first = state.waiting.get(follower.name)
        looked = follower.looked_at
        if first is None or first > limit or (looked and looked > limit):
            continue
        since = f"since {looked:%Y-%m-%d %H:%M} UTC" if looked else "for long"
        what = (
            f"the follower {follower.name} has not looked {since}; events wait for it since"
            f" {first:%Y-%m-%d}, and what it protects does not expire"
        )
        advice = f"Start it again. If it is gone for good: lakebed follower remove {follower.name}"
        yield Finding("silent follower", "warning", follower.name, what, advice=advice)


def _ownerless(state: ProtectionState) -> Iterator[Finding]:
    held: dict[str, set[str]] = {}
    for one in state.protections:
        if state.ownerless(one) and not state.dead(one):
            held.setdefault(one.holder, set()).add(str(one.table))
    for holder, tables in sorted(held.items()):
        what = (
            f"{holder} protects snapshots of {', '.join(sorted(tables))} without end, and no"
            " follower of that name is registered"
        )
        advice = f"If nobody needs them any more: lakebed follower remove {holder}"
        yield Finding("protection without follower", "warning", holder, what, advice=advice)


def _dead(state: ProtectionState) -> Iterator[Finding]:
    for one in state.protections:
        if not state.absent(one):
            continue
        what = f"{one.holder} protects snapshot {one.snapshot}, which no table has"
        theirs = (
            state.dead(other)
            for other in state.protections
            if (other.holder, other.table) == (one.holder, one.table)
        )
        if all(theirs):
            repair = GiveBack(one.holder, one.table)
            yield Finding("dead protection", "warning", str(one.table), what, repair)
        elif not state.ownerless(one):
            advice = "It ends when its holder next looks, or by itself."
            yield Finding("dead protection", "warning", str(one.table), what, advice=advice)


def release_dead(services: FsckServices, repair: GiveBack) -> None:
    """Release a dead protection, if it still is dead."""
    found = judge_protections(read_protections(services))
    if repair in [one.repair for one in found]:
        services.ports.events.unprotect(repair.holder, repair.table)
