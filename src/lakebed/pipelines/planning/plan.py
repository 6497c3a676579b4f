"""What a run will do. Pure: reads nothing, writes nothing. `lakebed plan` prints it, the runner executes it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.due import due
from lakebed.pipelines.planning.pins import Batch, Pins, TargetTable
from lakebed.ports import FileInfo, InputPin
from lakebed.quality import Gate
from lakebed.sql import ChangeStatement
from lakebed.tables import ArrangementChange, Renames, SchemaPolicy, Strategy, arrangement_of, inverse_renames, plan_arrangement


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


@dataclass(frozen=True)
class RunPlan:
    """The steps of one run; none where there is nothing to do. The reason is why it runs, or why it does not."""

    table: TableName
    run_id: str
    steps: tuple[Step, ...]
    reason: str = ""


def hidden_table(table: TableName, run_id: str) -> TableName:
    """Where a first run works."""
    return TableName(table.namespace, table.layer, f"run_{run_id}")


def staged_table(table: TableName, run_id: str) -> TableName:
    """Where a run keeps its result until it is merged."""
    return TableName(table.namespace, table.layer, f"stage_{run_id}")


def replay_table(table: TableName, run_id: str) -> TableName:
    """Where a run makes a table again, batch by batch."""
    return TableName(table.namespace, table.layer, f"replay_{run_id}")


def plan_run(spec: PipelineSpec, pins: Pins, target: TargetTable) -> RunPlan:
    """Everything one run will do, in order."""
    found = due(spec, pins, target)
    if not found:
        return RunPlan(spec.table, pins.run_id, (), found.reason)
    steps = _view_steps(spec, pins) if spec.is_view else _table_steps(spec, pins, target, staged=is_staged(spec.strategy))
    return RunPlan(spec.table, pins.run_id, steps, found.reason)


def plan_manual_change(spec: PipelineSpec, pins: Pins, target: TargetTable, *, statement: ChangeStatement | None) -> RunPlan:
    """A statement runs on the branch; rows are staged first, whatever the strategy, for they may come from another session."""
    if statement is None:
        return RunPlan(spec.table, pins.run_id, _table_steps(spec, pins, target, staged=True))
    branch: tuple[Step, ...] = (OpenBranch(spec.table, pins.branch, target.base(pins.ref)), Execute(spec.table, statement))
    return RunPlan(spec.table, pins.run_id, (*branch, *(RunGate(gate) for gate in spec.gates), Publish(spec.table, pins.ref)))


def _table_steps(spec: PipelineSpec, pins: Pins, target: TargetTable, *, staged: bool) -> tuple[Step, ...]:
    result, passing = _result(spec, pins, staged=staged)
    place: tuple[Step, ...] = (
        PrepareSchema(spec.config.schema_policy, target.renames),
        *_evolution(spec, target),
        OpenBranch(spec.table, pins.branch, target.base(pins.ref)),
    )
    if target.absent:
        place = (CreateHidden(hidden_table(spec.table, pins.run_id)),)
    return (
        *result,
        *place,
        Write(spec.table, spec.strategy, replaces=pins.full_refresh and not target.absent),
        *(DropStage(table) for table in passing),
        *(RunGate(gate) for gate in spec.gates),
        Publish(spec.table, pins.ref),
        *(ArchiveFiles(zone) for zone in spec.zone_names if spec.config.archive_landing_zones),
    )


def _result(spec: PipelineSpec, pins: Pins, *, staged: bool) -> tuple[tuple[Step, ...], tuple[TableName, ...]]:
    """The steps that come to the rows to write, and the hidden tables that hold them for a while."""
    if len(pins.batches) > 1 or any(batch.at for batch in pins.batches):
        replayed = replay_table(spec.table, pins.run_id)
        return (*_opening(pins), *_replays(spec, pins, replayed)), (replayed,)
    stage = staged_table(spec.table, pins.run_id)
    keys = (CheckKeys(spec.strategy.keys, spec.strategy.order),) if spec.strategy.keys else ()
    calculation = _calculation(spec, pins)
    return ((*calculation, Stage(stage), *keys), (stage,)) if staged else (calculation, ())


def _replays(spec: PipelineSpec, pins: Pins, table: TableName) -> Iterator[Replay]:
    inputs, count = tuple(pins.inputs.values()), len(pins.batches)
    for number, batch in enumerate(pins.batches, start=1):
        yield Replay(number, count, batch, table, spec.strategy, inputs)


def _evolution(spec: PipelineSpec, target: TargetTable) -> tuple[Step, ...]:
    wanted = spec.config.layout.with_renames(inverse_renames(target.renames))
    if target.metadata is None or (wanted.partition_by is None and wanted.sort_by is None):
        return ()
    change = plan_arrangement(arrangement_of(target.metadata.partition_by, target.metadata.sort_by), wanted)
    return (EvolveArrangement(spec.table, change),) if change else ()


def _view_steps(spec: PipelineSpec, pins: Pins) -> tuple[Step, ...]:
    return (*_calculation(spec, pins), *(RunGate(gate) for gate in spec.gates), CreateView(spec.table))


def _calculation(spec: PipelineSpec, pins: Pins) -> tuple[Step, ...]:
    return (*_opening(pins), Calculate(spec.file, tuple(pins.inputs.values())))


def _opening(pins: Pins) -> Iterator[OpenZone]:
    return (OpenZone(zone, pattern, pin.files) for (zone, pattern), pin in pins.landing.items())


def is_staged(strategy: Strategy) -> bool:
    """Whether the result is computed into a hidden table first: wherever a MERGE would read it more than once."""
    return strategy.strategy not in {"full_refresh", "append_only"}


_FORMER_NAMES = {RunGate: "Judge", EvolveArrangement: "EvolveLayout", ArchiveFiles: "Archive"}


def step_name(step: Step) -> str:
    """The kind of a step as run records and JSON have it. Classes may be renamed; these names are stored."""
    return _FORMER_NAMES.get(type(step), type(step).__name__)


def phase_name(step: Step) -> str:
    """The name of a step in the phases of a run's record; a gate's is `judge` and its name."""
    return f"judge {step.gate.name}" if isinstance(step, RunGate) else step_name(step)
