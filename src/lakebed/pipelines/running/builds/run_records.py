"""Records of runs that did not start, and of several attempts at one run."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from lakebed.errors import LakebedError
from lakebed.names import TableName, new_run_id
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.ports import RunRecord


def record_begun(build: Build, spec: PipelineSpec, *, run_id: str, attempt: int) -> RunRecord:
    """The record of a run that begins now."""
    record = RunRecord(
        run_id,
        build.options.invocation,
        spec.table,
        "running",
        build.services.ports.now(),
        attempt,
        strategy="backfill" if build.options.request.is_backfill else spec.strategy_name,
        release=spec.digest,
        version=spec.version,
        ref=build.options.ref,
        asked_at=build.options.started_at,
    )
    build.services.ports.records.write(record)
    return record


def record_skipped(build: Build, table: TableName, why: str) -> RunRecord:
    """The record of a run that was not started."""
    now, spec = build.services.ports.now(), build.specs[table]
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
        build.services.ports.records.write(record)
    return record


def record_not_begun(
    build: Build, spec: PipelineSpec, error: LakebedError, *, run_id: str, attempt: int
) -> RunRecord:
    """The record of a run that could not start: its table was in use, its files were wrong, the
    database did not answer, or Lakebed itself failed.
    """
    now = build.services.ports.now()
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
    records = build.services.ports.records
    with suppress(LakebedError):
        if build.options.stop.is_set() and records.run(run_id) is None:
            return record  # a run interrupted while it waits for its table leaves nothing behind
        records.write(record)
        records.unpin([run_id])
    return record


def with_set_aside(build: Build, record: RunRecord, attempts: Iterable[RunRecord]) -> RunRecord:
    """The last attempt's record, which is the one shown, with the files that all attempts set
    aside.
    """
    own = (attempt for attempt in attempts if attempt.table == record.table)
    aside = tuple(file for attempt in own for file in attempt.set_aside)
    if record.set_aside == aside:
        return record
    told_all = replace(record, set_aside=aside)
    with suppress(LakebedError):
        build.services.ports.records.write(told_all)
    return told_all
