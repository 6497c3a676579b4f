"""Whether a run may check its landing files while it writes their rows. Pure."""

from lakebed.pipelines.planning.compile import TemplateContext, compile_query
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.planning.steps import EvolveArrangement, Replay, Write
from lakebed.sql import reads_every_row


def checks_while_writing(context: TemplateContext, plan: RunPlan) -> bool:
    """Whether one job reads every row of the run's only zone, and all that comes before it can be
    taken back: then bad files may be found by that job.

    Some strategies read their rows before they write them, and Python code may read what it likes.
    """
    if context.spec.kind != "sql" or not context.spec.strategy.allows_one_pass:
        return False
    if len(context.pins.landing) != 1 or not any(isinstance(one, Write) for one in plan.prepare):
        return False
    if not can_be_taken_back(plan) or any(isinstance(one, Replay) for one in plan.prepare):
        return False
    (key,) = context.pins.landing
    return reads_every_row(compile_query(context).text, context.view(*key))


def can_be_taken_back(plan: RunPlan) -> bool:
    """Whether what a run does before it publishes can be undone, so that it can start over."""
    return not any(isinstance(step, EvolveArrangement) for step in plan.prepare)
