"""`care.fsck` wired to the lake's stores, pipelines and releases."""

from collections.abc import Iterator

from lakebed.app.connections import process_name
from lakebed.app.stores import Stores
from lakebed.care.fsck import FsckServices, PipelineInventory, Report, StoredContent, quiet
from lakebed.engines.iceberg import DatabaseCatalog
from lakebed.names import TableName
from lakebed.pipelines import RunServices
from lakebed.ports import PointerRows
from lakebed.settings import Root, Settings
from lakebed.tables import Tables


def fsck_services(
    root: Root,
    settings: Settings,
    stores: Stores,
    runs: RunServices,
    tables: Tables,
    *,
    report: Report = quiet,
) -> FsckServices:
    """What a check of this lake works with."""
    from lakebed.engines.database.state.audit import DatabaseAudit
    from lakebed.engines.iceberg.catalog.properties import file_properties
    from lakebed.engines.iceberg.upkeep.inspection import IcebergInspection
    from lakebed.pipelines.definition.inventory import inspect_folders

    properties = file_properties(settings.files)
    return FsckServices(
        root,
        stores.files,
        stores.catalog,
        stores.leases,
        stores.records,
        stores.events,
        DatabaseAudit(stores.database),
        IcebergInspection(root, stores.files, settings.files, properties=properties),
        heal=lambda table: _heal(table, tables, runs),
        holder=process_name(),
        limit=settings.lease.limit_seconds,
        pointer_rows=_pointer_rows(stores, settings),
        pipelines=PipelineInventory(*inspect_folders(stores.files, settings)),
        stored=tuple(_stored(stores)),
        report=report,
    )


def _pointer_rows(stores: Stores, settings: Settings) -> PointerRows | None:
    from lakebed.engines.iceberg.catalog.pointer_rows import DatabasePointerRows
    from lakebed.engines.iceberg.catalog.properties import file_properties

    if not isinstance(stores.catalog, DatabaseCatalog):
        return None
    return DatabasePointerRows(stores.database, file_properties=file_properties(settings.files))


def _heal(table: TableName, tables: Tables, runs: RunServices) -> None:
    from lakebed.pipelines.running.heal import heal

    with tables.lease(table) as held:
        heal(table, runs, lease=held.require())


def _stored(stores: Stores) -> Iterator[StoredContent]:
    from lakebed.pipelines.releases.content import object_path

    for release in stores.releases.all():
        for path, digest in release.files.items():
            yield StoredContent(
                f"{path} of {release.table} version {release.version}", object_path(digest), digest
            )
    for draft in stores.releases.drafts():
        for path, digest in draft.files.items():
            yield StoredContent(
                f"{path} of a saved draft of {draft.table}", object_path(digest), digest
            )
