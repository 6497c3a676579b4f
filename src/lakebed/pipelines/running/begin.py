"""How a run begins and ends: pinned and planned; closed, and recorded as failed if it failed."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.otherwise import conditional_steps
from lakebed.pipelines.planning.pin_inputs import Specs, UnpublishedInput, pin_inputs
from lakebed.pipelines.planning.pins import Pins, TargetTable
from lakebed.pipelines.planning.plan import (
    RunPlan,
    plan_adoption,
    plan_manual_change,
    plan_run,
)
from lakebed.pipelines.planning.sql_check import check_queries, python_sources, registered_functions
from lakebed.pipelines.planning.watermark import watermark_of
from lakebed.pipelines.running.active_run import ActiveRun, open_run
from lakebed.pipelines.running.adopting.refusal import already_there
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.heal import undo_failed_run
from lakebed.pipelines.running.undone import look_for_undone
from lakebed.pipelines.services import RunServices
from lakebed.ports import RunRecord
from lakebed.settings import make_log
from lakebed.tables import HeldLease, apply_renames, inverse_renames
from lakebed.templates import SqlValue

NOTHING_BUILT: Mapping[TableName, UnpublishedInput] = {}


def begin(
    build: Build,
    spec: PipelineSpec,
    held: HeldLease,
    record: RunRecord,
    *,
    built: Mapping[TableName, UnpublishedInput],
    alone: bool,
) -> ActiveRun:
    """Pin and plan: everything up to the first step. A run that is published `alone` can do more
    about what others do meanwhile.
    """
    services, options, run_id = build.services, build.options, record.run_id
    context = pinned(spec, build.specs, services, options, run_id=run_id, built=built)
    inputs, target = tuple(context.pins.inputs.values()), context.target
    services.ports.records.pin(run_id, inputs)
    plan = _plan(context, options, services, alone=alone)
    moment = _moment(record.started_at, context, services)
    record = replace(
        record,
        inputs=inputs,
        base=target.base(options.ref),
        given=context.pins.given,
        moment=moment,
        warnings=plan.warnings,
    )
    log = logger_of(run_id, services.engines.log(run_id))
    return open_run(services, options, context, plan, held, record, timestamp=moment, log=log)


def pinned(
    spec: PipelineSpec,
    specs: Specs,
    services: RunServices,
    options: RunOptions,
    *,
    run_id: str,
    built: Mapping[TableName, UnpublishedInput] = NOTHING_BUILT,
    mark: SqlValue | None = None,
) -> TemplateContext:
    """What a run sees that begins now. `mark` replaces the watermark, which is looked up
    otherwise; in a backfill there is none.
    """
    pins, target = pin_inputs(spec, specs, services, options, run_id=run_id, built=built)
    ranged = options.request.is_backfill
    newest = None if ranged else mark or watermark(spec, pins, target, services)
    return TemplateContext(
        spec,
        specs,
        pins,
        target,
        built,
        newest,
        services.local(options.started_at),
        options.request.vars,
        functions=registered_functions(python_sources(specs), own_spark=services.engines.own_spark),
    )


def _moment(now: datetime, context: TemplateContext, services: RunServices) -> datetime:
    """The time that the run writes: later than any in the table's history, because clocks can go
    back and its periods must not.
    """
    valid_from, target = context.spec.strategy.valid_from, context.target
    base = target.base(context.pins.ref)
    if valid_from is None or target.metadata is None or base is None:
        return now
    (since,) = apply_renames((valid_from,), inverse_renames(target.renames))
    known = [target.metadata.updated_at]
    if since in {column.name for column in target.metadata.columns}:
        newest = services.ports.catalog.newest_value(target.table, snapshot=base, column=since)
        known += [newest] if isinstance(newest, datetime) and newest.tzinfo else []
    return max(now, max(known) + timedelta(microseconds=1))


def _plan(
    context: TemplateContext, options: RunOptions, services: RunServices, *, alone: bool
) -> RunPlan:
    """The plan of a run; queries are checked before Spark is asked for anything."""
    spec, pins, target = context.spec, context.pins, context.target
    layouts, change, query = services.builds_layouts, options.manual_change, None
    if change is None:
        undone = look_for_undone(spec, pins, target, context.specs, services)
        plan = plan_run(spec, pins, target, layouts=layouts, undone=undone)
        query = check_queries(context) if plan.publish else None
    elif change.folder is None:
        statement = change.statement
        plan = plan_manual_change(spec, pins, target, statement=statement, layouts=layouts)
    elif target.absent:
        plan = plan_adoption(spec, pins, change.folder)
    else:
        raise already_there(spec.table)
    once = change is not None and change.readable_once
    steps = conditional_steps(context, plan, query, alone=alone, readable_once=once)
    return replace(plan, otherwise=tuple(steps))


def watermark(
    spec: PipelineSpec, pins: Pins, target: TargetTable, services: RunServices
) -> SqlValue | None:
    """The newest value of the watermark column; None if the pipeline does not use it, or there is
    none.
    """
    column, base = spec.config.watermark_column, target.base(pins.ref)
    asks = spec.names & {"watermark", "watermark_value", "is_incremental"}
    if column is None or base is None or not asks or pins.full_refresh:
        return None
    (present,) = apply_renames((column,), inverse_renames(target.renames))
    newest = services.ports.catalog.newest_value(spec.table, snapshot=base, column=present)
    return watermark_of(
        newest,
        lookback=spec.config.lookback,
        timezone=services.ports.settings.timezone,
        where=spec.file,
    )


def logger_of(run_id: str, file: Path | None) -> logging.Logger:
    """The logger of a run, also given to Python pipelines; it writes to the run's own file."""
    logger = logging.Logger(f"lakebed.run.{run_id}", logging.INFO)
    if file is None:
        logger.addHandler(logging.NullHandler())
        return logger
    make_log(file)
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    return logger


@contextmanager
def closing(run: ActiveRun) -> Iterator[None]:
    """Release what the run holds, whatever happens inside; a failure to release it does not affect
    the run's result.
    """
    try:
        yield
    finally:
        try:
            run.resources.close()
        except Exception as error:  # an engine that died: what is published is published
            run.log.warning("not closed: %s", error)
        for handler in list(run.log.handlers):
            handler.close()
            run.log.removeHandler(handler)


def record_failure(run: ActiveRun, error: LakebedError) -> RunRecord:
    """Undo what readers could see, and record what happened; what cannot be undone now is undone by
    the table's next run.
    """
    progress = run.progress
    run.log.error("%s", error)
    ended, verdicts = run.services.ports.now(), tuple(progress.verdicts)
    progress.record = replace(
        progress.record,
        state="failed",
        snapshot=None,
        ended_at=ended,
        error=error.as_dict(),
        verdicts=verdicts,
    )
    try:
        undo_failed_run(progress.record, run.services, lease=run.held.lease)
        run.services.ports.records.write(progress.record)
        run.services.ports.records.unpin([run.run_id])
    except LakebedError as trouble:  # it stays recorded as running and is healed like one that died
        run.log.warning("not set back: %s", trouble)
    return progress.record
