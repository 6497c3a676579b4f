"""Removing whole tables, dropped ones and leftovers of runs, with every file that no other table
needs.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from lakebed.care.all_tables import Member, Stock
from lakebed.care.outcome import Done
from lakebed.care.removal.expiry import refuse_unresolved, removal_of, remove, with_counts
from lakebed.care.removal.protection import table_protected_by
from lakebed.care.removal.removal import Removal, below, discard_removal, folder_of, write_removal
from lakebed.care.services import CareServices
from lakebed.care.steps import DropLeftovers, PurgeDropped
from lakebed.errors import PointerMoved
from lakebed.ports import Event, FileInfo
from lakebed.settings import SAFE_DAYS
from lakebed.tables import USED_MARKER
from lakebed.tables.ledger.decisions import forget_decisions
from lakebed.work import OnProgress


def purge(
    step: PurgeDropped, services: CareServices, *, now: datetime, on_progress: OnProgress
) -> Done:
    """Make the table impossible to restore, then remove its files."""
    look = refuse_unresolved(services.observer.look())
    member = next((one for one in look.stock.members if one.dropped == step.dropped), None)
    if member is None:
        return Done({}, message="it was restored or purged meanwhile")
    if why := look.refused or _needed(member, look.stock, services):
        return Done({}, message=f"kept for now: {why}")
    removal = _purging(member, look.stock, services, now=now)
    write_removal(services.ports.files, removal)
    try:
        services.ports.catalog.delete_dropped(step.dropped)
    except PointerMoved:
        discard_removal(services.ports.files, removal)
        return Done({}, message="it was restored or purged meanwhile")
    forget_decisions(services.ports.files, step.dropped.uuid)
    services.ports.events.append(Event("purged", step.table, None, {"uuid": step.dropped.uuid}))
    return with_counts(remove(removal, services, on_progress=on_progress), {"tables": 1})


def _needed(member: Member, stock: Stock, services: CareServices) -> str:
    """Why a dropped table stays. A catalog that removes files itself would also remove what others
    need.
    """
    if holder := table_protected_by(member, services.kept(), stock):
        return f"{holder} protects a snapshot of it"
    if member.metadata and member.metadata.keeps_files:
        return "its property gc.enabled says that its files are not its own"
    owns_files = services.ports.catalog.owns_files
    other = services.observer.reachable.sharer(member, stock) if owns_files else ""
    return f"{other} needs files of it" if other else ""


def _purging(member: Member, stock: Stock, services: CareServices, *, now: datetime) -> Removal:
    """All that the table reaches, and other files that have been in its folder for some time."""
    found: dict[str, int | None] = {}
    for file in services.ports.reach.files(member.pointer):
        found[services.ports.files.path_of(file.location) or ""] = file.size
    for info in _left_behind(member, stock, services):
        if info.modified < now - timedelta(days=SAFE_DAYS):
            found[info.path] = info.size
    snapshots = tuple(member.metadata.snapshots) if member.metadata else ()
    return removal_of(
        "dropped",
        member.pointer.table,
        member.uuid,
        found,
        services,
        folders=stock.folders,
        snapshots=snapshots,
    )


def _left_behind(member: Member, stock: Stock, services: CareServices) -> Iterator[FileInfo]:
    """Files in this table's folder only: others may be writing to another table's folder under a
    lease that care does not hold.
    """
    folder = member.folder
    others = {
        one.folder for one in stock.members if one.folder and one.uuid != member.uuid
    } | stock.foreign_folders
    if not folder or below(f"{folder}/", others):
        return
    for info in services.ports.files.list(folder):
        inside = folder_of(info.path)
        if (
            info.path != f"{folder}/{USED_MARKER}"
            and not below(info.path, others)
            and not inside.startswith(f"{folder}/")
        ):
            yield info


def drop_leftovers(step: DropLeftovers, services: CareServices) -> Done:
    """Remove a hidden table and its whole folder, unless another table has files there."""
    look = refuse_unresolved(services.observer.look())
    if (member := look.stock.tables.get(step.hidden)) is None:
        return Done({}, message="it is gone")
    if look.refused:
        return Done({}, message=f"kept for now: {look.refused}")
    if holder := table_protected_by(member, services.kept(), look.stock):
        return Done({}, message=f"kept for now: {holder} protects a snapshot of it")
    if other := services.observer.reachable.sharer(member, look.stock):
        return Done({}, message=f"{other} needs files of it")
    services.ports.catalog.purge(step.hidden)
    return Done({"hidden tables": 1})
