"""Checking a lake, mending it, and rebuilding a lost catalog: `care.fsck` wired to the lake's stores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lakebed.app.lake import Lake, process_name
from lakebed.care.fsck import SAMPLE, FsckReport, FsckServices, Pipelined, Report, StoredContent, check, mend, plan_rebuild, quiet
from lakebed.engines.iceberg import DatabaseCatalog
from lakebed.errors import DamagedTable, LakebedError, PointerMoved, UsageError
from lakebed.names import TableName
from lakebed.pipelines.running.ledger_copies import restore_ledger
from lakebed.ports import ChangeRecords, DamagedFile, Event, MetadataFile, Pointer, PointerRows


@dataclass(frozen=True)
class Rebuilt:
    """Tables that were taken up again, and metadata files that were not, with the reason."""

    tables: dict[str, str]  # name → metadata file
    skipped: dict[str, str]  # metadata file → why


def fsck(lake: Lake, *, repair: bool = False, sample: int | None = SAMPLE, report: Report = quiet) -> FsckReport:
    """Look the lake over; `repair` does what loses nothing, and looks again. `sample` None: every file is read whole."""
    tools = fsck_tools(lake, report=report)
    seen = check(tools, sample=sample)
    if not repair or not any(found.repair for found in seen.findings):
        return seen
    mended = mend(tools, seen.findings)
    return replace(check(tools, sample=sample), mended=mended)


def fsck_tools(lake: Lake, *, report: Report = quiet) -> FsckServices:
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
    return DatabasePointerRows(lake.stores.database, file_properties=file_properties(lake.settings.files))


def _heal(lake: Lake, table: TableName) -> None:
    from lakebed.pipelines.running.heal import heal

    with lake.tables.lease(table) as held:
        heal(table, lake.pipelines.services, lease=held.require())


def _pipelines(lake: Lake) -> Pipelined:
    from lakebed.pipelines.definition.load import decode_files, is_source, read_folders, read_pipeline
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
            yield StoredContent(f"{path} of {release.table} version {release.version}", object_path(digest), digest)
    for draft in lake.stores.releases.drafts():
        for path, digest in draft.files.items():
            yield StoredContent(f"{path} of a saved draft of {draft.table}", object_path(digest), digest)


def rebuild_catalog(lake: Lake, *, report: Report = quiet) -> Rebuilt:
    """Take up every table that the catalog does not know, by its newest metadata file; what it knows stays as it is."""
    tools = fsck_tools(lake, report=report)
    if tools.pointing is None:
        what = "the catalog is a server of its own: it is not rebuilt from here."
        raise UsageError(what, next="Restore the server's own backup, then: lakebed fsck")
    files, skipped = metadata_below(tools)
    pointers = tools.catalog.pointers()
    present, damaged = _known(tools, pointers.values())
    plan = plan_rebuild(
        [file for file in files if not file.location.startswith(tuple(damaged))],
        lake.root,
        present=present,
        names=pointers,
        dropped=[gone.uuid for gone in tools.catalog.dropped()],
    )
    skipped |= dict(plan.skipped)
    taken: dict[str, str] = {}
    for candidate in plan.register:
        head = candidate.file.metadata.head()
        event = Event("restored", candidate.name, head.id if head else None, {"by": "fsck --rebuild-catalog"})
        try:
            tools.catalog.register(candidate.name, candidate.file.location, records=ChangeRecords(events=(event,)))
            taken[str(candidate.name)] = candidate.file.location
        except PointerMoved:
            skipped[candidate.file.location] = "its name was taken meanwhile"
    restore_ledger(lake.stores.files, lake.stores.catalog, lake.stores.records)
    return Rebuilt(taken, skipped)


def metadata_below(tools: FsckServices) -> tuple[list[MetadataFile], dict[str, str]]:
    """Every metadata file of the lake's warehouses, and those that cannot be read, with the reason."""
    files, damaged = [], {}
    for namespace in tools.files.folders():
        if namespace.startswith((".", "_")):
            continue
        tools.report(f"looking for tables of {namespace}")
        for found in tools.inspection.metadata_files(f"{namespace}/warehouse"):
            if isinstance(found, DamagedFile):
                damaged[found.location] = found.reason
            else:
                files.append(found)
    return files, damaged


def _known(tools: FsckServices, pointers: Iterable[Pointer]) -> tuple[set[str], set[str]]:
    """The tables that the catalog knows, by uuid; and the folders of those whose metadata cannot be read."""
    known: set[str] = set()
    damaged: set[str] = set()
    for pointer in pointers:
        try:
            known |= {metadata.uuid for metadata in tools.catalog.metadata([pointer]).values()}
        except DamagedTable:
            path = tools.root.relative(pointer.location) or pointer.location
            damaged.add(tools.root.at(f"{path.rsplit('/', 1)[0]}/"))
    return known, damaged
