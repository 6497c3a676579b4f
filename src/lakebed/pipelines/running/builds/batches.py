"""A run of a source or a backfill: batch by batch, each published by itself, all of them in one
record.
"""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from lakebed.batches.changes import DueBatch, progress_of
from lakebed.errors import FilesChanged, LakebedError, LeaseLost, OutcomeUnknown
from lakebed.names import new_run_id
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.backfills.look import BackfillLook, look_at_backfill
from lakebed.pipelines.planning.plan import REBUILDS
from lakebed.pipelines.planning.sources.look import SourceLook, bad_key, look_at_source
from lakebed.pipelines.planning.sources.plan import warnings_of
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.begin import closing
from lakebed.pipelines.running.builds.batch_records import (
    LayoutsAfter,
    batch_metrics,
    failed_line,
    finished_record,
    refused_line,
    without_repeats,
)
from lakebed.pipelines.running.builds.begin_batch import (
    begin_batch,
    begin_batches,
    publication_id,
)
from lakebed.pipelines.running.builds.build_request import Build, hold_table
from lakebed.pipelines.running.builds.run_records import record_not_begun
from lakebed.pipelines.running.failure import as_error, recording_failure
from lakebed.pipelines.running.heal import heal
from lakebed.pipelines.running.run import prepare, publish_runs, tidy_up
from lakebed.ports import BatchRun, RemoveRef, RunRecord, Verdict
from lakebed.tables import amend

_TAKEN_BACK = 3  # so many batches may be written twice until files are checked first


@dataclass
class _BatchedRun:
    """Such a run in progress: its record grows with each batch."""

    build: Build
    look: SourceLook | BackfillLook
    whole: ActiveRun
    began: float = field(default_factory=time.monotonic)
    errors: dict[str, LakebedError] = field(default_factory=dict)
    refused: int = 0  # batches whose keys cannot be read
    failed: list[Verdict] = field(default_factory=list)  # of batches that were not published
    taken_back: int = 0  # batches whose files were not as they seemed

    @property
    def record(self) -> RunRecord:
        return self.whole.progress.record

    @record.setter
    def record(self, record: RunRecord) -> None:
        self.whole.progress.record = record


def run_batches(build: Build, spec: PipelineSpec) -> RunRecord:
    """Bring every batch up to date that is not. A batch that fails is left for the next run, and
    the others go on.
    """
    run_id, services = new_run_id(), build.services
    with ExitStack() as stack:
        try:
            held = stack.enter_context(hold_table(build, spec.table, run_id))
            heal(spec.table, services, lease=held.require())
            record = _begun(build, spec, run_id)
            services.records.write(record)
            look = stack.enter_context(_look(build, spec))
            whole = begin_batches(build, spec, look, held, record)
        except Exception as raised:  # an unexpected one, too: only this run fails
            return record_not_begun(build, spec, as_error(raised), run_id=run_id, attempt=1)
        inner = replace(build, options=replace(build.options, full_refresh=False))
        with closing(whole):
            return _run(_BatchedRun(inner, look, whole))


def _look(build: Build, spec: PipelineSpec) -> AbstractContextManager[SourceLook | BackfillLook]:
    if build.options.is_backfill:
        return nullcontext(look_at_backfill(spec, build.services, build.options))
    return look_at_source(spec, build.services, build.options)


def _begun(build: Build, spec: PipelineSpec, run_id: str) -> RunRecord:
    return RunRecord(
        run_id,
        build.options.invocation,
        spec.table,
        "running",
        build.services.now(),
        strategy="backfill" if build.options.is_backfill else spec.strategy_name,
        release=spec.digest,
        version=spec.version,
        ref=build.options.ref,
        asked_at=build.options.started_at,
    )


def _run(run: _BatchedRun) -> RunRecord:
    decision, services = run.look.decision, run.build.services
    _refuse_bad_keys(run)
    tell = partial(run.build.options.listener.on_batch, run.whole.table)
    tell(progress_of(decision.due, 0))
    for number, due in enumerate(decision.due, start=1):
        if run.build.options.stop.is_set() or _is_over(run):
            break
        for warning in _warnings(run, due):
            run.whole.log.warning("%s", warning)
        _run_batch(run, due)
        line = run.record.batches[-1]
        told = (line.label or "all", line.seconds, line.files)
        run.whole.log.info("batch %d/%d: %s - %.1f s, %d files", number, len(decision.due), *told)
        _log_metrics(run, line)
        tell(progress_of(decision.due, number))
    layouts = _tidied_up(run)
    run.record = finished_record(
        run.record,
        run.errors,
        due=len(decision.due) + run.refused,
        unchanged=decision.unchanged,
        source_bytes=None if isinstance(run.look, BackfillLook) else run.look.found.bytes,
        seconds=time.monotonic() - run.began,
        now=services.now(),
        head=_head(run),
        failed=run.failed,
        layouts=layouts,
    )
    for name, value in run.record.metrics.items():
        run.whole.log.info("metric %s = %s", name, value)
    with suppress(LakebedError):  # it stays recorded as running, and the next run closes it
        services.records.write(run.record)
        services.records.unpin([run.record.run_id])
    return run.record


def _tidied_up(run: _BatchedRun) -> LayoutsAfter:
    """What comes once, after the last batch."""
    whole, layouts = run.whole, run.whole.services.layouts
    if _is_over(run) or run.build.options.stop.is_set():
        return LayoutsAfter()
    tidy_up(whole)
    notes = tuple(filter(None, (whole.plan.reason, *whole.progress.notes)))
    with suppress(LakebedError):
        return LayoutsAfter(notes, layouts().bytes_of(whole.table) if layouts else 0)
    return LayoutsAfter(notes)


def _refuse_bad_keys(run: _BatchedRun) -> None:
    """Files of no batch are reported like batches that fail; a run of chosen batches leaves them to
    others.
    """
    look = run.look
    if isinstance(look, BackfillLook) or run.build.options.batches:
        return
    for bad in look.found.bad:
        error = bad_key(bad, look.source)
        run.errors[bad.label] = error
        run.whole.log.error("batch %s: %s", bad.label, error)
        line = refused_line(bad, error)
        run.record = replace(run.record, batches=(*run.record.batches, line))
    run.refused = len(look.found.bad)


def _log_metrics(run: _BatchedRun, line: BatchRun) -> None:
    """Those of a batch of files."""
    if isinstance(run.look, SourceLook):
        for name, value in batch_metrics(line).items():
            run.whole.log.info("metric %s = %s (%s)", name, value, line.label or "all")


def _warnings(run: _BatchedRun, due: DueBatch) -> Iterator[str]:
    if isinstance(run.look, SourceLook) and due.found:
        yield from warnings_of(run.whole.spec, run.look, due.found)


def _is_over(run: _BatchedRun) -> bool:
    """Whether the last batch failed in a way in which all others would fail."""
    return any(isinstance(error, LeaseLost | OutcomeUnknown) for error in run.errors.values())


def _head(run: _BatchedRun) -> dict[str, str]:
    catalog = run.build.services.placement.catalog
    found = catalog.metadata(catalog.pointers([run.whole.table]).values()).get(run.whole.table)
    head = found.head(run.record.ref) if found else None
    return dict(head.summary) if head else {}


def _run_batch(run: _BatchedRun, due: DueBatch) -> None:
    """One batch, again if that may help; the record gets its line either way."""
    config, began = run.whole.spec.config, time.monotonic()
    retries = rebuilds = 0
    while True:
        line = BatchRun(due.label, "success", due.reason, attempts=retries + rebuilds + 1)
        error = _attempt(run, due, line)
        if error is None or isinstance(error, FilesChanged):
            break  # a file that has changed is listed by the next run
        if error.overtaken and rebuilds < REBUILDS:
            rebuilds += 1
        elif error.retryable and retries < config.batch_retries:
            retries += 1
            run.whole.log.warning(
                "batch %s failed (attempt %d): %s", due.label, retries, error.what
            )
            run.build.sleep(config.batch_retry_delay(retries))
        else:
            break
    seconds = round(time.monotonic() - began, 3)
    if error:
        run.errors[due.label] = error
        run.whole.log.error("batch %s failed: %s", due.label, error)
        run.record = replace(
            run.record, batches=(*run.record.batches, failed_line(line, due, error))
        )
    *done, last = run.record.batches
    run.record = replace(run.record, batches=(*done, replace(last, seconds=seconds)))
    run.record = without_repeats(run.record)


def _attempt(run: _BatchedRun, due: DueBatch, line: BatchRun) -> LakebedError | None:
    """One publication of the ordinary protocol; an error is returned, not raised."""
    careful = run.taken_back >= _TAKEN_BACK
    try:
        active = begin_batch(run.build, run.look, run.whole, due, careful=careful)
    except Exception as raised:  # an unexpected one, too: only this batch fails
        return as_error(raised)
    active.progress.due = line
    publication = publication_id(run.record.run_id, due)
    with closing(active), recording_failure([active], publication=publication) as failure:
        prepare(active)
        publish_runs([active], publication=publication)
    run.taken_back += active.progress.careful
    if failure.error is None:
        run.record = active.progress.record
        return None
    run.failed += [verdict for verdict in active.progress.verdicts if not verdict.passed]
    run.record = replace(run.record, state="running", ended_at=None, error={})
    with suppress(LakebedError):  # what is left is removed by the next run
        _remove_branch(run, active)
        run.build.services.records.write(run.record)
    return failure.error


def _remove_branch(run: _BatchedRun, active: ActiveRun) -> None:
    """The next batch opens a branch of the same name."""
    catalog = run.build.services.placement.catalog
    found = catalog.metadata(catalog.pointers([run.whole.table]).values()).get(run.whole.table)
    if found and active.context.pins.branch in found.refs:
        branch = RemoveRef(active.context.pins.branch)
        amend(catalog, run.whole.table, [branch], leases=[run.whole.held.require()])
