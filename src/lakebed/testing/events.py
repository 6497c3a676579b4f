"""Events, followers and protected snapshots in memory."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import RLock

from lakebed.names import TableName
from lakebed.ports import (
    Event,
    EventKind,
    RecordedEvent,
    RegisteredFollower,
    SnapshotProtection,
)


class MemoryEvents:
    """A lake's events in a list; safe to share between threads."""

    def __init__(self) -> None:
        self._events: list[RecordedEvent] = []
        self._issued = 0
        self._followers: dict[str, RegisteredFollower] = {}
        self._protected: list[SnapshotProtection] = []
        self._lock = RLock()

    def append(self, *events: Event) -> None:
        with self._lock:
            for event in events:
                self._issued += 1
                self._events.append(RecordedEvent(self._issued, datetime.now(UTC), event))

    def since(
        self,
        number: int = 0,
        *,
        table: TableName | None = None,
        kinds: Collection[EventKind] = (),
        after: datetime | None = None,
        limit: int = 1000,
    ) -> tuple[RecordedEvent, ...]:
        later = (recorded for recorded in self._events if recorded.number > number)
        named = (recorded for recorded in later if table in (None, recorded.event.table))
        asked = (recorded for recorded in named if not kinds or recorded.event.kind in kinds)
        return tuple(recorded for recorded in asked if after is None or recorded.at >= after)[
            :limit
        ]

    def delete(self, *, before: datetime) -> int:
        with self._lock:
            handled = min((one.acknowledged for one in self.followers()), default=None)
            kept = [
                one
                for one in self._events
                if one.at >= before or (handled is not None and one.number > handled)
            ]
            deleted = len(self._events) - len(kept)
            self._events = kept
            return deleted

    def follow(self, name: str) -> int:
        with self._lock:
            known = self._followers.get(name)
            number = known.acknowledged if known else self._issued
            self._followers[name] = RegisteredFollower(name, number, datetime.now(UTC))
            return number

    def acknowledge(self, name: str, number: int) -> None:
        with self._lock:
            if known := self._followers.get(name):
                number = max(number, known.acknowledged)
                self._followers[name] = RegisteredFollower(name, number, datetime.now(UTC))

    def unfollow(self, name: str) -> None:
        with self._lock:
            self._followers.pop(name, None)
            self.unprotect(name)

    def followers(self) -> tuple[RegisteredFollower, ...]:
        return tuple(one for _, one in sorted(self._followers.items()))

    def protect(
        self,
        holder: str,
        table: TableName,
        snapshots: Collection[int],
        *,
        seconds: float | None = None,
        add: bool = False,
    ) -> None:
        until = None if seconds is None else datetime.now(UTC) + timedelta(seconds=seconds)
        now = datetime.now(UTC)
        with self._lock:
            self.unprotect(holder, table, snapshots=snapshots if add else None)
            self._protected = [one for one in self._protected if not one.until or one.until > now]
            self._protected += [
                SnapshotProtection(holder, table, snapshot, until)
                for snapshot in sorted(set(snapshots))
            ]

    def renew(self, holder: str, *, seconds: float) -> bool:
        until = datetime.now(UTC) + timedelta(seconds=seconds)
        with self._lock:
            self._protected = [
                replace(one, until=until) if one.holder == holder and one.until else one
                for one in self._protected
            ]
            return any(one.holder == holder for one in self._protected)

    def unprotect(
        self,
        holder: str,
        table: TableName | None = None,
        *,
        snapshots: Collection[int] | None = None,
    ) -> None:
        with self._lock:
            self._protected = [
                one
                for one in self._protected
                if one.holder != holder
                or (table is not None and one.table != table)
                or (snapshots is not None and one.snapshot not in snapshots)
            ]

    def rename_table(self, table: TableName, to: TableName) -> None:
        """What is protected of a table is protected under its new name."""
        with self._lock:
            renamed = (
                replace(one, table=to) if one.table == table else one for one in self._protected
            )
            self._protected = list(
                {(one.holder, one.table, one.snapshot): one for one in renamed}.values()
            )

    def protected(self) -> tuple[SnapshotProtection, ...]:
        now = datetime.now(UTC)
        lasting = [one for one in self._protected if one.until is None or one.until > now]
        return tuple(sorted(lasting, key=lambda one: (one.holder, one.snapshot)))
