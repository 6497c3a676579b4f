"""What was asked for: which pipelines run, how, and who is told about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from typing import Any, Literal

from lakebed.batches.changes import BatchProgress
from lakebed.errors import LakebedError
from lakebed.names import TableName, new_run_id
from lakebed.pipelines.planning.steps import RunStep
from lakebed.ports import MAIN, RunRecord
from lakebed.requests import RunRequest
from lakebed.sql import ChangeStatement
from lakebed.tables.adopting.look import FoundFolder

When = Literal["before", "after"]


@dataclass(frozen=True)
class RunListener:
    """Callbacks for the progress of runs. All of them do nothing unless given."""

    on_select: Callable[[tuple[TableName, ...]], None] = lambda _: None
    on_start: Callable[[TableName], None] = lambda _: None
    on_end: Callable[[RunRecord], None] = lambda _: None
    on_wait: Callable[[TableName, LakebedError], None] = lambda *_: (
        None
    )  # another process has the table's lease
    # the first batch of a source or a backfill begins, or one has ended
    on_batch: Callable[[TableName, BatchProgress], None] = lambda *_: None
    on_step: Callable[[str, RunStep, When], None] = lambda *_: (
        None
    )  # run id, step, and whether it begins or has ended


@dataclass(frozen=True)
class ManualChange:
    """Rows, a statement or a folder of files that a person gives to a table, instead of a
    pipeline.
    """

    frame: Any = None
    statement: ChangeStatement | None = None
    folder: FoundFolder | None = None

    @property
    def readable_once(self) -> bool:
        """Whether the rows are gone once they were read, as those of an Arrow reader."""
        return hasattr(self.frame, "read_next_batch")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """A request for runs, and what the program that carries it out adds. One for all runs."""

    request: RunRequest = field(default_factory=RunRequest)
    ref: str = MAIN
    manual_change: ManualChange | None = None
    listener: RunListener = field(default_factory=RunListener)
    stop: Event = field(default_factory=Event)  # once set, runs end at their next step
    invocation: str = field(default_factory=new_run_id)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
