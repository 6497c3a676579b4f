"""A run in progress: its options, its inputs and its services. None of these change; what does is
in `RunProgress`.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any

from lakebed.errors import TableDropped
from lakebed.landing import ZoneRows
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.hidden_tables import hidden_table, staged_table
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.running.progress import RunProgress, ZonePattern
from lakebed.pipelines.services import RunServices
from lakebed.ports import MAIN, Compute, RunRecord, Snapshot, TableMetadata
from lakebed.tables import HeldLease, at_snapshot, on_branch, projection, time_literal


@dataclass(frozen=True)
class ActiveRun:
    """The frozen context of a run, and its progress."""

    services: RunServices
    options: RunOptions
    context: TemplateContext
    plan: RunPlan
    held: HeldLease
    progress: RunProgress
    timestamp: datetime  # the one time that the run writes; in a replay, that of the earlier run
    log: logging.Logger
    open_compute: Callable[[], Compute]
    resources: ExitStack  # closed when the run, or a batch of its replay, has ended

    @property
    def spec(self) -> PipelineSpec:
        return self.context.spec

    @property
    def table(self) -> TableName:
        return self.context.spec.table

    @property
    def run_id(self) -> str:
        return self.progress.record.run_id

    @property
    def is_first_run(self) -> bool:
        return self.context.target.absent

    @property
    def physical_table(self) -> TableName:
        """The table that is written: the hidden one in a first run."""
        return hidden_table(self.table, self.run_id) if self.is_first_run else self.table

    @property
    def branch(self) -> str:
        return MAIN if self.is_first_run else self.context.pins.branch

    @property
    def write_target(self) -> str:
        """What is written, as Spark names it; columns have their present names."""
        if self.progress.skip_write:
            return at_snapshot(self.table, self.context.target.base(self.options.ref))
        return (
            self.physical_table.spark if self.is_first_run else on_branch(self.table, self.branch)
        )

    @property
    def gate_target(self) -> str:
        """What gates read: the same, with columns named as they will be once published."""
        if self.progress.skip_write:
            return self.context.this or self.write_target
        return projection(self.write_target, self.progress.aliases)

    @property
    def stage(self) -> TableName:
        return staged_table(self.table, self.run_id)

    @property
    def timestamp_literal(self) -> str:
        """The run's timestamp, as a literal."""
        return time_literal(self.timestamp)

    @property
    def read(self) -> Mapping[ZonePattern, ZoneRows]:
        """The files that the pipeline sees."""
        return self.progress.batch or self.progress.landed

    @property
    def compute(self) -> Compute:
        """The run's own session, opened when it is first needed."""
        return self.open_compute()

    @property
    def base(self) -> int | None:
        """The snapshot that the run's rows are added to, or change."""
        return self.progress.rebased_on or self.context.target.base(self.options.ref)

    def metadata(self, table: TableName) -> TableMetadata:
        """A table as the catalog has it now; `TableDropped` if it has none."""
        catalog = self.services.ports.catalog
        pointer = catalog.pointers([table]).get(table)
        if pointer is None:
            raise TableDropped(str(table))
        return catalog.metadata([pointer])[table]

    def head(self) -> Snapshot | None:
        """The newest snapshot of the branch."""
        return self.metadata(self.physical_table).head(self.branch)

    @property
    def made(self) -> Snapshot | None:
        """The snapshot that the run has written; None while it has written none."""
        head = self.head()
        return head if head and head.id != self.base else None

    @property
    def vars(self) -> Mapping[str, Any]:
        return self.options.request.vars


def open_run(
    services: RunServices,
    options: RunOptions,
    context: TemplateContext,
    plan: RunPlan,
    held: HeldLease,
    record: RunRecord,
    *,
    timestamp: datetime,
    log: logging.Logger,
) -> ActiveRun:
    """A run before its first step; its session opens when a step needs it."""
    resources = ExitStack()
    session = _Session(lambda: services.ports.sessions.open(record.run_id), resources)
    progress = RunProgress(record, record, files_checked=plan.files_checked)
    return ActiveRun(
        services, options, context, plan, held, progress, timestamp, log, session.open, resources
    )


class _Session:
    """Opened once, even if gates that run in parallel are the first to ask for it."""

    def __init__(self, connect: Callable[[], Compute], resources: ExitStack) -> None:
        self._connect, self._resources, self._lock = connect, resources, Lock()
        self._compute: Compute | None = None

    def open(self) -> Compute:
        with self._lock:
            if self._compute is None:
                self._compute = self._connect()
                self._resources.callback(self._compute.close)
            return self._compute
