"""After a lake was moved: metadata is rewritten with its present addresses, then all pointers move
in one commit.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lakebed.care.fsck import FsckServices, rebuild_catalog
from lakebed.care.fsck.rebuilding import find_unregistered
from lakebed.errors import DamagedTable, UsageError
from lakebed.ports import (
    ChangeRecords,
    DatabaseArchive,
    Event,
    Pointer,
    PointerChange,
    PointerRow,
    PointerRows,
    TableRelocator,
)
from lakebed.settings import Root, normalized_location
from lakebed.tables import former_root, table_folder

StrayKind = Literal["table", "view", "dropped", "unregistered"]
_METADATA_FILE = re.compile(r"(.+)/[^/]+/warehouse/[^/]+/[^/]+/metadata/[^/]+")


class OpenRelocator(Protocol):
    """Opens what rewrites metadata for a lake's former root; `only_look`: it writes nothing."""

    def __call__(self, origin: str, *, only_look: bool) -> TableRelocator: ...


@dataclass(frozen=True)
class RelocationServices:
    """The lake's pointers and database, and the engine that rewrites metadata."""

    fsck: FsckServices
    database: DatabaseArchive
    open_relocator: OpenRelocator


@dataclass(frozen=True)
class Moved:
    """A table, view or dropped table, and how many metadata files were written for it. One that is
    `unregistered` is in no catalog yet.
    """

    name: str
    kind: StrayKind
    files: int
    location: str


@dataclass(frozen=True)
class RelocationReport:
    """What a relocation did, or would do."""

    origin: str
    root: str
    tables: tuple[Moved, ...]
    # what cannot be read; a dropped table among them could not be restored anyway
    lost: tuple[str, ...] = ()
    left: tuple[str, ...] = ()  # tables that were in neither place stay where they are


@dataclass(frozen=True)
class Stray:
    """Something that points outside the lake. `address` is where it was: of its metadata file, or
    of the former root if that file is here and names files there.
    """

    name: str
    kind: StrayKind
    location: str  # of its metadata file
    address: str
    former_root: str  # empty if the address does not tell
    row: PointerRow | None = None  # None: the catalog does not have it


def relocate(
    services: RelocationServices,
    *,
    origin: str | None = None,
    dry_run: bool = False,
    skip_damaged: bool = False,
    may_find_none: bool = False,
) -> RelocationReport:
    """Point every table at where it is now.

    An interrupted relocation has changed nothing and can be repeated.

    A table whose metadata cannot be read stops all of it; `skip_damaged` leaves that table as it
    is.

    If the catalog is empty, all tables are registered by their newest metadata files. With
    `origin`, tables that are not in the catalog are rewritten, too, so that they can be registered.

    `UsageError` if no table was below the former root, unless it `may_find_none`.
    """
    fsck, root = services.fsck, services.fsck.ports.root
    if fsck.pointer_rows is None:
        what = "the catalog is a separate server, which places tables itself."
        raise UsageError(what, next="Move the tables with the server's own tools.")
    strays = _find_strays(fsck, fsck.pointer_rows.rows(), origin)
    if not strays:
        return RelocationReport("", str(root), ())
    _require_idle(services.database)
    start = _origin(origin, {stray.former_root for stray in strays} - {""}, root)
    relocator = services.open_relocator(start, only_look=dry_run)
    below = [stray for stray in strays if relocator.moved(stray.address) != stray.address]
    if not below and not may_find_none:
        what, advice = f"no table was below {start}.", f"One was at {strays[0].address}"
        raise UsageError(what, where=str(root), next=advice)
    moves, lost = _rewrite(services, relocator, below, skip_damaged=skip_damaged)
    if not dry_run:
        _point_here(fsck, fsck.pointer_rows, moves, start)
    left = tuple(stray.name for stray in strays if stray not in below)
    return RelocationReport(start, str(root), tuple(moved for _, moved in moves), lost, left)


def _find_strays(
    fsck: FsckServices, rows: Sequence[PointerRow], origin: str | None
) -> tuple[Stray, ...]:
    """What points outside the lake: rows of the catalog and, if it has none or the former root is
    given, tables that it does not have. Manifests are read only for a given root.
    """
    strays = [stray for row in rows if (stray := _stray_row(fsck, row, origin))]
    if origin or not rows:
        strays += _unregistered(fsck, rows)
    return tuple(strays)


def _require_idle(database: DatabaseArchive) -> None:
    if held := database.held_leases():
        what = f"{', '.join(held[:3])} is being worked on."
        raise UsageError(what, next="Wait until it has ended, or stop it.")


def _stray_row(fsck: FsckServices, row: PointerRow, origin: str | None) -> Stray | None:
    """A row of the catalog, if it points outside the lake, or at a metadata file here that names
    files elsewhere.
    """
    path = fsck.ports.root.relative(row.location)
    if path is None or (origin and _is_below(origin, fsck.ports.root, path)):
        former = next(iter(origins_of([row.location])), "")
        return Stray(row.name, row.kind, row.location, row.location, former, row)
    if row.table is None or row.kind == "view":
        return None  # no rebuild and no restore has ever pointed such a row here
    pointer = Pointer(row.table, row.location)
    try:
        metadata = fsck.ports.catalog.metadata([pointer])[row.table]
    except DamagedTable:
        return None  # at its place; fsck reports it
    former = former_root(row.location, metadata, fsck.ports.files.path_of)
    if not former and origin and _reaches_below(fsck, pointer, origin):
        former = normalized_location(origin).rstrip("/")
    return Stray(row.name, row.kind, row.location, former, former, row) if former else None


def _is_below(origin: str, root: Root, path: str) -> bool:
    """Whether a path of this lake is in its former root, from which it was moved up."""
    folder = root.relative(origin)
    return folder is not None and path.startswith(f"{folder}/")


def _reaches_below(fsck: FsckServices, pointer: Pointer, origin: str) -> bool:
    """Whether manifests name files there, which do not lead here by a link."""
    below = f"{normalized_location(origin).rstrip('/')}/"
    return any(
        file.location.startswith(below) and fsck.ports.files.path_of(file.location) is None
        for file in fsck.inspection.walk(pointer)
    )


def _unregistered(fsck: FsckServices, rows: Sequence[PointerRow]) -> Iterator[Stray]:
    """Tables that the catalog does not have, whose newest metadata files name files elsewhere. A
    catalog without any row was lost, so they are its tables.
    """
    folders = [normalized_location(table_folder(row.location)) for row in rows]
    plan, _ = find_unregistered(fsck)
    for candidate in plan.elsewhere:
        location, former = candidate.file.location, candidate.former_root
        own = f"/{fsck.ports.root.relative(table_folder(location))}"
        if not any(folder.endswith(own) for folder in folders):  # else a row has it, elsewhere
            kind: StrayKind = "unregistered" if rows else "table"
            yield Stray(str(candidate.name), kind, location, former, former)


def _rewrite(
    services: RelocationServices,
    relocator: TableRelocator,
    strays: Sequence[Stray],
    *,
    skip_damaged: bool,
) -> tuple[list[tuple[Stray, Moved]], tuple[str, ...]]:
    moves, lost = [], []
    for stray in strays:
        services.fsck.report(f"rewriting the metadata of {stray.name}")
        try:
            written = relocator.table(stray.name, stray.location)
        except DamagedTable:
            if stray.kind != "dropped" and not skip_damaged:
                raise
            lost.append(stray.name)
            continue
        moves.append((stray, Moved(stray.name, stray.kind, written.files, written.location)))
    return moves, tuple(lost)


def _point_here(
    fsck: FsckServices,
    pointer_rows: PointerRows,
    moves: Sequence[tuple[Stray, Moved]],
    origin: str,
) -> None:
    rows = [(stray.row, moved.location) for stray, moved in moves if stray.row]
    changes = [PointerChange(row, location) for row, location in rows]
    records = _records((row for row, _ in rows), origin, fsck.ports.root)
    pointer_rows.change(changes, records=records)
    if any(stray.kind == "table" and stray.row is None for stray, _ in moves):
        rebuild_catalog(fsck)  # by the files that were just written: they are the newest


def origins_of(locations: Iterable[str]) -> set[str]:
    """The roots of these metadata files of tables: `{root}/{namespace}/warehouse/…`."""
    found = (_METADATA_FILE.fullmatch(normalized_location(location)) for location in locations)
    return {match[1] for match in found if match}


def _origin(given: str | None, found: set[str], root: Root) -> str:
    if given and (spelt := normalized_location(given).rstrip("/")) in found:
        return spelt  # as tables spell it: a symbolic link may be there by now
    if given:
        return normalized_location(Root.parse(given).url)
    if len(found) != 1:
        several = f"tables were below several roots: {', '.join(sorted(found))}"
        what = several if found else "where the lake was before is unknown"
        raise UsageError(
            f"{what}.", where=str(root), next="Name it with: lakebed relocate --from ROOT"
        )
    return next(iter(found))


def _records(rows: Iterable[PointerRow], origin: str, root: Root) -> ChangeRecords:
    detail = {"from": origin, "to": str(root)}
    tables = (row.table for row in rows if row.kind == "table" and row.table)
    return ChangeRecords(events=tuple(Event("relocated", table, detail=detail) for table in tables))
