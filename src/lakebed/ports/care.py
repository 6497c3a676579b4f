"""What we ask of the log of care: what was done to what, how much of it, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

CareState = Literal["done", "skipped", "failed", "reported"]


@dataclass(frozen=True)
class CareEntry:
    """One action of care. `subject` is a table, a zone, a folder or the lake; `reported` is what was found and left."""

    action: str
    subject: str
    state: CareState
    at: datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0
    seconds: float = 0.0
    message: str = ""


class CareLog(Protocol):
    """The memory of care."""

    def write(self, entry: CareEntry) -> None:
        """Put down what was done."""
        ...

    def entries(self, *, subject: str | None = None, action: str | None = None, limit: int = 50) -> tuple[CareEntry, ...]:
        """What was done, newest first."""
        ...

    def delete(self, *, before: datetime) -> int:
        """Remove older entries; says how many."""
        ...
