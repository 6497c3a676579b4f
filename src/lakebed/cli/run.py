"""Commands that run pipelines or plan to: run, build, retry, plan."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.build_progress import BuildProgress
from lakebed.cli.output.run_text import summary
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import (
    BatchOption,
    ChunkOption,
    EndOption,
    ExcludeOption,
    ForceOption,
    FullRefreshOption,
    ReleasedOption,
    RepairGapsOption,
    SelectOption,
    SelectorsArgument,
    StartOption,
    ThreadsOption,
    VarsOption,
    WaitOption,
    all_selectors,
    variables,
)
from lakebed.presentation.plan import plan_json
from lakebed.presentation.run import build_json, run_label

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


def run(
    screen: Screen,
    selectors: SelectorsArgument = None,
    select: SelectOption = None,
    exclude: ExcludeOption = None,
    full_refresh: FullRefreshOption = False,
    batch: BatchOption = None,
    start: StartOption = None,
    end: EndOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    repair_gaps: RepairGapsOption = False,
    fail_fast: Annotated[
        bool, typer.Option("-x", "--fail-fast", help="Start nothing more after the first failure.")
    ] = False,
    threads: ThreadsOption = 1,
    vars: VarsOption = None,
    released: ReleasedOption = False,
    together: Annotated[
        bool, typer.Option("--together", help="Publish all tables in one step, or none of them.")
    ] = False,
    wait: WaitOption = 0.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")
    ] = False,
) -> None:
    """Run pipelines. Each table is published once its gates pass."""
    if dry_run:
        plan(
            screen,
            selectors,
            select,
            exclude,
            full_refresh=full_refresh,
            batch=batch,
            start=start,
            end=end,
            chunk=chunk,
            force=force,
            repair_gaps=repair_gaps,
            vars=vars,
            released=released,
        )
        return
    lake, progress = screen.lake, BuildProgress(screen)
    with lake.spark_ahead(), progress.live():
        result = lake.run(
            *all_selectors(selectors, select),
            exclude=exclude or (),
            full_refresh=full_refresh,
            batches=batch or (),
            start=start,
            end=end,
            chunk=chunk,
            force=force,
            repair_gaps=repair_gaps,
            vars=variables(vars),
            released=released,
            together=together,
            threads=threads,
            fail_fast=fail_fast,
            wait=wait,
            listener=progress.listener,
        )
    _show(screen, result, progress)


_RETRY = """
lakebed retry
lakebed retry --threads 4
"""


def retry(screen: Screen, threads: ThreadsOption = 1, wait: WaitOption = 0.0) -> None:
    """Run again what failed or was skipped in the last build, with the same variables and
    options.
    """
    lake, progress = screen.lake, BuildProgress(screen)
    with lake.spark_ahead(), progress.live():
        result = lake.pipelines.retry(threads=threads, wait=wait, listener=progress.listener)
    _show(screen, result, progress)


def _show(screen: Screen, result: "BuildResult", progress: BuildProgress) -> None:
    labels = [run_label(record) for record in result.records]

    def text() -> None:
        for table in result.left_out:
            screen.say(f"not run: {table} has no release")
        screen.say(summary(labels, progress.seconds) if labels else "Nothing selected.")

    screen.show(build_json(result, seconds=progress.seconds), text)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


_PLAN = """
lakebed plan
lakebed plan +gold.revenue
lakebed plan silver.orders --full-refresh --json
lakebed plan silver.orders --start 2024-01-01 --end 2026-01-01
"""


def plan(
    screen: Screen,
    selectors: SelectorsArgument = None,
    select: SelectOption = None,
    exclude: ExcludeOption = None,
    full_refresh: FullRefreshOption = False,
    batch: BatchOption = None,
    start: StartOption = None,
    end: EndOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    repair_gaps: RepairGapsOption = False,
    vars: VarsOption = None,
    released: ReleasedOption = False,
) -> None:
    """Show what runs would do now: steps, inputs, waiting files. Changes nothing, starts no JVM."""
    plans = screen.lake.plan(
        *all_selectors(selectors, select),
        exclude=exclude or (),
        full_refresh=full_refresh,
        batches=batch or (),
        start=start,
        end=end,
        chunk=chunk,
        force=force,
        repair_gaps=repair_gaps,
        vars=variables(vars),
        released=released,
    )
    _show_plans(screen, plans)


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

    yield from (f"warning: {warning}" for warning in plan.warnings)
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
        for one in screen.lake.zones.columns(step.zone, step.files):
            if one.said_by == "waiting files":
                yield f"{one.column} is {one.type}: {one.value} in {one.file.rpartition('/')[2]}"
