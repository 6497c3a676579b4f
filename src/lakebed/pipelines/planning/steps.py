"""The steps of a run: what each does, to what, and why."""

from dataclasses import dataclass, field
from typing import ClassVar

from lakebed.batches.changes import DueBatch
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.planning.pins import Batch, SourceBatch
from lakebed.ports import FileInfo, InputPin
from lakebed.quality import Gate
from lakebed.sql import ChangeStatement
from lakebed.tables import ArrangementChange, Renames, SchemaPolicy, Strategy
from lakebed.tables.adopting.look import FoundFolder


class BaseRunStep:
    """What every step says.

    `kind` is stored in run records and printed as JSON: it stays when a class is renamed.
    """

    kind: ClassVar[str]
    why: ClassVar[str]

    @property
    def action(self) -> str:
        """The name of the step among the phases of a run's record."""
        return self.kind


@dataclass(frozen=True)
class TableStep(BaseRunStep):
    """A step that works on one table."""

    table: TableName

    @property
    def subject(self) -> str:
        return str(self.table)


@dataclass(frozen=True)
class OpenZone(BaseRunStep):
    """Read the frozen files of a zone; files that cannot be read are set aside."""

    kind: ClassVar[str] = "OpenZone"
    why: ClassVar[str] = "the pipeline reads the zone"
    zone: ZoneName
    pattern: str | None
    files: tuple[FileInfo, ...] = field(repr=False)

    @property
    def subject(self) -> str:
        return str(self.zone)


@dataclass(frozen=True)
class Calculate(BaseRunStep):
    """Run the pipeline's own query or code over pinned inputs."""

    kind: ClassVar[str] = "Calculate"
    why: ClassVar[str] = "the table will contain the result"
    file: str
    inputs: tuple[InputPin, ...]

    @property
    def subject(self) -> str:
        return self.file


@dataclass(frozen=True)
class ReadBatch(BaseRunStep):
    """Read the files of one batch of a source, united by the names of their columns."""

    kind: ClassVar[str] = "ReadBatch"
    why: ClassVar[str] = "its files are not those that the table was made from"
    batch: SourceBatch

    @property
    def subject(self) -> str:
        return self.batch.label


@dataclass(frozen=True)
class ReadFolder(BaseRunStep):
    """Take the columns, or the rows, of the Parquet files in a folder that becomes a table."""

    kind: ClassVar[str] = "ReadFolder"
    why: ClassVar[str] = "the folder becomes a table"
    found: FoundFolder

    @property
    def subject(self) -> str:
        return self.found.adoption.folder


@dataclass(frozen=True)
class Replay(BaseRunStep):
    """Bring the rows of one earlier run's files into a hidden table by the strategy, as that run
    did.
    """

    kind: ClassVar[str] = "Replay"
    why: ClassVar[str] = "the strategy depends on the order in which batches arrived"
    number: int
    of: int
    batch: Batch
    table: TableName
    strategy: Strategy
    inputs: tuple[InputPin, ...] = ()

    @property
    def is_last(self) -> bool:
        return self.number == self.of

    @property
    def subject(self) -> str:
        return str(self.table)


@dataclass(frozen=True)
class Stage(TableStep):
    """Compute the result once, into a hidden table."""

    kind: ClassVar[str] = "Stage"
    why: ClassVar[str] = "the result is read more than once and must be the same each time"


@dataclass(frozen=True)
class CheckKeys(BaseRunStep):
    """Refuse NULL keys, and repeated ones that have no order."""

    kind: ClassVar[str] = "CheckKeys"
    why: ClassVar[str] = "a MERGE needs keys that identify rows"
    keys: tuple[str, ...]
    order: str | None

    @property
    def subject(self) -> str:
        return ", ".join(self.keys)


@dataclass(frozen=True)
class PrepareSchema(BaseRunStep):
    """Add the columns that are new; all other changes, and `renames`, wait for publishing."""

    kind: ClassVar[str] = "PrepareSchema"
    why: ClassVar[str] = "the result must fit the table"
    policy: SchemaPolicy
    renames: Renames = ()

    @property
    def subject(self) -> str:
        return "the table's columns"


@dataclass(frozen=True)
class EvolveArrangement(TableStep):
    """Partition and sort new files as the pipeline says; files that are there stay as they are, and
    readers notice nothing.
    """

    kind: ClassVar[str] = "EvolveLayout"
    why: ClassVar[str] = "the pipeline specifies another arrangement"
    change: ArrangementChange


@dataclass(frozen=True)
class CreateHidden(TableStep):
    """Create the table of a first run under a name that nobody knows."""

    kind: ClassVar[str] = "CreateHidden"
    why: ClassVar[str] = "readers must not see a first run before it is published"


@dataclass(frozen=True)
class OpenBranch(TableStep):
    """Open the run's own branch at the snapshot that the run has read: later commits of others are
    not in it.
    """

    kind: ClassVar[str] = "OpenBranch"
    why: ClassVar[str] = "readers must not see the run before it is published"
    branch: str
    at: int | None  # None: the table had no snapshot


@dataclass(frozen=True)
class Write(TableStep):
    """Write the result by the strategy, in one commit; `replaces` all rows."""

    kind: ClassVar[str] = "Write"
    why: ClassVar[str] = "the branch will contain the result"
    strategy: Strategy
    replaces: bool = False


@dataclass(frozen=True)
class TakeFiles(TableStep):
    """Make the files of a folder part of the table, where and as they are, in one commit."""

    kind: ClassVar[str] = "TakeFiles"
    why: ClassVar[str] = "no row need be copied"
    found: FoundFolder = field(repr=False)


@dataclass(frozen=True)
class Execute(TableStep):
    """Run the statement of a manual change on the branch."""

    kind: ClassVar[str] = "Execute"
    why: ClassVar[str] = "this change was requested"
    statement: ChangeStatement


@dataclass(frozen=True)
class DropStage(TableStep):
    """Remove a hidden table."""

    kind: ClassVar[str] = "DropStage"
    why: ClassVar[str] = "the staged result is no longer needed"


@dataclass(frozen=True)
class RunGate(BaseRunStep):
    """Ask a gate about the branch."""

    kind: ClassVar[str] = "Judge"
    why: ClassVar[str] = "readers must not see rows that a gate rejects"
    gate: Gate = field(repr=False)
    later: bool = False  # once all tables of the build are written

    @property
    def action(self) -> str:
        return f"judge {self.gate.name}"

    @property
    def subject(self) -> str:
        return self.gate.name


@dataclass(frozen=True)
class Rebase(TableStep):
    """Put what the run has appended on top of what others have appended meanwhile."""

    kind: ClassVar[str] = "Rebase"
    why: ClassVar[str] = "others have appended rows since the run began"


@dataclass(frozen=True)
class CheckFirst(TableStep):
    """Take back what was written, check all files, and write the rows of the good ones."""

    kind: ClassVar[str] = "CheckFirst"
    why: ClassVar[str] = "the job that wrote the rows could not vouch for all files"


@dataclass(frozen=True)
class StartOver(TableStep):
    """Pin, plan and compute again: what was read has been overtaken."""

    kind: ClassVar[str] = "StartOver"
    why: ClassVar[str] = "what the run has read was overtaken"
    times: int


@dataclass(frozen=True)
class TryAgain(TableStep):
    """Run again after a while, as the pipeline says."""

    kind: ClassVar[str] = "TryAgain"
    why: ClassVar[str] = "what made the run fail may pass"
    times: int


@dataclass(frozen=True)
class Publish(TableStep):
    """Move the ref to the branch; a first run's table gets its name."""

    kind: ClassVar[str] = "Publish"
    why: ClassVar[str] = "the gates have passed"
    ref: str


@dataclass(frozen=True)
class PublishBatch(TableStep):
    """Read, write, check and publish one batch of a source or a backfill, by itself."""

    kind: ClassVar[str] = "PublishBatch"
    batch: DueBatch = field(repr=False)

    @property
    def subject(self) -> str:
        return self.batch.label

    @property
    def why(self) -> str:  # type: ignore[override]
        return self.batch.reason


@dataclass(frozen=True)
class CreateView(TableStep):
    """Create the query as a view of the catalog."""

    kind: ClassVar[str] = "CreateView"
    why: ClassVar[str] = "the gates have passed"


@dataclass(frozen=True)
class ArchiveFiles(BaseRunStep):
    """Move files that all their readers have taken to `_processed/`."""

    kind: ClassVar[str] = "Archive"
    why: ClassVar[str] = "every reader has taken them"
    zone: ZoneName

    @property
    def subject(self) -> str:
        return str(self.zone)


@dataclass(frozen=True)
class BuildLayouts(TableStep):
    """Make the layouts that the pipeline declares, and build what is stale of all that the table
    has; without `rows` that is left to care.
    """

    kind: ClassVar[str] = "BuildLayouts"
    why: ClassVar[str] = "queries read them instead of the table where that is cheaper"
    names: tuple[str, ...] = ()
    rows: bool = True


@dataclass(frozen=True)
class TakeCare(TableStep):
    """Rewrite small files and expire old snapshots, as far as that is due by then."""

    kind: ClassVar[str] = "Care"
    why: ClassVar[str] = "many commits leave small files and old snapshots"


# what one run does by itself, what makes its rows visible, and what is done only if it must be;
# a batch does all of that
WorkStep = (
    OpenZone | Calculate | ReadBatch | ReadFolder | Replay | Stage | CheckKeys | PrepareSchema
    | EvolveArrangement | CreateHidden | OpenBranch | Write | TakeFiles | Execute | DropStage
    | RunGate | Rebase | CheckFirst | ArchiveFiles | BuildLayouts | TakeCare
)  # fmt: skip
PublishStep = Publish | CreateView
Repetition = StartOver | TryAgain  # of all that was done: the driver's
ConditionalStep = Rebase | CheckFirst | Repetition
RunStep = WorkStep | PublishStep | PublishBatch | ConditionalStep


@dataclass(frozen=True)
class BatchSteps:
    """What is done for some batches of a run; for the tables that it reads, the first stands for
    all.
    """

    first: str
    count: int
    steps: tuple[RunStep, ...]
