"""What a run works with, and what it is asked to do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, Literal
from zoneinfo import ZoneInfo

from lakebed.pipelines.planning.steps import Step
from lakebed.ports import MAIN, Compute, Leases, LocalSession, Records, Releases
from lakebed.sql import ChangeStatement
from lakebed.tables import TablePlacement

When = Literal["before", "after"]


@dataclass(frozen=True)
class RunServices:
    """The engines behind a run."""

    placement: TablePlacement
    leases: Leases
    records: Records
    compute: Callable[[str], Compute]  # a session of its own, by run id
    workbench: Callable[[], LocalSession]
    scratch: Callable[[str], Path]  # a run's own folder on this machine
    log: Callable[[str], Path]  # where a run's log is written
    holder: str
    releases: Releases
    own_spark: bool = True  # the pinned one, set up by Lakebed: what functions it has is known
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def local(self, at: datetime) -> datetime:
        """The same moment in the lake's time zone."""
        return at.astimezone(ZoneInfo(self.placement.settings.timezone))


@dataclass(frozen=True)
class ManualChange:
    """What is brought in by hand: rows, or a statement."""

    frame: Any = None
    statement: ChangeStatement | None = None


def _unwatched(run_id: str, step: Step, when: When) -> None:
    """Nobody looks on."""


@dataclass(frozen=True)
class RunOptions:
    """How a run was asked for."""

    invocation: str
    vars: Mapping[str, Any] = field(default_factory=dict)
    full_refresh: bool = False
    ref: str = MAIN
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))  # one for all runs that were asked for together
    watch: Callable[[str, Step, When], None] = _unwatched
    manual_change: ManualChange | None = None
    stop: Event = field(default_factory=Event)  # set: runs end at their next step
