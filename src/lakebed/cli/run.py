"""Commands that run pipelines or plan to: run, build, retry, plan."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.build_progress import BuildProgress
from lakebed.cli.output.run_text import summary
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.request_options import option_of, takes
from lakebed.presentation.plan import plan_json
from lakebed.presentation.run import build_json, run_label
from lakebed.requests import PlanKeywords, RunKeywords, RunRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lakebed.pipelines import BuildResult, RunPlan
    from lakebed.pipelines.planning.steps import RunStep


def add_to(app: typer.Typer) -> None:
    """Give the app these commands."""
    command(app, "run", examples=_RUN)(run)
    command(app, "build", examples=_RUN.replace("lakebed run", "lakebed build"))(run)
    command(app, "retry", examples=_RETRY)(retry)
    command(app, "plan", examples=_PLAN)(plan)


_RUN = """
lakebed run
lakebed run silver.orders+ --exclude tag:slow
lakebed run -s state:modified+ --together
lakebed run orders --full-refresh --vars day=2026-10-01
lakebed run bronze.income --batch year=2020 --force
lakebed run silver.orders --start 2024-01-01 --end 2026-01-01 --chunk month
lakebed run --released
lakebed run --dry-run --json
"""


@takes(RunRequest)
def run(
    screen: Screen,
    options: RunKeywords,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")
    ] = False,
) -> None:
    """Run pipelines. Each table is published once its gates pass."""
    request = RunRequest(**options)
    if dry_run:
        _show_plans(screen, screen.lake.plan(request))
        return
    lake, progress = screen.lake, BuildProgress(screen)
    with lake.spark_ahead(), progress.live():
        result = lake.run(request, listener=progress.listener)
    _show(screen, result, progress)


_RETRY = """
lakebed retry
lakebed retry --threads 4
"""


_KEPT = "as in that build"
ThreadsOption = Annotated[int | None, option_of(RunRequest, "threads", show_default=_KEPT)]
WaitOption = Annotated[float | None, option_of(RunRequest, "wait", show_default=_KEPT)]


def retry(screen: Screen, threads: ThreadsOption = None, wait: WaitOption = None) -> None:
    """Run again what failed or was skipped in the last build, with the same variables and
    options.
    """
    lake, progress = screen.lake, BuildProgress(screen)
    with lake.spark_ahead(), progress.live():
        result = lake.pipelines.retry(threads=threads, wait=wait, listener=progress.listener)
    _show(screen, result, progress, nothing="Everything in the last build succeeded.")


def _show(
    screen: Screen,
    result: "BuildResult",
    progress: BuildProgress,
    *,
    nothing: str = "Nothing selected.",
) -> None:
    labels = [run_label(record) for record in result.records]

    def text() -> None:
        for table in result.left_out:
            screen.say(f"not run: {table} has no release")
        screen.say(summary(labels, progress.seconds) if labels else nothing)

    screen.show(build_json(result, seconds=progress.seconds), text)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


_PLAN = """
lakebed plan
lakebed plan +gold.revenue
lakebed plan silver.orders --full-refresh --json
lakebed plan silver.orders --start 2024-01-01 --end 2026-01-01
"""


@takes(RunRequest)
def plan(screen: Screen, options: PlanKeywords) -> None:
    """Show what runs would do now: steps, inputs, waiting files. Changes nothing, starts no JVM."""
    _show_plans(screen, screen.lake.plan(**options))


def _show_plans(screen: Screen, plans: "tuple[RunPlan, ...]") -> None:
    from lakebed.pipelines.planning.plan_text import plan_strategy

    def text() -> None:
        for plan in plans:
            about = ": ".join(filter(None, (plan_strategy(plan), plan.reason)))
            screen.say(bold(plan.table), f" {about}")
            for line in _plan_lines(screen, plan):
                screen.say(f"  {line}")
        if not plans:
            screen.say("Nothing selected.")

    screen.show([plan_json(plan) for plan in plans], text)


def _plan_lines(screen: Screen, plan: "RunPlan") -> "Iterator[str]":
    """What a plan does, what there is to say about it, and what it does otherwise."""
    from lakebed.pipelines.planning.backfills.plan import backfill_lines
    from lakebed.pipelines.planning.plan_text import (
        batch_lines,
        condition_text,
        each_lines,
        step_text,
    )
    from lakebed.pipelines.planning.sources.plan import source_lines

    yield from (f"warning: {warning}" for warning in (*plan.warnings, *plan.advice))
    yield from batch_lines(plan.batches)
    yield from each_lines(plan)
    steps = (*plan.prepare, *plan.publish, *plan.after)
    for number, step in enumerate(steps, start=1):
        yield f"{number:>2}. {step_text(step)}"
        yield from (f"    {line}" for line in _inferred(screen, step))
    yield from source_lines(plan.source) if plan.source else ()
    yield from backfill_lines(plan.backfill) if plan.backfill else ()
    for fallback in plan.otherwise:
        yield f"{condition_text(fallback)}: {step_text(fallback)}"


def _inferred(screen: Screen, step: "RunStep") -> "Iterator[str]":
    """The types that the first lines of a zone's files show, and which value decides each."""
    from lakebed.pipelines.planning.steps import OpenZone

    if isinstance(step, OpenZone):
        columns = screen.lake.zones.columns(step.zone, step.files)
        yield from (one.inferred for one in columns if one.inferred)
