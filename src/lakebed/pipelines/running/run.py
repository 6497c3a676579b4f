"""One run: its plan is carried out here and nowhere else. What surrounds every step is in
`lakebed.work`.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Literal, assert_never

from lakebed.errors import Conflict, LakebedError, RunFailed, Unavailable
from lakebed.names import TableName
from lakebed.pipelines.planning.pin_inputs import UnpublishedInput, pin_for_gates
from lakebed.pipelines.planning.steps import (
    ArchiveFiles,
    BuildLayouts,
    Calculate,
    CheckFirst,
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
    PublishStep,
    ReadBatch,
    ReadFolder,
    Rebase,
    Replay,
    RunGate,
    RunStep,
    Stage,
    TakeCare,
    TakeFiles,
    WorkStep,
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
    require_gates_passed,
)
from lakebed.pipelines.running.steps.layouts import bring_up_layouts, take_care, what_failed
from lakebed.pipelines.running.steps.proving import check_first, prove_files
from lakebed.pipelines.running.steps.rebase import gates_to_repeat, rebase
from lakebed.ports import Phase, PublicationRecords, Verdict
from lakebed.quality import GateQueries
from lakebed.tables import publish
from lakebed.tables.ledger.copies import write_copy
from lakebed.work import Ended, Executor, Listener, recorded


def prepare(run: ActiveRun) -> None:
    """The steps before publishing; readers see none of it.

    While rows are used of files that may yet turn out to be bad, most failures say nothing about
    the run: its plan says what is done otherwise.
    """
    with evolve.noticing_changes_by_others(run):
        _prepare(run)


def _prepare(run: ActiveRun) -> None:
    try:
        _executor(run).execute_all(run.plan.prepare)
        prove_files(run)  # if no step has
    except (Conflict, Unavailable):  # whatever is in the files
        raise
    except LakebedError as error:
        if not run.progress.may_be_bad:
            raise
        run.log.info("checking all files before their rows are written: %s", error)
        _executor(run).execute(CheckFirst(run.table))
        _executor(run).execute_all(run.plan.prepare)


def follow(run: ActiveRun) -> None:
    """Put what the run has appended on top of what others have; gates that may see theirs judge
    again.
    """
    run.log.info("others have appended rows to %s: the run's files follow theirs", run.table)
    _executor(run).execute(Rebase(run.table))
    _executor(run).execute_all(gates_to_repeat(run))


def judge_later(run: ActiveRun, built: Mapping[TableName, UnpublishedInput]) -> None:
    """Judge the gates that read what other runs of the same build have written since. Raises if one
    of them blocks.
    """
    context, services = run.context, run.services
    spec = context.spec.judged_later
    pins = pin_for_gates(
        spec, context.pins, context.specs, services, ref=run.options.ref, built=built
    )
    inputs = tuple(pins.inputs.values())
    services.ports.records.pin(run.run_id, inputs)
    run.progress.record = replace(run.progress.record, inputs=inputs)
    judging = replace(run, context=replace(context, spec=spec, pins=pins, built=built))
    _executor(judging).execute_all([RunGate(gate, later=True) for gate in spec.gates])
    require_gates_passed(run)


def publish_runs(runs: Sequence[ActiveRun], *, publication: str) -> None:
    """Publish what these runs wrote, in one commit, with their records and the files they took."""
    requests = [request for run in runs for request in publish_requests(run)]
    records = [publication_records(run) for run in runs]
    leases = [run.held.require() for run in runs]
    with ExitStack() as phases:
        for run in runs:
            for step in run.plan.publish:
                _begin_publishing(run, step, phases)
        for run, own in zip(runs, records, strict=True):
            write_copy(run.services.ports.files, run.run_id, own.consumed)
        _mark(runs, "tried")
        catalog = runs[0].services.ports.catalog
        publish(catalog, requests, run_id=publication, leases=leases, records=_joined(records))
        _mark(runs, "done")


def _begin_publishing(run: ActiveRun, step: PublishStep, phases: ExitStack) -> None:
    """One commit ends the steps of all runs."""
    phases.enter_context(recorded(step, partial(_record, run), step_listener(run)))
    match step:
        case CreateView():
            create_view(run)
        case Publish():
            return
        case _:
            assert_never(step)


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
    """The steps after publishing, and the run's record. After one batch of several the run
    goes on.
    """
    if run.context.pins.replaced:
        return
    progress, services = run.progress, run.services
    tidy_up(run)
    message = progress.record.message if run.plan.publish else run.plan.reason
    message = "; ".join(filter(None, (message, *progress.notes)))
    now, schema = services.ports.now(), _schema(run)
    progress.record = replace(
        progress.record, state="success", ended_at=now, message=message, left_schema=schema
    )
    services.ports.records.write(progress.record)
    services.ports.records.unpin([run.run_id])


def tidy_up(run: ActiveRun) -> None:
    """The steps after publishing. Each can be repeated: the next run does what a crash or a failure
    left undone. Rows are published, so the run has succeeded, and is not retried.
    """
    for step in run.plan.after:
        try:
            _executor(run).execute(step)
        except Exception as error:
            run.log.warning("%s: %s", step.action, error)
            if isinstance(step, ArchiveFiles):
                run.progress.notes.append(f"not archived: {what_failed(error)}")


def _schema(run: ActiveRun) -> int | None:
    """The table's schema, by which the next run sees whether it was changed."""
    if not run.spec.zones or run.spec.is_view:
        return None
    catalog = run.services.ports.catalog
    found = catalog.metadata(catalog.pointers([run.table]).values()).get(run.table)
    return found.schema if found else None


def _executor(run: ActiveRun) -> Executor[WorkStep, Verdict | None, Phase]:
    return Executor(
        partial(_perform, run, GateQueries(lambda: compiled_gates(run))),
        partial(_record, run),
        check=partial(_check, run),
        listener=step_listener(run),
        only_reads=lambda step: isinstance(step, RunGate),
        threads=GATES_AT_ONCE,
    )


def step_listener(run: ActiveRun) -> Listener[Any, Any]:
    """Tells whoever listens to runs of each step."""
    on_step = run.options.listener.on_step
    return Listener(
        on_start=lambda step: on_step(run.run_id, step, "before"),
        on_end=lambda step, _: on_step(run.run_id, step, "after"),
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
    run: ActiveRun, gates: GateQueries, step: WorkStep
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
        case ReadFolder(found):
            adopting.read_folder(run, found)
            evolve.require_fitting_result(run)
        case TakeFiles(_, found):
            adopting.take_files(run, found)
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
            run.services.ports.catalog.purge(stage)
        case RunGate(gate):
            return judge(run, gate, gates)
        case ArchiveFiles(zone):
            archive_zones([zone], run.context.specs, run.services)
        case BuildLayouts():
            bring_up_layouts(run)
        case TakeCare():
            take_care(run)
        case Rebase():
            rebase(run)
        case CheckFirst():
            check_first(run)
        case _:
            assert_never(step)
    return None
