"""What care came to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lakebed.care.removal.removal import OnProgress
from lakebed.care.steps import Step
from lakebed.ports import CareEntry


@dataclass(frozen=True)
class Done:
    """How much an action did, and what there is to say about it."""

    counts: Mapping[str, int]
    bytes: int = 0
    message: str = ""


@dataclass(frozen=True)
class CareResult:
    """Every action and how it ended; a dry run only reports."""

    entries: tuple[CareEntry, ...]
    steps: tuple[Step, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        return not any(entry.state == "failed" for entry in self.entries)

    @property
    def exit_code(self) -> int:
        return 0 if self.ok else 1


@dataclass(frozen=True)
class CareListener:
    """Who is told how care goes on."""

    on_plan: Callable[[tuple[Step, ...]], None] = lambda _: None
    on_start: Callable[[Step], None] = lambda _: None
    on_progress: OnProgress = lambda _done, _total: None
    on_end: Callable[[CareEntry], None] = lambda _: None
