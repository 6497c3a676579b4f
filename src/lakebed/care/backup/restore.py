"""Restoring a backup, and following commits that tables have had since."""

import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lakebed.care.backup.backup import FORMAT, MANIFEST
from lakebed.care.backup.services import BackupServices, backup_place
from lakebed.care.fsck import FsckServices, Newer, newer
from lakebed.care.fsck.rebuilding import find_metadata_files
from lakebed.errors import FileMissing, UsageError
from lakebed.ports import (
    ChangeRecords,
    DatabaseArchive,
    Event,
    FileStateChange,
    PointerChange,
    PointerRows,
)
from lakebed.tables import plan_rollback


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


def restore_backup(
    services: BackupServices, source: str, *, force: bool = False, newest: bool = False
) -> RestoreReport:
    """Replace the lake's catalog and state with a backup's. Refused if the database is not empty,
    unless `force`.
    """
    fsck = services.fsck
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "backup.zip"
        file.write_bytes(_fetch(services, source))
        manifest = _manifest(file, source)
        _require_replaceable(services.database, force=force)
        with zipfile.ZipFile(file) as archive:
            services.database.read(archive, version=manifest["schema"])
    found, unknown = _newer(fsck, fsck.pointer_rows) if fsck.pointer_rows else ((), ())
    if newest and fsck.pointer_rows:
        _follow(fsck.pointer_rows, found)
        fsck.restore_ledger()
        fsck.pointer_rows.change(
            [], records=ChangeRecords(file_states=tuple(_file_states(fsck, found)))
        )
    return RestoreReport(
        manifest["made_at"],
        manifest["root"],
        len(manifest["tables"]),
        {str(one.pointer.table): one.file.location for one in found},
        newest,
        unknown,
        moved=manifest["root"] != str(fsck.root),
    )


def _fetch(services: BackupServices, source: str) -> bytes:
    if not source.startswith("s3://") and Path(source).is_dir():
        raise UsageError("a backup is a file, and this is a folder.", where=source)
    place = backup_place(source, now=datetime.now(UTC))
    try:
        return services.open_files(place.store).read(place.path)
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


def _newer(
    fsck: FsckServices, pointer_rows: PointerRows
) -> tuple[tuple[Newer, ...], tuple[str, ...]]:
    """Tables with newer metadata files than the backup points at, and metadata folders that it does
    not have.
    """
    files, _ = find_metadata_files(fsck)
    found = newer(fsck.catalog.pointers().values(), files, fsck.root)
    known = {_folder(fsck, row.location) for row in pointer_rows.rows()}
    there = {_folder(fsck, file.location) for file in files}
    return found, tuple(sorted(there - known))


def _folder(fsck: FsckServices, location: str) -> str:
    return (fsck.root.relative(location) or "").rpartition("/")[0]


def _follow(pointer_rows: PointerRows, found: Sequence[Newer]) -> None:
    """Point all tables at their newest metadata files, in one commit."""
    if not found:
        return
    rows = {row.location: row for row in pointer_rows.rows() if row.kind == "table"}
    changes = [PointerChange(rows[one.pointer.location], one.file.location) for one in found]
    pointer_rows.change(changes, records=ChangeRecords(events=tuple(map(_event, found))))


def _file_states(fsck: FsckServices, found: Sequence[Newer]) -> Iterator[FileStateChange]:
    """For rollbacks since the backup: files count as taken if the run that took them is in the
    table now; others are excluded.
    """
    for one in found:
        if head := one.file.metadata.head():
            ledger = fsck.records.ledger(one.pointer.table)
            plan = plan_rollback(
                one.pointer.table, one.file.metadata, head, ledger, files="exclude", by_tag=True
            )
            yield from plan.records.file_states


def _event(one: Newer) -> Event:
    head = one.file.metadata.head()
    return Event(
        "restored", one.pointer.table, head.id if head else None, {"by": "restore --newest"}
    )
