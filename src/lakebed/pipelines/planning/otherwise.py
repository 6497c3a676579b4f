"""What a run does if something comes in between: shown with the plan, done only then. Pure."""

from collections.abc import Iterator

from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.planning.steps import (
    CheckFirst,
    ConditionalStep,
    EvolveArrangement,
    Rebase,
    Repetition,
    Replay,
    StartOver,
    TryAgain,
    Write,
)
from lakebed.ports import MAIN
from lakebed.sql import CheckedQuery, reads_every_row

REBUILDS = 3  # how often a run starts over because what it had read was overtaken


def conditional_steps(
    context: TemplateContext,
    plan: RunPlan,
    query: CheckedQuery | None,
    *,
    alone: bool = True,
    readable_once: bool = False,
) -> Iterator[ConditionalStep]:
    """What is done where a run that is published `alone`, or together with others, does not go as
    planned; rows that are `readable_once` cannot be computed again.
    """
    if not plan.publish:
        return
    if _checks_while_writing(context, plan, query):
        yield CheckFirst(plan.table)
    if alone and _only_appends(context):
        yield Rebase(plan.table)
    yield from repetitions(context.spec, alone=alone, readable_once=readable_once)


def repetitions(
    spec: PipelineSpec, *, alone: bool = True, readable_once: bool = False
) -> Iterator[Repetition]:
    """How often a run is done again."""
    if not readable_once:
        yield StartOver(spec.table, REBUILDS)
    if spec.config.max_retries and alone:
        yield TryAgain(spec.table, spec.config.max_retries)


def conditional_steps_of_batches(spec: PipelineSpec) -> Iterator[ConditionalStep]:
    """What is done where a batch does not go as planned."""
    if spec.kind == "source":
        yield CheckFirst(spec.table)
    yield StartOver(spec.table, REBUILDS)
    if spec.config.batch_retries:
        yield TryAgain(spec.table, spec.config.batch_retries)


def _checks_while_writing(
    context: TemplateContext, plan: RunPlan, query: CheckedQuery | None
) -> bool:
    """Whether one job reads every row of the run's only zone, and all that comes before it can be
    taken back: then bad files may be found by that job.

    Some strategies read their rows before they write them, and Python code may read what it likes.
    """
    if query is None or not context.spec.strategy.allows_one_pass:
        return False
    if len(context.pins.landing) != 1 or not any(isinstance(one, Write) for one in plan.prepare):
        return False
    if not can_be_taken_back(plan) or any(isinstance(one, Replay) for one in plan.prepare):
        return False
    (key,) = context.pins.landing
    return reads_every_row(query.text, context.view(*key))


def can_be_taken_back(plan: RunPlan) -> bool:
    """Whether what a run does before it publishes can be undone, so that it can start over."""
    return not any(isinstance(step, EvolveArrangement) for step in plan.prepare)


def _only_appends(context: TemplateContext) -> bool:
    """Whether the run adds the same rows whatever others add."""
    spec, pins = context.spec, context.pins
    return (
        spec.kind == "sql"
        and spec.strategy.only_adds
        and pins.ref == MAIN
        and not pins.full_refresh
        and pins.replaced is None
        and context.target.base(pins.ref) is not None
        and not spec.reads_itself
    )
