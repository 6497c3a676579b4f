"""The followers of a lake: how far each is, and the removal of one that is gone."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from lakebed.errors import UnknownName
from lakebed.ports import Events


@dataclass(frozen=True)
class FollowerSummary:
    """A follower, or whoever else protects snapshots without end: then it is not `registered`.

    `waiting_since` is the time of the first event that it has not handled.
    """

    name: str
    registered: bool
    looked_at: datetime | None
    waiting_since: datetime | None
    protected_snapshots: int


class Followers:
    """The followers of a lake."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def list(self) -> tuple[FollowerSummary, ...]:
        """Every follower, by name."""
        endless = Counter(one.holder for one in self._events.protected() if one.until is None)
        known = {one.name: one for one in self._events.followers()}
        return tuple(
            FollowerSummary(
                name,
                name in known,
                known[name].looked_at if name in known else None,
                self._waiting_since(known[name].acknowledged) if name in known else None,
                endless[name],
            )
            for name in sorted({*known, *endless})
        )

    def remove(self, name: str) -> FollowerSummary:
        """Remove a follower that is gone for good: events no longer wait for it, and what it
        protected may expire. If it still runs, it starts over as a new one.
        """
        found = {one.name: one for one in self.list()}
        if name not in found:
            raise UnknownName("follower", name, found)
        self._events.unfollow(name)
        return found[name]

    def _waiting_since(self, acknowledged: int) -> datetime | None:
        first = self._events.since(acknowledged, limit=1)
        return first[0].at if first else None
