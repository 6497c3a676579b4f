"""Restoring a backup, and following commits that tables have had since."""

import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lakebed.care.backup.backup import FORMAT, MANIFEST
from lakebed.care.backup.services import BackupServices, backup_place
from lakebed.care.fsck import FsckServices, Newer, newer
from lakebed.care.fsck.ledger import LedgerReport, restore_ledger
from lakebed.care.fsck.rebuilding import find_metadata_files
from lakebed.care.relocation import relocate
from lakebed.errors import FileMissing, UsageError
from lakebed.ports import (
    ChangeRecords,
    DatabaseArchive,
    Event,
    Pointer,
    PointerChange,
    PointerRows,
)
from lakebed.settings import Root


@dataclass(frozen=True)
class RestoreReport:
    """How a restore ended. `newer` tables have commits that the backup does not have; `repointed`:
    they now point at those.
    """

    made_at: str
    root: str
    tables: int
    newer: Mapping[str, str]
    repointed: bool
    unknown: Sequence[str]  # metadata folders of tables that the backup does not have
    moved: bool  # the lake was at another root then
    ledger: LedgerReport  # of landing files taken since


def restore_backup(
    services: BackupServices, source: str, *, force: bool = False, newest: bool = False
) -> RestoreReport:
    """Replace the lake's catalog and state with a backup's. Refused if the database is not empty,
    unless `force`.
    """
    database, fsck = services.relocation.database, services.relocation.fsck
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "backup.zip"
        file.write_bytes(_fetch(services, source))
        manifest = _manifest(file, source)
        _require_replaceable(database, force=force)
        with zipfile.ZipFile(file) as archive:
            database.read(archive, version=manifest["schema"])
    tables = _Restored()
    if fsck.pointer_rows:
        tables = _look_for_newer(fsck, fsck.pointer_rows, manifest["root"])
    ledger = _follow(fsck, tables) if newest else LedgerReport()
    if newest and tables.moved:
        # last: if a table is damaged and stops it, the ledger is complete all the same, and
        # nothing writes or removes anything before `lakebed relocate --from` has succeeded
        relocate(services.relocation, origin=manifest["root"], may_find_none=True)
    return RestoreReport(
        manifest["made_at"],
        manifest["root"],
        len(manifest["tables"]),
        {str(one.pointer.table): one.file.location for one in tables.newer},
        newest,
        tables.unknown,
        moved=manifest["root"] != str(fsck.ports.root),
        ledger=ledger,
    )


def _fetch(services: BackupServices, source: str) -> bytes:
    if not source.startswith("s3://") and Path(source).is_dir():
        raise UsageError("a backup is a file, and this is a folder.", where=source)
    place = backup_place(source, now=datetime.now(UTC))
    try:
        return services.open_place(place.store).read(place.path)
    except FileMissing:
        raise UsageError("there is no such backup.", where=source) from None


def _manifest(file: Path, source: str) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(file) as archive:
            if archive.testzip():
                raise ValueError("a part of it is damaged")
            manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
        if manifest["format"] > FORMAT:
            upgrade = "Upgrade: pip install -U lakebed"
            raise UsageError("this backup was made by a newer Lakebed.", where=source, next=upgrade)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UsageError(f"this is not a complete backup: {error}.", where=source) from None
    return manifest


def _require_replaceable(database: DatabaseArchive, *, force: bool) -> None:
    if held := database.held_leases():
        what = (
            f"{', '.join(held[:3])} is being worked on: a restore would replace what that work"
            " relies on."
        )
        raise UsageError(what, where=database.where, next="Wait until it has ended, or stop it.")
    present = database.row_counts()
    if present and not force:
        shown = ", ".join(f"{rows:,} of {name}" for name, rows in present.items())
        what = f"the database is not empty: it holds rows that a restore would replace ({shown})."
        raise UsageError(what, where=database.where, next="Back it up first, then use --force.")


@dataclass(frozen=True)
class _Restored:
    """The tables of a backup that was just restored, compared with the metadata files that are
    here.
    """

    newer: tuple[Newer, ...] = ()
    unknown: tuple[str, ...] = ()  # metadata folders that the backup does not have
    moved: bool = False  # some rows point below the former root
    # the metadata files of those that are in this lake, by their former addresses
    here: Mapping[str, str] = field(default_factory=dict)


def _look_for_newer(fsck: FsckServices, pointer_rows: PointerRows, former_root: str) -> _Restored:
    """Pointers below the `former_root` of the lake mean the same files below its present root."""
    files, _ = find_metadata_files(fsck)
    present = {file.location for file in files}
    former = Root(former_root if former_root.startswith("s3://") else f"file://{former_root}")
    here: dict[str, str] = {}
    moved: set[str] = set()
    for location in {row.location for row in pointer_rows.rows()}:
        # also by a link that was left at the old place
        at_present = fsck.ports.files.path_of(location)
        path = former.relative(location) or at_present
        if path != at_present:
            moved.add(location)
        if path is not None:
            here[location] = fsck.ports.root.at(path)
    pointers = [
        Pointer(pointer.table, here.get(pointer.location, pointer.location))
        for pointer in fsck.ports.catalog.pointers().values()
    ]
    known = {_folder(fsck, location) for location in here.values()}
    folders = {_folder(fsck, location) for location in present}
    return _Restored(
        newer=newer(pointers, files, fsck.ports.root),
        unknown=tuple(sorted(folders - known)),
        moved=bool(moved),
        here={location: here[location] for location in moved if here[location] in present},
    )


def _folder(fsck: FsckServices, location: str) -> str:
    return (fsck.ports.root.relative(location) or "").rpartition("/")[0]


def _follow(fsck: FsckServices, restored: _Restored) -> LedgerReport:
    """Point all tables at their newest metadata files, and bring the ledger up to them. A separate
    server's tables are at their newest already.
    """
    if fsck.pointer_rows is None:
        return restore_ledger(fsck, newer=fsck.ports.catalog.pointers())
    _repoint(fsck.pointer_rows, restored)
    return restore_ledger(fsck, newer=[one.pointer.table for one in restored.newer])


def _repoint(pointer_rows: PointerRows, restored: _Restored) -> None:
    """In one commit. Tables of a lake that was moved point here, even if they have no newer ones:
    the ledger is restored by what they say.
    """
    newest = {one.pointer.table: one.file.location for one in restored.newer}
    changes = []
    for row in pointer_rows.rows():
        if row.kind == "table" and row.table:
            to = newest.get(row.table) or restored.here.get(row.location, row.location)
            changes.append(PointerChange(row, to))
    events = tuple(map(_event, restored.newer))
    pointer_rows.change(
        [change for change in changes if change.to != change.row.location],
        records=ChangeRecords(events=events),
    )


def _event(one: Newer) -> Event:
    head = one.file.metadata.head()
    return Event(
        "restored", one.pointer.table, head.id if head else None, {"by": "restore --newest"}
    )
