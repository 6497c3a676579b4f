"""Migrations of tables: planned, carried out batch by batch, gone on with, and undone."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lakebed.batches.sidecars import known_batches
from lakebed.names import TableName
from lakebed.ports import (
    CareEntry,
    ChangeRecords,
    Event,
    TableMetadata,
)
from lakebed.tables.arrangement import PartitionField
from lakebed.tables.migration.batches import PlannedBatches, plan_batches
from lakebed.tables.migration.plan import partition_change, settled_specs, wanted_partitions
from lakebed.tables.migration.run import MigrationRun
from lakebed.tables.migration.state import migration_of
from lakebed.tables.migration.steps import (
    MigrationListener,
    MigrationPlan,
    MigrationResult,
    UndoneMigration,
)
from lakebed.tables.migration.undo import plan_undo
from lakebed.tables.operations.changing import changing
from lakebed.tables.services import TableServices
from lakebed.work import retry

BATCH_BYTES = 1024**3
_PATIENCE = 600.0  # seconds to wait for a run between two batches


@dataclass(frozen=True)
class Migrations:
    """The migrations of a lake's tables."""

    tables: TableServices

    def plan(
        self,
        name: str | TableName,
        partition_by: Sequence[PartitionField] | None,
        *,
        batch_bytes: int = BATCH_BYTES,
    ) -> MigrationPlan:
        """What `migrate` would do. Changes nothing, starts no JVM."""
        table, _, metadata = self.tables.look_up(name)
        wanted = self._wanted(table, metadata, partition_by)
        with self._batches(table, wanted, batch_bytes) as planned:
            former = migration_of(metadata)
            return MigrationPlan(
                table,
                metadata.partition_by,
                wanted,
                planned.batches,
                goes_on=bool(former and not former.done),
            )

    def migrate(
        self,
        name: str | TableName,
        partition_by: Sequence[PartitionField] | None,
        *,
        batch_bytes: int = BATCH_BYTES,
        wait: float = _PATIENCE,
        listener: MigrationListener | None = None,
    ) -> MigrationResult:
        """Move all rows; what an interrupted migration has moved stays moved."""
        table, _, metadata = self.tables.look_up(name)
        wanted = self._wanted(table, metadata, partition_by)
        began, at = time.monotonic(), datetime.now(UTC)
        run = MigrationRun(self.tables, table, wanted, wait, listener or MigrationListener())
        if self._is_done(table, metadata, wanted):
            return run.result
        try:
            with run.session():
                run.change_partitioning()
                with self._batches(table, wanted, batch_bytes) as planned:
                    run.move(planned)
                result = run.finish()
        except Exception as error:
            self._log(run.result, "failed", at, began, message=str(error))
            raise
        self._log(result, "done", at, began, message=_told(result))
        return result

    def _is_done(
        self, table: TableName, metadata: TableMetadata, wanted: Sequence[PartitionField]
    ) -> bool:
        """Whether all files have this partitioning, and no migration is to be gone on with."""
        former = migration_of(metadata)
        if partition_change(metadata, wanted) or (former and not former.done):
            return False
        with self._batches(table, wanted, BATCH_BYTES) as planned:
            return not planned.batches

    def undo(self, name: str | TableName, *, wait: float = _PATIENCE) -> UndoneMigration:
        """Go back to the files and the partitioning from before the last migration, in one
        commit.
        """
        table = self.tables.find(name)
        began, at = time.monotonic(), datetime.now(UTC)

        def attempt() -> UndoneMigration:
            _, pointer, metadata = self.tables.look_up(table)
            migration, amendments = plan_undo(table, metadata)
            head = metadata.head()
            detail = {"from": str(head.id if head else None), "ref": "main"}
            event = Event("rolled_back", table, migration.snapshot, detail)
            self.tables.ports.catalog.amend(
                table,
                amendments,
                expected=pointer,
                leases=[held.require()],
                records=ChangeRecords(events=(event,)),
            )
            return UndoneMigration(table, migration.from_, migration.snapshot)

        with changing(self.tables, table, wait=wait) as held:
            undone = retry(attempt, repeatable=False)
        back = MigrationResult(table, (), undone.present)
        self._log(back, "done", at, began, message=f"undone: {_listed(undone.present)} again")
        return replace(undone, note=self._disagreement(table, undone.present))

    def _disagreement(self, table: TableName, present: Sequence[str]) -> str:
        """What to edit so that the next run does not change the partitioning again."""
        for one in self.tables.declarations.partitions_of(table):
            if sorted(map(str, one.partition_by)) != sorted(present):
                return (
                    f"{one.where} declares partition_by: [{', '.join(map(str, one.partition_by))}]:"
                    f" the next run would write new files so. Write [{', '.join(present)}] there."
                )
        return ""

    def _wanted(
        self,
        table: TableName,
        metadata: TableMetadata,
        partition_by: Sequence[PartitionField] | None,
    ) -> tuple[PartitionField, ...]:
        declared = self.tables.declarations.partitions_of(table)
        batches = known_batches(self.tables.ports.files, metadata)
        return wanted_partitions(table, metadata, partition_by, declared, batches)

    @contextmanager
    def _batches(
        self, table: TableName, wanted: Sequence[PartitionField], batch_bytes: int
    ) -> Iterator[PlannedBatches]:
        """The batches of the files that the table has now, and that are partitioned otherwise."""
        _, pointer, metadata = self.tables.look_up(table)
        head = metadata.head()
        files = self.tables.ports.reach.files(pointer, snapshots=[head.id]) if head else ()
        with plan_batches(
            files,
            settled=settled_specs(metadata, wanted),
            specs=metadata.specs,
            limit=batch_bytes,
        ) as planned:
            yield planned

    def _log(
        self, result: MigrationResult, state: str, at: datetime, began: float, *, message: str
    ) -> None:
        counts = {"batches": result.batches, "files": result.files, "rows": result.sum.rows}
        self.tables.ports.care_log.write(
            CareEntry(
                "migrate",
                str(result.table),
                "done" if state == "done" else "failed",
                at,
                {name: count for name, count in counts.items() if count},
                result.bytes,
                round(time.monotonic() - began, 3),
                message,
            )
        )


def _told(result: MigrationResult) -> str:
    return (
        f"from {_listed(result.former)} to {_listed(result.present)}; {result.compared};"
        f" checksum {result.sum.checksum}"
    )


def _listed(fields: Sequence[str]) -> str:
    return ", ".join(fields) or "no partitions"
