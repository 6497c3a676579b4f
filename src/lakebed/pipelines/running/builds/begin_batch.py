"""How a run of a source or a backfill begins, and each of its batches: pinned and planned like
other runs.
"""

from dataclasses import replace
from hashlib import sha256

from lakebed.batches.changes import DueBatch
from lakebed.batches.keys import condition, read_label
from lakebed.pipelines.definition.batch_source import config_digest
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.backfills.look import BackfillLook
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.otherwise import can_be_taken_back
from lakebed.pipelines.planning.pin_inputs import pin_inputs
from lakebed.pipelines.planning.pins import Chunk, Pins, SourceBatch, TargetTable
from lakebed.pipelines.planning.plan import plan_run
from lakebed.pipelines.planning.sources.look import SourceLook
from lakebed.pipelines.planning.sources.plan import missing_warnings
from lakebed.pipelines.planning.sql_check import (
    check_queries,
    python_sources,
    registered_functions,
)
from lakebed.pipelines.planning.steps import CheckFirst
from lakebed.pipelines.running.active_run import ActiveRun, open_run
from lakebed.pipelines.running.begin import NOTHING_BUILT, logger_of
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.undone import plan_from_look
from lakebed.ports import RunRecord
from lakebed.tables import HeldLease, ReplaceBatch


def publication_id(run_id: str, due: DueBatch) -> str:
    """One id for each batch of a run; the same after a lost answer."""
    digest = due.found.digest if due.found else ""
    whole = sha256(f"{due.label}\n{digest}".encode(errors="surrogatepass")).hexdigest()
    return f"{run_id}-{whole[:16]}"


def begin_batches(
    build: Build,
    spec: PipelineSpec,
    look: SourceLook | BackfillLook,
    held: HeldLease,
    record: RunRecord,
) -> ActiveRun:
    """The run that publishes batches one after the other; its plan has what comes after them."""
    services, options, run_id = build.services, build.options, record.run_id
    target = TargetTable(spec.table, look.metadata)
    pins = Pins(run_id, {}, {}, ref=options.ref)
    now = services.local(options.started_at)
    context = TemplateContext(
        spec, build.specs, pins, target, NOTHING_BUILT, None, now, options.vars
    )
    if isinstance(look, BackfillLook):
        record = replace(record, given=look.request, backfill=look.asked)
    else:
        record = replace(record, warnings=missing_warnings(look))
    plan = plan_from_look(spec, look, services, run_id=run_id)
    log = logger_of(run_id, services.log(run_id))
    return open_run(
        services, options, context, plan, held, record, timestamp=record.started_at, log=log
    )


def begin_batch(
    build: Build, look: SourceLook | BackfillLook, run: ActiveRun, due: DueBatch, *, careful: bool
) -> ActiveRun:
    """Everything up to the first step of a batch. Queries are checked before the first batch; with
    `careful`, files before their rows are written.
    """
    given, held, record = run.spec, run.held, run.progress.record
    services, options, run_id = build.services, build.options, record.run_id
    strategy, batch = (
        look.pinned(given, due.label)
        if isinstance(look, BackfillLook)
        else _source_batch(given, look, due)
    )
    spec = replace(given, strategy=strategy)
    pins, target = pin_inputs(
        spec, build.specs, services, options, run_id=run_id, built=NOTHING_BUILT
    )
    source, chunk = (None, batch) if isinstance(batch, Chunk) else (batch, None)
    pins = replace(pins, source_batch=source, chunk=chunk)
    context = TemplateContext(
        spec,
        build.specs,
        pins,
        target,
        NOTHING_BUILT,
        None,
        services.local(options.started_at),
        options.vars,
        functions=registered_functions(python_sources(build.specs), own_spark=services.own_spark),
    )
    if not record.batches:
        check_queries(context)
    inputs = tuple(pins.inputs.values())
    services.records.pin(run_id, inputs)
    record = replace(record, base=target.base(options.ref), inputs=inputs)
    now, log = services.now(), logger_of(run_id, services.log(run_id))
    plan = plan_run(spec, pins, target)
    if source and source.files and not careful and can_be_taken_back(plan):
        plan = replace(plan, otherwise=(CheckFirst(spec.table),))
    return open_run(services, options, context, plan, held, record, timestamp=now, log=log)


def _source_batch(
    spec: PipelineSpec, look: SourceLook, due: DueBatch
) -> tuple[ReplaceBatch, SourceBatch]:
    """How a batch of a source is written, and what it is made from."""
    keys = look.source.keys
    where = condition(keys, due.found.values if due.found else read_label(due.label, keys))
    files = look.found.files_of(due.found) if due.found else ()
    digest, config = due.found.digest if due.found else "", config_digest(spec.config)
    batch = SourceBatch(due.label, where, files, digest, config, look.at_once)
    return ReplaceBatch(where=where), batch
