"""Making a backup of catalog and state. Files of tables are not in it: see `WITHOUT`."""

import json
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from lakebed.care.backup.services import BackupServices, backup_place

FORMAT = 1
MANIFEST = "manifest.json"
WITHOUT = (
    (
        "the files of tables, landing zones and releases: back up the lake's folder or bucket as"
        " well, afterwards, and adopted folders that are elsewhere"
    ),
    "lakebed.yaml and the pipelines: they are files of the lake",
    (
        "commits made after it: restore names the tables that have newer ones, and --newest points"
        " them there"
    ),
)


@dataclass(frozen=True)
class BackupReport:
    """A backup that was made."""

    path: str
    bytes: int
    tables: int
    rows: Mapping[str, int]
    without: Sequence[str] = WITHOUT


def back_up(services: BackupServices, destination: str) -> BackupReport:
    """Write catalog and state, as of one moment, to one file, while others continue to work; an
    existing file is not overwritten.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "backup.zip"
        rows, tables = _write(services, file)
        place = backup_place(destination, now=datetime.now(UTC))
        with file.open("rb") as data:
            made = services.open_place(place.store).create(place.path, data)
    return BackupReport(place.shown, made.size, tables, rows)


def _write(services: BackupServices, file: Path) -> tuple[dict[str, int], int]:
    database = services.relocation.database
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        rows = database.write(archive)
    with zipfile.ZipFile(file) as archive:
        pointers = [json.loads(line) for line in archive.read("iceberg_tables.jsonl").splitlines()]
    tables = {
        f"{row['table_namespace']}.{row['table_name']}": row["metadata_location"]
        for row in pointers
    }
    manifest = {
        "format": FORMAT,
        "lakebed": version("lakebed"),
        "made_at": datetime.now(UTC).isoformat(),
        "root": str(services.relocation.fsck.ports.root),
        "database": database.server_version,
        "schema": database.schema_version,
        "rows": rows,
        "tables": tables,
        "not_in_it": WITHOUT,
    }
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False))
    return rows, len(pointers)
