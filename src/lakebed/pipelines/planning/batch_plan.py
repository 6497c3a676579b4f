"""What a run does that publishes batch by batch, a source's or a backfill's. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lakebed.batches.changes import DueBatch
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.backfills.look import BackfillLook
from lakebed.pipelines.planning.otherwise import conditional_steps_of_batches
from lakebed.pipelines.planning.pins import Pins, TargetTable, Undone
from lakebed.pipelines.planning.plan import (
    RunPlan,
    layout_steps,
    plan_advice,
    plan_run,
    undone_layout_steps,
)
from lakebed.pipelines.planning.sources.look import SourceLook
from lakebed.pipelines.planning.steps import (
    BatchSteps,
    CreateHidden,
    EvolveArrangement,
    OpenBranch,
    PrepareSchema,
    PublishBatch,
    RunStep,
    TakeCare,
)


def plan_batches(
    spec: PipelineSpec,
    target: TargetTable,
    look: SourceLook | BackfillLook,
    *,
    run_id: str,
    layouts: bool,
    undone: Undone,
) -> RunPlan:
    """The batches that are due and what comes after them; with `layouts` it builds them, too.
    A run without any batch does what earlier ones have left undone.
    """
    plan = RunPlan(table=spec.table, run_id=run_id, reason="; ".join(undone.notes))
    if not look.decision.due:
        return replace(plan, after=undone_layout_steps(spec, undone, rows=layouts))
    return replace(
        plan,
        batches=tuple(PublishBatch(spec.table, due) for due in look.decision.due),
        each=tuple(_steps_of_each(spec, target, look, run_id)),
        after=(*layout_steps(spec, target, rows=layouts), TakeCare(spec.table)),
        otherwise=tuple(conditional_steps_of_batches(spec)),
        advice=plan_advice(spec, target),
    )


def _steps_of_each(
    spec: PipelineSpec, target: TargetTable, look: SourceLook | BackfillLook, run_id: str
) -> Iterator[BatchSteps]:
    """What is done for the batches, once for all of which the same is done."""
    first = look.decision.due[0]
    changes_table = any(map(_changes_table, _steps(spec, target, look, first, run_id)))
    alike = defaultdict[tuple[bool, bool], list[DueBatch]](list)
    for due in look.decision.due:
        alike[changes_table and due is first, _is_in_parts(due, look)].append(due)
    for (comes_first, _), batches in alike.items():
        steps = _steps(spec, target, look, batches[0], run_id)
        if changes_table and not comes_first:
            steps = tuple(_once_changed(steps, spec, run_id))
        yield BatchSteps(batches[0].label, len(batches), steps)


def _steps(
    spec: PipelineSpec,
    target: TargetTable,
    look: SourceLook | BackfillLook,
    due: DueBatch,
    run_id: str,
) -> tuple[RunStep, ...]:
    """What is done for a batch, but for the tables it reads: they are pinned by then."""
    strategy, batch = look.pinned(spec, due)
    pins = Pins(run_id, {}, {}).of_batch(batch)
    return plan_run(replace(spec, strategy=strategy), pins, target).steps


def _changes_table(step: RunStep) -> bool:
    return isinstance(step, CreateHidden | EvolveArrangement)


def _once_changed(steps: Iterable[RunStep], spec: PipelineSpec, run_id: str) -> Iterator[RunStep]:
    """The same steps, after another batch has made the table or arranged it anew."""
    for step in steps:
        if isinstance(step, CreateHidden):
            yield PrepareSchema(spec.config.schema_policy)
            yield OpenBranch(spec.table, Pins(run_id, {}, {}).branch, at=None)
        elif not _changes_table(step):
            yield step


def _is_in_parts(due: DueBatch, look: SourceLook | BackfillLook) -> bool:
    files = due.found.files if due.found else 0
    return isinstance(look, SourceLook) and files > look.at_once
