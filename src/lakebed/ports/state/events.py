"""Events of tables, recorded in the commits that cause them.

A follower (such as a mirror) is registered by name. It reads the events after the last one it has
acknowledged, so none is lost whichever process dies. It protects the snapshots that it still needs
from expiry.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from lakebed.names import TableName

EventKind = Literal[
    "published", "rolled_back", "altered", "tagged", "untagged", "branched", "branch_removed",
    "renamed", "cloned", "compacted", "expired", "dropped", "restored", "purged", "relocated",
]  # fmt: skip


@dataclass(frozen=True)
class Event:
    """Something that happened to a table.

    `snapshot` is the one that the ref or tag points at afterwards.
    """

    kind: EventKind
    table: TableName
    snapshot: int | None = None
    detail: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedEvent:
    """An event with its number and its time.

    Numbers are in the order of commits: whoever sees an event sees all with smaller numbers. None
    is issued twice.
    """

    number: int
    at: datetime
    event: Event


@dataclass(frozen=True)
class RegisteredFollower:
    """A follower, the last event it has acknowledged, and when it last looked.

    `looked_at` is None if that was before the lake kept these times.
    """

    name: str
    acknowledged: int
    looked_at: datetime | None


@dataclass(frozen=True)
class SnapshotProtection:
    """A snapshot that a holder protects from expiry, `until` a time or until it is unprotected.

    It follows its table: when the table is renamed, dropped or restored, the same commit changes
    `table`. A dropped table has its hidden name (`DroppedTable.hidden_name`).
    """

    holder: str
    table: TableName
    snapshot: int
    until: datetime | None = None


class Events(Protocol):
    """The lake's log of events, its followers, and the protected snapshots."""

    def append(self, *events: Event) -> None:
        """Record events that belong to no commit of the catalog."""
        ...

    def since(
        self,
        number: int = 0,
        *,
        table: TableName | None = None,
        kinds: Collection[EventKind] = (),
        after: datetime | None = None,
        limit: int = 1000,
    ) -> tuple[RecordedEvent, ...]:
        """Events after this number, oldest first: of one table, of some kinds, after a time, if
        given.
        """
        ...

    def delete(self, *, before: datetime) -> int:
        """Delete events older than this that every follower has acknowledged; returns how many."""
        ...

    def follow(self, name: str) -> int:
        """A follower looks: it is registered if it is new. Returns the number of the last event it
        has acknowledged.
        """
        ...

    def acknowledge(self, name: str, number: int) -> None:
        """The follower has handled every event up to this number."""
        ...

    def unfollow(self, name: str) -> None:
        """Remove a follower and its protections."""
        ...

    def followers(self) -> tuple[RegisteredFollower, ...]:
        """Every follower, by name."""
        ...

    def protect(
        self,
        holder: str,
        table: TableName,
        snapshots: Collection[int],
        *,
        seconds: float | None = None,
        add: bool = False,
    ) -> None:
        """Protect these snapshots of a table from expiry, instead of those the holder protected
        under this name before; with `add`, besides them.
        """
        ...

    def renew(self, holder: str, *, seconds: float) -> bool:
        """Protect for that long from now what the holder protects for a time, whatever its tables
        are called by now; returns whether it still protects anything.
        """
        ...

    def unprotect(
        self,
        holder: str,
        table: TableName | None = None,
        *,
        snapshots: Collection[int] | None = None,
    ) -> None:
        """Remove a holder's protections: of one table, or of all; of some snapshots, or of all."""
        ...

    def protected(self) -> tuple[SnapshotProtection, ...]:
        """Every protection that has not run out."""
        ...
