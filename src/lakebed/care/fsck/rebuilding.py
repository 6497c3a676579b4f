"""Rebuilding a lost catalog from metadata files."""

from collections.abc import Iterable
from dataclasses import dataclass

from lakebed.care.fsck.ledger import LedgerReport, restore_ledger
from lakebed.care.fsck.rebuild import Candidate, Rebuild, plan_rebuild
from lakebed.care.fsck.services import FsckServices
from lakebed.errors import DamagedTable, PointerMoved, UsageError
from lakebed.ports import ChangeRecords, DamagedFile, Event, MetadataFile, Pointer
from lakebed.tables import former_root


@dataclass(frozen=True)
class RebuildReport:
    """Tables that were registered again, and metadata files that were not, with the reason; and
    what the ledger of landing files has again.
    """

    tables: dict[str, str]  # name → metadata file
    skipped: dict[str, str]  # metadata file → why
    ledger: LedgerReport
    elsewhere: tuple[str, ...] = ()  # tables among the skipped that are to be relocated first


def rebuild_catalog(services: FsckServices) -> RebuildReport:
    """Register every table that is not in the catalog, by its newest metadata file; those in it
    stay as they are.
    """
    if services.pointer_rows is None:
        what = "the catalog is a separate server: it is not rebuilt from here."
        raise UsageError(what, next="Restore the server's own backup, then: lakebed fsck")
    plan, skipped = find_unregistered(services)
    skipped |= dict(plan.skipped)
    skipped |= {stray.file.location: _elsewhere(stray) for stray in plan.elsewhere}
    registered: dict[str, str] = {}
    for candidate in plan.register:
        head = candidate.file.metadata.head()
        event = Event(
            "restored", candidate.name, head.id if head else None, {"by": "fsck --rebuild-catalog"}
        )
        try:
            services.ports.catalog.register(
                candidate.name, candidate.file.location, records=ChangeRecords(events=(event,))
            )
            registered[str(candidate.name)] = candidate.file.location
        except PointerMoved:
            skipped[candidate.file.location] = "its name was taken meanwhile"
    return RebuildReport(
        tables=registered,
        skipped=skipped,
        ledger=restore_ledger(services),
        elsewhere=tuple(str(stray.name) for stray in plan.elsewhere),
    )


def _elsewhere(stray: Candidate) -> str:
    return (
        f"{stray.name} points to {stray.file.metadata.location}, outside of this lake; next:"
        f" lakebed relocate --from {stray.former_root}"
    )


def find_unregistered(services: FsckServices) -> tuple[Rebuild, dict[str, str]]:
    """What the metadata files say of tables that are not in the catalog, and the unreadable files
    with the reason.
    """
    files, unreadable = find_metadata_files(services)
    pointers = services.ports.catalog.pointers()
    present, damaged = _known(services, pointers.values())
    path_of = services.ports.files.path_of
    plan = plan_rebuild(
        [file for file in files if not file.location.startswith(tuple(damaged))],
        services.ports.root,
        present=present,
        names=pointers,
        dropped=[gone.uuid for gone in services.ports.catalog.dropped()],
        former_roots={
            file.location: former_root(file.location, file.metadata, path_of) for file in files
        },
    )
    return plan, unreadable


def find_metadata_files(services: FsckServices) -> tuple[list[MetadataFile], dict[str, str]]:
    """All metadata files in the lake's warehouses, and the unreadable ones with the reason."""
    files, damaged = [], {}
    for namespace in services.ports.files.folders():
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
    catalog, root = services.ports.catalog, services.ports.root
    known: set[str] = set()
    damaged: set[str] = set()
    for pointer in pointers:
        try:
            known |= {metadata.uuid for metadata in catalog.metadata([pointer]).values()}
        except DamagedTable:
            path = root.relative(pointer.location) or pointer.location
            damaged.add(root.at(f"{path.rsplit('/', 1)[0]}/"))
    return known, damaged
