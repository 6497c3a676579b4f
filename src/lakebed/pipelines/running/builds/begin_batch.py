"""How a run of a source or a backfill begins, and each of its batches: pinned and planned like
other runs.
"""

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from hashlib import sha256

from lakebed.batches.changes import DueBatch
from lakebed.landing import WhenChecked
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.backfills.look import BackfillLook, look_at_backfill
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.otherwise import can_be_taken_back
from lakebed.pipelines.planning.pins import Pins, SourceBatch, TargetTable
from lakebed.pipelines.planning.plan import plan_run
from lakebed.pipelines.planning.sources.look import SourceLook, look_at_source
from lakebed.pipelines.planning.sources.plan import missing_warnings
from lakebed.pipelines.planning.sql_check import check_queries
from lakebed.pipelines.planning.steps import CheckFirst
from lakebed.pipelines.running.active_run import ActiveRun, open_run
from lakebed.pipelines.running.begin import NOTHING_BUILT, logger_of, pinned
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.undone import plan_from_look
from lakebed.pipelines.services import RunServices
from lakebed.ports import RunRecord
from lakebed.tables import HeldLease


def publication_id(run_id: str, due: DueBatch) -> str:
    """One id for each batch of a run; the same after a lost answer."""
    digest = due.found.digest if due.found else ""
    whole = sha256(f"{due.label}\n{digest}".encode(errors="surrogatepass")).hexdigest()
    return f"{run_id}-{whole[:16]}"


def begin_batches(
    build: Build, spec: PipelineSpec, held: HeldLease, record: RunRecord
) -> ActiveRun:
    """Look and plan: everything up to the first batch."""
    services, options, run_id = build.services, build.options, record.run_id
    with ExitStack() as opening:
        look = opening.enter_context(_look(spec, services, options))
        if isinstance(look, BackfillLook):
            record = replace(record, given=look.request, backfill=look.asked)
        else:
            record = replace(record, warnings=missing_warnings(look))
        context = TemplateContext(
            spec,
            build.specs,
            Pins(run_id, {}, {}, ref=options.ref, look=look),
            TargetTable(spec.table, look.metadata),
            NOTHING_BUILT,
            None,
            services.local(options.started_at),
            options.request.vars,
        )
        plan = plan_from_look(spec, look, services, run_id=run_id)
        log = logger_of(run_id, services.engines.log(run_id))
        now = record.started_at
        run = open_run(services, options, context, plan, held, record, timestamp=now, log=log)
        run.resources.push(opening.pop_all())
        return run


def _look(
    spec: PipelineSpec, services: RunServices, options: RunOptions
) -> AbstractContextManager[SourceLook | BackfillLook]:
    if options.request.is_backfill:
        return nullcontext(look_at_backfill(spec, services, options))
    return look_at_source(spec, services, options)


def begin_batch(
    build: Build,
    run: ActiveRun,
    look: SourceLook | BackfillLook,
    due: DueBatch,
    *,
    files_checked: WhenChecked,
) -> ActiveRun:
    """Everything up to the first step of a batch. Queries are checked before the first batch."""
    record = run.progress.record
    # every batch of a full refresh is due, and replaces its own rows
    request = build.options.request.replace(full_refresh=False)
    services, options = build.services, replace(build.options, request=request)
    strategy, batch = look.pinned(run.spec, due)
    spec = replace(run.spec, strategy=strategy)
    context = pinned(spec, build.specs, services, options, run_id=record.run_id)
    context = replace(context, pins=context.pins.of_batch(batch))
    if not record.batches:
        check_queries(context)
    inputs = tuple(context.pins.inputs.values())
    services.ports.records.pin(record.run_id, inputs)
    record = replace(record, base=context.target.base(options.ref), inputs=inputs)
    plan = plan_run(spec, context.pins, context.target)
    has_files = isinstance(batch, SourceBatch) and bool(batch.files)
    if files_checked == "while_reading" and has_files and can_be_taken_back(plan):
        plan = replace(plan, otherwise=(CheckFirst(spec.table),))
    now, log = services.ports.now(), logger_of(record.run_id, services.engines.log(record.run_id))
    return open_run(services, options, context, plan, run.held, record, timestamp=now, log=log)
