"""Every table from its pointer to its files: which are there, which are missing, and which were
read.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

from lakebed.care.fsck.files import (
    damage,
    judge_content,
    judge_stored,
    missing,
    to_read,
    wrong_size,
)
from lakebed.care.fsck.folders import (
    folders_without_tables,
    lost_catalog,
    moved_lake,
    unreached,
)
from lakebed.care.fsck.services import FsckServices
from lakebed.care.fsck.spec import Finding
from lakebed.errors import CatalogReadOnly, CatalogRefused, FileMissing
from lakebed.names import TableName
from lakebed.ports import Checksum, DamagedFile, FileInfo, Pointer, ReachableFile
from lakebed.settings import DATA, normalized_location
from lakebed.tables import USED_MARKER

_SMALL = {"metadata", "manifest list", "manifest", "statistics", "batches"}
_TRIES = 3
_TOLD_EVERY = 25
_AT_ONCE = 50


@dataclass
class Inventory:
    """The files of the lake's warehouses, listed once, and which of them tables reach."""

    files: dict[str, FileInfo]
    # path → table and what it is to it
    reached: dict[str, tuple[str, ReachableFile]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # folder of a table → its name
    # path of a file here → table that reaches the same file at another place, and its address
    counterparts: dict[str, tuple[str, str]] = field(default_factory=dict)
    read: int = 0
    bytes: int = 0


def take_inventory(services: FsckServices) -> Inventory:
    """List files before pointers are read, so that a table created meanwhile is not reported as a
    folder without one.
    """
    files = services.ports.files
    namespaces = [
        name for name in files.folders() if name != DATA and not name.startswith((".", "_"))
    ]
    listed = (info for name in namespaces for info in files.list(f"{name}/warehouse"))
    return Inventory({info.path: info for info in listed})


def walk_tables(
    services: FsckServices, inventory: Inventory, pointers: Mapping[TableName, Pointer]
) -> Iterator[Finding]:
    """Follow every pointer. A table that was changed meanwhile is walked again: its old files may
    have been removed legitimately.
    """
    for number, (table, pointer) in enumerate(pointers.items()):
        if number % _TOLD_EVERY == 0:
            services.report(f"looking at table {number + 1:,} of {len(pointers):,}: {table}")
        yield from _settled(services, inventory, pointer)


def _settled(services: FsckServices, inventory: Inventory, pointer: Pointer) -> list[Finding]:
    catalog = services.ports.catalog
    findings: list[Finding] = []
    for _ in range(_TRIES):
        findings = list(walk_table(services, inventory, pointer))
        now = catalog.pointers([pointer.table]).get(pointer.table) if findings else pointer
        if now == pointer:
            break
        if now is None:
            return []
        pointer = now
    return findings


def walk_table(
    services: FsckServices, inventory: Inventory, pointer: Pointer, *, dropped: bool = False
) -> Iterator[Finding]:
    """Compare one table's files with what is there."""
    table = str(pointer.table)
    _place(services, inventory, pointer)
    for found in services.inspection.walk(pointer):
        if isinstance(found, DamagedFile):
            # what is damaged is reached all the same
            if path := services.ports.root.relative(found.location):
                inventory.reached.setdefault(
                    path, (table, ReachableFile(found.location, found.kind))
                )
            yield damage(table, found, dropped=dropped)
            continue
        size = _size(services, inventory, found)
        if size is None:
            yield missing(table, found, dropped=dropped)
        elif found.size is not None and found.size != size:
            yield wrong_size(table, found, size)
        path = services.ports.root.relative(found.location)
        counterpart = None if path else _counterpart(inventory, found.location)
        if counterpart:  # it may be that very file, by a link that was left at the old place
            path = services.ports.files.path_of(found.location)
        if path:
            inventory.reached[path] = (table, found)
        elif counterpart:
            inventory.counterparts[counterpart] = (table, found.location)


def _counterpart(inventory: Inventory, location: str) -> str | None:
    """The file of a warehouse here that has the same path below its root."""
    parts = normalized_location(location).split("/")
    tails = ("/".join(parts[at:]) for at in range(1, len(parts)))
    return next((tail for tail in tails if tail in inventory.files), None)


def _size(services: FsckServices, inventory: Inventory, reached: ReachableFile) -> int | None:
    listed = inventory.files.get(services.ports.root.relative(reached.location) or "")
    # made since, or elsewhere
    return listed.size if listed else services.inspection.size(reached.location)


def _place(services: FsckServices, inventory: Inventory, pointer: Pointer) -> None:
    path = services.ports.root.relative(pointer.location)
    if path and "/metadata/" in path:
        inventory.places[path.rsplit("/metadata/", 1)[0]] = str(pointer.table)


def read_some(
    services: FsckServices, inventory: Inventory, *, sample: int | None
) -> Iterator[Finding]:
    """Read files in full, as many of data as of metadata. Their digests are stored and compared the
    next time, if this process may write to the catalog.
    """
    known = services.audit.checksums()
    there = {
        path: reached for path, reached in inventory.reached.items() if path in inventory.files
    }
    chosen: list[str] = []
    refused: str | None = None
    for small in (True, False):
        paths = [path for path, (_, reached) in there.items() if (reached.kind in _SMALL) == small]
        chosen += to_read(paths, known, limit=sample)
    for start in range(0, len(chosen), _AT_ONCE):
        services.report(f"reading file {start + 1:,} of {len(chosen):,}")
        judged = [
            _read(services, inventory, path, known.get(path))
            for path in chosen[start : start + _AT_ONCE]
        ]
        digests = [one for one in judged if isinstance(one, Checksum)]
        refused = refused or _refusal(partial(services.audit.save_checksums, digests))
        yield from (one for one in judged if isinstance(one, Finding))
    gone = [path for path in known if path not in inventory.reached]
    if refused := refused or _refusal(partial(services.audit.delete_checksums, gone)):
        what = f"digests of files that were read are not stored: {refused}"
        yield Finding("unstored digests", "info", services.ports.catalog.where, what)


def _refusal(store: Callable[[], None]) -> str | None:
    """Why this process may not store digests."""
    try:
        store()
    except (CatalogRefused, CatalogReadOnly) as refused:
        return refused.what
    return None


def _read(
    services: FsckServices, inventory: Inventory, path: str, known: Checksum | None
) -> Finding | Checksum | None:
    """What is wrong with a file, or its digest to store; None if it was removed since it was
    listed.
    """
    table, reached = inventory.reached[path]
    try:
        content = services.inspection.content(reached)
    except FileMissing:
        return None
    inventory.read += 1
    inventory.bytes += content.size
    found = judge_content(table, reached.location, content, known)
    return found or Checksum(path, content.sha256, content.size, services.ports.now())


def read_stored(services: FsckServices) -> Iterator[Finding]:
    """Content of releases and drafts, each piece once."""
    found: dict[str, str | None] = {}
    for stored in services.stored:
        if stored.path not in found:
            try:
                found[stored.path] = sha256(services.ports.files.read(stored.path)).hexdigest()
            except FileMissing:
                found[stored.path] = None
        yield from judge_stored(stored, found[stored.path])


def judge_counterparts(inventory: Inventory) -> Iterator[Finding]:
    """Tables that reach files at another place, while the same files are here and no table reaches
    them. One finding for each table.
    """
    told: set[str] = set()
    for path, (table, location) in inventory.counterparts.items():
        if path not in inventory.reached and table not in told:
            told.add(table)
            what = f"{table} reaches a file outside the lake, which is also here: {path}"
            former_root = normalized_location(location).removesuffix(f"/{path}")
            yield moved_lake(location, what, former_root=former_root)


def judge_folders(inventory: Inventory, *, any_table: bool) -> Iterator[Finding]:
    """Folders that belong to no table, and files of tables' folders that none reaches."""
    if not any_table and (
        found := sum(path.endswith(".metadata.json") for path in inventory.files)
    ):
        yield lost_catalog(found)
    files: Counter[str] = Counter()
    lost: dict[str, tuple[int, int]] = {}
    used = set(inventory.places) | {_table_folder(path) for path in inventory.reached}
    for path, info in inventory.files.items():
        folder = _table_folder(path)
        if path == f"{folder}/{USED_MARKER}" or _partner(path) in inventory.reached:
            # where a table was, and none will be again; checksums of a file that is reached
            continue
        files[folder] += 1
        if folder in used and path not in inventory.reached:
            count, size = lost.get(folder, (0, 0))
            lost[folder] = (count + 1, size + info.size)
    yield from folders_without_tables(files, used)
    yield from unreached(lost)


def _partner(path: str) -> str:
    """The file whose checksums Spark left in this one."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name[1:-4]}" if name.startswith(".") and name.endswith(".crc") else ""


def _table_folder(path: str) -> str:
    """The first four parts of a path: `{namespace}/warehouse/{layer}/{folder}`."""
    return "/".join(path.split("/")[:4])
