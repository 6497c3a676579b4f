"""Records of runs, the ledger and pins in memory."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from threading import RLock

from lakebed.landing.checking.type_conflicts import require_type
from lakebed.names import TableName, ZoneName
from lakebed.ports import (
    ColumnTypeChange,
    ConsumedFile,
    Descent,
    DroppedTable,
    Event,
    FileStateChange,
    InputPin,
    MovedFile,
    PublicationRecords,
    RunRecord,
    RunState,
    RunSummary,
    ZoneTypes,
)
from lakebed.testing.events import MemoryEvents

_TICK = 1e-6  # publications that are stored in the same instant still have an order
_OPEN = {True: {"running", "failed", "skipped"}, False: {"running"}}  # success: what it may follow
_TypeKey = tuple[ZoneName, str, str]  # zone, file pattern, column name without its case


class MemoryRecords:
    """What runs did, in dictionaries. A `MemoryCatalog` adds what its commits record."""

    def __init__(self, events: MemoryEvents | None = None) -> None:
        self._events, self._lock = events or MemoryEvents(), RLock()
        self._runs: dict[str, RunRecord] = {}
        self._ledger: list[ConsumedFile] = []
        self._descents: dict[tuple[str, int], Descent] = {}
        self._types: dict[_TypeKey, tuple[str, str]] = {}  # the column's name and type
        self._pins: dict[str, tuple[InputPin, ...]] = {}
        self._last_publication = 0.0

    def write(self, record: RunRecord) -> None:
        known = self._runs.get(record.run_id)
        if known is None or known.state != "success" or record.state == "success":
            self._runs[record.run_id] = record

    def close(self, record: RunRecord, *events: Event) -> bool:
        with self._lock:
            known = self._runs.get(record.run_id)
            if known is None or known.state not in _OPEN[record.state == "success"]:
                return False
            self._runs[record.run_id] = record
            self._events.append(*events)
            return True

    def run(self, run_id: str) -> RunRecord | None:
        return self._runs.get(run_id)

    def runs(
        self,
        *,
        table: TableName | None = None,
        invocation: str | None = None,
        state: RunState | None = None,
        limit: int = 50,
    ) -> tuple[RunRecord, ...]:
        named = (record for record in self._newest_first() if table in (None, record.table))
        asked = (record for record in named if invocation in (None, record.invocation))
        return tuple(record for record in asked if state in (None, record.state))[:limit]

    def summaries(self) -> tuple[RunSummary, ...]:
        return tuple(
            RunSummary(one.run_id, one.table, one.state, one.started_at)
            for one in self._newest_first()
        )

    def last_digests(self) -> dict[TableName, str]:
        oldest_first = reversed(self._newest_first())
        return {
            record.table: record.release for record in oldest_first if record.state == "success"
        }

    def _newest_first(self) -> list[RunRecord]:
        return sorted(
            self._runs.values(), key=lambda record: (record.started_at, record.run_id), reverse=True
        )

    def consumed(
        self, zone: ZoneName, *, table: TableName | None = None
    ) -> tuple[ConsumedFile, ...]:
        counting: dict[tuple[TableName, str, str], ConsumedFile] = {}
        for file in self._in_order():
            if file.zone != zone or file.state == "waiting" or table not in (None, file.table):
                continue
            known = counting.get((file.table, file.path, file.etag))
            if known is None or known.state != "taken" or file.state == "taken":
                counting[file.table, file.path, file.etag] = file
        return tuple(counting.values())

    def ledger(self, table: TableName) -> tuple[ConsumedFile, ...]:
        return tuple(file for file in self._in_order() if file.table == table)

    def descents(self, uuid: str) -> tuple[Descent, ...]:
        return tuple(
            descent for (owner, _), descent in sorted(self._descents.items()) if owner == uuid
        )

    def _in_order(self) -> list[ConsumedFile]:
        return sorted(self._ledger, key=lambda file: (file.taken_at, file.path))

    def record_moves(self, moves: Iterable[MovedFile]) -> None:
        for moved in moves:
            self._ledger = [_moved(file, moved) for file in self._ledger]

    def zone_types(self, zone: ZoneName) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for (known, pattern, _), (column, type_) in self._types.items():
            if known == zone:
                found.setdefault(pattern, {})[column] = type_
        return found

    def appends_replaced(self, zone: ZoneName) -> bool:
        return False  # no fake is that old

    def delete_runs(self, run_ids: Collection[str]) -> int:
        ended = [
            run_id
            for run_id in run_ids
            if run_id in self._runs and self._runs[run_id].state != "running"
        ]
        for run_id in ended:
            del self._runs[run_id]
        return len(ended)

    def pin(self, run_id: str, pins: Sequence[InputPin]) -> None:
        self._pins[run_id] = tuple(pins)

    def unpin(self, run_ids: Collection[str]) -> None:
        for run_id in run_ids:
            self._pins.pop(run_id, None)

    def pinned(self) -> dict[TableName, frozenset[int]]:
        found: dict[TableName, frozenset[int]] = {}
        for run_id, pins in self._pins.items():
            run = self._runs.get(run_id)
            for pin in pins if run and run.state == "running" else ():
                if pin.snapshot is not None:
                    found[pin.table] = found.get(pin.table, frozenset()) | {pin.snapshot}
        return found

    def add_publication(self, records: PublicationRecords) -> datetime:
        """Store what a publication records, all of it or, where a column's type was changed
        meanwhile, nothing. Returns when that was.
        """
        types = self._types.copy()
        for learned in records.types:
            _learn(types, learned)
        self._types = types
        for record in records.runs:
            goes_on = record.state == "running"
            self.write(record if goes_on else replace(record, state="success"))
        self._last_publication = at = max(time.time(), self._last_publication + _TICK)
        keys = {(file.table, file.path, file.etag, file.run_id) for file in records.consumed}
        kept = [
            file
            for file in self._ledger
            if (file.table, file.path, file.etag, file.run_id) not in keys
        ]
        self._ledger = [*kept, *(replace(file, taken_at=at) for file in records.consumed)]
        return datetime.fromtimestamp(at, UTC)

    def set_file_state(self, change: FileStateChange) -> None:
        """Give files of a table another state."""
        self._ledger = [
            replace(file, state=change.state)
            if file.table == change.table and (file.path, file.run_id) in change.files
            else file
            for file in self._ledger
        ]

    def add_descents(self, descents: Iterable[Descent]) -> None:
        """Store what snapshots were made from."""
        for descent in descents:
            self._descents[descent.uuid, descent.snapshot] = descent

    def rename_table(self, table: TableName, to: TableName) -> None:
        """Files consumed by a table, and pins of it, belong to its new name."""
        self._ledger = [
            replace(file, table=to) if file.table == table else file for file in self._ledger
        ]
        for run_id, pins in self._pins.items():
            self._pins[run_id] = tuple(
                replace(pin, table=to) if pin.table == table else pin for pin in pins
            )

    def delete_from_ledger(self, dropped: DroppedTable) -> None:
        """Remove every file of a dropped table that is purged, and the descent of its snapshots."""
        self._ledger = [file for file in self._ledger if file.table != dropped.hidden_name]
        self._descents = {
            key: descent for key, descent in self._descents.items() if key[0] != dropped.uuid
        }


def _moved(file: ConsumedFile, moved: MovedFile) -> ConsumedFile:
    if (file.path, file.etag) != (moved.path, moved.etag):
        return file
    if moved.new_path != moved.path:
        return replace(file, archived=moved.new_path, archived_etag=moved.new_etag)
    return replace(file, etag=moved.new_etag, archived="", archived_etag="")


def _learn(types: dict[_TypeKey, tuple[str, str]], learned: ZoneTypes) -> None:
    for change in learned.columns:
        key = (learned.zone, learned.pattern, change.column.casefold())
        if _applies(change, types.get(key)):
            types[key] = (change.column, change.type)
        _, stored = types.get(key, ("", ""))
        require_type(learned.zone, change, stored=stored)


def _applies(change: ColumnTypeChange, known: tuple[str, str] | None) -> bool:
    return known is None if not change.before else known is not None and known[1] == change.before
