"""The steps of a run. Each says what is done to what; `plan` decides which there are, the runner executes them."""

from dataclasses import dataclass, field

from lakebed.names import TableName, ZoneName
from lakebed.pipelines.planning.pins import Batch
from lakebed.ports import FileInfo, InputPin
from lakebed.quality import Gate
from lakebed.sql import ChangeStatement
from lakebed.tables import ArrangementChange, Renames, SchemaPolicy, Strategy


@dataclass(frozen=True)
class OpenZone:
    """Read the frozen files of a zone; what cannot be read is set aside."""

    zone: ZoneName
    pattern: str | None
    files: tuple[FileInfo, ...] = field(repr=False)


@dataclass(frozen=True)
class Calculate:
    """The pipeline's own query or code, over pinned inputs."""

    file: str
    inputs: tuple[InputPin, ...]


@dataclass(frozen=True)
class Replay:
    """The result over the files of one earlier run alone, brought by the strategy into a hidden table, as that run did."""

    number: int
    of: int
    batch: Batch
    table: TableName
    strategy: Strategy
    inputs: tuple[InputPin, ...] = ()

    @property
    def is_last(self) -> bool:
        return self.number == self.of


@dataclass(frozen=True)
class Stage:
    """Compute the result once, into a hidden table."""

    table: TableName


@dataclass(frozen=True)
class CheckKeys:
    """Refuse NULL keys, and repeated ones that have no order."""

    keys: tuple[str, ...]
    order: str | None


@dataclass(frozen=True)
class PrepareSchema:
    """Make the table fit for the result: add columns only; what else changes, and `renames`, waits for publishing."""

    policy: SchemaPolicy
    renames: Renames = ()


@dataclass(frozen=True)
class EvolveArrangement:
    """Divide and order new files as the pipeline says; those that are there stay as they are, and readers notice nothing."""

    table: TableName
    change: ArrangementChange


@dataclass(frozen=True)
class CreateHidden:
    """A first run works on a table that nobody knows."""

    table: TableName


@dataclass(frozen=True)
class OpenBranch:
    """The run's own branch of the table, from the state that the run has read: later commits of others are not in it."""

    table: TableName
    branch: str
    at: int | None  # None: the table had no snapshot


@dataclass(frozen=True)
class Write:
    """Bring the result in, by the strategy, in one commit; `replaces`: in place of all rows."""

    table: TableName
    strategy: Strategy
    replaces: bool = False


@dataclass(frozen=True)
class Execute:
    """Run a statement that somebody wrote by hand, on the branch."""

    table: TableName
    statement: ChangeStatement


@dataclass(frozen=True)
class DropStage:
    """The staged result is not needed any more."""

    table: TableName


@dataclass(frozen=True)
class RunGate:
    """Ask a gate about the branch."""

    gate: Gate = field(repr=False)


@dataclass(frozen=True)
class Publish:
    """Move the ref to the branch; a first run's table gets its name."""

    table: TableName
    ref: str


@dataclass(frozen=True)
class CreateView:
    """Make the query a view of the catalog."""

    table: TableName


@dataclass(frozen=True)
class ArchiveFiles:
    """Move files to `_processed/` that all their readers have."""

    zone: ZoneName


Step = (
    OpenZone | Calculate | Replay | Stage | CheckKeys | PrepareSchema | EvolveArrangement
    | CreateHidden | OpenBranch | Write | Execute | DropStage | RunGate | Publish | CreateView | ArchiveFiles
)  # fmt: skip


_FORMER_NAMES = {RunGate: "Judge", EvolveArrangement: "EvolveLayout", ArchiveFiles: "Archive"}


def step_name(step: Step) -> str:
    """The kind of a step as run records and JSON have it. Classes may be renamed; these names are stored."""
    return _FORMER_NAMES.get(type(step), type(step).__name__)


def phase_name(step: Step) -> str:
    """The name of a step in the phases of a run's record; a gate's is `judge` and its name."""
    return f"judge {step.gate.name}" if isinstance(step, RunGate) else step_name(step)
