"""Fixes of faults by which rows were lost, each to be taken out again: Lakebed then does what it did
before. The numbers are the points of issue 26.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from lakebed.care.backup import restore
from lakebed.care.fsck import FsckServices, newer
from lakebed.care.fsck.rebuilding import find_metadata_files
from lakebed.names import run_time
from lakebed.ports import ConsumedFile, PointerRows, TableMetadata
from lakebed.tables import MovedTables
from lakebed.tables.history.rollback import _Move
from lakebed.tables.ledger.descent import Descents
from lakebed.tables.ownership import Ownership


@dataclass(frozen=True)
class Fix:
    """What Lakebed does now, and how to make it not do so."""

    name: str
    take_out: Callable[[pytest.MonkeyPatch], None]

    def __str__(self) -> str:
        return self.name


def _record_no_expiry(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("lakebed.care.removal.expiry.recorded_by_commit", _unrecorded)


def _record_no_rollback(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("lakebed.tables.history.rolling_back.recorded_by_commit", _unrecorded)


@contextmanager
def _unrecorded(*_: object) -> Iterator[tuple[()]]:
    yield ()


class _MoveByTimes(_Move):
    """Places runs whose snapshots have expired by when they began."""

    def __init__(self, descents: Descents, base: int | None, to: int) -> None:
        super().__init__(descents, base, to)
        metadata = descents._metadata
        self._to = metadata.snapshots[to]
        self._kept = {snapshot.run_id for snapshot in metadata.ancestry(to)}
        self._known = {snapshot.run_id for snapshot in metadata.snapshots.values()}

    def contains(self, file: ConsumedFile) -> bool:
        if file.run_id in self._known:
            return file.run_id in self._kept
        return run_time(file.run_id) <= self._to.at

    def is_unknown(self, file: ConsumedFile) -> bool:
        return False


def _place_runs_by_times(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("lakebed.tables.history.rollback._Move", _MoveByTimes)


def _trust_pointers(patch: pytest.MonkeyPatch) -> None:
    """Only where a catalog points tells whether a table is in its lake."""
    for module in ("tables.moved_lake", "care.fsck.rebuilding", "care.fsck.run", "care.relocation"):
        patch.setattr(f"lakebed.{module}.former_root", lambda *_: "")
    for condition in ("_is_below", "_reaches_below"):
        patch.setattr(f"lakebed.care.relocation.{condition}", lambda *_: False)
    patch.setattr(MovedTables, "counterpart", lambda *_: None)
    for module in ("removal.orphans", "survey"):
        patch.setattr(f"lakebed.care.{module}.lost_catalog_reason", lambda *_: "")


def _follow_pointers_of_the_backup(patch: pytest.MonkeyPatch) -> None:
    def look(fsck: FsckServices, pointer_rows: PointerRows, former_root: str) -> restore._Restored:
        files, _ = find_metadata_files(fsck)
        return restore._Restored(
            newer(fsck.ports.catalog.pointers().values(), files, fsck.ports.root)
        )

    patch.setattr(restore, "_look_for_newer", look)


def _accept_any_database(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ownership, "require", lambda *_: None)
    patch.setattr(Ownership, "_refuse_first", lambda *_: None)
    patch.setattr(Ownership, "claim_new", lambda self: self.open())


def _trust_clocks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("lakebed.tables.publishing.lease.require_clock", lambda *_: None)
    patch.setattr(TableMetadata, "is_ahead", lambda *_: False)
    for module in ("snapshot_log", "staging"):
        patch.setattr(f"lakebed.engines.iceberg.metadata.{module}.is_ahead", lambda *_, **__: False)


EXPIRY_IS_RECORDED = Fix("1: expiry writes down what snapshots proved", _record_no_expiry)
ROLLBACKS_ARE_RECORDED = Fix("1: rollbacks write down what becomes of files", _record_no_rollback)
DESCENT_IS_RECORDED = Fix("2: what was undone is recorded, not told by times", _place_runs_by_times)
METADATA_COUNTS = Fix("3: where metadata says a table is counts", _trust_pointers)
RESTORE_FOLLOWS = Fix("4: a restore elsewhere follows commits", _follow_pointers_of_the_backup)
LAKES_HAVE_OWNERS = Fix("5: a lake belongs to one database", _accept_any_database)
CLOCKS_ARE_COMPARED = Fix("6: a clock that is ahead blocks no table", _trust_clocks)
