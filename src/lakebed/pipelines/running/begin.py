"""How a run begins and ends: healed, pinned and planned; closed and, where it failed, written down as that."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.pin import Specs, UnpublishedInput, pin
from lakebed.pipelines.planning.pins import Pins, TargetTable
from lakebed.pipelines.planning.plan import RunPlan, plan_by_hand, plan_run
from lakebed.pipelines.planning.sql_check import check_setting, other_functions, python_of
from lakebed.pipelines.planning.watermark import Watermark, watermark_of
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.heal import heal, set_back
from lakebed.pipelines.services import RunOptions, RunServices
from lakebed.ports import RunRecord
from lakebed.tables import HeldLease, Scd2, backwards, renamed


def begin(
    spec: PipelineSpec,
    specs: Specs,
    tools: RunServices,
    order: RunOptions,
    *,
    held: HeldLease,
    run_id: str,
    attempt: int,
    built: Mapping[TableName, UnpublishedInput],
) -> ActiveRun:
    """Heal, pin and plan: everything up to the first step."""
    heal(spec.table, tools, lease=held.require())
    record = RunRecord(
        run_id,
        order.invocation,
        spec.table,
        "running",
        tools.now(),
        attempt,
        strategy=spec.strategy_name,
        release=spec.release,
        version=spec.version,
        ref=order.ref,
        asked_at=order.started_at,
    )
    tools.records.write(record)
    pins, target = pin(spec, specs, tools, order, run_id=run_id, built=built)
    tools.records.pin(run_id, tuple(pins.inputs.values()))
    mark = watermark(spec, pins, target, tools)
    functions = other_functions(python_of(specs), own_spark=tools.own_spark)
    setting = TemplateContext(
        spec, specs, pins, target, built, mark, tools.local(order.started_at), order.vars, functions=functions
    )
    record = replace(record, inputs=tuple(pins.inputs.values()), base=target.base(order.ref), given=pins.given)
    plan, moment = _plan(spec, pins, target, order), _moment(record.started_at, setting, tools)
    record = replace(record, moment=moment)
    if plan.steps and not order.hand:
        check_setting(setting)  # before Spark is asked for anything
    return ActiveRun(tools, order, setting, plan, held, record, moment, logger_of(run_id, tools.log(run_id)))


def _moment(now: datetime, setting: TemplateContext, tools: RunServices) -> datetime:
    """The time that the run writes: later than all that a history has, for clocks step back and its periods must not."""
    strategy, target, base = setting.spec.strategy, setting.target, setting.target.base(setting.pins.ref)
    if not isinstance(strategy, Scd2) or target.metadata is None or base is None:
        return now
    (since,) = renamed((strategy.scd_valid_from,), backwards(target.renames))
    known = [target.metadata.updated_at]
    if since in {column.name for column in target.metadata.columns}:
        newest = tools.ground.catalog.newest_value(target.table, snapshot=base, column=since)
        known += [newest] if isinstance(newest, datetime) and newest.tzinfo else []
    return max(now, max(known) + timedelta(microseconds=1))


def _plan(spec: PipelineSpec, pins: Pins, target: TargetTable, order: RunOptions) -> RunPlan:
    return plan_by_hand(spec, pins, target, statement=order.hand.statement) if order.hand else plan_run(spec, pins, target)


def watermark(spec: PipelineSpec, pins: Pins, target: TargetTable, tools: RunServices) -> Watermark | None:
    """The newest value of the watermark column, where the pipeline asks for it and there is one."""
    column, base = spec.config.watermark_column, target.base(pins.ref)
    asks = spec.names & {"watermark", "watermark_value", "is_incremental"}
    if column is None or base is None or not asks or pins.full_refresh:
        return None
    (present,) = renamed((column,), backwards(target.renames))
    newest = tools.ground.catalog.newest_value(spec.table, snapshot=base, column=present)
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


@contextmanager
def closing(work: ActiveRun) -> Iterator[None]:
    """Whatever happens inside, the run gives back what it held; what cannot be given back changes nothing about the run."""
    try:
        yield
    finally:
        try:
            work.resources.close()
        except Exception as error:  # an engine that died: what is published is published
            work.log.warning("not closed: %s", error)
        for handler in list(work.log.handlers):
            handler.close()
            work.log.removeHandler(handler)


def fail(work: ActiveRun, error: LakebedError) -> RunRecord:
    """Undo what readers could see, and write down what happened; what cannot be undone now, the next run of the table undoes."""
    work.log.error("%s", error)
    ended, verdicts = work.tools.now(), tuple(work.verdicts)
    work.record = replace(work.record, state="failed", snapshot=None, ended_at=ended, error=told(error), verdicts=verdicts)
    try:
        set_back(work.record, work.tools, lease=work.held.lease)
        work.tools.records.write(work.record)
        work.tools.records.unpin([work.run_id])
    except LakebedError as trouble:  # in the books it is still running, and healed like one that died
        work.log.warning("not set back: %s", trouble)
    return work.record


def told(error: LakebedError) -> dict[str, str]:
    """An error as a record keeps it."""
    return {"kind": type(error).__name__, "what": error.what, "where": error.where, "safe": error.safe, "next": error.next}
