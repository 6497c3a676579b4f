"""Runs of several pipelines, in the order of the graph; each is published as soon as its gates
pass.
"""

from collections.abc import Sequence
from functools import partial

from lakebed.names import TableName
from lakebed.pipelines.running.builds.attempts import attempt_until
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.builds.run_records import record_skipped
from lakebed.pipelines.running.builds.walk import dependencies, walk
from lakebed.ports import RunRecord


def run_each(build: Build, tables: Sequence[TableName]) -> tuple[RunRecord, ...]:
    """Run these pipelines; those that read a failed one are skipped."""
    return walk(
        tables,
        dependencies(build.specs, tables),
        partial(run_one, build),
        partial(_skip, build),
        threads=build.options.request.threads,
        fail_fast=build.options.request.fail_fast,
        interrupt=build.interrupt,
    )


def run_one(build: Build, table: TableName) -> RunRecord:
    """Run a pipeline, once for each file if it takes one file per run; returns the record of the
    last run.
    """
    build.options.listener.on_start(table)
    spec, before = build.specs[table], None
    outcome = attempt_until(build, spec)
    while (
        outcome.later
        and (before is None or outcome.later < before)
        and not build.options.stop.is_set()
    ):
        before = outcome.later
        outcome = attempt_until(build, spec)
    build.options.listener.on_end(outcome.record)
    return outcome.record


def run_together(build: Build, tables: Sequence[TableName]) -> tuple[RunRecord, ...]:
    """Run these pipelines and publish all of them in one step; a failure anywhere publishes
    nothing.
    """
    records = attempt_until(build, *(build.specs[table] for table in tables)).records
    for record in records:
        build.options.listener.on_end(record)
    return records


def _skip(build: Build, table: TableName, failed: TableName) -> RunRecord:
    record = record_skipped(build, table, f"{failed} failed")
    build.options.listener.on_end(record)
    return record
