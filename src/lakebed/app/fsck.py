"""`care.fsck` wired to the lake's stores, pipelines and releases."""

from collections.abc import Iterator
from functools import partial

from lakebed.app.connections import process_name
from lakebed.app.lake import Lake
from lakebed.care.fsck import FsckServices, Pipelined, Report, StoredContent, quiet
from lakebed.engines.iceberg import DatabaseCatalog
from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.pipelines.running.ledger_copies import restore_ledger
from lakebed.ports import PointerRows


def fsck_services(lake: Lake, *, report: Report = quiet) -> FsckServices:
    """What a check of this lake works with."""
    from lakebed.engines.database.state.audit import DatabaseAudit
    from lakebed.engines.iceberg.catalog.properties import file_properties
    from lakebed.engines.iceberg.upkeep.inspection import IcebergInspection

    stores, settings = lake.stores, lake.settings
    properties = file_properties(settings.files)
    return FsckServices(
        lake.root,
        stores.files,
        stores.catalog,
        stores.leases,
        stores.records,
        stores.events,
        DatabaseAudit(stores.database),
        IcebergInspection(lake.root, stores.files, settings.files, properties=properties),
        heal=lambda table: _heal(lake, table),
        restore_ledger=partial(restore_ledger, stores.files, stores.catalog, stores.records),
        holder=process_name(),
        limit=settings.lease.limit_seconds,
        pointing=_pointing(lake),
        pipelines=_pipelines(lake),
        stored=tuple(_stored(lake)),
        report=report,
    )


def _pointing(lake: Lake) -> PointerRows | None:
    from lakebed.engines.iceberg.catalog.pointer_rows import DatabasePointerRows
    from lakebed.engines.iceberg.catalog.properties import file_properties

    if not isinstance(lake.stores.catalog, DatabaseCatalog):
        return None
    return DatabasePointerRows(
        lake.stores.database, file_properties=file_properties(lake.settings.files)
    )


def _heal(lake: Lake, table: TableName) -> None:
    from lakebed.pipelines.running.heal import heal

    with lake.tables.lease(table) as held:
        heal(table, lake.pipelines.services, lease=held.require())


def _pipelines(lake: Lake) -> Pipelined:
    from lakebed.pipelines.definition.load import (
        decode_files,
        is_source,
        read_folders,
        read_pipeline,
    )
    from lakebed.pipelines.definition.naming import require_known_layer, tables_of_folders

    tables, bad = set(), {}
    folders = read_folders(lake.stores.files)
    known = tables_of_folders(folders)
    for folder, contents in folders.items():
        if not any(map(is_source, contents)) and "config.yaml" not in contents:
            continue
        try:
            require_known_layer(folder, lake.settings)
            tables.add(read_pipeline(folder, decode_files(folder, contents), known=known).table)
        except LakebedError as error:
            bad[folder] = error.what
            tables |= tables_of_folders([folder])
    return Pipelined(frozenset(tables), bad)


def _stored(lake: Lake) -> Iterator[StoredContent]:
    from lakebed.pipelines.releases.content import object_path

    for release in lake.stores.releases.all():
        for path, digest in release.files.items():
            yield StoredContent(
                f"{path} of {release.table} version {release.version}", object_path(digest), digest
            )
    for draft in lake.stores.releases.drafts():
        for path, digest in draft.files.items():
            yield StoredContent(
                f"{path} of a saved draft of {draft.table}", object_path(digest), digest
            )
