"""Several tables published together or not at all: dependants read what their upstreams have just built."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from lakebed.errors import Diverged, LakebedError, PointerMoved
from lakebed.names import TableName, new_run_id
from lakebed.pipelines.planning.pin import UnpublishedInput
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.begin import begin, closing
from lakebed.pipelines.running.build import REBUILDS, Build, depends, held_table, not_begun, publish_all, skipped, with_set_aside
from lakebed.pipelines.running.failure import failing
from lakebed.pipelines.running.run import finish, prepare
from lakebed.pipelines.running.steps.gates import refuse_blocked
from lakebed.pipelines.running.walk import walk
from lakebed.ports import RunRecord, SetAside
from lakebed.tables import HeldLease


def run_together(build: Build, tables: Sequence[TableName]) -> tuple[RunRecord, ...]:
    """Run these pipelines and publish all of them in one step; a failure anywhere publishes nothing."""
    aside: dict[TableName, tuple[SetAside, ...]] = dict.fromkeys(tables, ())
    for _ in range(REBUILDS):
        records, error = _attempt(build, tables)
        aside |= {record.table: (*aside[record.table], *record.set_aside) for record in records}
        if not isinstance(error, Diverged | PointerMoved):
            break
    records = tuple(with_set_aside(build, record, aside[record.table]) for record in records)
    for record in records:
        build.on_end(record)
    return records


def _attempt(build: Build, tables: Sequence[TableName]) -> tuple[tuple[RunRecord, ...], LakebedError | None]:
    publication = new_run_id()
    ids = {table: new_run_id() for table in tables}
    with ExitStack() as stack:
        try:
            leases = {table: stack.enter_context(held_table(build, table, ids[table])) for table in sorted(tables)}
        except LakebedError as error:
            records = [not_begun(build, build.specs[table], error, run_id=ids[table], attempt=1) for table in tables]
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
        self.build, self.tables, self.ids, self.leases, self.stack = build, tables, ids, leases, stack
        self.works: dict[TableName, ActiveRun] = {}
        self.built: dict[TableName, UnpublishedInput] = {}
        self.errors: dict[TableName, LakebedError] = {}

    def run(self, publication: str) -> tuple[tuple[RunRecord, ...], LakebedError | None]:
        """Prepare all, then publish all."""
        order = depends(self.build.specs, self.tables)
        stop = self.build.order.stop
        records = walk(
            self.tables, order, self._prepared, self._skipped, threads=self.build.threads, fail_fast=True, interrupt=stop.set
        )
        works = [self.works[table] for table in self.tables if table in self.works]
        views = [work for work in works if self._reads_what_was_built(work)]
        error = self._published([work for work in works if work not in views], views, publication)
        if error is None:
            for view in views:
                _publish_view(view)
        by_table = {record.table: record for record in records} | {work.table: work.record for work in works}
        return tuple(by_table[table] for table in self.tables), error

    def _reads_what_was_built(self, work: ActiveRun) -> bool:
        """Whether it is a view that the catalog can take only once the tables of this build are published."""
        return work.spec.is_view and bool(work.plan.steps) and not self.built.keys().isdisjoint(work.setting.pins.inputs)

    def _published(self, works: Sequence[ActiveRun], views: Sequence[ActiveRun], publication: str) -> LakebedError | None:
        """Publish these runs in one step; the error, if that failed and the views over them with it."""
        with failing(views, publication="", own=self.errors) as trouble:
            with failing(works, publication=publication, own=self.errors) as first:
                if self.errors:
                    raise next(iter(self.errors.values()))
                if changing := [work for work in works if work.plan.steps]:
                    publish_all(changing, publication=publication)
                for work in works:
                    finish(work)
            if first.error:
                raise first.error
        return trouble.error

    def _prepared(self, table: TableName) -> RunRecord:
        build, spec = self.build, self.build.specs[table]
        build.on_start(table)
        try:
            work = begin(
                spec,
                build.specs,
                build.tools,
                build.order,
                held=self.leases[table],
                run_id=self.ids[table],
                attempt=1,
                built=self.built,
            )
        except LakebedError as error:
            self.errors[table] = error
            return not_begun(build, spec, error, run_id=self.ids[table], attempt=1)
        self.works[table] = work
        self.stack.enter_context(closing(work))
        return self._built(work)

    def _built(self, work: ActiveRun) -> RunRecord:
        """Errors wait until all others that were begun have ended: they fail together."""
        with failing([], publication="") as trouble:
            prepare(work)
            refuse_blocked(work)
            if work.plan.steps and not work.spec.is_view and not work.skip_write:
                head = work.head()
                self.built[work.table] = UnpublishedInput(work.written, head.id if head else None, work.shown)
        if trouble.error:
            self.errors[work.table] = trouble.error
            return replace(work.record, state="failed")
        return work.record

    def _skipped(self, table: TableName, because: TableName) -> RunRecord:
        return skipped(self.build, table, f"{because} failed")


def _publish_view(work: ActiveRun) -> None:
    with failing([work], publication=work.run_id):
        publish_all([work], publication=work.run_id)
        finish(work)
