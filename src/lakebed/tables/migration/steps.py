"""What a migration does, as frozen steps, and how it ended."""

from dataclasses import dataclass
from typing import ClassVar

from lakebed.names import TableName
from lakebed.tables.arrangement import ArrangementChange, PartitionField
from lakebed.tables.migration.batches import MigrationBatch
from lakebed.tables.migration.checksum import NO_ROWS, RowSum
from lakebed.tables.migration.state import TableMigration
from lakebed.work import Listener


@dataclass(frozen=True)
class ChangePartitioning:
    """From now on new files have the new partitioning; changes only metadata."""

    action: ClassVar[str] = "change partitioning"
    table: TableName
    migration: TableMigration
    change: ArrangementChange
    why: str = ""

    @property
    def subject(self) -> str:
        return str(self.table)


@dataclass(frozen=True)
class MoveBatch:
    """The rows of some files, written to files of the new partitioning in one commit."""

    action: ClassVar[str] = "move"
    table: TableName
    batch: MigrationBatch
    of: int  # how many batches there are
    why: str = ""

    @property
    def subject(self) -> str:
        return f"batch {self.batch.number} of {self.of}, {self.batch.label}"


@dataclass(frozen=True)
class CompareAll:
    """All rows, as they were before the migration and as they are now."""

    action: ClassVar[str] = "compare"
    table: TableName
    why: str = ""

    @property
    def subject(self) -> str:
        return "all rows"


MigrationStep = ChangePartitioning | MoveBatch | CompareAll


@dataclass(frozen=True)
class MovedRows:
    """How a step ended: the rows that were compared, and the files that took their place."""

    sum: RowSum = NO_ROWS
    files: int = 0
    bytes: int = 0
    skipped: str = ""  # why there was nothing to do


MigrationListener = Listener[MigrationStep, MovedRows]


@dataclass(frozen=True)
class MigrationPlan:
    """What a migration would do."""

    table: TableName
    present: tuple[str, ...]
    wanted: tuple[PartitionField, ...]
    batches: tuple[MigrationBatch, ...]
    goes_on: bool = False  # one that was interrupted

    @property
    def files(self) -> int:
        return sum(batch.files for batch in self.batches)

    @property
    def bytes(self) -> int:
        return sum(batch.bytes for batch in self.batches)

    @property
    def rows(self) -> int:
        return sum(batch.rows for batch in self.batches)


@dataclass(frozen=True)
class MigrationResult:
    """What a migration did. `compared` says how its total was verified."""

    table: TableName
    former: tuple[str, ...]
    present: tuple[str, ...]
    batches: int = 0
    files: int = 0
    bytes: int = 0
    sum: RowSum = NO_ROWS
    compared: str = ""
    snapshot: int | None = None  # an undo goes back to it


@dataclass(frozen=True)
class UndoneMigration:
    """A migration that was undone: the table is at a former snapshot, with its partitioning."""

    table: TableName
    present: tuple[str, ...]
    snapshot: int | None
    note: str = ""
