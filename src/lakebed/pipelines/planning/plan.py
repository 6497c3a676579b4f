"""What a run will do. Pure: reads nothing, writes nothing. `lakebed plan` prints it, the runner executes it."""

from collections.abc import Iterator
from dataclasses import dataclass

from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.hidden_tables import hidden_table, replay_table, staged_table
from lakebed.pipelines.planning.pins import Pins, TargetTable
from lakebed.pipelines.planning.run_decision import decide_run
from lakebed.pipelines.planning.steps import (
    ArchiveFiles,
    Calculate,
    CheckKeys,
    CreateHidden,
    CreateView,
    DropStage,
    EvolveArrangement,
    Execute,
    OpenBranch,
    OpenZone,
    PrepareSchema,
    Publish,
    Replay,
    RunGate,
    Stage,
    Step,
    Write,
)
from lakebed.sql import ChangeStatement
from lakebed.tables import Strategy, arrangement_of, inverse_renames, plan_arrangement


@dataclass(frozen=True)
class RunPlan:
    """The steps of one run; none where there is nothing to do. The reason is why it runs, or why it does not."""

    table: TableName
    run_id: str
    steps: tuple[Step, ...]
    reason: str = ""


def plan_run(spec: PipelineSpec, pins: Pins, target: TargetTable) -> RunPlan:
    """Everything one run will do, in order."""
    decision = decide_run(spec, pins, target)
    if not decision.should_run:
        return RunPlan(spec.table, pins.run_id, (), decision.reason)
    steps = _view_steps(spec, pins) if spec.is_view else _table_steps(spec, pins, target, staged=is_staged(spec.strategy))
    return RunPlan(spec.table, pins.run_id, steps, decision.reason)


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
    wanted = spec.config.arrangement.with_renames(inverse_renames(target.renames))
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
