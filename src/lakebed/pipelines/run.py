"""One run: executes the steps of a plan, through ports. Timings, checks and onlookers wrap the loop once, not each step."""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from lakebed.errors import BadPipeline, GateFailed, LakebedError, RunFailed
from lakebed.landing import recheck
from lakebed.names import TableName, short_id
from lakebed.pipelines import calculate, write
from lakebed.pipelines.compile import Setting, compile_gate, compile_query, compile_view
from lakebed.pipelines.heal import heal, set_back
from lakebed.pipelines.pin import Built, Specs, pin
from lakebed.pipelines.plan import (
    Archive,
    Calculate,
    CheckKeys,
    CreateHidden,
    CreateView,
    DropStage,
    Judge,
    OpenBranch,
    OpenZone,
    Pins,
    PrepareSchema,
    Publish,
    Stage,
    Step,
    Target,
    Write,
    plan_run,
)
from lakebed.pipelines.spec import PipelineSpec
from lakebed.pipelines.tools import Order, Tools
from lakebed.pipelines.watermark import Watermark, watermark_of
from lakebed.pipelines.work import Work
from lakebed.pipelines.zones import archive_zones, taken
from lakebed.ports import Along, Phase, RunRecord
from lakebed.quality import judge
from lakebed.tables import Ask, Held, text

GATES_AT_ONCE = 3


def begin(
    spec: PipelineSpec,
    specs: Specs,
    tools: Tools,
    order: Order,
    *,
    held: Held,
    run_id: str,
    attempt: int,
    built: Mapping[TableName, Built],
) -> Work:
    """Heal, pin and plan: everything up to the first step."""
    heal(spec.table, tools, lease=held.still())
    started_at = tools.now()
    record = RunRecord(
        run_id,
        order.invocation,
        spec.table,
        "running",
        started_at,
        attempt,
        strategy=spec.strategy_name,
        release=spec.release,
        ref=order.ref,
    )
    tools.records.write(record)
    pins, target = pin(spec, specs, tools, order, run_id=run_id, built=built)
    tools.records.pin(run_id, tuple(pins.inputs.values()))
    mark = watermark(spec, pins, target, tools)
    setting = Setting(spec, specs, pins, target, built, mark, started_at, order.vars)
    record = replace(record, inputs=tuple(pins.inputs.values()), base=target.base(order.ref))
    return Work(tools, order, setting, plan_run(spec, pins, target), held, record, logger_of(run_id, tools.log(run_id)))


def watermark(spec: PipelineSpec, pins: Pins, target: Target, tools: Tools) -> Watermark | None:
    """The newest value of the watermark column, where the pipeline asks for it and there is one."""
    column, base = spec.config.watermark_column, target.base(pins.ref)
    asks = spec.names & {"watermark", "watermark_value", "is_incremental"}
    if column is None or base is None or not asks or pins.full_refresh:
        return None
    newest = tools.ground.catalog.newest_value(spec.table, snapshot=base, column=column)
    return watermark_of(newest, lookback=spec.config.lookback, timezone=tools.ground.settings.timezone, where=spec.file)


def logger_of(run_id: str, file: Path | None) -> logging.Logger:
    """The logger of a run, which a Python pipeline is given too; it writes to the run's own file."""
    logger = logging.Logger(f"lakebed.run.{run_id}", logging.INFO)
    if file is None:
        logger.addHandler(logging.NullHandler())
        return logger
    file.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    return logger


def prepare(work: Work) -> None:
    """The steps before publishing."""
    for judging, steps in groupby(work.plan.steps, key=lambda step: isinstance(step, Judge)):
        if judging:
            _judge_all(work, [step for step in steps if isinstance(step, Judge)])
            continue
        for step in steps:
            if isinstance(step, Publish | CreateView):
                return
            _do(work, step)


def publish_view(work: Work) -> None:
    """A view is published by being made; a table is published elsewhere."""
    for step in work.plan.steps:
        if isinstance(step, CreateView):
            _do(work, step)


@contextmanager
def publishing(works: Sequence[Work]) -> Iterator[None]:
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


def finish(work: Work) -> None:
    """The steps after publishing; each can be repeated, and the next run does what a crash left undone."""
    for step in work.plan.steps:
        if isinstance(step, Archive):
            _do(work, step)
    if not work.plan.steps and work.spec.config.archive_landing_zones:
        archive_zones(work.spec.zone_names, work.setting.specs, work.tools)  # what a crash left in its zone
    message = work.plan.reason or work.record.message
    work.record = replace(work.record, state="success", ended_at=work.tools.now(), message=message)
    work.tools.records.write(work.record)
    work.tools.records.unpin([work.run_id])


@contextmanager
def closing(work: Work) -> Iterator[None]:
    """Whatever happens inside, the run gives back what it held."""
    try:
        yield
    finally:
        work.resources.close()
        for handler in list(work.log.handlers):
            handler.close()
            work.log.removeHandler(handler)


def fail(work: Work, error: LakebedError) -> RunRecord:
    """Undo what readers could see, and write down what happened."""
    work.log.error("%s", error)
    lease = work.held.lease
    set_back(work.record, work.tools, lease=lease)
    ended, verdicts = work.tools.now(), tuple(work.verdicts)
    work.record = replace(work.record, state="failed", snapshot=None, ended_at=ended, error=told(error), verdicts=verdicts)
    work.tools.records.write(work.record)
    work.tools.records.unpin([work.run_id])
    return work.record


def told(error: LakebedError) -> dict[str, str]:
    """An error as a record keeps it."""
    return {"kind": type(error).__name__, "what": error.what, "where": error.where, "safe": error.safe, "next": error.next}


def _do(work: Work, step: Step) -> None:
    if work.order.stop.is_set():
        raise RunFailed("it was interrupted.")
    work.held.still()
    work.order.watch(work.run_id, step, "before")
    with _phase(work, step):
        _execute(work, step)
    work.order.watch(work.run_id, step, "after")


@contextmanager
def _phase(work: Work, step: Step) -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        seconds = round(time.monotonic() - began, 3)
        work.record = replace(work.record, phases=(*work.record.phases, Phase(phase_name(step), seconds)))
        work.log.info("%s: %.3f s", phase_name(step), seconds)


def phase_name(step: Step) -> str:
    """`Judge` of the gate no_nulls is `judge no_nulls`; others go by their kind."""
    return f"judge {step.gate.name}" if isinstance(step, Judge) else type(step).__name__


def _execute(work: Work, step: Step) -> None:  # noqa: C901 - one arm a step, each a line
    match step:
        case OpenZone():
            calculate.take_files(work, step)
        case Calculate():
            calculate.calculate(work)
            write.refuse_unfit_result(work)
        case Stage():
            write.stage(work)
        case CheckKeys():
            write.check_keys(work)
        case PrepareSchema(policy):
            write.prepare_schema(work, policy)
        case CreateHidden(hidden):
            write.create_hidden(work, hidden)
        case OpenBranch():
            write.open_branch(work)
        case Write():
            write.write(work)
        case DropStage(stage):
            work.tools.ground.catalog.drop(stage)
        case CreateView():
            _create_view(work)
        case Archive(zone):
            archive_zones([zone], work.setting.specs, work.tools)


def _judge_all(work: Work, steps: Sequence[Judge]) -> None:
    """Gates only read: they are asked side by side, and their answers kept in the order of the plan."""
    work.held.still()
    this = f"({compile_query(work.setting).text}\n)" if work.spec.is_view else work.place
    asked = [compile_gate(work.setting, step.gate, this=this).text for step in steps]
    compute = work.compute
    for step in steps:
        work.order.watch(work.run_id, step, "before")
    with ThreadPoolExecutor(GATES_AT_ONCE) as pool:
        verdicts = list(pool.map(lambda step, query: judge(step.gate, query, compute=compute), steps, asked))
    for step, verdict in zip(steps, verdicts, strict=True):
        work.verdicts.append(verdict)
        work.record = replace(work.record, phases=(*work.record.phases, Phase(phase_name(step), verdict.seconds)))
        found = "passed" if verdict.passed else f"{verdict.bad_rows} bad rows {verdict.error}"
        work.log.info("gate %s: %s", verdict.gate, found)
        work.order.watch(work.run_id, step, "after")


def refuse_blocked(work: Work) -> None:
    blocking = [verdict for verdict in work.verdicts if verdict.blocks]
    if not blocking:
        return
    first = blocking[0]
    found = first.error or f"{first.bad_rows} bad row{'s' if first.bad_rows != 1 else ''}"
    more = f", and {len(blocking) - 1} more" if len(blocking) > 1 else ""
    raise GateFailed(
        f"the gate {first.gate} found {found}{more}.",
        where=str(work.table),
        safe="Readers see the table as it was.",
        next=f"Look at the rows: lakebed runs show {short_id(work.run_id)}",
    )


def _create_view(work: Work) -> None:
    view = compile_view(work.setting)
    comment = f" COMMENT {text(work.spec.config.description)}" if work.spec.config.description else ""
    try:
        work.compute.execute(f"CREATE OR REPLACE VIEW {work.table.spark}{comment} AS\n{view.text}")
    except RunFailed as error:
        if "not support" not in error.what:
            raise
        what = f"the catalog {work.tools.ground.catalog.where} has no views: {error.what}"
        raise BadPipeline(what, where=work.spec.file, next="Set materialized: table.") from error


def ask(work: Work) -> tuple[Ask, ...]:
    """What is to be published; refused where a gate says no, or a file is not what was read."""
    refuse_blocked(work)
    for landed in work.landed.values():
        recheck(work.tools.ground.files, landed.files)
    if work.spec.is_view or work.skip_write:
        return ()
    if work.first:
        return (Ask(work.written, work.branch, ref=work.order.ref, becomes=work.table),)
    asked = Ask(work.table, work.branch, ref=work.order.ref, columns=work.change.final, unchanged=work.unchanged)
    return (asked,)


def along(work: Work) -> Along:
    """What goes into the books together with the publication."""
    head = None if work.unchanged or work.spec.is_view else work.head()
    work.record = replace(
        work.record,
        state="success",
        snapshot=head.id if head else None,
        files={str(zone): len(landed.files) for (zone, _), landed in work.landed.items()},
        set_aside=tuple(file for landed in work.landed.values() for file in landed.set_aside),
        verdicts=tuple(work.verdicts),
        ended_at=work.tools.now(),
        message="nothing changed" if work.unchanged else "",
    )
    return Along((work.record,), taken(work))
