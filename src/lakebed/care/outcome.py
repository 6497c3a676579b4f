"""How care ended: for each step, and in all."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.care.steps import CareStep
from lakebed.ports import CareEntry, CareState
from lakebed.work import Listener

CareListener = Listener[CareStep, CareEntry]


@dataclass(frozen=True)
class Done:
    """How much a step did, and what there is to say about it."""

    counts: Mapping[str, int]
    bytes: int = 0
    message: str = ""
    state: CareState = "done"


@dataclass(frozen=True)
class CareResult:
    """Every step and how it ended; a dry run only reports."""

    entries: tuple[CareEntry, ...]
    steps: tuple[CareStep, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        return not any(entry.state == "failed" for entry in self.entries)

    @property
    def exit_code(self) -> int:
        return 0 if self.ok else 1
