"""The fakes: a catalog and leases that live in this process and keep the same promises."""

import itertools
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from lakebed.errors import LeaseHeld, LeaseLost, PointerMoved
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
    RemoveRef,
    RemoveSnapshots,
    SetProperties,
    SetRef,
    SetSchema,
    Snapshot,
    SnapshotRef,
    TableMetadata,
    ViewMetadata,
)


@dataclass
class _Row:
    holder: str | None
    token: int
    limit: float
    heartbeat: float


class MemoryLeases:
    """Leases in a dictionary."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._lock = threading.Lock()

    def acquire(self, name: str, *, holder: str, limit: float) -> Lease:
        with self._lock:
            row, now = self._rows.get(name), time.monotonic()
            if row and row.holder is not None and row.heartbeat + row.limit >= now:
                raise LeaseHeld(name, row.holder, now - row.heartbeat, row.limit)
            token = row.token + 1 if row else 1
            self._rows[name] = _Row(holder, token, limit, now)
            return Lease(name, holder, token)

    def renew(self, lease: Lease) -> None:
        with self._lock:
            self.fence(lease)
            self._rows[lease.name].heartbeat = time.monotonic()

    def release(self, lease: Lease) -> None:
        with self._lock:
            row = self._rows.get(lease.name)
            if row and row.token == lease.token:
                row.holder = None

    def holder(self, name: str) -> Lease | None:
        row = self._rows.get(name)
        if row is None or row.holder is None or row.heartbeat + row.limit < time.monotonic():
            return None
        return Lease(name, row.holder, row.token)

    def fence(self, lease: Lease) -> None:
        row = self._rows.get(lease.name)
        if row is None or row.token != lease.token or row.holder is None:
            raise LeaseLost(lease.name, (row.holder or "") if row else "")


@dataclass
class MemoryCatalog:
    """Tables in dictionaries. `write` stands in for an engine that appends rows."""

    leases: MemoryLeases
    where: str = "memory"
    atomic: bool = True
    owns_files: bool = False
    others: tuple[ForeignTable, ...] = ()  # what somebody else made, outside our three parts
    _pointers: dict[TableName, Pointer] = field(default_factory=dict)
    _metadata: dict[str, TableMetadata] = field(default_factory=dict)
    _rows: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _published: dict[str, Publication] = field(default_factory=dict)
    _dropped: dict[str, DroppedTable] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def pointers(
        self, tables: Collection[TableName] | None = None, *, named: Collection[str] | None = None
    ) -> dict[TableName, Pointer]:
        with self._lock:
            wanted = sorted(self._pointers) if tables is None else [table for table in tables if table in self._pointers]
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
        return tuple(one for one in self.others if named is None or (one.name and tables_named([one.name], named)))

    def create_namespace(self, namespace: str, layer: str) -> None:
        """Tables need no place here."""

    def create(self, table: TableName) -> None:
        """An empty table without a snapshot."""
        now = datetime.now(UTC)
        columns = (Column("id", "long", required=False),)
        self._point(table, TableMetadata(str(table), f"memory/{table}", 2, now, columns, (), (), {}, {}, {}))

    def write(self, table: TableName, rows: Sequence[int], *, branch: str = MAIN) -> int:
        """Append rows to a branch, which comes from `main` if there is none yet; returns the snapshot."""
        with self._lock:
            present = self._metadata[self._pointers[table].location]
            parent = present.refs.get(branch) or present.refs.get(MAIN)
            number = next(self._numbers)
            snapshot = Snapshot(number, parent.snapshot if parent else None, datetime.now(UTC), "append", {})
            self._rows[number] = (*self._rows.get(snapshot.parent or 0, ()), *rows)
            refs = {**present.refs, branch: SnapshotRef(branch, number, "branch")}
            self._point(table, replace(present, snapshots={**present.snapshots, number: snapshot}, refs=refs))
            return number

    def rows(self, table: TableName, ref: str = MAIN) -> list[int]:
        """What a reader of the ref sees."""
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
        with self._lock:
            for lease in leases:
                self.leases.fence(lease)
            for move in publication.moves:
                if self._pointers.get(move.table) != expected[move.table] or move.becomes in self._pointers:
                    raise PointerMoved(str(move.table))
            for move in publication.moves:
                self._move(move)
            self._published[publication.run_id] = publication

    def _move(self, move: RefMove) -> None:
        present = self._metadata[self._pointers[move.table].location]
        refs = {name: ref for name, ref in present.refs.items() if name != move.branch}
        refs[move.ref] = SnapshotRef(move.ref, move.to, "branch")
        by_name = {column.name: column for column in present.columns}
        names = dict(move.renames)
        kept = [column.name for column in present.columns] if move.columns is None else move.columns
        columns = tuple(replace(by_name[name], name=names.get(name, name)) for name in kept)
        del self._pointers[move.table]
        self._point(move.published, replace(present, refs=refs, columns=columns))

    def amend(
        self,
        table: TableName,
        amendments: Sequence[Amendment],
        *,
        expected: Pointer | None = None,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        with self._lock:
            for lease in leases:
                self.leases.fence(lease)
            pointer = self._pointers.get(table)
            if expected and pointer != expected:
                raise PointerMoved(str(table))
            if pointer:
                self._point(table, reduce(_amended, amendments, self._metadata[pointer.location]))

    def rename(
        self, table: TableName, to: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        with self._lock:
            if table not in self._pointers or to in self._pointers:
                raise PointerMoved(str(to))
            self._pointers[to] = Pointer(to, self._pointers.pop(table).location)

    def drop(
        self, table: TableName, *, leases: Sequence[Lease] = (), records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> DroppedTable | None:
        with self._lock:
            pointer = self._pointers.pop(table, None)
            if pointer is None:
                return None
            gone = DroppedTable(self._metadata[pointer.location].uuid, table, pointer.location, datetime.now(UTC))
            self._dropped[gone.uuid] = gone
            return gone

    def dropped(self) -> tuple[DroppedTable, ...]:
        return tuple(sorted(self._dropped.values(), key=lambda gone: gone.at, reverse=True))

    def restore(self, dropped: DroppedTable, to: TableName, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        with self._lock:
            if dropped.uuid not in self._dropped:
                raise PointerMoved(str(dropped.table))
            self.register(to, dropped.location)
            del self._dropped[dropped.uuid]

    def delete_dropped(self, dropped: DroppedTable) -> None:
        self._dropped.pop(dropped.uuid, None)

    def register(self, table: TableName, location: str, *, records: ChangeRecords = NO_CHANGE_RECORDS) -> None:
        with self._lock:
            if table in self._pointers:
                raise PointerMoved(str(table))
            self._pointers[table] = Pointer(table, location)

    def clone(
        self, pointer: Pointer, to: TableName, *, snapshot: int, location: str | None, records: ChangeRecords = NO_CHANGE_RECORDS
    ) -> None:
        with self._lock:
            if to in self._pointers:
                raise PointerMoved(str(to))
            source = self._metadata[pointer.location]
            alone = {snapshot: replace(source.snapshots[snapshot], parent=None)}
            refs = {MAIN: SnapshotRef(MAIN, snapshot, "branch")}
            self._point(to, replace(source, uuid=str(to), snapshots=alone, refs=refs))

    def purge(self, table: TableName) -> None:
        with self._lock:
            self._pointers.pop(table, None)

    def newest_value(self, table: TableName, *, snapshot: int, column: str) -> Any:
        return max(self._rows[snapshot], default=None)

    def _point(self, table: TableName, metadata: TableMetadata) -> None:
        location = f"memory/{table}/{next(self._numbers)}"
        self._metadata[location] = metadata
        self._pointers[table] = Pointer(table, location)

    def published(self, run_id: str) -> Publication | None:
        return self._published.get(run_id)

    def unsettled(self, *, own: str | None = None) -> tuple[Publication, ...]:
        return ()

    def settle(self, publication: Publication, *, complete: Sequence[RefMove], undo: Sequence[RefMove], whole: bool) -> None:
        """Nothing to do: a publication here is never divided."""


def _amended(present: TableMetadata, amendment: Amendment) -> TableMetadata:
    match amendment:
        case SetRef(name, snapshot, kind):
            return replace(present, refs={**present.refs, name: SnapshotRef(name, snapshot, kind)})
        case RemoveRef(name):
            return replace(present, refs={key: ref for key, ref in present.refs.items() if key != name})
        case SetSchema(schema):
            return replace(present, schema=schema)
        case RemoveSnapshots(gone):
            return replace(present, snapshots={key: one for key, one in present.snapshots.items() if key not in gone})
        case SetProperties(properties):
            merged = {**present.properties, **properties}
            return replace(present, properties={key: value for key, value in merged.items() if value is not None})
