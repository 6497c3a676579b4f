"""What happens to tables, written down in the same step: whoever derives something from them reads on from where it was.

A follower (a mirror, a layout) is registered by name. It asks for the events after the last one it dealt with, and says
when it is done with them: none is lost, whichever process dies when. Snapshots that it needs it holds.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from lakebed.names import TableName

EventKind = Literal[
    "published", "rolled_back", "altered", "tagged", "untagged", "branched", "branch_removed", "renamed", "cloned", "compacted",
    "expired", "dropped", "restored", "purged", "relocated",
]  # fmt: skip


@dataclass(frozen=True)
class Event:
    """Something that happened to a table. `snapshot` is where its ref stands then, or what the tag names."""

    kind: EventKind
    table: TableName
    snapshot: int | None = None
    detail: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedEvent:
    """An event as it was written down; numbers grow."""

    number: int
    at: datetime
    event: Event


@dataclass(frozen=True)
class SnapshotProtection:
    """A snapshot that a holder keeps from expiry; without `until`, for as long as it does not give it back."""

    holder: str
    table: TableName
    snapshot: int
    until: datetime | None = None


class Events(Protocol):
    """The lake's log of what happened to its tables."""

    def append(self, *events: Event) -> None:
        """Write events down that no other step does along with its own."""
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
        """Events after this number, oldest first; of one table, of some kinds, after a time, if given."""
        ...

    def delete(self, *, before: datetime) -> int:
        """Remove events that every follower has dealt with, older than this; says how many."""
        ...

    def follow(self, name: str) -> int:
        """Register a follower, or find it again; returns the number of the last event it has dealt with."""
        ...

    def acknowledge(self, name: str, number: int) -> None:
        """The follower has dealt with everything up to this number."""
        ...

    def unfollow(self, name: str) -> None:
        """The follower is no more; what it held is given back."""
        ...

    def followers(self) -> dict[str, int]:
        """All followers, and how far each has come."""
        ...

    def protect(self, holder: str, table: TableName, snapshots: Collection[int], *, seconds: float | None = None) -> None:
        """Keep these snapshots of a table from expiry, in place of those the holder kept of it before."""
        ...

    def unprotect(self, holder: str, table: TableName | None = None) -> None:
        """The holder keeps nothing more: of this table, or at all."""
        ...

    def protected(self) -> tuple[SnapshotProtection, ...]:
        """All holds that have not run out."""
        ...
