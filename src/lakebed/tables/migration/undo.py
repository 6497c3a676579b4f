"""Going back to the files and the partitioning from before a migration. Pure."""

from collections.abc import Sequence

from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.ports import (
    MAIN,
    Amendment,
    RemoveRef,
    SetProperties,
    SetRef,
    SetSpec,
    Snapshot,
    TableMetadata,
)
from lakebed.tables.arrangement import arrangement_of
from lakebed.tables.migration.state import FANOUT, MIGRATION, TableMigration, migration_of


def plan_undo(table: TableName, metadata: TableMetadata) -> tuple[TableMigration, list[Amendment]]:
    """The migration that is undone, and the one commit that does it. No row may be lost: others may
    have written since.
    """
    migration = migration_of(metadata)
    if migration is None:
        raise UsageError(f"{table} has no migration to undo.")
    back = f"lakebed table migrate {table} {_option(migration.from_)}"
    if migration.snapshot is not None and migration.snapshot not in metadata.snapshots:
        raise UsageError(
            f"snapshot {migration.snapshot}, from before the migration of {table}, has expired.",
            next=f"Move the rows back instead: {back}",
        )
    _require_columns(table, metadata, migration)
    if others := others_since(metadata, migration.snapshot):
        raise UsageError(
            f"{table} was written to since its migration began ({len(others)} commits, the last is"
            f" snapshot {others[0].id}); an undo would take these rows away.",
            next=f"Move all rows back instead, and keep them: {back}",
        )
    refs: list[Amendment] = [RemoveRef(migration.branch)]
    if migration.snapshot is not None:
        refs.append(SetRef(MAIN, migration.snapshot))
    cleared = SetProperties({MIGRATION: None, FANOUT: migration.fanout})
    return migration, [*refs, SetSpec(migration.spec), cleared]


def _option(fields: Sequence[str]) -> str:
    return f"--partition-by '{', '.join(fields)}'" if fields else "--unpartitioned"


def _require_columns(table: TableName, metadata: TableMetadata, migration: TableMigration) -> None:
    names = {column.name.casefold() for column in metadata.columns}
    former = arrangement_of(migration.from_, ()).columns
    if gone := [column for column in former if column.casefold() not in names]:
        raise UsageError(
            f"{table} was partitioned by {', '.join(gone)}, and has no such column any more."
        )


def others_since(metadata: TableMetadata, snapshot: int | None) -> tuple[Snapshot, ...]:
    """The commits since a snapshot that changed rows, newest first: not those of migrations and
    compactions, which only rewrite files.
    """
    head = metadata.head()
    found: list[Snapshot] = []
    for one in metadata.ancestry(head.id if head else None):
        if one.id == snapshot:
            return tuple(found)
        if one.operation != "replace":
            found.append(one)
    # not an ancestor any more: somebody rolled the table back
    return tuple(found) or ((head,) if head else ())
