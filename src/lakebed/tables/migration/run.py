"""One migration while it runs: each step under the table's lease, so that runs get their turn
between batches.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import assert_never

from lakebed.errors import UsageError
from lakebed.names import TableName, new_run_id
from lakebed.ports import (
    Amendment,
    Compute,
    Event,
    RemoveRef,
    SetProperties,
    SetSpec,
    TableMetadata,
)
from lakebed.tables.arrangement import PartitionField, arrangement_statements
from lakebed.tables.migration.batches import PlannedBatches
from lakebed.tables.migration.compare_all import compare_all
from lakebed.tables.migration.move import Mover
from lakebed.tables.migration.plan import partition_change, settled_specs
from lakebed.tables.migration.state import (
    FANOUT,
    MIGRATION,
    TableMigration,
    begun,
    migration_property,
)
from lakebed.tables.migration.steps import (
    ChangePartitioning,
    CompareAll,
    MigrationListener,
    MigrationResult,
    MigrationStep,
    MoveBatch,
    MovedRows,
)
from lakebed.tables.operations.changing import changing
from lakebed.tables.publishing.lease import HeldLease
from lakebed.tables.services import TableServices
from lakebed.work import Ended, Executor, retry


@dataclass
class MigrationRun:
    """Carries out the steps of one migration, and adds up what they did."""

    tables: TableServices
    table: TableName
    wanted: tuple[PartitionField, ...]
    wait: float
    listener: MigrationListener
    _compute: Compute | None = field(default=None, init=False)
    _migration: TableMigration | None = field(default=None, init=False)
    _planned: PlannedBatches | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        present = self._metadata().partition_by
        self.result = MigrationResult(self.table, present, tuple(map(str, self.wanted)))

    @contextmanager
    def session(self) -> Iterator[None]:
        """Spark is started when it is first needed, and its session ended with the block."""
        try:
            yield
        finally:
            if self._compute:
                self._compute.close()

    # -- steps

    def change_partitioning(self) -> None:
        """Let new files have the new partitioning."""
        metadata = self._metadata()
        self._migration = begun(metadata, tuple(map(str, self.wanted)), id=new_run_id())
        change = partition_change(metadata, self.wanted)
        self._executor.execute(ChangePartitioning(self.table, self._migration, change))

    def move(self, planned: PlannedBatches) -> None:
        """Move all batches, one after the other."""
        self._planned = planned
        for batch in planned.batches:
            self._executor.execute(MoveBatch(self.table, batch, len(planned.batches)))

    def finish(self) -> MigrationResult:
        """Compare all rows with those from before, and say that the migration is complete."""
        migration = self._begun
        compared = self._executor.execute(CompareAll(self.table)) or MovedRows()
        told = (
            f"not compared as a whole: {compared.skipped}"
            if compared.skipped
            else f"all {compared.sum.rows} rows are the same as before"
        )
        done = migration_property(replace(migration, done=True))
        properties = SetProperties({MIGRATION: done, FANOUT: migration.fanout})
        with changing(self.tables, self.table, wait=self.wait) as held:
            self._amend(held, properties, RemoveRef(migration.branch))
        self.result = replace(self.result, compared=told, snapshot=migration.snapshot)
        return self.result

    @property
    def _executor(self) -> Executor[MigrationStep, MovedRows, MovedRows]:
        return Executor(self._perform, _record, listener=self.listener)

    def _perform(self, step: MigrationStep) -> MovedRows:
        with self.tables.ports.sessions.watch(self.listener.on_progress):
            match step:
                case ChangePartitioning():
                    with changing(self.tables, self.table, wait=self.wait) as held:
                        return self._change(step, held)
                case MoveBatch():
                    with changing(self.tables, self.table, wait=self.wait) as held:
                        return self._move(step, held)
                case CompareAll():
                    return compare_all(self._mover)
                case _:
                    assert_never(step)

    def _change(self, step: ChangePartitioning, held: HeldLease) -> MovedRows:
        """The property first: an undo knows then where to go back to, whatever happens."""
        text, before = migration_property(step.migration), self._metadata()
        self._amend(held, SetProperties({MIGRATION: text, FANOUT: "false"}))
        try:
            for statement in arrangement_statements(self.table, step.change, properties={}):
                held.require()
                self._spark.execute(statement)
        except Exception:
            former = {name: before.properties.get(name) for name in (MIGRATION, FANOUT)}
            self._amend(held, SetSpec(before.spec), SetProperties(former))
            raise
        detail = {"statement": f"partition by {', '.join(step.migration.to)}"}
        self.tables.ports.events.append(Event("altered", self.table, detail=detail))
        return MovedRows()

    def _move(self, step: MoveBatch, held: HeldLease) -> MovedRows:
        metadata = self._metadata()
        if metadata.spec not in settled_specs(metadata, self.wanted):
            raise UsageError(
                f"the partitioning of {self.table} was changed while its rows were moved.",
                safe="All rows are there; those that were moved stay so.",
                next="Run the command again once the pipeline's config.yaml agrees.",
            )
        assert self._planned is not None  # noqa: S101 - batches come from it
        moved = self._mover.move(step.batch, self._planned.files(step.batch), held)
        if not moved.skipped:
            done = self.result
            self.result = replace(
                done,
                batches=done.batches + 1,
                files=done.files + step.batch.files,
                bytes=done.bytes + step.batch.bytes,
                sum=done.sum + moved.sum,
            )
        return moved

    # -- parts

    @property
    def _begun(self) -> TableMigration:
        assert self._migration is not None  # noqa: S101 - set by the first step
        return self._migration

    @property
    def _mover(self) -> Mover:
        return Mover(self.table, self._begun, self.tables, self._spark)

    @property
    def _spark(self) -> Compute:
        if self._compute is None:
            self._compute = self.tables.ports.sessions.open(self._begun.id)
        return self._compute

    def _amend(self, held: HeldLease, *amendments: Amendment) -> None:
        def attempt() -> None:
            _, pointer, _ = self.tables.look_up(self.table)
            self.tables.ports.catalog.amend(
                self.table, amendments, expected=pointer, leases=[held.require()]
            )

        retry(attempt, repeatable=False)

    def _metadata(self) -> TableMetadata:
        return self.tables.look_up(self.table)[2]


def _record(_: MigrationStep, ended: Ended[MovedRows]) -> MovedRows:
    return ended.result or MovedRows()
