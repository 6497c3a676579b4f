"""Plans as JSON-ready values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakebed.presentation.run import pin_json
from lakebed.presentation.values import json_ready

if TYPE_CHECKING:
    from lakebed.pipelines import RunPlan, RunStep


def plan_json(plan: "RunPlan") -> dict[str, Any]:
    """What a run would do now."""
    from lakebed.pipelines.planning.plan_text import (
        condition_text,
        plan_inputs,
        plan_strategy,
        step_text,
    )
    from lakebed.pipelines.planning.steps import OpenZone

    zones = [step for step in plan.steps if isinstance(step, OpenZone)]
    files = [
        {"zone": str(step.zone), "pattern": step.pattern, "files": json_ready(step.files)}
        for step in zones
    ]
    return {
        "table": str(plan.table),
        "strategy": plan_strategy(plan),
        "reason": plan.reason,
        "warnings": list(plan.warnings),
        "advice": list(plan.advice),
        "inputs": [pin_json(pin) for pin in plan_inputs(plan)],
        "files": files,
        **({"backfill": json_ready(plan.backfill)} if plan.backfill else {}),
        **({"source": json_ready(plan.source)} if plan.source else {}),
        "steps": _steps(plan.steps),
        "each": [
            {"first": alike.first, "batches": alike.count, "steps": _steps(alike.steps)}
            for alike in plan.each
        ],
        "otherwise": [
            {"step": step.kind, "when": condition_text(step), "does": step_text(step)}
            for step in plan.otherwise
        ],
    }


def _steps(steps: "Sequence[RunStep]") -> list[dict[str, str]]:
    from lakebed.pipelines.planning.plan_text import step_text

    return [{"step": step.kind, "does": step_text(step)} for step in steps]
