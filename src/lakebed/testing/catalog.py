"""A catalog in memory."""

import itertools
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any
from uuid import uuid4

from lakebed.errors import PointerMoved, TableDropped
from lakebed.names import TableName, tables_named
from lakebed.ports import (
    MAIN,
    NO_CHANGE_RECORDS,
    NO_PUBLICATION_RECORDS,
    Amendment,
    ChangeRecords,
    Column,
    DroppedTable,
    ForeignTable,
    Lease,
    Pointer,
    Publication,
    PublicationRecords,
    RefMove,
    Snapshot,
    SnapshotRef,
    TableMetadata,
    UnsettledChange,
    ViewMetadata,
)
from lakebed.testing.events import MemoryEvents
from lakebed.testing.leases import MemoryLeases
from lakebed.testing.records import MemoryRecords
from lakebed.testing.table_metadata import amended, cloned, moved


@dataclass
class MemoryCatalog:
    """Tables in dictionaries. `write` stands in for an engine that appends rows."""

    leases: MemoryLeases = field(default_factory=MemoryLeases)
    events: MemoryEvents = field(default_factory=MemoryEvents)
    records: MemoryRecords = field(init=False)
    where: str = "memory"
    atomic: bool = True
    owns_files: bool = False
    others: tuple[ForeignTable, ...] = ()  # tables whose names are not in three parts
    _pointers: dict[TableName, Pointer] = field(default_factory=dict)
    _metadata: dict[str, TableMetadata] = field(default_factory=dict)
    _rows: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _published: dict[str, tuple[Publication, datetime]] = field(default_factory=dict)
    _dropped: dict[str, DroppedTable] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.records = MemoryRecords(self.events)

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        with self._lock:
            wanted = (
                sorted(self._pointers)
                if tables is None
                else [table for table in tables if table in self._pointers]
            )
            return {table: self._pointers[table] for table in tables_named(wanted, named)}

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        return {pointer.table: self._metadata[pointer.location] for pointer in pointers}

    def views(self) -> dict[TableName, str]:
        return {}

    def view(self, view: TableName) -> ViewMetadata | None:
        return None

    def drop_view(self, view: TableName) -> bool:
        return False

    def foreign(self, *, named: Collection[str] | None = None) -> tuple[ForeignTable, ...]:
        return tuple(
            one
            for one in self.others
            if named is None or (one.name and tables_named([one.name], named))
        )

    def create_namespace(self, namespace: str, layer: str) -> None:
        """Nothing to do: tables need no namespace here."""

    def create(self, table: TableName) -> None:
        """Create an empty table without a snapshot."""
        now = datetime.now(UTC)
        columns = (Column("id", "long", required=False),)
        uuid = str(uuid4())
        self._point(
            table, TableMetadata(uuid, f"memory/{table}", 2, now, columns, (), (), {}, {}, {})
        )

    def write(self, table: TableName, rows: Sequence[int], *, branch: str = MAIN) -> int:
        """Append rows to a branch, which starts at `main` if it is new; returns the snapshot."""
        with self._lock:
            present = self._metadata[self._pointers[table].location]
            parent = present.refs.get(branch) or present.refs.get(MAIN)
            number = next(self._numbers)
            snapshot = Snapshot(
                number, parent.snapshot if parent else None, datetime.now(UTC), "append", {}
            )
            self._rows[number] = (*self._rows.get(snapshot.parent or 0, ()), *rows)
            refs = {**present.refs, branch: SnapshotRef(branch, number, "branch")}
            self._point(
                table,
                replace(present, snapshots={**present.snapshots, number: snapshot}, refs=refs),
            )
            return number

    def rows(self, table: TableName, ref: str = MAIN) -> list[int]:
        """The rows that a reader of the ref sees."""
        head = self._metadata[self._pointers[table].location].head(ref)
        return sorted(self._rows[head.id]) if head else []

    def commit(
        self,
        publication: Publication,
        *,
        expected: Mapping[TableName, Pointer],
        leases: Sequence[Lease] = (),
        records: PublicationRecords = NO_PUBLICATION_RECORDS,
    ) -> None:
        with self._locked(leases):
            for move in publication.moves:
                if (
                    self._pointers.get(move.table) != expected[move.table]
                    or move.becomes in self._pointers
                ):
                    raise PointerMoved(str(move.table))
            at = self.records.add_publication(records)
            for move in publication.moves:
                present = self._metadata[self._pointers.pop(move.table).location]
                self._point(move.published, moved(present, move))
                self._rename_in_state(move.table, move.published)
            self.events.append(*publication.events)
            self._published[publication.run_id] = publication, at

    def amend(
        self,
        table: TableName,
        amendments: Sequence[Amendment],
        *,
        expected: Pointer | None = None,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        with self._locked(leases):
            pointer = self._pointers.get(table)
            if expected and pointer != expected:
                raise PointerMoved(str(table))
            if pointer:
                self._point(table, reduce(amended, amendments, self._metadata[pointer.location]))
                self._store(records)

    def rename(
        self,
        table: TableName,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        with self._locked(leases):
            if table not in self._pointers or to in self._pointers:
                raise PointerMoved(str(to))
            self._pointers[to] = Pointer(to, self._pointers.pop(table).location)
            self._rename_in_state(table, to)
            self._store(records)

    def drop(
        self,
        table: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> DroppedTable | None:
        with self._locked(leases):
            pointer = self._pointers.pop(table, None)
            if pointer is None:
                return None
            gone = DroppedTable(
                self._metadata[pointer.location].uuid, table, pointer.location, datetime.now(UTC)
            )
            self._dropped[gone.uuid] = gone
            self._rename_in_state(table, gone.hidden_name)
            self._store(records)
            return gone

    def dropped(self) -> tuple[DroppedTable, ...]:
        return tuple(sorted(self._dropped.values(), key=lambda gone: gone.at, reverse=True))

    def restore(
        self,
        dropped: DroppedTable,
        to: TableName,
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        with self._locked(leases):
            if dropped.uuid not in self._dropped:
                raise PointerMoved(str(dropped.table))
            self.register(to, dropped.location, records=records)
            self._rename_in_state(dropped.hidden_name, to)
            del self._dropped[dropped.uuid]

    def delete_dropped(self, dropped: DroppedTable) -> None:
        with self._locked():
            self._dropped.pop(dropped.uuid, None)
            self.records.delete_from_ledger(dropped)

    def register(
        self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        with self._locked():
            if table in self._pointers:
                raise PointerMoved(str(table))
            self._pointers[table] = Pointer(table, location)
            self._store(records)

    def clone(
        self,
        pointer: Pointer,
        to: TableName,
        *,
        snapshot: int,
        location: str | None,
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        with self._locked():
            if to in self._pointers:
                raise PointerMoved(str(to))
            self._point(
                to, replace(cloned(self._metadata[pointer.location], snapshot), uuid=str(uuid4()))
            )
            self._store(records)

    @contextmanager
    def _locked(self, leases: Sequence[Lease] = ()) -> Iterator[None]:
        """One change at a time, by the holders of the leases."""
        with self._lock:
            for lease in leases:
                self.leases.fence(lease)
            yield

    def _rename_in_state(self, table: TableName, to: TableName) -> None:
        self.records.rename_table(table, to)
        self.events.rename_table(table, to)

    def _store(self, records: ChangeRecords) -> None:
        for change in records.file_states:
            self.records.set_file_state(change)
        self.records.add_descents(records.descents)
        self.events.append(*records.events)

    def purge(self, table: TableName) -> None:
        with self._lock:
            self._pointers.pop(table, None)

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        if table not in self._pointers:
            raise TableDropped(str(table))
        return max(self._rows[snapshot], default=None)

    def _point(self, table: TableName, metadata: TableMetadata) -> None:
        location = f"memory/{table}/{next(self._numbers)}"
        self._metadata[location] = metadata
        self._pointers[table] = Pointer(table, location)

    def published(self, run_id: str) -> Publication | None:
        publication, _ = self._published.get(run_id, (None, None))
        return publication

    def oldest_publication(self) -> datetime | None:
        return min((at for _, at in self._published.values()), default=None)

    def delete_publications(self, *, before: datetime) -> int:
        with self._lock:
            old = [run_id for run_id, (_, at) in self._published.items() if at < before]
            for run_id in old:
                del self._published[run_id]
        return len(old)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return ()

    def unsettled_changes(self) -> tuple[UnsettledChange, ...]:
        return ()

    def settle_changes(self) -> None:
        """Nothing to do: a change here is never divided from its records."""

    def settle(
        self,
        publication: Publication,
        *,
        complete: Sequence[RefMove],
        undo: Sequence[RefMove],
        whole: bool,
    ) -> None:
        """Nothing to do: a publication here is never divided."""
