"""The care log: what maintenance did to what, how much, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

CareState = Literal["done", "skipped", "failed", "reported"]


@dataclass(frozen=True)
class CareEntry:
    """One maintenance action on a table, a zone, a folder or the lake; `reported`: found, and left
    as it is.

    Entries are stored and printed as JSON: the field names are part of that format.
    """

    action: str
    subject: str
    state: CareState
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0
    seconds: float = 0.0
    message: str = ""


class CareLog(Protocol):
    """What maintenance did."""

    def write(self, entry: CareEntry) -> None:
        """Add an entry."""
        ...

    def entries(
        self, *, subject: str | None = None, action: str | None = None, limit: int = 50
    ) -> tuple[CareEntry, ...]:
        """Entries, newest first."""
        ...

    def delete(self, *, before: datetime) -> int:
        """Delete entries older than this; returns how many."""
        ...
