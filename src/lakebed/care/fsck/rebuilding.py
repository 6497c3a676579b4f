"""Rebuilding a lost catalog from metadata files."""

from collections.abc import Iterable
from dataclasses import dataclass

from lakebed.care.fsck.rebuild import plan_rebuild
from lakebed.care.fsck.services import FsckServices
from lakebed.errors import DamagedTable, PointerMoved, UsageError
from lakebed.ports import ChangeRecords, DamagedFile, Event, MetadataFile, Pointer


@dataclass(frozen=True)
class RebuildReport:
    """Tables that were registered again, and metadata files that were not, with the reason."""

    tables: dict[str, str]  # name → metadata file
    skipped: dict[str, str]  # metadata file → why


def rebuild_catalog(services: FsckServices) -> RebuildReport:
    """Register every table that is not in the catalog, by its newest metadata file; those in it
    stay as they are.
    """
    if services.pointer_rows is None:
        what = "the catalog is a separate server: it is not rebuilt from here."
        raise UsageError(what, next="Restore the server's own backup, then: lakebed fsck")
    files, skipped = find_metadata_files(services)
    pointers = services.catalog.pointers()
    present, damaged = _known(services, pointers.values())
    plan = plan_rebuild(
        [file for file in files if not file.location.startswith(tuple(damaged))],
        services.root,
        present=present,
        names=pointers,
        dropped=[gone.uuid for gone in services.catalog.dropped()],
    )
    skipped |= dict(plan.skipped)
    registered: dict[str, str] = {}
    for candidate in plan.register:
        head = candidate.file.metadata.head()
        event = Event(
            "restored", candidate.name, head.id if head else None, {"by": "fsck --rebuild-catalog"}
        )
        try:
            services.catalog.register(
                candidate.name, candidate.file.location, records=ChangeRecords(events=(event,))
            )
            registered[str(candidate.name)] = candidate.file.location
        except PointerMoved:
            skipped[candidate.file.location] = "its name was taken meanwhile"
    services.restore_ledger()
    return RebuildReport(registered, skipped)


def find_metadata_files(services: FsckServices) -> tuple[list[MetadataFile], dict[str, str]]:
    """All metadata files in the lake's warehouses, and the unreadable ones with the reason."""
    files, damaged = [], {}
    for namespace in services.files.folders():
        if namespace.startswith((".", "_")):
            continue
        services.report(f"looking for tables of {namespace}")
        for found in services.inspection.metadata_files(f"{namespace}/warehouse"):
            if isinstance(found, DamagedFile):
                damaged[found.location] = found.reason
            else:
                files.append(found)
    return files, damaged


def _known(services: FsckServices, pointers: Iterable[Pointer]) -> tuple[set[str], set[str]]:
    """The uuids of tables in the catalog, and the folders of those that cannot be read."""
    known: set[str] = set()
    damaged: set[str] = set()
    for pointer in pointers:
        try:
            known |= {metadata.uuid for metadata in services.catalog.metadata([pointer]).values()}
        except DamagedTable:
            path = services.root.relative(pointer.location) or pointer.location
            damaged.add(services.root.at(f"{path.rsplit('/', 1)[0]}/"))
    return known, damaged
