"""What a table says about its migration: where it came from, and whether it is complete. Pure."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from lakebed.ports import TableMetadata

MIGRATION = "lakebed.migration"  # property: the last migration, as JSON; summary key: its batch
FANOUT = "write.spark.fanout.enabled"


@dataclass(frozen=True)
class TableMigration:
    """A migration that was begun, as the table's property has it.

    `snapshot` and `spec` are what an undo goes back to. `fanout` is how Spark was told to write
    before.
    """

    id: str
    to: tuple[str, ...]
    from_: tuple[str, ...]
    spec: int
    snapshot: int | None
    fanout: str | None = None
    done: bool = False

    @property
    def branch(self) -> str:
        """Where batches are written before they are published."""
        return f"run_{self.id}"


def migration_property(migration: TableMigration) -> str:
    """The value of the property `MIGRATION`."""
    return json.dumps(asdict(migration), sort_keys=True)


def migration_of(metadata: TableMetadata) -> TableMigration | None:
    """The table's last migration; None if there was none, or nothing that can be understood."""
    try:
        told: dict[str, Any] = json.loads(metadata.properties.get(MIGRATION, ""))
        return TableMigration(
            str(told["id"]),
            tuple(map(str, told["to"])),
            tuple(map(str, told["from_"])),
            int(told["spec"]),
            None if told["snapshot"] is None else int(told["snapshot"]),
            told.get("fanout"),
            bool(told.get("done")),
        )
    except (ValueError, KeyError, TypeError):
        return None


def begun(metadata: TableMetadata, to: tuple[str, ...], *, id: str) -> TableMigration:
    """The migration to another partitioning that begins or goes on now.

    One that was not completed goes on, even to another partitioning: its undo leads back to where
    the first began.
    """
    former, head = migration_of(metadata), metadata.head()
    if former and not former.done:
        return replace(former, to=to)
    snapshot = head.id if head else None
    fanout = metadata.properties.get(FANOUT)
    return TableMigration(id, to, metadata.partition_by, metadata.spec, snapshot, fanout)
