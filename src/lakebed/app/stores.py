"""From settings to stores: which engine implements each port of a lake."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.engines.files import open_files
from lakebed.ports import (
    CareLog,
    Catalog,
    Events,
    Files,
    Leases,
    ReachableFiles,
    Records,
    Releases,
    Scans,
    SnapshotWriter,
)
from lakebed.settings import DATABASE_FILE, PostgresCatalog, RestCatalog, Root, Settings
from lakebed.tables.ownership import OwnedFiles, OwnedLeases, Ownership

if TYPE_CHECKING:
    from lakebed.engines.database import Database


@dataclass(frozen=True)
class Stores:
    """The ports of an open lake; those that few commands need are opened at their first use."""

    files: Files
    database: "Database"
    catalog: Catalog
    leases: Leases
    records: Records
    events: Events
    releases: Releases
    care: CareLog
    ownership: Ownership
    _reach: Callable[[], ReachableFiles]
    _scans: Callable[[], Scans]
    _snapshots: Callable[[], SnapshotWriter]

    @cached_property
    def reach(self) -> ReachableFiles:
        """The files that tables reach."""
        return self._reach()

    @cached_property
    def snapshots(self) -> SnapshotWriter:
        """Snapshots made of files that exist."""
        return self._snapshots()

    @cached_property
    def scans(self) -> Scans:
        """The files that queries read."""
        return self._scans()


def open_stores(settings: Settings, root: Root, *, cache: Path | None = None) -> Stores:
    """Open a lake's stores; each connects at its first use.

    `cache` is a folder that this user's processes share.
    """
    from lakebed.engines.database import (
        DatabaseCareLog,
        DatabaseEvents,
        DatabaseIdentity,
        DatabaseLeases,
        DatabaseRecords,
        DatabaseReleases,
    )

    everyones = open_files(root, settings.files)
    database = _database(settings, root)
    ownership = Ownership(root, everyones, DatabaseIdentity(database), lambda: catalog)
    database.before_writing = ownership.require_database
    files = OwnedFiles(everyones, ownership)
    catalog = _catalog(settings, root, files, database)
    return Stores(
        files,
        database,
        catalog,
        OwnedLeases(DatabaseLeases(database), ownership),
        DatabaseRecords(database),
        DatabaseEvents(database),
        DatabaseReleases(database),
        DatabaseCareLog(database),
        ownership,
        partial(_reach, settings, root),
        partial(_scans, settings, root, files, cache),
        partial(_snapshots, settings),
    )


def _database(settings: Settings, root: Root) -> "Database":
    from lakebed.engines.database import Database

    catalog = settings.catalog
    if isinstance(catalog, PostgresCatalog):
        return _postgres(catalog.url, catalog)
    if isinstance(catalog, RestCatalog) and catalog.state_url:
        return _postgres(catalog.state_url, catalog)
    return Database.sqlite(root.folder / DATABASE_FILE)


def _postgres(url: str, catalog: PostgresCatalog | RestCatalog) -> "Database":
    from lakebed.engines.database import Database

    password = catalog.password.get_secret_value() if catalog.password else None
    return Database.postgres(
        url,
        user=catalog.user,
        password=password,
        timeout=catalog.timeout_seconds,
        pooler=catalog.pooler,
    )


def _catalog(settings: Settings, root: Root, files: Files, database: "Database") -> Catalog:
    from lakebed.engines.iceberg import (
        DatabaseCatalog,
        MetadataReader,
        catalog_properties,
        file_properties,
    )

    if isinstance(settings.catalog, RestCatalog):
        from lakebed.engines.iceberg.catalog.rest_catalog import IcebergRestCatalog

        return IcebergRestCatalog(
            database, where=settings.catalog.url, properties=catalog_properties(settings, root)
        )
    reader = MetadataReader(root, files, settings.files)
    return DatabaseCatalog(database, reader, file_properties=file_properties(settings.files))


def _reach(settings: Settings, root: Root) -> ReachableFiles:
    from lakebed.engines.iceberg import file_properties
    from lakebed.engines.iceberg.upkeep.reaching import IcebergReach

    return IcebergReach(file_properties(settings.files), root)


def _snapshots(settings: Settings) -> SnapshotWriter:
    from lakebed.engines.iceberg import file_properties
    from lakebed.engines.iceberg.upkeep.replacing import IcebergSnapshotWriter

    return IcebergSnapshotWriter(file_properties(settings.files))


def _scans(settings: Settings, root: Root, files: Files, cache: Path | None) -> Scans:
    from lakebed.engines.files.files_by_url import FilesByUrl
    from lakebed.engines.iceberg.scan.manifest_cache import ManifestCache
    from lakebed.engines.iceberg.scan.scan import IcebergScans

    folder, bounds = cache / "manifests" if cache else None, settings.query
    remembered = ManifestCache(folder, memory=bounds.cache_memory, disk=bounds.cache_disk)
    return IcebergScans(FilesByUrl(root, files, settings.files), remembered)
