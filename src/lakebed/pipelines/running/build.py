"""Runs of several pipelines, in the order of the graph: each published as it passes, or all together."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from lakebed.errors import (
    Conflict,
    Diverged,
    FilesChanged,
    LakebedError,
    PointerMoved,
    RunFailed,
    SparkFailed,
    Unavailable,
)
from lakebed.names import TableName, new_run_id, short_id
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.begin import begin, closing
from lakebed.pipelines.running.failure import recording_failure
from lakebed.pipelines.running.ledger_copies import write_copy
from lakebed.pipelines.running.publishing import publication_records, publish_requests
from lakebed.pipelines.running.run import finish, prepare, publish_view, publishing
from lakebed.pipelines.running.walk import walk
from lakebed.pipelines.services import RunServices
from lakebed.ports import PublicationRecords, QuarantinedFile, RunRecord
from lakebed.tables import HeldLease, LeaseWait, hold_lease, publish

REBUILDS = 3  # how often a run begins anew because somebody else's commit came in between
LONGEST_DELAY = 3600.0
_TRY_AGAIN = (RunFailed, SparkFailed, Unavailable, Conflict)
_BEGIN_ANEW = (Diverged, PointerMoved, FilesChanged)


@dataclass(frozen=True)
class Build:
    """Several runs asked for at once."""

    specs: Specs
    services: RunServices
    options: RunOptions
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class Outcome:
    """How an attempt went."""

    record: RunRecord
    error: LakebedError | None = None
    later: int = 0  # files that were left to further runs


def run_each(build: Build, tables: Sequence[TableName]) -> tuple[RunRecord, ...]:
    """Run these pipelines; each is published as soon as its gates pass, and what reads a failed one is skipped."""

    def run(table: TableName) -> RunRecord:
        build.options.listener.on_start(table)
        record = run_one(build, build.specs[table])
        build.options.listener.on_end(record)
        return record

    def skip(table: TableName, because: TableName) -> RunRecord:
        record = record_skipped(build, table, f"{because} failed")
        build.options.listener.on_end(record)
        return record

    order, stop = dependencies(build.specs, tables), build.options.stop
    return walk(tables, order, run, skip, threads=build.options.threads, fail_fast=build.options.fail_fast, interrupt=stop.set)


def dependencies(specs: Specs, tables: Sequence[TableName]) -> dict[TableName, frozenset[TableName]]:
    """For each table the others among them that it reads."""
    return {table: frozenset(specs[table].inputs) & frozenset(tables) for table in tables}


def record_skipped(build: Build, table: TableName, why: str) -> RunRecord:
    """The record of a run that was not begun."""
    now, spec = build.services.now(), build.specs[table]
    record = RunRecord(
        new_run_id(),
        build.options.invocation,
        table,
        "skipped",
        now,
        ended_at=now,
        release=spec.digest,
        version=spec.version,
        message=why,
    )
    with suppress(LakebedError):
        build.services.records.write(record)
    return record


def run_one(build: Build, spec: PipelineSpec) -> RunRecord:
    """Run a pipeline, once for each file where it takes one a run; how it went at last is in the record."""
    outcome, former = attempt_until(build, spec), None
    while outcome.later and (former is None or outcome.later < former) and not build.options.stop.is_set():
        outcome, former = attempt_until(build, spec), outcome.later
    return outcome.record


def attempt_until(build: Build, spec: PipelineSpec) -> Outcome:
    """Run again if that may help: as often as is asked for, and where only somebody else's commit was in the way."""
    retries = rebuilds = 0
    aside: tuple[QuarantinedFile, ...] = ()
    while True:
        outcome = _attempt(build, spec, attempt=retries + rebuilds + 1)
        aside, error = (*aside, *outcome.record.set_aside), outcome.error
        if isinstance(error, _BEGIN_ANEW) and rebuilds < REBUILDS:
            rebuilds += 1
        elif isinstance(error, _TRY_AGAIN) and retries < spec.config.max_retries:
            build.sleep(min(spec.config.retry_delay_seconds * 2**retries, LONGEST_DELAY))
            retries += 1
        else:
            return replace(outcome, record=with_set_aside(build, outcome.record, aside))


def with_set_aside(build: Build, record: RunRecord, aside: tuple[QuarantinedFile, ...]) -> RunRecord:
    """The last attempt's record, which is the one that is shown, with the files that earlier ones set aside."""
    if record.set_aside == aside:
        return record
    told_all = replace(record, set_aside=aside)
    with suppress(LakebedError):
        build.services.records.write(told_all)
    return told_all


def _attempt(build: Build, spec: PipelineSpec, *, attempt: int) -> Outcome:
    run_id = new_run_id()
    with ExitStack() as stack:
        try:
            held = stack.enter_context(hold_table(build, spec.table, run_id))
            run = begin(spec, build.specs, build.services, build.options, held=held, run_id=run_id, attempt=attempt, built={})
        except LakebedError as error:  # no lease, or the books themselves cannot be written
            return Outcome(record_not_begun(build, spec, error, run_id=run_id, attempt=attempt), error)
        return _carry_out(run)


def hold_table(build: Build, table: TableName, run_id: str) -> AbstractContextManager[HeldLease]:
    """The lease under which a run works."""
    services = build.services
    limit = services.placement.settings.lease.limit_seconds
    waiting = LeaseWait(build.options.wait, build.options.stop, partial(build.options.listener.on_wait, table))
    return hold_lease(
        services.leases, str(table), holder=f"run {short_id(run_id)} of {services.holder}", limit=limit, wait=waiting
    )


def record_not_begun(build: Build, spec: PipelineSpec, error: LakebedError, *, run_id: str, attempt: int) -> RunRecord:
    """The record of a run that found the table taken, its files wrong, or the books closed."""
    now = build.services.now()
    record = RunRecord(
        run_id,
        build.options.invocation,
        spec.table,
        "failed",
        now,
        attempt,
        ended_at=now,
        strategy=spec.strategy_name,
        release=spec.digest,
        version=spec.version,
        error=error.as_dict(),
    )
    if build.options.stop.is_set():
        return record  # whoever interrupts a run that waits for its table leaves nothing behind
    with suppress(LakebedError):
        build.services.records.write(record)
        build.services.records.unpin([run_id])
    return record


def _carry_out(run: ActiveRun) -> Outcome:
    """From the first step to the last; whatever goes wrong is in the outcome."""
    with closing(run), recording_failure([run], publication=run.run_id) as trouble:
        prepare(run)
        if run.plan.steps:
            publish_all([run], publication=run.run_id)
        finish(run)
    later = max((pin.later for pin in run.context.pins.landing.values()), default=0)
    return Outcome(run.record, trouble.error, 0 if trouble.error else later)


def publish_all(runs: Sequence[ActiveRun], *, publication: str) -> None:
    """Publish what these runs have made, in one step, with their records and the files they took."""
    asked = [one for run in runs for one in publish_requests(run)]
    books = [publication_records(run) for run in runs]
    for run in runs:
        publish_view(run)
    together = PublicationRecords(
        tuple(record for book in books for record in book.runs),
        tuple(file for book in books for file in book.consumed),
        types=tuple(types for book in books for types in book.types),
    )
    for run, book in zip(runs, books, strict=True):
        write_copy(run.services.placement.files, run.run_id, book.consumed)
    leases = [run.held.require() for run in runs]
    with publishing(runs):
        _mark(runs, "tried")
        publish(runs[0].services.placement.catalog, asked, run_id=publication, leases=leases, records=together)
        _mark(runs, "done")


def _mark(runs: Sequence[ActiveRun], how_far: Literal["tried", "done"]) -> None:
    for run in runs:
        run.publishing = how_far
