"""Several tables published together or not at all: dependants read what their upstreams have just
built.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from lakebed.errors import LakebedError
from lakebed.names import TableName, new_run_id
from lakebed.pipelines.planning.pin_inputs import UnpublishedInput
from lakebed.pipelines.planning.plan import REBUILDS
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.begin import begin, closing
from lakebed.pipelines.running.builds.build import dependencies
from lakebed.pipelines.running.builds.build_request import Build, hold_table
from lakebed.pipelines.running.builds.run_records import (
    record_not_begun,
    record_skipped,
    with_set_aside,
)
from lakebed.pipelines.running.builds.walk import walk
from lakebed.pipelines.running.failure import as_error, recording_failure
from lakebed.pipelines.running.run import finish, prepare, publish_runs
from lakebed.pipelines.running.steps.gates import require_gates_passed
from lakebed.ports import QuarantinedFile, RunRecord
from lakebed.tables import HeldLease


def run_together(build: Build, tables: Sequence[TableName]) -> tuple[RunRecord, ...]:
    """Run these pipelines and publish all of them in one step; a failure anywhere publishes
    nothing.
    """
    aside: dict[TableName, tuple[QuarantinedFile, ...]] = dict.fromkeys(tables, ())
    for _ in range(REBUILDS):
        records, error = _attempt(build, tables)
        aside |= {record.table: (*aside[record.table], *record.set_aside) for record in records}
        if not (error and error.overtaken):
            break
    records = tuple(with_set_aside(build, record, aside[record.table]) for record in records)
    for record in records:
        build.options.listener.on_end(record)
    return records


def _attempt(
    build: Build, tables: Sequence[TableName]
) -> tuple[tuple[RunRecord, ...], LakebedError | None]:
    publication = new_run_id()
    ids = {table: new_run_id() for table in tables}
    with ExitStack() as stack:
        try:
            leases = {
                table: stack.enter_context(hold_table(build, table, ids[table]))
                for table in sorted(tables)
            }
        except Exception as raised:
            error = as_error(raised)
            records = [
                record_not_begun(build, build.specs[table], error, run_id=ids[table], attempt=1)
                for table in tables
            ]
            return tuple(records), error
        return _Together(build, tables, ids, leases, stack).run(publication)


class _Together:
    def __init__(
        self,
        build: Build,
        tables: Sequence[TableName],
        ids: dict[TableName, str],
        leases: dict[TableName, HeldLease],
        stack: ExitStack,
    ) -> None:
        self.build, self.tables, self.ids, self.leases, self.stack = (
            build,
            tables,
            ids,
            leases,
            stack,
        )
        self.runs: dict[TableName, ActiveRun] = {}
        self.built: dict[TableName, UnpublishedInput] = {}
        self.errors: dict[TableName, LakebedError] = {}

    def run(self, publication: str) -> tuple[tuple[RunRecord, ...], LakebedError | None]:
        """Prepare all, then publish all."""
        order = dependencies(self.build.specs, self.tables)
        threads = self.build.options.threads
        records = walk(
            self.tables,
            order,
            self._prepared,
            self._skipped,
            threads=threads,
            fail_fast=True,
            interrupt=self.build.interrupt,
        )
        runs = [self.runs[table] for table in self.tables if table in self.runs]
        views = [run for run in runs if self._reads_what_was_built(run)]
        error = self._published([run for run in runs if run not in views], views, publication)
        if error is None:
            for view in views:
                _publish_view(view)
        by_table = {record.table: record for record in records} | {
            run.table: run.progress.record for run in runs
        }
        return tuple(by_table[table] for table in self.tables), error

    def _reads_what_was_built(self, run: ActiveRun) -> bool:
        """Whether it is a view that the catalog accepts only once the tables of this build are
        published.
        """
        return (
            run.spec.is_view
            and bool(run.plan.publish)
            and not self.built.keys().isdisjoint(run.context.pins.inputs)
        )

    def _published(
        self, runs: Sequence[ActiveRun], views: Sequence[ActiveRun], publication: str
    ) -> LakebedError | None:
        """Publish these runs in one step. Returns the error if that failed; the views over them
        then fail with it.
        """
        with recording_failure(views, publication="", own=self.errors) as trouble:
            with recording_failure(runs, publication=publication, own=self.errors) as first:
                if self.errors:
                    raise next(iter(self.errors.values()))
                if changing := [run for run in runs if run.plan.publish]:
                    publish_runs(changing, publication=publication)
                for run in runs:
                    finish(run)
            if first.error:
                raise first.error
        return trouble.error

    def _prepared(self, table: TableName) -> RunRecord:
        build, spec = self.build, self.build.specs[table]
        build.options.listener.on_start(table)
        try:
            run = begin(
                build, spec, held=self.leases[table], run_id=self.ids[table], built=self.built
            )
        except Exception as raised:  # an unexpected one, too: no table is published
            error = self.errors[table] = as_error(raised)
            return record_not_begun(build, spec, error, run_id=self.ids[table], attempt=1)
        self.runs[table] = run
        self.stack.enter_context(closing(run))
        return self._built(run)

    def _built(self, run: ActiveRun) -> RunRecord:
        """An error waits until all other started runs have ended: they fail together."""
        with recording_failure([], publication="") as trouble:
            prepare(run)
            require_gates_passed(run)
            if run.plan.publish and not run.spec.is_view and not run.progress.skip_write:
                head = run.head()
                self.built[run.table] = UnpublishedInput(
                    run.physical_table, head.id if head else None, run.progress.aliases
                )
        if trouble.error:
            self.errors[run.table] = trouble.error
            return replace(run.progress.record, state="failed")
        return run.progress.record

    def _skipped(self, table: TableName, because: TableName) -> RunRecord:
        return record_skipped(self.build, table, f"{because} failed")


def _publish_view(run: ActiveRun) -> None:
    with recording_failure([run], publication=run.run_id):
        publish_runs([run], publication=run.run_id)
        finish(run)
