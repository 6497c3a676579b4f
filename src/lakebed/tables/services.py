"""What operations on tables need of a lake."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import (
    ConsumedFile,
    LakePorts,
    MovedFile,
    Pointer,
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
    from lakebed.tables.migration.plan import DeclaredPartitions


class RequeueFiles(Protocol):
    """Moves landing files that were archived back into their zones, and tells of each move."""

    def __call__(
        self, files: Sequence[ConsumedFile], on_move: Callable[[MovedFile], object]
    ) -> None: ...


class TableDeclarations(Protocol):
    """What pipelines declare about their tables."""

    def keys_of(self, table: TableName) -> tuple[str, ...]:
        """The columns by which a table's pipeline identifies rows; none without a pipeline that can
        be read.
        """
        ...

    def partitions_of(self, table: TableName) -> "tuple[DeclaredPartitions, ...]":
        """How a table's draft declares its partitioning, then its newest release if that differs
        from the draft; nothing for those that leave it to the table.
        """
        ...


@dataclass(frozen=True)
class TableServices:
    """The ports of a lake, and what other rooms do for tables."""

    ports: LakePorts
    requeue: RequeueFiles
    declarations: TableDeclarations

    @property
    def placement(self) -> TablePlacement:
        """Where new tables are placed."""
        return TablePlacement(self.ports)

    def find(self, name: str | TableName) -> TableName:
        """The lake's table with this name, or whose name ends with it."""
        return name if isinstance(name, TableName) else find_table(name, self.ports.catalog)

    def look_up(self, name: str | TableName) -> tuple[TableName, Pointer, TableMetadata]:
        """A table with its pointer and the metadata that it points at."""
        table = self.find(name)
        pointer = self.ports.catalog.pointers([table]).get(table)
        if pointer is None:  # others may drop a table at any time
            raise UnknownName("table", str(table), map(str, self.ports.catalog.pointers()))
        return table, pointer, self.ports.catalog.metadata([pointer])[table]

    def find_point(
        self, table: TableName, metadata: TableMetadata, at: str | int | None
    ) -> Snapshot:
        """The snapshot at a point; without one, the current snapshot."""
        if at is not None:
            return find_point(table, metadata, str(at), timezone=self.ports.settings.timezone)
        head = metadata.head()
        if head is None:
            raise UsageError(f"{table} has no snapshot yet.", next="Run its pipeline first.")
        return head

    def lease(
        self, table: TableName, *, holder: str | None = None, wait: float = 0.0
    ) -> AbstractContextManager[HeldLease]:
        """The lease under which a table is changed, for the length of a block."""
        ports, patience = self.ports, LeaseWait(wait)
        limit = ports.settings.lease.limit_seconds
        holder = holder or ports.holder
        return hold_lease(ports.leases, str(table), holder=holder, limit=limit, wait=patience)

    def protect_points(
        self, table: TableName, metadata: TableMetadata, *points: Snapshot
    ) -> SnapshotGuard:
        """Protect points of a table that was just looked up, until the guard is released."""
        now = time.time()
        return protect_reads(
            self.ports.catalog,
            self.ports.events,
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
            self.ports.catalog, self.ports.events, snapshots, reader=reader, seconds=seconds
        ):
            yield point
