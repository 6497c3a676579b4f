"""Orphans: files in warehouse folders that no table reaches, on any ref, clones and dropped tables
included.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from datetime import datetime, timedelta

from lakebed.care.all_tables import Stock
from lakebed.care.outcome import Done
from lakebed.care.removal.removal import WAREHOUSE, belongs_to, below, delete_files, folder_of
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


def list_warehouses(files: Files) -> tuple[FileInfo, ...]:
    """Every file of every table folder. Listed before the catalog is read, so that a new table's
    files are no orphans.
    """
    namespaces = (
        name for name in files.folders() if name != DATA and not name.startswith((".", "_"))
    )
    found = (file for namespace in namespaces for file in files.list(f"{namespace}/{WAREHOUSE}"))
    return tuple(file for file in found if folder_of(file.path) and not file.path.endswith("/"))


def find_orphans(
    listed: Iterable[FileInfo],
    reached: Container[str],
    protected: AbstractSet[str],
    *,
    days: float,
    now: datetime,
) -> dict[str, tuple[FileInfo, ...]]:
    """Old files that no table reaches, by folder. From `protected` folders nothing is removed."""
    limit = now - timedelta(days=max(days, SAFE_DAYS))
    found: dict[str, list[FileInfo]] = {}
    for file in listed:
        folder = folder_of(file.path)
        used_mark = file.path == f"{folder}/{USED_MARKER}"
        if (
            file.modified < limit
            and belongs_to(file.path) not in reached
            and not used_mark
            and not below(file.path, protected)
        ):
            found.setdefault(folder, []).append(file)
    return {folder: tuple(files) for folder, files in found.items()}


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
    """Remove orphans while holding the leases of whoever might write there, after looking again at
    what is reached.
    """
    with ExitStack() as leases:
        for name in step.leases:
            leases.enter_context(services.holding(name))
        look = services.observer.look()
        if look.refused:
            return Done({"files": 0}, message=f"nothing is removed: {look.refused}")
        doomed = look.unneeded({file.path: file.size for file in step.files})
        _mark(step.folder, doomed, look.stock, services)
        return Done(
            {"files": delete_files(services.files, list(doomed), on_progress=on_progress)},
            sum(doomed.values()),
        )


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
        {"files": delete_files(services.files, list(doomed), on_progress=on_progress)},
        sum(doomed.values()),
    )


def _mark(folder: str, doomed: Collection[str], stock: Stock, services: CareServices) -> None:
    """A folder that becomes empty keeps a marker; one that only a single run could ever use needs
    none.
    """
    occupied = folder in stock.folders
    of_run = run_of_hidden(_plain(folder.rpartition("/")[2]))
    if (
        not occupied
        and not of_run
        and all(file.path in doomed for file in services.files.list(folder))
    ):
        services.files.write(f"{folder}/{USED_MARKER}", b"")
