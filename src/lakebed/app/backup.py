"""Backups of a lake's catalog and state, and restoring them. Files of tables are not in a backup: see `WITHOUT`."""

import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lakebed.app.fsck import fsck_tools, metadata_below
from lakebed.app.lake import Lake
from lakebed.care.fsck import FsckServices, Newer, Report, newer, quiet
from lakebed.engines.files import FolderFiles, open_files
from lakebed.errors import FileMissing, UsageError
from lakebed.pipelines.running.ledger_copies import restore_ledger
from lakebed.ports import ChangeRecords, Event, Files, FileStateChange, PointerChange
from lakebed.settings import Root
from lakebed.tables import plan_rollback

FORMAT = 1
WITHOUT = (
    "the files of tables, landing zones and releases: back the lake's folder or bucket up too, after this",
    "lakebed.yaml and the pipelines: they are files of the lake",
    "whatever is committed after it was made: restore says which tables have gone on, and --newest takes them up again",
)


@dataclass(frozen=True)
class BackupReport:
    """A backup that was made."""

    path: str
    bytes: int
    tables: int
    rows: Mapping[str, int]
    without: Sequence[str] = WITHOUT


@dataclass(frozen=True)
class RestoreReport:
    """What a restore came to. `newer` tables have commits that the backup does not know; `repointed`: they are back."""

    made_at: str
    root: str
    tables: int
    newer: Mapping[str, str]
    repointed: bool
    unknown: Sequence[str]  # metadata folders of tables that the backup does not know
    moved: bool  # the lake lay elsewhere then


def backup(lake: Lake, destination: str) -> BackupReport:
    """Put catalog and state, as of one moment, into one file; others may go on writing. An existing file is refused."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "backup.zip"
        rows, tables = _written(lake, file)
        data = file.read_bytes()
    store, path, shown = _place(lake, destination)
    store.create(path, data)
    return BackupReport(shown, len(data), tables, rows)


def _written(lake: Lake, file: Path) -> tuple[dict[str, int], int]:
    from lakebed.engines.database.backup import MANIFEST, write_archive
    from lakebed.engines.database.schema import NEWEST

    database = lake.stores.database
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        rows = write_archive(database, archive)
    with zipfile.ZipFile(file) as archive:
        pointed = [json.loads(line) for line in archive.read("iceberg_tables.jsonl").splitlines()]
    manifest = {
        "format": FORMAT,
        "lakebed": version("lakebed"),
        "made_at": datetime.now(UTC).isoformat(),
        "root": str(lake.root),
        "database": database.server_version(),
        "schema": NEWEST,
        "rows": rows,
        "tables": {f"{row['table_namespace']}.{row['table_name']}": row["metadata_location"] for row in pointed},
        "not_in_it": WITHOUT,
    }
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))
    return rows, len(pointed)


def _place(lake: Lake, text: str) -> tuple[Files, str, str]:
    """The store, the path in it, and how it is shown; a folder gets a file named by the time."""
    name = f"lakebed-backup-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.zip"
    if text.startswith("s3://"):
        parts = urlsplit(text)
        path = parts.path.lstrip("/")
        key = f"{path}{name}" if not path or path.endswith("/") else path
        return open_files(Root.parse(f"s3://{parts.netloc}"), lake.settings.files), key, f"s3://{parts.netloc}/{key}"
    place = Path(text).expanduser().absolute()
    if text.endswith("/") or place.is_dir():
        place = place / name
    return FolderFiles(place.parent), place.name, str(place)


def restore(lake: Lake, source: str, *, force: bool = False, newest: bool = False, report: Report = quiet) -> RestoreReport:
    """Put a backup in place of the lake's catalog and state. Refused where there is something already, unless `force`."""
    from lakebed.engines.database.backup import read_archive

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "backup.zip"
        file.write_bytes(_fetched(lake, source))
        manifest = _manifest(file, source)
        _refuse_unfit(lake, force=force)
        with zipfile.ZipFile(file) as archive:
            read_archive(lake.stores.database, archive, version=manifest["schema"])
    tools = fsck_tools(lake, report=report)
    found, strangers = _gone_on(lake, tools) if tools.pointing else ((), ())
    if newest and tools.pointing:
        _take_up(tools, found)
        restore_ledger(lake.stores.files, lake.stores.catalog, lake.stores.records)
        tools.pointing.change([], records=ChangeRecords(file_states=tuple(_undoings(lake, found))))
    return RestoreReport(
        manifest["made_at"],
        manifest["root"],
        len(manifest["tables"]),
        {str(one.pointer.table): one.file.location for one in found},
        newest,
        strangers,
        moved=manifest["root"] != str(lake.root),
    )


def _fetched(lake: Lake, source: str) -> bytes:
    if not source.startswith("s3://") and Path(source).is_dir():
        raise UsageError("a backup is a file, and this is a folder.", where=source)
    store, path, _ = _place(lake, source)
    try:
        return store.read(path)
    except FileMissing:
        raise UsageError("there is no such backup.", where=source) from None


def _manifest(file: Path, source: str) -> dict[str, Any]:
    from lakebed.engines.database.backup import MANIFEST

    try:
        with zipfile.ZipFile(file) as archive:
            if archive.testzip():
                raise ValueError("a part of it is damaged")
            manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
        if manifest["format"] > FORMAT:
            raise UsageError("this backup was made by a newer Lakebed.", where=source, next="Upgrade: pip install -U lakebed")
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UsageError(f"this is no whole backup: {error}.", where=source) from None
    return manifest


def _refuse_unfit(lake: Lake, *, force: bool) -> None:
    from lakebed.engines.database.backup import counted, held_leases

    if held := held_leases(lake.stores.database):
        what = f"somebody works on {', '.join(held[:3])}: a restore would pull the ground from under them."
        raise UsageError(what, where=lake.stores.database.where, next="Wait for them, or stop them.")
    there = counted(lake.stores.database)
    if there and not force:
        shown = ", ".join(f"{rows:,} of {name}" for name, rows in there.items())
        what = f"the database is not empty: it holds rows that a restore would replace ({shown})."
        raise UsageError(what, where=lake.stores.database.where, next="Make a backup of it first; then give --force.")


def _gone_on(lake: Lake, tools: FsckServices) -> tuple[tuple[Newer, ...], tuple[str, ...]]:
    files, _ = metadata_below(tools)
    pointers = tools.catalog.pointers()
    found = newer(pointers.values(), files, lake.root)
    rows = tools.pointing.rows() if tools.pointing else ()
    folders = {(lake.root.relative(row.location) or "").rpartition("/")[0] for row in rows}
    others = {(lake.root.relative(file.location) or "").rpartition("/")[0] for file in files}
    return found, tuple(sorted(others - folders))


def _take_up(tools: FsckServices, found: Sequence[Newer]) -> None:
    """All tables at once to their newest metadata files."""
    if tools.pointing is None or not found:
        return
    rows = {row.location: row for row in tools.pointing.rows() if row.kind == "table"}
    moves = [PointerChange(rows[one.pointer.location], one.file.location) for one in found]
    events = [_event(one) for one in found]
    tools.pointing.change(moves, records=ChangeRecords(events=tuple(events)))


def _undoings(lake: Lake, found: Sequence[Newer]) -> Iterator[FileStateChange]:
    """Rollbacks since the backup: files are taken by the runs that tables have now; what became of the others is not known."""
    for one in found:
        if head := one.file.metadata.head():
            ledger = lake.stores.records.ledger(one.pointer.table)
            plan = plan_rollback(one.pointer.table, one.file.metadata, head, ledger, files="exclude", by_tag=True)
            yield from plan.records.file_states


def _event(one: Newer) -> Event:
    head = one.file.metadata.head()
    return Event("restored", one.pointer.table, head.id if head else None, {"by": "restore --newest"})
