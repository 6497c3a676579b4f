"""A follower: woken by events, it decides by comparing what it has seen with the catalog."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from lakebed.errors import DamagedTable
from lakebed.names import TableName
from lakebed.ports import Catalog, Events, Leases, Pointer, RecordedEvent, Records
from lakebed.tables.following.changes import (
    TableChange,
    TableState,
    find_changes,
    states_after,
)
from lakebed.tables.operations.alters import settle_alters


@dataclass(frozen=True)
class FollowerLook:
    """One look of a follower: the events that it had not acknowledged, at most a page of them, and
    what has changed whether or not an event tells of it.

    `states` is what the follower has seen once it has handled the changes. A table that is
    `unreadable` stays as it was seen.
    """

    events: tuple[RecordedEvent, ...]
    changes: tuple[TableChange, ...]
    states: tuple[TableState, ...]
    unreadable: tuple[TableName, ...] = ()


class Follower:
    """Keeps something in step with the lake's tables, all but hidden ones.

    It stores itself what it has seen, together with what it makes of the tables, and passes it to
    `look`. Events are hints: foreign writers leave none.
    """

    def __init__(
        self, name: str, *, catalog: Catalog, events: Events, records: Records, leases: Leases
    ) -> None:
        self.name = name
        self._catalog, self._events = catalog, events
        self._records, self._leases = records, leases

    def look(self, seen: Collection[TableState]) -> FollowerLook:
        """What has changed since it saw the tables like this. A new follower is registered."""
        settle_alters(self._catalog, self._records, self._leases)
        # Events first: the catalog as read afterwards has all that they tell of.
        events = self._events.since(self._events.follow(self.name))
        # A table dropped or restored in between is on one of the two lists.
        dropped = {gone.uuid for gone in self._catalog.dropped()}
        pointers = self._catalog.pointers()
        dropped |= {gone.uuid for gone in self._catalog.dropped()}
        present, unreadable = self._read(pointers, seen)
        changes = find_changes(seen, present, dropped=dropped, unreadable=unreadable)
        return FollowerLook(events, changes, states_after(seen, changes), unreadable)

    def acknowledge(self, look: FollowerLook) -> None:
        """The changes of a look are handled, and what was seen is stored."""
        if look.events:
            self._events.acknowledge(self.name, look.events[-1].number)

    def protect(self, state: TableState) -> bool:
        """Protect the snapshot of a table from expiry, besides all others that this follower
        protects, then make sure that the table still has it.

        False: the table has changed since the look. The next look finds it again.
        """
        if state.snapshot is None:
            return True
        self._events.protect(self.name, state.table, [state.snapshot], add=True)
        try:
            present = self._catalog.metadata(self._catalog.pointers([state.table]).values())
        except DamagedTable:
            return False
        found = present.get(state.table)
        return bool(found and found.uuid == state.uuid and state.snapshot in found.snapshots)

    def release(self, *, but: Collection[TableState]) -> None:
        """Protect no snapshot any longer `but` those of these states.

        Snapshots are compared, not names: a table may have been renamed since it was looked at, and
        another may have its name.
        """
        mine = {one.snapshot for one in self._events.protected() if one.holder == self.name}
        if done := mine - {state.snapshot for state in but}:
            self._events.unprotect(self.name, snapshots=done)

    def forget(self) -> None:
        """Follow no longer: its registration and the snapshots that it protects are removed."""
        self._events.unfollow(self.name)

    def _read(
        self, pointers: Mapping[TableName, Pointer], seen: Collection[TableState]
    ) -> tuple[tuple[TableState, ...], tuple[TableName, ...]]:
        """The present tables, and those that cannot be read. Metadata files never change: those
        that were seen are not read again.
        """
        known = {state.location: state for state in seen}
        states: list[TableState] = []
        unreadable: list[TableName] = []
        for table, pointer in pointers.items():
            if table.hidden:
                continue
            if same := known.get(pointer.location):
                states.append(replace(same, table=table, dropped=False))
                continue
            try:
                states += self._states(pointer)
            except DamagedTable:
                unreadable.append(table)
        return tuple(states), tuple(unreadable)

    def _states(self, pointer: Pointer) -> Iterator[TableState]:
        for table, metadata in self._catalog.metadata([pointer]).items():
            head = metadata.head()
            snapshot = head.id if head else None
            yield TableState(metadata.uuid, table, pointer.location, snapshot, metadata.schema)
