"""The one driver: lease, heal, pin, plan, prepare, publish, after, record.

It drives a run of one table, of several that are published together, and of a table that is
published batch by batch.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from lakebed.errors import LakebedError
from lakebed.names import TableName, new_run_id
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.otherwise import repetitions
from lakebed.pipelines.planning.pin_inputs import UnpublishedInput
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.begin import begin, closing
from lakebed.pipelines.running.builds.batches import run_batches
from lakebed.pipelines.running.builds.begin_batch import begin_batches
from lakebed.pipelines.running.builds.build_request import Build, hold_table
from lakebed.pipelines.running.builds.retries import Retries, publish
from lakebed.pipelines.running.builds.run_records import (
    record_begun,
    record_not_begun,
    record_skipped,
    with_set_aside,
)
from lakebed.pipelines.running.builds.walk import dependencies, walk
from lakebed.pipelines.running.failure import as_error, reason_of, recording_failure
from lakebed.pipelines.running.heal import heal
from lakebed.pipelines.running.run import finish, judge_later, prepare
from lakebed.pipelines.running.steps.gates import require_gates_passed
from lakebed.ports import RunRecord
from lakebed.tables import HeldLease

LONGEST_DELAY = 3600.0


@dataclass(frozen=True)
class Outcome:
    """How an attempt went, with the record of each table."""

    records: tuple[RunRecord, ...]
    error: LakebedError | None = None
    later: int = 0  # files that were left to further runs

    @property
    def record(self) -> RunRecord:
        """That of the only table."""
        return self.records[0]


def attempt_until(build: Build, *specs: PipelineSpec) -> Outcome:
    """Run, and run again if that may help; the error says whether it may."""
    retries, before = _retries(build, specs), list[RunRecord]()
    while True:
        outcome = _Attempt(build, specs, retries.number).run()
        before += outcome.records
        if not retries.again(outcome.error):
            break
    told = (with_set_aside(build, record, before) for record in outcome.records)
    return replace(outcome, records=tuple(told))


def _retries(build: Build, specs: Sequence[PipelineSpec]) -> Retries:
    """Rows of a manual change may be readable only once: a second attempt would find none."""
    change, config = build.options.manual_change, specs[0].config
    once = change is not None and change.readable_once
    return Retries.of(
        repetitions(specs[0], alone=len(specs) == 1, readable_once=once),
        pause=lambda number, _: build.sleep(min(config.retry_delay(number), LONGEST_DELAY)),
    )


class _Attempt:
    """One attempt at tables that are published in one step: all of them, or none."""

    def __init__(self, build: Build, specs: Sequence[PipelineSpec], number: int) -> None:
        self.build, self.number = build, number
        self.specs = {spec.table: spec for spec in specs}
        self.ids = {table: new_run_id() for table in self.specs}
        self.alone = len(self.specs) == 1
        self.publication = next(iter(self.ids.values())) if self.alone else new_run_id()
        self.stack = ExitStack()
        self.leases: dict[TableName, HeldLease] = {}
        self.begun: list[ActiveRun] = []
        self.built: dict[TableName, UnpublishedInput] = {}
        self.errors: dict[TableName, LakebedError] = {}

    def run(self) -> Outcome:
        """From the leases to the records; errors are part of the outcome, not raised."""
        with self.stack:
            if error := self._take_leases():
                return Outcome(tuple(self._not_begun(table, error) for table in self.specs), error)
            with recording_failure(self.begun, publication="") as trouble:
                records = {record.table: record for record in self._prepare_all()}
            if trouble.error:  # of a listener, say: what a run raises is among the errors
                raise trouble.error
            self._judge_later()
            runs = [run for table in self.specs for run in self.begun if run.table == table]
            views = [run for run in runs if self._reads_what_was_built(run)]
            error = self._publish([run for run in runs if run not in views], views)
            if error is None:
                for view in views:
                    _publish_view(view)
            records |= {run.table: run.progress.record for run in runs}
            later = 0 if error else max(map(_later, runs), default=0)
            return Outcome(tuple(records[table] for table in self.specs), error, later)

    # -- lease, heal, pin, plan, prepare

    def _take_leases(self) -> LakebedError | None:
        try:
            for table in sorted(self.specs):
                held = hold_table(self.build, table, self.ids[table])
                self.leases[table] = self.stack.enter_context(held)
        except Exception as raised:  # an unexpected one, too
            return as_error(raised)
        return None

    def _prepare_all(self) -> tuple[RunRecord, ...]:
        tables, options = tuple(self.specs), self.build.options
        if not options.request.together:
            return tuple(map(self._prepared, tables))

        def started(table: TableName) -> RunRecord:
            options.listener.on_start(table)
            return self._prepared(table)

        return walk(
            tables,
            dependencies(self.build.specs, tables),
            started,
            self._skipped,
            threads=options.request.threads,
            fail_fast=True,
            interrupt=self.build.interrupt,
        )

    def _prepared(self, table: TableName) -> RunRecord:
        """An error waits until all other started runs have ended: they fail together."""
        try:
            run = self._begin(self.specs[table])
        except Exception as raised:  # an unexpected one, too: only what belongs together fails
            error = self.errors[table] = as_error(raised)
            return self._not_begun(table, error)
        self.begun.append(run)
        self.stack.enter_context(closing(run))
        try:
            prepare(run)
            require_gates_passed(run)
            self._note_built(run)
        except (Exception, SystemExit) as raised:
            self.errors[table] = reason_of([run], raised)
            return replace(run.progress.record, state="failed")
        return run.progress.record

    def _judge_later(self) -> None:
        """Ask the gates that read tables of this build that were written after theirs."""
        for run in self.begun:
            if self.errors or not (run.spec.later_gates and run.plan.publish):
                continue
            try:
                judge_later(run, self.built)
            except (Exception, SystemExit) as raised:
                self.errors[run.table] = reason_of([run], raised)

    def _begin(self, spec: PipelineSpec) -> ActiveRun:
        build, held = self.build, self.leases[spec.table]
        heal(spec.table, build.services, lease=held.require())
        record = record_begun(build, spec, run_id=self.ids[spec.table], attempt=self.number)
        if spec.kind == "source" or build.options.request.is_backfill:
            return begin_batches(build, spec, held, record)
        return begin(build, spec, held, record, built=self.built, alone=self.alone)

    def _note_built(self, run: ActiveRun) -> None:
        """Its dependants read what is not published yet."""
        if self.alone or not run.plan.publish or run.spec.is_view or run.progress.skip_write:
            return
        head = run.head()
        self.built[run.table] = UnpublishedInput(
            run.physical_table, head.id if head else None, run.progress.aliases
        )

    def _reads_what_was_built(self, run: ActiveRun) -> bool:
        """Whether it is a view that the catalog accepts only once the tables of this build are
        published.
        """
        return (
            run.spec.is_view
            and bool(run.plan.publish)
            and not self.built.keys().isdisjoint(run.context.pins.inputs)
        )

    # -- publish, after, record

    def _publish(
        self, runs: Sequence[ActiveRun], views: Sequence[ActiveRun]
    ) -> LakebedError | None:
        """Publish these runs in one step. Returns the error if that failed; the views over them
        then fail with it.
        """
        with recording_failure(views, publication="", own=self.errors) as trouble:
            with recording_failure(runs, publication=self.publication, own=self.errors) as first:
                if self.errors:
                    raise next(iter(self.errors.values()))
                if changing := [run for run in runs if run.plan.publish]:
                    publish(changing, publication=self.publication)
                for run in runs:
                    self._finish(run)
            if first.error:
                raise first.error
        return trouble.error

    def _finish(self, run: ActiveRun) -> None:
        if look := run.context.pins.look:
            run_batches(self.build, run, look)
        else:
            finish(run)

    # -- records of what did not begin

    def _not_begun(self, table: TableName, error: LakebedError) -> RunRecord:
        run_id = self.ids[table]
        return record_not_begun(
            self.build, self.specs[table], error, run_id=run_id, attempt=self.number
        )

    def _skipped(self, table: TableName, because: TableName) -> RunRecord:
        return record_skipped(self.build, table, f"{because} failed")


def _later(run: ActiveRun) -> int:
    """How many files are left for further runs of the pipeline."""
    return max((pin.later for pin in run.context.pins.landing.values()), default=0)


def _publish_view(run: ActiveRun) -> None:
    with recording_failure([run], publication=run.run_id):
        publish([run], publication=run.run_id)
        finish(run)
