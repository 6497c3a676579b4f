"""What was asked for: which pipelines run, how, and who is told about it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from threading import Event
from typing import Any, Literal

from lakebed.batches.changes import BatchProgress
from lakebed.errors import LakebedError
from lakebed.names import TableName, new_run_id
from lakebed.pipelines.planning.steps import RunStep
from lakebed.ports import MAIN, RunRecord
from lakebed.sql import ChangeStatement
from lakebed.tables.adopting.look import FoundFolder

When = Literal["before", "after"]
RangeBound = str | int | date | datetime


def range_text(given: RangeBound | None) -> str | None:
    """A bound, or the size of chunks, as it would be written."""
    return None if given is None else str(given)


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
    """The options of `lake.run` and of all that looks at pipelines without running them.

    One object for all their runs.
    """

    select: tuple[str, ...] = ()  # none: all pipelines
    exclude: tuple[str, ...] = ()
    released: bool = False  # the newest releases instead of the drafts
    full_refresh: bool = False
    batches: tuple[str, ...] = ()  # of sources, such as `year=2020`; none: all
    start: str | None = None  # of a backfill: the first value of its range
    end: str | None = None  # the first value after it
    chunk: str | None = None  # how much of it is published at once: `month`, `1000`
    force: bool = False  # batches run even if they are unchanged, or done
    repair_gaps: bool = False  # batches of sources run that others have removed from the table
    vars: Mapping[str, Any] = field(default_factory=dict)
    together: bool = False  # publish all tables in one step, or none
    threads: int = 1
    fail_fast: bool = False
    wait: float = 0.0  # seconds to wait for a table whose lease another process has
    ref: str = MAIN
    manual_change: ManualChange | None = None
    listener: RunListener = field(default_factory=RunListener)
    stop: Event = field(default_factory=Event)  # once set, runs end at their next step
    invocation: str = field(default_factory=new_run_id)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def is_backfill(self) -> bool:
        """Whether a range was given, even if not all of it."""
        return (self.start, self.end, self.chunk) != (None, None, None)

    @property
    def args(self) -> dict[str, Any]:
        """The options as `run_results.json` keeps them, for `lakebed retry`."""
        names = (
            "select",
            "exclude",
            "full_refresh",
            "batches",
            "start",
            "end",
            "chunk",
            "force",
            "repair_gaps",
            "vars",
            "released",
            "together",
            "threads",
            "fail_fast",
        )
        return {name: getattr(self, name) for name in names}
