"""The first rows of a pipeline, and its gates run on what is published. Writes nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from lakebed.errors import LakebedError, UsageError
from lakebed.landing import read_zone_spec, sample_files
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.backfills.look import look_at_backfill
from lakebed.pipelines.planning.compile import TemplateContext, compile_gate, compile_query
from lakebed.pipelines.planning.pin_inputs import Specs, UnpublishedInput
from lakebed.pipelines.planning.pins import SourceBatch
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.planning.sources.look import look_at_source
from lakebed.pipelines.planning.steps import OpenZone
from lakebed.pipelines.running.active_run import ActiveRun, open_run
from lakebed.pipelines.running.begin import closing, logger_of, pinned
from lakebed.pipelines.running.steps import calculate
from lakebed.pipelines.running.steps.batches.read import read_batch
from lakebed.pipelines.services import RunServices
from lakebed.ports import Field, Lease, RunRecord, Verdict
from lakebed.quality import GateQueries, could_not_run, run_gate
from lakebed.tables import HeldLease
from lakebed.templates import SqlValue


@dataclass(frozen=True)
class Preview:
    """The first rows of a pipeline's result."""

    table: TableName
    fields: tuple[Field, ...]
    rows: tuple[dict[str, Any], ...]
    sampled: tuple[ZoneName, ...]  # zones whose `_samples/` were read instead of their files


def template_context(
    spec: PipelineSpec,
    specs: Specs,
    services: RunServices,
    options: RunOptions,
    *,
    built: Mapping[TableName, UnpublishedInput],
    mark: SqlValue | None = None,
) -> TemplateContext:
    """What a run would see if it started now.

    `mark` replaces the watermark, which is looked up otherwise. A given range is one chunk.
    """
    context = pinned(spec, specs, services, options, run_id=new_run_id(), built=built, mark=mark)
    if not options.request.is_backfill:
        return context
    strategy, chunk = look_at_backfill(spec, services, options).pinned_whole(spec)
    ranged = replace(spec, strategy=strategy)
    return replace(context, spec=ranged, pins=replace(context.pins, chunk=chunk))


def preview(
    spec: PipelineSpec, specs: Specs, services: RunServices, options: RunOptions, *, limit: int
) -> Preview:
    """The first rows of a run's result, from sample files where a zone has some."""
    with _looking(spec, specs, services, options) as work:
        sampled = []
        for (zone, pattern), pinned_files in work.context.pins.landing.items():
            chosen = tuple(
                sample_files(
                    services.ports.files,
                    zone,
                    read_zone_spec(services.ports.files, zone),
                    pattern=pattern,
                )
            )
            sampled += [zone] if chosen else []
            calculate.take_files(
                work, OpenZone(zone, pattern, chosen or pinned_files.files), keep=True
            )
        if spec.kind == "source":
            read_batch(work, _smallest(spec, services, options))
        else:
            calculate.calculate(work)
        rows = tuple(work.compute.rows(work.progress.frame, limit=limit))
        return Preview(spec.table, work.progress.fields, rows, tuple(sampled))


def _smallest(spec: PipelineSpec, services: RunServices, options: RunOptions) -> SourceBatch:
    """The first file of a source's smallest batch: enough to see columns and rows."""
    with look_at_source(spec, services, options) as look:
        batch = min(look.found.batches, key=lambda one: one.bytes)
        return SourceBatch(batch.label, "", (next(iter(look.found.files_of(batch))),))


def run_gates(
    spec: PipelineSpec, specs: Specs, services: RunServices, options: RunOptions
) -> tuple[Verdict, ...]:
    """Run a pipeline's gates on what is published."""
    if not spec.gates:
        return ()
    with _looking(spec, specs, services, options) as work:
        target = work.context.target
        if target.absent and not spec.is_view:
            raise UsageError(
                "there is no table to test yet.",
                where=str(spec.table),
                next=f"Run it first: lakebed run -s {spec.table}",
            )
        this = (
            f"({compile_query(work.context).text}\n)"
            if spec.is_view
            else work.context.this or spec.table.spark
        )
        return tuple(_verdicts(work, this))


def _verdicts(work: ActiveRun, this: str) -> Iterator[Verdict]:
    """A gate that cannot run keeps no other from being shown; it fails, whatever its severity."""
    texts: dict[str, str] = {}
    refused: dict[str, LakebedError] = {}
    for gate in work.spec.gates:
        try:
            texts[gate.name] = compile_gate(work.context, gate, this=this).text
        except LakebedError as error:
            refused[gate.name] = error
    queries = GateQueries(lambda: texts)
    for gate in work.spec.gates:
        try:
            if gate.name in refused:
                raise refused[gate.name]
            yield run_gate(gate, queries, compute=work.compute)
        except LakebedError as error:
            yield could_not_run(gate, error)


@contextmanager
def _looking(
    spec: PipelineSpec, specs: Specs, services: RunServices, options: RunOptions
) -> Iterator[ActiveRun]:
    """A run that writes nothing, and so needs no lease, no record and no pins."""
    context = template_context(spec, specs, services, options, built={})
    run_id = context.pins.run_id
    record = RunRecord(run_id, options.invocation, spec.table, "running", services.ports.now())
    nobody = HeldLease(Lease(str(spec.table), "nobody", 0))
    plan, log = RunPlan(table=spec.table, run_id=run_id), logger_of(run_id, None)
    work = open_run(
        services, options, context, plan, nobody, record, timestamp=record.started_at, log=log
    )
    with closing(work):
        yield work
