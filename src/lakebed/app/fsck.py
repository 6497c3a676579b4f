"""`care.fsck`, `care.relocation` and `care.backup` wired to the lake's database, stores, pipelines
and releases.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.care.backup import BackupServices
from lakebed.care.fsck import FsckServices, PipelineInventory, Report, StoredContent, quiet
from lakebed.care.relocation import RelocationServices
from lakebed.engines.files import FolderFiles, open_files
from lakebed.engines.iceberg import DatabaseCatalog, file_properties
from lakebed.names import TableName
from lakebed.pipelines import RunServices
from lakebed.ports import Files, LakePorts, PointerRows
from lakebed.settings import Root
from lakebed.tables import hold_lease

if TYPE_CHECKING:
    from lakebed.engines.database import Database
    from lakebed.engines.iceberg.upkeep.relocation import Relocation


def fsck_services(
    runs: RunServices, database: "Database", *, report: Report = quiet
) -> FsckServices:
    """What a check of this lake works with."""
    from lakebed.engines.database.state.audit import DatabaseAudit
    from lakebed.engines.iceberg.upkeep.inspection import IcebergInspection
    from lakebed.pipelines.definition.inventory import inspect_folders

    ports, settings = runs.ports, runs.ports.settings
    properties = file_properties(settings.files)
    return FsckServices(
        ports=ports,
        audit=DatabaseAudit(database),
        inspection=IcebergInspection(
            ports.root, ports.files, settings.files, properties=properties
        ),
        pointer_rows=_pointer_rows(ports, database),
        heal=_Healing(runs),
        pipelines=PipelineInventory(*inspect_folders(ports.files, settings)),
        stored=tuple(_stored(ports)),
        report=report,
    )


def relocation_services(fsck: FsckServices, database: "Database") -> RelocationServices:
    """What a relocation of this lake works with."""
    from lakebed.engines.database.backup import LakeDatabaseArchive
    from lakebed.engines.files.files_by_url import FilesByUrl
    from lakebed.engines.iceberg.upkeep.relocation import Relocation

    ports = fsck.ports

    def open_relocator(origin: str, *, only_look: bool) -> "Relocation":
        places = FilesByUrl(ports.root, ports.files, ports.settings.files)
        return Relocation(places, origin=origin, root=ports.root, only_look=only_look)

    return RelocationServices(fsck, LakeDatabaseArchive(database), open_relocator)


def backup_services(fsck: FsckServices, database: "Database") -> BackupServices:
    """What backups of this lake work with."""

    def open_place(store: str) -> Files:
        is_bucket = store.startswith("s3://")
        settings = fsck.ports.settings.files
        return open_files(Root.parse(store), settings) if is_bucket else FolderFiles(Path(store))

    return BackupServices(relocation_services(fsck, database), open_place)


def _pointer_rows(ports: LakePorts, database: "Database") -> PointerRows | None:
    from lakebed.engines.iceberg.catalog.pointer_rows import DatabasePointerRows

    if not isinstance(ports.catalog, DatabaseCatalog):
        return None
    return DatabasePointerRows(database, file_properties=file_properties(ports.settings.files))


@dataclass(frozen=True)
class _Healing:
    """The `HealTable` of a lake."""

    runs: RunServices

    def __call__(self, table: TableName) -> None:
        from lakebed.pipelines.running.heal import heal

        ports = self.runs.ports
        limit = ports.settings.lease.limit_seconds
        with hold_lease(ports.leases, str(table), holder=ports.holder, limit=limit) as held:
            heal(table, self.runs, lease=held.require())


def _stored(ports: LakePorts) -> Iterator[StoredContent]:
    from lakebed.pipelines.releases.content import object_path

    for release in ports.releases.all():
        for path, digest in release.files.items():
            yield StoredContent(
                f"{path} of {release.table} version {release.version}", object_path(digest), digest
            )
    for draft in ports.releases.drafts():
        for path, digest in draft.files.items():
            yield StoredContent(
                f"{path} of a saved draft of {draft.table}", object_path(digest), digest
            )
