"""One run: executes the steps of a plan, through ports. Timings, checks and onlookers wrap the loop once, not each step."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import groupby

from lakebed.errors import LakebedError, RunFailed
from lakebed.pipelines.planning.plan import (
    Archive,
    Calculate,
    CheckKeys,
    CreateHidden,
    CreateView,
    DropStage,
    EvolveLayout,
    Execute,
    Judge,
    OpenBranch,
    OpenZone,
    PrepareSchema,
    Publish,
    Replay,
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


def prepare(work: ActiveRun) -> None:
    """The steps before publishing."""
    for judging, steps in groupby(work.plan.steps, key=lambda step: isinstance(step, Judge)):
        if judging:
            judge_all(work, [step for step in steps if isinstance(step, Judge)])
            continue
        for step in steps:
            if isinstance(step, Publish | CreateView):
                return
            _do(work, step)


def publish_view(work: ActiveRun) -> None:
    """A view is published by being made; a table is published elsewhere."""
    for step in work.plan.steps:
        if isinstance(step, CreateView):
            _do(work, step)


@contextmanager
def publishing(works: Sequence[ActiveRun]) -> Iterator[None]:
    """Around the publication of these runs: it is a phase of each."""
    with ExitStack() as stack:
        for work in works:
            for step in work.plan.steps:
                if isinstance(step, Publish):
                    work.order.watch(work.run_id, step, "before")
                    stack.enter_context(_phase(work, step))
        yield
    for work in works:
        for step in work.plan.steps:
            if isinstance(step, Publish):
                work.order.watch(work.run_id, step, "after")


def finish(work: ActiveRun) -> None:
    """The steps after publishing; each can be repeated, and the next run does what a crash or a failure left undone."""
    message = work.record.message if work.plan.steps else work.plan.reason
    try:
        _archive(work)
    except LakebedError as error:  # the rows are published: the run has not failed, and must not be tried again
        work.log.warning("not archived: %s", error)
        message = f"not archived: {error.what}"
    work.record = replace(work.record, state="success", ended_at=work.tools.now(), message=message, left_schema=_schema(work))
    work.tools.records.write(work.record)
    work.tools.records.unpin([work.run_id])


def _schema(work: ActiveRun) -> int | None:
    """The table's schema, where the next run asks whether anybody changed it."""
    if not work.spec.zones or work.spec.is_view:
        return None
    catalog = work.tools.ground.catalog
    found = catalog.metadata(catalog.pointers([work.table]).values()).get(work.table)
    return found.schema if found else None


def _archive(work: ActiveRun) -> None:
    for step in work.plan.steps:
        if isinstance(step, Archive):
            _do(work, step)
    if not work.plan.steps and work.spec.config.archive_landing_zones:
        archive_zones(work.spec.zone_names, work.setting.specs, work.tools)  # what a crash left in its zone


def _do(work: ActiveRun, step: Step) -> None:
    if work.order.stop.is_set():
        raise RunFailed("it was interrupted.")
    work.held.require()
    work.order.watch(work.run_id, step, "before")
    with _phase(work, step):
        _execute(work, step)
    work.order.watch(work.run_id, step, "after")


@contextmanager
def _phase(work: ActiveRun, step: Step) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        seconds = round(time.monotonic() - began, 3)
        work.record = replace(work.record, phases=_with(work.record.phases, Phase(phase_name(step), seconds)))
        work.log.info("%s: %.3f s", phase_name(step), seconds)


def _with(phases: tuple[Phase, ...], phase: Phase) -> tuple[Phase, ...]:
    """Replays are one phase, however many there are."""
    if phase.name == Replay.__name__ and phases and phases[-1].name == phase.name:
        return (*phases[:-1], Phase(phase.name, round(phases[-1].seconds + phase.seconds, 3)))
    return (*phases, phase)


def _execute(work: ActiveRun, step: Step) -> None:  # noqa: C901 - one arm a step, each a line
    match step:
        case OpenZone():
            calculate.take_files(work, step)
        case Calculate():
            calculate.calculate(work)
            evolve.refuse_unfit_result(work)
        case Replay():
            replay.replay(work, step)
        case Stage():
            write.stage(work)
        case CheckKeys():
            write.check_keys(work)
        case PrepareSchema(policy):
            evolve.prepare_schema(work, policy)
        case EvolveLayout(_, change):
            evolve.evolve_layout(work, change)
        case CreateHidden(hidden):
            write.create_hidden(work, hidden)
        case OpenBranch(_, _, at):
            write.open_branch(work, at)
        case Write():
            write.write(work)
        case Execute(_, statement):
            write.execute(work, statement)
        case DropStage(stage):
            work.tools.ground.catalog.purge(stage)
        case CreateView():
            create_view(work)
        case Archive(zone):
            archive_zones([zone], work.setting.specs, work.tools)
