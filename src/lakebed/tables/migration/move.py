"""Moving the rows of some files onto the table's present partitioning, in one commit.

The rows are written to a branch and compared there. Only then does `main` get the new files instead
of the old ones, in a commit that only rewrites: what others have added in the meantime stays.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass

from lakebed.errors import Diverged, RunFailed
from lakebed.names import TableName
from lakebed.ports import (
    MAIN,
    RUN_ID,
    AddSnapshot,
    ChangeRecords,
    Compute,
    Event,
    Pointer,
    RemoveRef,
    SetRef,
    TableMetadata,
)
from lakebed.tables.migration.batches import MigrationBatch
from lakebed.tables.migration.checksum import RowSum, read_row_sum, row_sum_query
from lakebed.tables.migration.state import MIGRATION, TableMigration
from lakebed.tables.migration.steps import MovedRows
from lakebed.tables.publishing.lease import HeldLease
from lakebed.tables.services import TableServices
from lakebed.tables.statements import at_snapshot, on_branch
from lakebed.work import retry

_ATTEMPTS = 5  # if others replace the same files meanwhile


@dataclass(frozen=True)
class Mover:
    """Moves the batches of one migration."""

    table: TableName
    migration: TableMigration
    tables: TableServices
    compute: Compute

    def move(self, batch: MigrationBatch, files: Collection[str], held: HeldLease) -> MovedRows:
        """Move what is left of these files; whoever replaced some of them wrote them anew."""
        for attempt in range(1, _ATTEMPTS + 1):
            picked = self._pick(files, held)
            if picked is None:
                return MovedRows(skipped="its files were replaced by others")
            written = self._write(picked)
            rows = self._compared(picked, written, batch, held)
            try:
                return self._publish(picked, written, batch, rows, held)
            except Diverged:
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError  # pragma: no cover - the loop returns or raises

    def _pick(self, files: Collection[str], held: HeldLease) -> int | None:
        """A snapshot of the batch's files alone, on the branch."""

        def attempt() -> int | None:
            pointer, _ = self._present()
            picked = self.tables.ports.snapshots.of_files(pointer, files)
            if picked is None:
                return None
            amendments = (picked, SetRef(self.migration.branch, picked.snapshot))
            self._amend(amendments, pointer, held)
            return picked.snapshot

        return retry(attempt, repeatable=False)

    def _write(self, picked: int) -> int:
        """Their rows in new files, which replace them on the branch."""
        rows = self.compute.query(f"SELECT * FROM {at_snapshot(self.table, picked)}")
        self.compute.overwrite(rows, on_branch(self.table, self.migration.branch))
        _, metadata = self._present()
        return metadata.refs[self.migration.branch].snapshot

    def _compared(
        self, picked: int, written: int, batch: MigrationBatch, held: HeldLease
    ) -> RowSum:
        before, after = (self.row_sum(snapshot) for snapshot in (picked, written))
        if before != after:
            pointer, _ = self._present()
            self._amend((RemoveRef(self.migration.branch),), pointer, held)
            raise refuse_difference(self.table, f"batch {batch.number}", before, after)
        return before

    def row_sum(self, snapshot: int) -> RowSum:
        """The checksum of a snapshot's rows, read from its files."""
        relation = at_snapshot(self.table, snapshot)
        fields = self.compute.fields(self.compute.query(f"SELECT * FROM {relation}"))
        (row,) = self.compute.rows(row_sum_query(relation, fields), limit=1)
        return read_row_sum(row)

    def _publish(
        self, picked: int, written: int, batch: MigrationBatch, rows: RowSum, held: HeldLease
    ) -> MovedRows:
        told = {"batch": batch.label, "rows": rows.rows, "checksum": str(rows.checksum)}
        summary = {MIGRATION: json.dumps(told), RUN_ID: self.migration.id}

        def attempt() -> MovedRows:
            pointer, _ = self._present()
            made = self.tables.ports.snapshots.replacing(
                pointer, picked=picked, by=written, summary=summary
            )
            amendments = (
                made,
                SetRef(MAIN, made.snapshot),
                RemoveRef(self.migration.branch),
            )
            detail = {"action": "migrate", "batch": batch.label}
            event = Event("compacted", self.table, made.snapshot, detail)
            self._amend(amendments, pointer, held, ChangeRecords(events=(event,)))
            return _moved(made, rows)

        return retry(attempt, repeatable=False)

    def _amend(
        self,
        amendments: tuple[AddSnapshot | SetRef | RemoveRef, ...],
        pointer: Pointer,
        held: HeldLease,
        records: ChangeRecords = ChangeRecords(),  # noqa: B008 - frozen
    ) -> None:
        self.tables.ports.catalog.amend(
            self.table, amendments, expected=pointer, leases=[held.require()], records=records
        )

    def _present(self) -> tuple[Pointer, TableMetadata]:
        _, pointer, metadata = self.tables.look_up(self.table)
        return pointer, metadata


def _moved(made: AddSnapshot, rows: RowSum) -> MovedRows:
    summary = json.loads(made.document)["summary"]
    files, size = (int(summary.get(key, 0)) for key in ("added-data-files", "added-files-size"))
    return MovedRows(rows, files, size)


def refuse_difference(table: TableName, what: str, before: RowSum, after: RowSum) -> RunFailed:
    """The error for rows that are not what they were."""
    return RunFailed(
        f"{what} of {table} had {before.rows} rows with checksum {before.checksum}; written anew it"
        f" has {after.rows} rows with checksum {after.checksum}.",
        safe="Readers see the rows as they were: nothing of it was published.",
        next=(
            f"Run the same command again; to go back: lakebed table migrate {table} --undo. Report"
            " this."
        ),
    )
