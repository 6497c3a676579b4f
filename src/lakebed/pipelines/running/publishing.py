"""What a run publishes: the moves of refs it requests, and the records stored with them."""

from contextlib import suppress
from dataclasses import replace

from lakebed.errors import BadPipeline, FileMissing, RunFailed
from lakebed.landing import content_digests, is_archived, require_unchanged
from lakebed.pipelines.planning.compile import compile_view
from lakebed.pipelines.planning.pins import Chunk, SourceBatch
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.archiving import taken
from lakebed.pipelines.running.steps.gates import require_gates_passed
from lakebed.pipelines.running.steps.zone_types import learned
from lakebed.ports import BatchRun, PublicationRecords, RunRecord
from lakebed.tables import PublishRequest, string_literal


def publish_requests(run: ActiveRun) -> tuple[PublishRequest, ...]:
    """What is to be published; raises if a gate failed, or a file has changed since it was read."""
    progress = run.progress
    require_gates_passed(run)
    for (zone, _), landed in progress.landed.items():
        here = tuple(file for file in landed.files if not is_archived(file))
        with suppress(FileMissing):  # reported below
            progress.digests |= content_digests(
                run.services.ports.files,
                here,
                run.services.ports.records.consumed(zone, table=run.table),
            )
        # last: what was hashed is what was read
        require_unchanged(run.services.ports.files, landed.files)
    if run.spec.batches and (batch := run.context.pins.source_batch):
        store, _ = run.services.source_store(run.spec.batches.pattern.store)
        require_unchanged(store, batch.files)
    if (given := run.options.manual_change) and given.folder:
        given.folder.require_unchanged()
    if run.spec.is_view or progress.skip_write:
        return ()
    if run.is_first_run:
        return (
            PublishRequest(run.physical_table, run.branch, ref=run.options.ref, becomes=run.table),
        )
    change = progress.schema_change
    asked = PublishRequest(
        run.table,
        run.branch,
        ref=run.options.ref,
        columns=change.final,
        renames=change.renames,
        base=run.base,
        prepared=progress.prepared,
    )
    return (replace(asked, unchanged=progress.unchanged),)


def publication_records(run: ActiveRun) -> PublicationRecords:
    """What is stored in the same transaction as the publication."""
    progress = run.progress
    head = None if progress.unchanged or run.spec.is_view else run.head()
    progress.record = replace(
        progress.record,
        state="success",
        snapshot=head.id if head else None,
        files={str(zone): len(landed.files) for (zone, _), landed in progress.landed.items()},
        verdicts=tuple(progress.verdicts),
        ended_at=run.services.ports.now(),
        message="nothing changed" if progress.unchanged else progress.record.message,
    )
    if run.context.pins.replaced:
        progress.record = with_batch(progress.record, run.context.pins.replaced, progress.due)
    elif run.spec.zones and not run.spec.is_view and not progress.schema_change.at_publishing:
        # noted here, too: a run that dies after this would be made again by the next one
        schema = run.metadata(run.physical_table).schema
        progress.record = replace(progress.record, left_schema=schema)
    contains = head.id if head else run.context.target.base(run.options.ref)
    consumed = tuple(replace(file, snapshot=contains) for file in taken(run))
    return PublicationRecords((progress.record,), consumed, types=learned(run))


def with_batch(record: RunRecord, batch: SourceBatch | Chunk, due: BatchRun | None) -> RunRecord:
    """The record of a run that goes on, with one more batch. What it did to the table's columns is
    published, so that nobody restores the former ones.
    """
    line = replace(
        due or BatchRun(batch.label, "success", ""),
        files=len(batch.files),
        bytes=batch.bytes,
        rows=record.rows.get("result"),
        snapshot=record.snapshot,
    )
    return replace(
        record,
        state="running",
        ended_at=None,
        schema=None,
        touched=(),
        batches=(*record.batches, line),
    )


def create_view(run: ActiveRun) -> None:
    """Create the catalog's view from the query; raises with the reason if the catalog does not
    support views.
    """
    view = compile_view(run.context)
    if run.services.ports.catalog.pointers([run.table]):
        raise BadPipeline(
            f"{run.table} is a table, with rows and a history, and would have to become a view.",
            where=run.spec.file,
            next=f"Drop the table first (it can be restored): lakebed table drop {run.table}",
        )
    comment = (
        f" COMMENT {string_literal(run.spec.config.description)}"
        if run.spec.config.description
        else ""
    )
    try:
        run.compute.execute(f"CREATE OR REPLACE VIEW {run.table.spark}{comment} AS\n{view.text}")
    except RunFailed as error:
        if "not support" not in error.what:
            raise
        what = f"the catalog {run.services.ports.catalog.where} has no views: {error.what}"
        raise BadPipeline(what, where=run.spec.file, next="Set materialized: table.") from error
