"""A run of a source or a backfill: batch by batch, each published by itself, all of them in one
record.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lakebed.batches.changes import DueBatch, progress_of
from lakebed.errors import FilesChanged, LakebedError, LeaseLost, OutcomeUnknown
from lakebed.landing import WhenChecked
from lakebed.pipelines.planning.backfills.look import BackfillLook
from lakebed.pipelines.planning.sources.look import SourceLook, bad_key
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
    publication_id,
)
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.builds.retries import Retries, publish
from lakebed.pipelines.running.failure import as_error, recording_failure
from lakebed.pipelines.running.run import prepare, step_listener, tidy_up
from lakebed.ports import BatchRun, RemoveRef, RunRecord, TableMetadata, Verdict
from lakebed.tables import amend
from lakebed.work import recorded

_TAKEN_BACK = 3  # so many batches may be written twice until files are checked first


@dataclass
class _Batches:
    """The batches of a run in progress: the record of the `whole` grows with each of them."""

    build: Build
    look: SourceLook | BackfillLook
    whole: ActiveRun
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

    @property
    def files_checked(self) -> WhenChecked:
        return "first" if self.taken_back >= _TAKEN_BACK else "while_reading"

    @property
    def is_over(self) -> bool:
        """Whether it was interrupted, or the last batch failed in a way in which all others would
        fail.
        """
        fatal = LeaseLost | OutcomeUnknown
        return self.whole.options.stop.is_set() or any(
            isinstance(error, fatal) for error in self.errors.values()
        )


def run_batches(build: Build, run: ActiveRun, look: SourceLook | BackfillLook) -> None:
    """Publish one batch after the other, then what comes after them, and the record. A batch that
    fails is left for the next run, and the others go on.
    """
    batches, began = _Batches(build, look, run), time.monotonic()
    _refuse_bad_keys(batches)
    _publish_all(batches)
    layouts = LayoutsAfter() if batches.is_over else _tidied_up(run)
    services = run.services
    record = finished_record(
        batches.record,
        batches.errors,
        due=len(look.decision.due) + batches.refused,
        unchanged=look.decision.unchanged,
        source_bytes=None if isinstance(look, BackfillLook) else look.found.bytes,
        seconds=time.monotonic() - began,
        now=services.ports.now(),
        head=_head(run),
        failed=batches.failed,
        layouts=layouts,
    )
    run.progress.record = record
    for name, value in record.metrics.items():
        run.log.info("metric %s = %s", name, value)
    with suppress(LakebedError):  # it stays recorded as running, and the next run closes it
        services.ports.records.write(record)
        services.ports.records.unpin([record.run_id])


def _publish_all(batches: _Batches) -> None:
    run, due = batches.whole, batches.look.decision.due
    tell = partial(run.options.listener.on_batch, run.table)
    tell(progress_of(due, 0))
    for number, step in enumerate(run.plan.batches, start=1):
        if batches.is_over:
            break
        for warning in _warnings(batches, step.batch):
            run.log.warning("%s", warning)
        with recorded(step, _without_phase, step_listener(run)):
            _run_batch(batches, step.batch)
        line = batches.record.batches[-1]
        told = (line.label or "all", line.seconds, line.files)
        run.log.info("batch %d/%d: %s - %.1f s, %d files", number, len(due), *told)
        _log_metrics(batches, line)
        tell(progress_of(due, number))


def _without_phase(*_: Any) -> None:
    """The record has a line for each batch, and the phases of its steps."""


def _tidied_up(run: ActiveRun) -> LayoutsAfter:
    """What comes once, after the last batch."""
    tidy_up(run)
    notes = tuple(filter(None, (run.plan.reason, *run.progress.notes)))
    with suppress(LakebedError):
        return LayoutsAfter(notes, run.services.layouts.bytes_of(run.table))
    return LayoutsAfter(notes)


def _refuse_bad_keys(batches: _Batches) -> None:
    """Files of no batch are reported like batches that fail; a run of chosen batches leaves them to
    others.
    """
    look = batches.look
    if isinstance(look, BackfillLook) or batches.whole.options.request.batches:
        return
    for bad in look.found.bad:
        error = bad_key(bad, look.source)
        batches.errors[bad.label] = error
        batches.whole.log.error("batch %s: %s", bad.label, error)
        line = refused_line(bad, error)
        batches.record = replace(batches.record, batches=(*batches.record.batches, line))
    batches.refused = len(look.found.bad)


def _log_metrics(batches: _Batches, line: BatchRun) -> None:
    """Those of a batch of files."""
    if isinstance(batches.look, SourceLook):
        for name, value in batch_metrics(line).items():
            batches.whole.log.info("metric %s = %s (%s)", name, value, line.label or "all")


def _warnings(batches: _Batches, due: DueBatch) -> Iterator[str]:
    if isinstance(batches.look, SourceLook) and due.found:
        yield from warnings_of(batches.whole.spec, batches.look, due.found)


def _head(run: ActiveRun) -> dict[str, str]:
    metadata = _present(run)
    head = metadata.head(run.options.ref) if metadata else None
    return dict(head.summary) if head else {}


def _present(run: ActiveRun) -> TableMetadata | None:
    catalog = run.services.ports.catalog
    return catalog.metadata(catalog.pointers([run.table]).values()).get(run.table)


def _run_batch(batches: _Batches, due: DueBatch) -> None:
    """One batch, again if that may help; the record gets its line either way. A file that has
    changed is listed by the next run.
    """
    run, config, began = batches.whole, batches.whole.spec.config, time.monotonic()

    def pause(number: int, error: LakebedError) -> None:
        run.log.warning("batch %s failed (attempt %d): %s", due.label, number, error.what)
        batches.build.sleep(config.batch_retry_delay(number))

    retries = Retries.of(run.plan.otherwise, pause, hopeless=(FilesChanged,))
    while True:
        line = BatchRun(due.label, "success", due.reason, attempts=retries.number)
        error = _attempt(batches, due, line)
        if not retries.again(error):
            break
    if error:
        batches.errors[due.label] = error
        run.log.error("batch %s failed: %s", due.label, error)
        failed = failed_line(line, due, error)
        batches.record = replace(batches.record, batches=(*batches.record.batches, failed))
    *done, last = batches.record.batches
    last = replace(last, seconds=round(time.monotonic() - began, 3))
    batches.record = without_repeats(replace(batches.record, batches=(*done, last)))


def _attempt(batches: _Batches, due: DueBatch, line: BatchRun) -> LakebedError | None:
    """One publication of the ordinary protocol; an error is returned, not raised."""
    build, checked = batches.build, batches.files_checked
    try:
        run = begin_batch(build, batches.whole, batches.look, due, files_checked=checked)
    except Exception as raised:  # an unexpected one, too: only this batch fails
        return as_error(raised)
    run.progress.due = line
    publication = publication_id(run.run_id, due)
    with closing(run), recording_failure([run], publication=publication) as failure:
        prepare(run)
        publish([run], publication=publication)
    batches.taken_back += run.progress.files_checked != run.plan.files_checked
    if failure.error is None:
        batches.record = run.progress.record
        return None
    batches.failed += [verdict for verdict in run.progress.verdicts if not verdict.passed]
    batches.record = replace(batches.record, state="running", ended_at=None, error={})
    with suppress(LakebedError):  # what is left is removed by the next run
        _remove_branch(run)
        build.services.ports.records.write(batches.record)
    return failure.error


def _remove_branch(run: ActiveRun) -> None:
    """The next batch opens a branch of the same name."""
    metadata, name = _present(run), run.context.pins.branch
    if metadata and name in metadata.refs:
        catalog = run.services.ports.catalog
        amend(catalog, run.table, [RemoveRef(name)], leases=[run.held.require()])
