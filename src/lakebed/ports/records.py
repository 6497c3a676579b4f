"""What we ask of a store of records: what runs did, which landing files they took, and what they are still reading."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from lakebed.names import TableName, ZoneName
from lakebed.ports.events import Event

FileState = Literal["taken", "held", "waiting"]
RunState = Literal["running", "success", "failed", "skipped"]
Severity = Literal["error", "warn"]


@dataclass(frozen=True)
class Phase:
    """One step of a run, as it went."""

    name: str
    seconds: float


@dataclass(frozen=True)
class InputPin:
    """The state of a table that a run reads; no snapshot: the table had no row yet."""

    table: TableName
    snapshot: int | None


@dataclass(frozen=True)
class ConsumedFile:
    """A landing file whose rows a run brought into its table. `path` is below the lake's root.

    `held`: the run was undone, and the file is not to be read again; `waiting`: it was undone, and the file is.
    """

    table: TableName
    zone: ZoneName
    path: str  # where it landed
    etag: str  # while it lies there
    size: int
    run_id: str
    state: FileState = "taken"
    digest: str = ""  # SHA-256 of the content; empty where the etag says as much, and in rows of older Lakebeds
    archived: str = ""  # its path below `_processed/`, once it was moved there; rows of older Lakebeds do not say
    archived_etag: str = ""
    taken_at: float = field(default=0.0, compare=False)  # when its run was published, in seconds since 1970


@dataclass(frozen=True)
class MovedFile:
    """Where a file of the ledger, known by the path and etag it had there, lies now, and its etag since."""

    path: str
    etag: str
    new_path: str
    new_etag: str


@dataclass(frozen=True)
class ColumnTypeChange:
    """What a column of a zone is taken for from now on, and what it was taken for when the run began; empty: nothing."""

    column: str
    before: str
    type: str


@dataclass(frozen=True)
class ZoneTypes:
    """What a run learned of the columns of a zone's files; `pattern` says of which, empty: of all."""

    zone: ZoneName
    pattern: str
    columns: tuple[ColumnTypeChange, ...]


@dataclass(frozen=True)
class FileStateChange:
    """What becomes of files of a table, each by its path and the run that took it: a rollback left it out, or brought it back."""

    table: TableName
    files: tuple[tuple[str, str], ...]
    state: FileState


@dataclass(frozen=True)
class QuarantinedFile:
    """A landing file that could not be read, where it lies now, and why."""

    path: str
    moved_to: str
    reason: str


@dataclass(frozen=True)
class Verdict:
    """A gate's answer: how many bad rows, and some of them."""

    gate: str
    severity: Severity
    passed: bool
    bad_rows: int
    sample: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    description: str = ""
    remediation: str = ""
    tags: tuple[str, ...] = ()
    error: str = ""  # set where the gate itself could not be asked

    @property
    def blocks(self) -> bool:
        return not self.passed and self.severity == "error"


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
    base: int | None = None  # the snapshot the table stood at before
    schema: int | None = None  # and its schema, to be set back should the run fail
    touched: tuple[str, ...] = ()  # the columns that it adds or widens
    snapshot: int | None = None  # what was published; None: nothing changed
    moment: datetime | None = None  # the one time in what it wrote; None: when it started
    asked_at: datetime | None = None  # when it was asked for: one time for all runs of a build
    given: str = ""  # digest of its variables and of how its zones were to be read
    left_schema: int | None = None  # the table's schema when the run had ended
    message: str = ""
    error: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)


@dataclass(frozen=True)
class RunSummary:
    """As much of a record as can be read of many at once."""

    run_id: str
    table: TableName
    state: RunState
    started_at: datetime


@dataclass(frozen=True)
class Along:
    """Rows that are written in the same step as a change of tables: records of runs, files they took, what happened.

    What a zone's columns are taken for is written if nobody else has taken them for something else meanwhile; otherwise
    nothing is, and the publication fails with `FilesChanged`.
    """

    runs: tuple[RunRecord, ...] = ()
    consumed: tuple[ConsumedFile, ...] = ()
    file_states: tuple[FileStateChange, ...] = ()
    events: tuple[Event, ...] = ()
    types: tuple[ZoneTypes, ...] = ()


class Records(Protocol):
    """The memory of a lake."""

    def write(self, record: RunRecord) -> None:
        """Put a record down, in place of an earlier one of the same run; one that succeeded stays a success."""
        ...

    def run(self, run_id: str) -> RunRecord | None:
        """The record of this run."""
        ...

    def runs(
        self, *, table: TableName | None = None, invocation: str | None = None, state: RunState | None = None, limit: int = 50
    ) -> tuple[RunRecord, ...]:
        """Records, newest first."""
        ...

    def summaries(self) -> tuple[RunSummary, ...]:
        """All records in brief, newest first."""
        ...

    def last_digests(self) -> dict[TableName, str]:
        """The digest of the files that each table's last successful run was made from."""
        ...

    def consumed(self, zone: ZoneName, *, table: TableName | None = None) -> tuple[ConsumedFile, ...]:
        """The files of a zone that published runs took, or that are held: into one table, or into any.

        Of several runs of a table that took a file, the last one whose rows are visible speaks for it; else the last one.
        """
        ...

    def record_moves(self, sightings: Iterable[MovedFile]) -> None:
        """Files were moved, or have another etag: the ledger knows them there from now on."""
        ...

    def ledger(self, table: TableName) -> tuple[ConsumedFile, ...]:
        """The files that published runs of a table took, in the order of the runs, whatever became of them since."""
        ...

    def zone_types(self, zone: ZoneName) -> dict[str, dict[str, str]]:
        """What published runs took the columns of a zone's files for, by the pattern of the files; empty: all."""
        ...

    def delete_runs(self, run_ids: Collection[str]) -> int:
        """Remove records of runs that have ended; which files they took stays known. Says how many there were."""
        ...

    def pin(self, run_id: str, pins: Sequence[InputPin]) -> None:
        """A run reads these; whoever expires snapshots leaves them alone."""
        ...

    def unpin(self, run_ids: Collection[str]) -> None:
        """These runs read no more."""
        ...

    def pinned(self) -> dict[TableName, frozenset[int]]:
        """All snapshots that runs read now."""
        ...
