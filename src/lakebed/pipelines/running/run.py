"""One run: executes the steps of a plan, through ports. Timings, checks and onlookers wrap the loop once, not each step."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import groupby

from lakebed.errors import LakebedError, RunFailed
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
    phase_name,
)
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.publishing import create_view
from lakebed.pipelines.running.steps import calculate, evolve, replay, write
from lakebed.pipelines.running.steps.archiving import archive_zones
from lakebed.pipelines.running.steps.gates import judge_all
from lakebed.ports import Phase


def prepare(run: ActiveRun) -> None:
    """The steps before publishing."""
    for judging, steps in groupby(run.plan.steps, key=lambda step: isinstance(step, RunGate)):
        if judging:
            judge_all(run, [step for step in steps if isinstance(step, RunGate)])
            continue
        for step in steps:
            if isinstance(step, Publish | CreateView):
                return
            _do(run, step)


def publish_view(run: ActiveRun) -> None:
    """A view is published by being made; a table is published elsewhere."""
    for step in run.plan.steps:
        if isinstance(step, CreateView):
            _do(run, step)


@contextmanager
def publishing(runs: Sequence[ActiveRun]) -> Iterator[None]:
    """Around the publication of these runs: it is a phase of each."""
    with ExitStack() as stack:
        for run in runs:
            for step in run.plan.steps:
                if isinstance(step, Publish):
                    run.options.listener.on_step(run.run_id, step, "before")
                    stack.enter_context(_phase(run, step))
        yield
    for run in runs:
        for step in run.plan.steps:
            if isinstance(step, Publish):
                run.options.listener.on_step(run.run_id, step, "after")


def finish(run: ActiveRun) -> None:
    """The steps after publishing; each can be repeated, and the next run does what a crash or a failure left undone."""
    message = run.record.message if run.plan.steps else run.plan.reason
    try:
        _archive(run)
    except LakebedError as error:  # the rows are published: the run has not failed, and must not be tried again
        run.log.warning("not archived: %s", error)
        message = f"not archived: {error.what}"
    run.record = replace(run.record, state="success", ended_at=run.services.now(), message=message, left_schema=_schema(run))
    run.services.records.write(run.record)
    run.services.records.unpin([run.run_id])


def _schema(run: ActiveRun) -> int | None:
    """The table's schema, where the next run asks whether anybody changed it."""
    if not run.spec.zones or run.spec.is_view:
        return None
    catalog = run.services.placement.catalog
    found = catalog.metadata(catalog.pointers([run.table]).values()).get(run.table)
    return found.schema if found else None


def _archive(run: ActiveRun) -> None:
    for step in run.plan.steps:
        if isinstance(step, ArchiveFiles):
            _do(run, step)
    if not run.plan.steps and run.spec.config.archive_landing_zones:
        archive_zones(run.spec.zone_names, run.context.specs, run.services)  # what a crash left in its zone


def _do(run: ActiveRun, step: Step) -> None:
    if run.options.stop.is_set():
        raise RunFailed("it was interrupted.")
    run.held.require()
    run.options.listener.on_step(run.run_id, step, "before")
    with _phase(run, step):
        _execute(run, step)
    run.options.listener.on_step(run.run_id, step, "after")


@contextmanager
def _phase(run: ActiveRun, step: Step) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        seconds = round(time.monotonic() - began, 3)
        run.record = replace(run.record, phases=_with(run.record.phases, Phase(phase_name(step), seconds)))
        run.log.info("%s: %.3f s", phase_name(step), seconds)


def _with(phases: tuple[Phase, ...], phase: Phase) -> tuple[Phase, ...]:
    """Replays are one phase, however many there are."""
    if phase.name == Replay.__name__ and phases and phases[-1].name == phase.name:
        return (*phases[:-1], Phase(phase.name, round(phases[-1].seconds + phase.seconds, 3)))
    return (*phases, phase)


def _execute(run: ActiveRun, step: Step) -> None:  # noqa: C901 - one arm a step, each a line
    match step:
        case OpenZone():
            calculate.take_files(run, step)
        case Calculate():
            calculate.calculate(run)
            evolve.require_fitting_result(run)
        case Replay():
            replay.replay(run, step)
        case Stage():
            write.stage(run)
        case CheckKeys():
            write.check_keys(run)
        case PrepareSchema(policy):
            evolve.prepare_schema(run, policy)
        case EvolveArrangement(_, change):
            evolve.evolve_arrangement(run, change)
        case CreateHidden(hidden):
            write.create_hidden(run, hidden)
        case OpenBranch(_, _, at):
            write.open_branch(run, at)
        case Write():
            write.write(run)
        case Execute(_, statement):
            write.execute(run, statement)
        case DropStage(stage):
            run.services.placement.catalog.purge(stage)
        case CreateView():
            create_view(run)
        case ArchiveFiles(zone):
            archive_zones([zone], run.context.specs, run.services)
