"""What operations on tables need of a lake."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import (
    Catalog,
    Compute,
    ConsumedFile,
    Events,
    Leases,
    MovedFile,
    Pointer,
    Records,
    Snapshot,
    TableMetadata,
)
from lakebed.tables.history.points import find_point
from lakebed.tables.history.protection import (
    SnapshotGuard,
    protect_reads,
    protect_snapshots,
    snapshot_read,
)
from lakebed.tables.lookup.entries import find_table
from lakebed.tables.placement import TablePlacement
from lakebed.tables.publishing.lease import HeldLease, LeaseWait, hold_lease

if TYPE_CHECKING:
    from lakebed.tables.migration.services import MigrationServices


@dataclass(frozen=True)
class TableServices:
    """Ports of a lake, and what other rooms do for tables."""

    placement: TablePlacement
    leases: Leases
    records: Records
    events: Events
    holder: str  # of leases: names this process
    compute: Callable[
        [str], Compute
    ]  # a session of its own, for a new run id; the caller closes it
    # moves landing files back into their zones, and tells of each
    requeue: Callable[[Sequence[ConsumedFile], Callable[[MovedFile], object]], object]
    keys_of: Callable[
        [TableName], tuple[str, ...]
    ]  # the key columns that a table's pipeline declares
    migration: "Callable[[], MigrationServices]"  # what migrations need besides

    @property
    def catalog(self) -> Catalog:
        return self.placement.catalog

    def find(self, name: str | TableName) -> TableName:
        """The lake's table with this name, or whose name ends with it."""
        return name if isinstance(name, TableName) else find_table(name, self.catalog)

    def look_up(self, name: str | TableName) -> tuple[TableName, Pointer, TableMetadata]:
        """A table with its pointer and the metadata that it points at."""
        table = self.find(name)
        pointer = self.catalog.pointers([table]).get(table)
        if pointer is None:  # others may drop a table at any time
            raise UnknownName("table", str(table), map(str, self.catalog.pointers()))
        return table, pointer, self.catalog.metadata([pointer])[table]

    def find_point(
        self, table: TableName, metadata: TableMetadata, at: str | int | None
    ) -> Snapshot:
        """The snapshot at a point; without one, the current snapshot."""
        if at is not None:
            return find_point(table, metadata, str(at), timezone=self.placement.settings.timezone)
        head = metadata.head()
        if head is None:
            raise UsageError(f"{table} has no snapshot yet.", next="Run its pipeline first.")
        return head

    def lease(
        self, table: TableName, *, holder: str | None = None, wait: float = 0.0
    ) -> AbstractContextManager[HeldLease]:
        """The lease under which a table is changed, for the length of a block."""
        limit = self.placement.settings.lease.limit_seconds
        return hold_lease(
            self.leases, str(table), holder=holder or self.holder, limit=limit, wait=LeaseWait(wait)
        )

    def protect_points(
        self, table: TableName, metadata: TableMetadata, *points: Snapshot
    ) -> SnapshotGuard:
        """Protect points of a table that was just looked up, until the guard is released."""
        now = time.time()
        return protect_reads(
            self.catalog,
            self.events,
            [snapshot_read(table, metadata, point.id, pinned_at=now) for point in points],
        )

    @contextmanager
    def protected(
        self, name: str | TableName, *, at: str | int | None = None, seconds: float, reader: str
    ) -> Iterator[Snapshot]:
        """A snapshot that care leaves alone while the block lasts; if this process dies, for
        `seconds` more.
        """
        table, _, metadata = self.look_up(name)
        point = self.find_point(table, metadata, at)
        snapshots = {table: [point.id]}
        with protect_snapshots(
            self.catalog, self.events, snapshots, reader=reader, seconds=seconds
        ):
            yield point
