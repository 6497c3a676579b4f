"""The verbs of `lake.tables` that move a table onto other partitions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakebed.names import TableName
from lakebed.tables.arrangement import PartitionField
from lakebed.tables.services import TableServices

if TYPE_CHECKING:
    from lakebed.tables.migration.migrations import Migrations
    from lakebed.tables.migration.steps import (
        MigrationListener,
        MigrationPlan,
        MigrationResult,
        UndoneMigration,
    )


class TableMigrations:
    """A part of `Tables`, which alone inherits from it."""

    def __init__(self, services: TableServices) -> None:
        self._services = services

    def migrate(
        self,
        name: str | TableName,
        *,
        partition_by: str | Sequence[str] | None = None,
        batch_size: str | int = "1GiB",
        wait: float = 600.0,
        listener: "MigrationListener | None" = None,
    ) -> "MigrationResult":
        """Move a table onto another partitioning, batch by batch; readers see all rows throughout.

        `partition_by` is as in a pipeline's config, `["month(at)", "bucket(16, id)"]`, empty for
        none; without it, what the pipeline declares. Interrupted, the same call goes on.
        """
        from lakebed.tables.migration.plan import read_batch_size

        return self._migrations.migrate(
            name,
            _fields(partition_by),
            batch_bytes=read_batch_size(batch_size),
            wait=wait,
            listener=listener,
        )

    def plan_migration(
        self,
        name: str | TableName,
        *,
        partition_by: str | Sequence[str] | None = None,
        batch_size: str | int = "1GiB",
    ) -> "MigrationPlan":
        """What `migrate` would do; changes nothing."""
        from lakebed.tables.migration.plan import read_batch_size

        size = read_batch_size(batch_size)
        return self._migrations.plan(name, _fields(partition_by), batch_bytes=size)

    def undo_migration(self, name: str | TableName, *, wait: float = 600.0) -> "UndoneMigration":
        """Go back to the files and the partitioning from before a table's last migration, as long
        as its snapshot has not expired and nobody else has written.
        """
        return self._migrations.undo(name, wait=wait)

    @property
    def _migrations(self) -> "Migrations":
        from lakebed.tables.migration.migrations import Migrations

        return Migrations(self._services)


def _fields(given: str | Sequence[str] | None) -> "tuple[PartitionField, ...] | None":
    from lakebed.tables.migration.plan import read_partition_by

    return None if given is None else read_partition_by(given)
