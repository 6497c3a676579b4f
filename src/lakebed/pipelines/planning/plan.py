"""What a run will do.

Pure: reads nothing, writes nothing. `lakebed plan` prints it, `running.run` carries it out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lakebed.derived.checks import impossible_layouts
from lakebed.derived.identity import listed_tables
from lakebed.landing import WhenChecked
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec, declared_layouts
from lakebed.pipelines.planning.backfills.plan import BackfillPlan
from lakebed.pipelines.planning.hidden_tables import hidden_table, replay_table, staged_table
from lakebed.pipelines.planning.pins import Pins, TargetTable, Undone
from lakebed.pipelines.planning.run_decision import adding_again, decide_run, run_warnings
from lakebed.pipelines.planning.sources.plan import SourcePlan
from lakebed.pipelines.planning.steps import (
    ArchiveFiles,
    BatchSteps,
    BuildLayouts,
    Calculate,
    CheckFirst,
    CheckKeys,
    ConditionalStep,
    CreateHidden,
    CreateView,
    DropStage,
    EvolveArrangement,
    Execute,
    OpenBranch,
    OpenZone,
    PrepareSchema,
    Publish,
    PublishBatch,
    PublishStep,
    ReadBatch,
    ReadFolder,
    Replay,
    RunGate,
    RunStep,
    Stage,
    TakeFiles,
    WorkStep,
    Write,
)
from lakebed.sql import ChangeStatement
from lakebed.tables import arrangement_of, inverse_renames, plan_arrangement
from lakebed.tables.adopting.look import FoundFolder
from lakebed.work import Plan


@dataclass(frozen=True, kw_only=True)
class RunPlan(Plan[RunStep]):
    """The steps of one run; none where there is nothing to do. `batches` are published one after
    the other; what is done only if something comes in between is `otherwise`.
    """

    prepare: tuple[WorkStep, ...] = ()
    batches: tuple[PublishBatch, ...] = ()
    each: tuple[BatchSteps, ...] = ()  # what is done for the batches
    publish: tuple[PublishStep, ...] = ()
    after: tuple[WorkStep, ...] = ()
    otherwise: tuple[ConditionalStep, ...] = ()
    table: TableName
    run_id: str
    backfill: BackfillPlan | None = None  # of a range
    source: SourcePlan | None = None  # of a pipeline that reads files by a pattern
    warnings: tuple[str, ...] = ()  # the run's record has them, too
    advice: tuple[str, ...] = ()  # what is to be corrected in the pipeline; only plans say it

    @property
    def steps(self) -> tuple[RunStep, ...]:
        return (*self.prepare, *self.batches, *self.publish, *self.after)

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        from lakebed.pipelines.planning.plan_text import plan_html  # late: it imports plans

        return plan_html(self)

    @property
    def files_checked(self) -> WhenChecked:
        """Whether they may be checked late: something is said for the case that one is bad."""
        late = any(isinstance(step, CheckFirst) for step in self.otherwise)
        return "while_reading" if late else "first"


NOTHING_UNDONE = Undone()


def plan_run(
    spec: PipelineSpec,
    pins: Pins,
    target: TargetTable,
    *,
    layouts: bool = True,
    undone: Undone = NOTHING_UNDONE,
) -> RunPlan:
    """Everything one run will do, in order; with `layouts` it builds them, too. A run without
    anything else to do does what earlier ones have left undone.
    """
    decision = decide_run(spec, pins, target)
    if not decision.should_run:
        return RunPlan(
            table=spec.table,
            run_id=pins.run_id,
            reason="; ".join((decision.reason, *undone.notes)),
            after=(
                *map(ArchiveFiles, undone.zones),
                *undone_layout_steps(spec, undone, rows=layouts),
            ),
        )
    if spec.is_view:
        return _plan_view(spec, pins, decision.reason)
    staged = spec.strategy.staged
    # those of a table that is published batch by batch come after the last one
    after = () if pins.replaced else layout_steps(spec, target, rows=layouts)
    plan = _plan_table(spec, pins, target, staged=staged, reason=decision.reason, layouts=after)
    return replace(plan, warnings=run_warnings(spec, pins), advice=plan_advice(spec, target))


def plan_advice(spec: PipelineSpec, target: TargetTable) -> tuple[str, ...]:
    """What is to be corrected in a pipeline: rows that are added again, and layouts that no run
    can build.
    """
    impossible = impossible_layouts(declared_layouts(spec), spec.table, target.metadata)
    return (*adding_again(spec), *impossible)


def layout_steps(
    spec: PipelineSpec, target: TargetTable, *, rows: bool
) -> tuple[BuildLayouts, ...]:
    """What is done about the layouts that a pipeline declares, or that its table has anyway."""
    names = tuple(layout.label for layout in spec.config.alternate_partitions)
    there = bool(target.metadata and listed_tables(target.metadata))
    due = names or (there and rows)
    return (BuildLayouts(spec.table, names, rows),) if due else ()


def undone_layout_steps(
    spec: PipelineSpec, undone: Undone, *, rows: bool
) -> tuple[BuildLayouts, ...]:
    """What is done about layouts that are not as the pipeline and its table say."""
    return (BuildLayouts(spec.table, undone.layouts, rows),) if undone.layouts else ()


def plan_manual_change(
    spec: PipelineSpec,
    pins: Pins,
    target: TargetTable,
    *,
    statement: ChangeStatement | None,
    layouts: bool = True,
) -> RunPlan:
    """A statement runs on the branch.

    Rows are staged whatever the strategy: they may come from another session.
    """
    after = layout_steps(spec, target, rows=layouts)
    if statement is None:
        return _plan_table(spec, pins, target, staged=True, layouts=after)
    return RunPlan(
        table=spec.table,
        run_id=pins.run_id,
        prepare=(
            OpenBranch(spec.table, pins.branch, target.base(pins.ref)),
            Execute(spec.table, statement),
            *map(RunGate, spec.gates),
        ),
        publish=(Publish(spec.table, pins.ref),),
        after=after,
    )


def plan_adoption(spec: PipelineSpec, pins: Pins, found: FoundFolder) -> RunPlan:
    """A folder becomes a new table: its rows are copied, or its files taken as they are."""
    rewrites = found.adoption.rewrite
    write = Write(spec.table, spec.strategy) if rewrites else TakeFiles(spec.table, found)
    return RunPlan(
        table=spec.table,
        run_id=pins.run_id,
        prepare=(
            ReadFolder(found),
            CreateHidden(hidden_table(spec.table, pins.run_id)),
            write,
            *map(RunGate, spec.gates),
        ),
        publish=(Publish(spec.table, pins.ref),),
    )


def _plan_table(
    spec: PipelineSpec,
    pins: Pins,
    target: TargetTable,
    *,
    staged: bool,
    reason: str = "",
    layouts: tuple[BuildLayouts, ...] = (),
) -> RunPlan:
    result, temporary = _result(spec, pins, staged=staged)
    archived = spec.zone_names if spec.config.archive_landing_zones else ()
    return RunPlan(
        table=spec.table,
        run_id=pins.run_id,
        reason=reason,
        prepare=(
            *result,
            *_open_target(spec, pins, target),
            Write(spec.table, spec.strategy, replaces=pins.full_refresh and not target.absent),
            *map(DropStage, temporary),
            *map(RunGate, spec.gates),
        ),
        publish=(Publish(spec.table, pins.ref),),
        after=(*map(ArchiveFiles, archived), *layouts),
    )


def _plan_view(spec: PipelineSpec, pins: Pins, reason: str) -> RunPlan:
    return RunPlan(
        table=spec.table,
        run_id=pins.run_id,
        reason=reason,
        prepare=(*_calculation(spec, pins), *map(RunGate, spec.gates)),
        publish=(CreateView(spec.table),),
    )


def _open_target(spec: PipelineSpec, pins: Pins, target: TargetTable) -> tuple[WorkStep, ...]:
    """Where the run writes: a branch of the table, or a hidden table that becomes it."""
    if target.absent:
        return (CreateHidden(hidden_table(spec.table, pins.run_id)),)
    return (
        PrepareSchema(spec.config.schema_policy, target.renames),
        *_evolution(spec, target),
        OpenBranch(spec.table, pins.branch, target.base(pins.ref)),
    )


def _result(
    spec: PipelineSpec, pins: Pins, *, staged: bool
) -> tuple[tuple[WorkStep, ...], tuple[TableName, ...]]:
    """The steps that produce the rows to write, and the hidden tables that hold them until then."""
    if len(pins.batches) > 1 or any(batch.at for batch in pins.batches):
        replayed = replay_table(spec.table, pins.run_id)
        return (*_opening(pins), *_replays(spec, pins, replayed)), (replayed,)
    stage = staged_table(spec.table, pins.run_id)
    keys = (CheckKeys(spec.strategy.keys, spec.strategy.order),) if spec.strategy.keys else ()
    calculation = _calculation(spec, pins)
    if pins.source_batch and pins.source_batch.in_parts:
        return calculation, (stage,)
    return ((*calculation, Stage(stage), *keys), (stage,)) if staged else (calculation, ())


def _replays(spec: PipelineSpec, pins: Pins, table: TableName) -> Iterator[Replay]:
    inputs, count = tuple(pins.inputs.values()), len(pins.batches)
    for number, batch in enumerate(pins.batches, start=1):
        yield Replay(number, count, batch, table, spec.strategy, inputs)


def _evolution(spec: PipelineSpec, target: TargetTable) -> tuple[WorkStep, ...]:
    wanted = spec.config.arrangement.with_renames(inverse_renames(target.renames))
    if target.metadata is None or (wanted.partition_by is None and wanted.sort_by is None):
        return ()
    change = plan_arrangement(
        arrangement_of(target.metadata.partition_by, target.metadata.sort_by), wanted
    )
    return (EvolveArrangement(spec.table, change),) if change else ()


def _calculation(spec: PipelineSpec, pins: Pins) -> tuple[WorkStep, ...]:
    if pins.source_batch:
        return (ReadBatch(pins.source_batch),)
    return (*_opening(pins), Calculate(spec.file, tuple(pins.inputs.values())))


def _opening(pins: Pins) -> Iterator[OpenZone]:
    return (OpenZone(zone, pattern, pin.files) for (zone, pattern), pin in pins.landing.items())
