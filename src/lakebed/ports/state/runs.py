"""A run's record: what was asked for, what it read and wrote, and how it ended.

Records are stored as JSON: the names of fields are part of that format.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from lakebed.names import TableName

RunState = Literal["running", "success", "failed", "skipped"]
Severity = Literal["error", "warn"]


@dataclass(frozen=True)
class Phase:
    """One step of a run, and how long it took."""

    name: str
    seconds: float


@dataclass(frozen=True)
class InputPin:
    """The snapshot of a table that a run reads; None if the table was still empty."""

    table: TableName
    snapshot: int | None


@dataclass(frozen=True)
class QuarantinedFile:
    """A landing file that could not be read, where it was moved, and why."""

    path: str
    moved_to: str
    reason: str


@dataclass(frozen=True)
class Verdict:
    """A gate's result: how many bad rows it found, and a sample of them."""

    gate: str
    severity: Severity
    passed: bool
    bad_rows: int
    sample: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    description: str = ""
    remediation: str = ""
    tags: tuple[str, ...] = ()
    error: str = ""  # set if the gate could not run

    @property
    def blocks(self) -> bool:
        return bool(self.error) or (not self.passed and self.severity == "error")


@dataclass(frozen=True)
class BatchRun:
    """What a run did about one batch of a source or of a backfill."""

    label: str
    state: Literal["success", "failed"]
    # why it was due: new, changed, settings, forced, gap, gone, backfill; or unreadable
    reason: str
    files: int = 0
    bytes: int = 0
    rows: int | None = None
    seconds: float = 0.0
    attempts: int = 1
    snapshot: int | None = None
    error: str = ""


@dataclass(frozen=True)
class RunRecord:
    """One attempt to bring one table up to date."""

    run_id: str
    invocation: str
    table: TableName
    state: RunState
    started_at: datetime
    attempt: int = 1
    ended_at: datetime | None = None
    strategy: str = ""
    release: str = ""  # digest of the pipeline's files
    version: int | None = None  # of the release that ran; None: the draft
    ref: str = "main"
    phases: tuple[Phase, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    inputs: tuple[InputPin, ...] = ()
    files: Mapping[str, int] = field(default_factory=dict)  # zone → how many of its files were read
    set_aside: tuple[QuarantinedFile, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    base: int | None = None  # the table's snapshot before the run
    schema: int | None = None  # the table's schema before the run, restored if the run fails
    touched: tuple[str, ...] = ()  # the columns that it adds or widens
    snapshot: int | None = None  # what was published; None: nothing changed
    moment: datetime | None = None  # the one time used in what it wrote; None: when it started
    asked_at: datetime | None = None  # when it was requested: one time for all runs of a build
    # digest of its variables and of how its zones were to be read; of a backfill, of what was asked
    given: str = ""
    left_schema: int | None = None  # the table's schema after the run
    altered_from: str = ""  # of an ALTER: the table's metadata file before it
    message: str = ""
    warnings: tuple[str, ...] = ()  # what to look at although it succeeded
    backfill: str = ""  # its column, range and chunks
    # of a source or a backfill, in the order in which they ran
    batches: tuple[BatchRun, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    error: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)


@dataclass(frozen=True)
class RunSummary:
    """The few fields of a record that are cheap to read for all runs at once."""

    run_id: str
    table: TableName
    state: RunState
    started_at: datetime
