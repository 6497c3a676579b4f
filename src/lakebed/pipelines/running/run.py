"""One run: its plan is carried out here and nowhere else. What surrounds every step is in
`lakebed.work`.
"""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Literal, assert_never

from lakebed.errors import Conflict, Diverged, LakebedError, RunFailed, Unavailable
from lakebed.pipelines.planning.steps import (
    ArchiveFiles,
    BuildLayouts,
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
    ReadBatch,
    ReadFolder,
    Rebase,
    Replay,
    RunGate,
    RunStep,
    Stage,
    TakeFiles,
    Write,
)
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.adopting import steps as adopting
from lakebed.pipelines.running.publishing import create_view, publication_records, publish_requests
from lakebed.pipelines.running.steps import branch, calculate, evolve, replay, write
from lakebed.pipelines.running.steps.archiving import archive_zones
from lakebed.pipelines.running.steps.batches.read import read_batch
from lakebed.pipelines.running.steps.gates import (
    GATES_AT_ONCE,
    compiled_gates,
    judge,
    log_verdict,
)
from lakebed.pipelines.running.steps.layouts import bring_up_layouts
from lakebed.pipelines.running.steps.proving import prove_files, start_over
from lakebed.pipelines.running.steps.rebase import gates_to_repeat, may_rebase, rebase
from lakebed.ports import Phase, PublicationRecords, Verdict
from lakebed.quality import GateQueries
from lakebed.tables import publish
from lakebed.tables.ledger.copies import write_copy
from lakebed.work import Ended, Executor, Listener

REBASES = 50  # how often the files of a run follow others' appends; each time takes moments


def prepare(run: ActiveRun) -> None:
    """The steps before publishing; readers see none of it.

    While rows are used of files that may yet turn out to be bad, most failures say nothing about
    the run: all is taken back, the files are checked, and good ones are written.
    """
    with evolve.noticing_changes_by_others(run):
        _prepare(run)


def _prepare(run: ActiveRun) -> None:
    record = run.progress.record
    try:
        _executor(run).execute_all(run.plan.prepare)
        prove_files(run)  # if no step has
    except (Conflict, Unavailable):  # whatever is in the files
        raise
    except LakebedError as error:
        if not run.progress.unproved:
            raise
        run.log.info("checking all files before their rows are written: %s", error)
        start_over(run, record)
        _executor(run).execute_all(run.plan.prepare)


def publish_runs(runs: Sequence[ActiveRun], *, publication: str) -> None:
    """Publish what these runs wrote, in one commit, with their records and the files they took.

    A run that only appends is not computed again because others append, too: its files are put on
    top of theirs.
    """
    for _ in range(REBASES):
        try:
            _publish_runs(runs, publication=publication)
        except Diverged:
            if len(runs) > 1 or not may_rebase(runs[0]):
                raise
            _rebase(runs[0])
        else:
            return
    _publish_runs(runs, publication=publication)


def _rebase(run: ActiveRun) -> None:
    run.log.info("others have appended rows to %s: the run's files follow theirs", run.table)
    _executor(run).execute(Rebase(run.table))
    _executor(run).execute_all(gates_to_repeat(run))


def _publish_runs(runs: Sequence[ActiveRun], *, publication: str) -> None:
    requests = [request for run in runs for request in publish_requests(run)]
    records = [publication_records(run) for run in runs]
    for run in runs:  # a view is published by being created; tables are published together
        _executor(run).execute_all(
            step for step in run.plan.publish if not isinstance(step, Publish)
        )
    for run, own in zip(runs, records, strict=True):
        write_copy(run.services.placement.files, run.run_id, own.consumed)
    leases = [run.held.require() for run in runs]
    with ExitStack() as phases:
        for run in runs:
            for step in run.plan.publish:
                if isinstance(step, Publish):
                    phases.enter_context(_executor(run).around(step))
        _mark(runs, "tried")
        catalog = runs[0].services.placement.catalog
        publish(catalog, requests, run_id=publication, leases=leases, records=_joined(records))
        _mark(runs, "done")


def _joined(records: Sequence[PublicationRecords]) -> PublicationRecords:
    return PublicationRecords(
        tuple(run for one in records for run in one.runs),
        tuple(file for one in records for file in one.consumed),
        types=tuple(types for one in records for types in one.types),
    )


def _mark(runs: Sequence[ActiveRun], reached: Literal["tried", "done"]) -> None:
    for run in runs:
        run.progress.publishing = reached


def finish(run: ActiveRun) -> None:
    """The steps after publishing. Each can be repeated: the next run does what a crash or a failure
    left undone. After one batch of several the run goes on.
    """
    if run.context.pins.replaced:
        return
    progress, services = run.progress, run.services
    message = progress.record.message if run.plan.steps else run.plan.reason
    layouts = [step for step in run.plan.after if isinstance(step, BuildLayouts)]
    try:
        _executor(run).execute_all(step for step in run.plan.after if step not in layouts)
        if not run.plan.steps and run.spec.config.archive_landing_zones:
            # what a crash left in its zone
            archive_zones(run.spec.zone_names, run.context.specs, services)
    except LakebedError as error:  # rows are published: the run succeeded, and is not retried
        run.log.warning("not archived: %s", error)
        message = f"not archived: {error.what}"
    message = "; ".join(filter(None, (message, *_build_layouts(run, layouts))))
    now, schema = services.now(), _schema(run)
    progress.record = replace(
        progress.record, state="success", ended_at=now, message=message, left_schema=schema
    )
    services.records.write(progress.record)
    services.records.unpin([run.run_id])


def _build_layouts(run: ActiveRun, steps: Sequence[BuildLayouts]) -> list[str]:
    """What there is to say about the table's layouts. A run that had nothing to do looks after
    them, too: they may have been declared since the last one.
    """
    if run.plan.steps:
        with suppress(LakebedError):  # it was interrupted: the next run goes on
            _executor(run).execute_all(steps)
    elif not run.spec.is_view:
        bring_up_layouts(run)
    return run.progress.notes


def _schema(run: ActiveRun) -> int | None:
    """The table's schema, by which the next run sees whether it was changed."""
    if not run.spec.zones or run.spec.is_view:
        return None
    catalog = run.services.placement.catalog
    found = catalog.metadata(catalog.pointers([run.table]).values()).get(run.table)
    return found.schema if found else None


def _executor(run: ActiveRun) -> Executor[RunStep, Verdict | None, Phase]:
    on_step = run.options.listener.on_step
    listener = Listener[RunStep, Phase](
        on_start=lambda step: on_step(run.run_id, step, "before"),
        on_end=lambda step, _: on_step(run.run_id, step, "after"),
    )
    return Executor(
        partial(_perform, run, GateQueries(lambda: compiled_gates(run))),
        partial(_record, run),
        check=partial(_check, run),
        listener=listener,
        only_reads=lambda step: isinstance(step, RunGate),
        threads=GATES_AT_ONCE,
    )


def _check(run: ActiveRun) -> None:
    if run.options.stop.is_set():
        raise RunFailed("it was interrupted.")
    run.held.require()


def _record(run: ActiveRun, step: RunStep, ended: Ended[Verdict | None]) -> Phase:
    """Add a phase to the run's record; for a gate, its duration is that of its query."""
    progress = run.progress
    seconds = round(ended.seconds, 3)
    verdict = ended.result
    if verdict is not None:
        seconds = verdict.seconds
        progress.verdicts.append(verdict)
        log_verdict(run, verdict)
    else:
        run.log.info("%s: %.3f s", step.action, seconds)
    phase = Phase(step.action, seconds)
    progress.record = replace(progress.record, phases=_with(progress.record.phases, phase))
    return phase


def _with(phases: tuple[Phase, ...], phase: Phase) -> tuple[Phase, ...]:
    """Replays are one phase, however many there are."""
    if phase.name == Replay.kind and phases and phases[-1].name == phase.name:
        return (*phases[:-1], Phase(phase.name, round(phases[-1].seconds + phase.seconds, 3)))
    return (*phases, phase)


def _perform(  # noqa: C901 - one arm a step, each a line
    run: ActiveRun, gates: GateQueries, step: RunStep
) -> Verdict | None:
    """Carry out one step; what a gate found is returned."""
    match step:
        case OpenZone():
            calculate.take_files(run, step)
        case Calculate():
            calculate.calculate(run)
            evolve.require_fitting_result(run)
        case ReadBatch(batch):
            read_batch(run, batch)
            evolve.require_fitting_result(run)
        case ReadFolder():
            adopting.read_folder(run)
            evolve.require_fitting_result(run)
        case TakeFiles():
            adopting.take_files(run)
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
            branch.open_branch(run, at)
        case Write():
            write.write(run)
        case Execute(_, statement):
            write.execute(run, statement)
        case DropStage(stage):
            run.services.placement.catalog.purge(stage)
        case RunGate(gate):
            return judge(run, gate, gates)
        case CreateView():
            create_view(run)
        case ArchiveFiles(zone):
            archive_zones([zone], run.context.specs, run.services)
        case BuildLayouts():
            bring_up_layouts(run)
        case Rebase():
            rebase(run)
        case Publish():
            raise AssertionError(
                "tables are published by `publish_runs`, together with those of other runs"
            )
        case _:
            assert_never(step)
    return None
