"""Orphans: files in warehouse folders that no table reaches, on any ref, clones and dropped tables
included.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime, timedelta
from typing import NamedTuple

from lakebed.care.all_tables import Stock
from lakebed.care.outcome import Done
from lakebed.care.removal.reachable import Look
from lakebed.care.removal.removal import (
    WAREHOUSE,
    awaited_files,
    belongs_to,
    delete_each,
    delete_files,
    folder_of,
)
from lakebed.care.removal.spill import SpilledListing, spilled
from lakebed.care.services import CareServices
from lakebed.care.steps import PurgeProcessed, PurgeQuarantine, RemoveOrphans
from lakebed.errors import BadName
from lakebed.landing.plan import REASON
from lakebed.names import TableName, run_of_hidden
from lakebed.ports import FileInfo, Files
from lakebed.settings import DATA, SAFE_DAYS
from lakebed.tables import USED_MARKER
from lakebed.work import OnProgress

_FRESH = re.compile(r"(.+)-[0-9a-f]{8}")
_LEAD = re.compile(r"^~([0-9a-f]{2})")
RunTable = Callable[[str], TableName | None]


class Orphans(NamedTuple):
    """How many there are in a folder."""

    files: int
    bytes: int


def orphans_before(days: float, *, now: datetime) -> datetime:
    """Only files from before this time can be orphans."""
    return now - timedelta(days=max(days, SAFE_DAYS))


def list_warehouses(files: Files) -> Iterator[FileInfo]:
    """Every file of every table folder."""
    namespaces = (
        name for name in files.folders() if name != DATA and not name.startswith((".", "_"))
    )
    return (file for namespace in namespaces for file in files.walk(f"{namespace}/{WAREHOUSE}"))


def old_files(
    listed: Iterable[FileInfo], *, before: datetime
) -> AbstractContextManager[SpilledListing]:
    """The files of table folders that are orphans if no table reaches them. Listed before the
    catalog is read, so that a new table's files are none.
    """
    return spilled(file for file in listed if file.modified < before and _may_go(file.path))


def _may_go(path: str) -> bool:
    folder = folder_of(path)
    return bool(folder) and not path.endswith("/") and path != f"{folder}/{USED_MARKER}"


def lost_catalog_reason(listed: Iterable[tuple[str, int]], stock: Stock) -> str:
    """Why nothing is an orphan in a lake that has metadata files and not one table: its catalog was
    lost, or is not this lake's. Empty if there are tables.
    """
    if stock.rows or not any(path.endswith(".metadata.json") for path, _ in listed):
        return ""
    return (
        "the catalog has no tables, but the lake has their metadata files. Restore a backup:"
        " lakebed restore BACKUP --newest; without one: lakebed fsck --rebuild-catalog"
    )


def count_orphans(
    listed: Iterable[tuple[str, int]], look: Look, awaited: Container[str] = ()
) -> dict[str, Orphans]:
    """Files that no table or view needs and no unfinished removal has, by folder."""
    found: dict[str, Orphans] = {}
    for path, size in listed:
        if _is_orphan(path, look, awaited):
            known = found.get(folder_of(path), Orphans(0, 0))
            found[folder_of(path)] = Orphans(known.files + 1, known.bytes + size)
    return dict(sorted(found.items()))


def _is_orphan(path: str, look: Look, awaited: Container[str]) -> bool:
    return not look.needs(path) and belongs_to(path) not in awaited


def lease_names(folder: str, stock: Stock, run_table: RunTable) -> tuple[str, ...]:
    """The leases under which a process may be writing to the folder: of the tables in it, and of
    those it is named after.

    A first run writes at its table's place before the catalog knows the table, a run stages its
    result under its own name.
    """
    there = {str(table) for table, member in stock.tables.items() if member.folder == folder}
    return tuple(sorted(there | {str(table) for table in _stands_for(folder, run_table)}))


def _stands_for(folder: str, run_table: RunTable) -> Iterator[TableName]:
    namespace, _, layer, name = folder.split("/")
    fresh = _FRESH.fullmatch(name)
    for one in (name, *(fresh.groups() if fresh else ())):
        try:
            table = TableName(namespace, _plain(layer), _plain(one))
        except BadName:
            continue
        yield table
        if run := run_of_hidden(table.name):
            owner = run_table(run)
            yield from (owner,) if owner else ()


def _plain(folder: str) -> str:
    """The name that a folder was made from, as far as it can be recovered."""
    return _LEAD.sub(lambda lead: chr(int(lead[1], 16)), folder)


def remove_orphans(step: RemoveOrphans, services: CareServices, *, on_progress: OnProgress) -> Done:
    """Remove orphans while holding the leases of whoever might write there: the folder is listed
    and what is reached looked at again, in this order.
    """
    files = services.ports.files
    with ExitStack() as held:
        for name in step.leases:
            held.enter_context(services.holding(name))
        listed = held.enter_context(old_files(files.walk(step.folder), before=step.before))
        look = services.observer.look()
        if refused := look.refused or lost_catalog_reason(listed, look.stock):
            return Done({"files": 0}, message=f"nothing is removed: {refused}")
        awaited = awaited_files(files)
        doomed = count_orphans(listed, look, awaited).get(step.folder, Orphans(0, 0))
        _mark(step.folder, doomed.files, look.stock, services)
        paths = (path for path, _ in listed if _is_orphan(path, look, awaited))
        removed = delete_each(files, paths, count=doomed.files, on_progress=on_progress)
        return Done({"files": removed}, doomed.bytes)


def purge_landing(
    step: PurgeProcessed | PurgeQuarantine, services: CareServices, *, on_progress: OnProgress
) -> Done:
    """Delete landing files past their retention, except those that were made part of a table
    (`add_files`), and the reasons why such files are in quarantine.
    """
    look = services.observer.look()
    if look.refused:
        return Done({"files": 0}, message=f"nothing is removed: {look.refused}")
    asked = {file.path: file.size for file in step.files}
    doomed = look.unneeded(asked)
    stay = asked.keys() - doomed.keys()
    doomed = {path: size for path, size in doomed.items() if path.removesuffix(REASON) not in stay}
    return Done(
        {"files": delete_files(services.ports.files, list(doomed), on_progress=on_progress)},
        sum(doomed.values()),
    )


def _mark(folder: str, doomed: int, stock: Stock, services: CareServices) -> None:
    """A folder that becomes empty keeps a marker; one that only a single run could ever use needs
    none.
    """
    occupied = folder in stock.folders
    of_run = run_of_hidden(_plain(folder.rpartition("/")[2]))
    if not occupied and not of_run and doomed >= sum(1 for _ in services.ports.files.walk(folder)):
        services.ports.files.write(f"{folder}/{USED_MARKER}", b"")
