"""What a backfill would do. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from lakebed.batches.chunks import spelt
from lakebed.pipelines.planning.backfills.look import BackfillLook


@dataclass(frozen=True)
class BackfillPlan:
    """The chunks that are due, in order, and how many are done."""

    reason: str
    column: str
    start: str
    end: str  # exclusive
    chunk: str
    due: tuple[str, ...]
    done: int


def plan_backfill(look: BackfillLook) -> BackfillPlan:
    """The plan of a backfill."""
    due = tuple(one.label for one in look.decision.due)
    reason = f"{len(due)} of {len(look.chunks)} batches of {look.asked} are due"
    return BackfillPlan(
        reason,
        look.column,
        spelt(look.whole.start, zone=look.zone),
        spelt(look.whole.end, zone=look.zone),
        str(look.size),
        due,
        look.decision.unchanged,
    )


def backfill_lines(plan: BackfillPlan) -> Iterator[str]:
    """What there is to say besides the steps."""
    if plan.done:
        yield f"{plan.done} batches were done by an earlier run; --force does them again"
