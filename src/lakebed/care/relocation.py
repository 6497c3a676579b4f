"""After a lake was moved: metadata is rewritten with its present addresses, then all pointers move
in one commit.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lakebed.care.fsck import FsckServices
from lakebed.errors import DamagedTable, UsageError
from lakebed.ports import (
    ChangeRecords,
    DatabaseArchive,
    Event,
    PointerChange,
    PointerRow,
    TableRelocator,
)
from lakebed.settings import Root, normalized_location

_METADATA_FILE = re.compile(r"(.+)/[^/]+/warehouse/[^/]+/[^/]+/metadata/[^/]+")


@dataclass(frozen=True)
class RelocationServices:
    """The lake's pointers and database, and the engine that rewrites metadata."""

    fsck: FsckServices
    database: DatabaseArchive
    # for the lake's former root; the flag: only look, write nothing
    relocator: Callable[[str, bool], TableRelocator]


@dataclass(frozen=True)
class Moved:
    """A table, view or dropped table, and how many metadata files were written for it."""

    name: str
    kind: str
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


def relocate(
    services: RelocationServices,
    *,
    origin: str | None = None,
    dry_run: bool = False,
    skip_damaged: bool = False,
) -> RelocationReport:
    """Point every table at where it is now.

    An interrupted relocation has changed nothing and can be repeated.

    A table whose metadata cannot be read stops all of it; `skip_damaged` leaves that table as it
    is.
    """
    pointing, root = services.fsck.pointer_rows, services.fsck.root
    if pointing is None:
        what = "the catalog is a separate server, which places tables itself."
        raise UsageError(what, next="Move the tables with the server's own tools.")
    rows = [row for row in pointing.rows() if root.relative(row.location) is None]
    if not rows:
        return RelocationReport("", str(root), ())
    if held := services.database.held_leases():
        raise UsageError(
            f"{', '.join(held[:3])} is being worked on.",
            next="Wait until it has ended, or stop it.",
        )
    start = _origin(origin, origins_of(row.location for row in rows), root)
    relocator = services.relocator(start, dry_run)
    below = [row for row in rows if relocator.moved(row.location) != row.location]
    if not below:
        raise UsageError(
            f"no table was below {start}.", where=str(root), next=f"One was at {rows[0].location}"
        )
    moves, lost = _rewrite(services, relocator, below, skip_damaged=skip_damaged)
    if not dry_run:
        changes = [PointerChange(row, moved.location) for row, moved in moves]
        pointing.change(changes, records=_records(moves, start, root))
    left = tuple(row.name for row in rows if row not in below)
    return RelocationReport(start, str(root), tuple(moved for _, moved in moves), lost, left)


def _rewrite(
    services: RelocationServices,
    relocator: TableRelocator,
    rows: Sequence[PointerRow],
    *,
    skip_damaged: bool,
) -> tuple[list[tuple[PointerRow, Moved]], tuple[str, ...]]:
    moves, lost = [], []
    for row in rows:
        services.fsck.report(f"rewriting the metadata of {row.name}")
        try:
            written = relocator.table(row.name, row.location)
        except DamagedTable:
            if row.kind != "dropped" and not skip_damaged:
                raise
            lost.append(row.name)
            continue
        moves.append((row, Moved(row.name, row.kind, written.files, written.location)))
    return moves, tuple(lost)


def origins_of(locations: Iterable[str]) -> set[str]:
    """The roots of these metadata files of tables: `{root}/{namespace}/warehouse/…`."""
    found = (_METADATA_FILE.fullmatch(normalized_location(location)) for location in locations)
    return {match[1] for match in found if match}


def _origin(given: str | None, found: set[str], root: Root) -> str:
    if given:
        return normalized_location(Root.parse(given).url)
    if len(found) != 1:
        several = f"tables were below several roots: {', '.join(sorted(found))}"
        what = several if found else "where the lake was before is unknown"
        raise UsageError(
            f"{what}.", where=str(root), next="Name it with: lakebed relocate --from ROOT"
        )
    return next(iter(found))


def _records(moves: Iterable[tuple[PointerRow, Moved]], origin: str, root: Root) -> ChangeRecords:
    detail = {"from": origin, "to": str(root)}
    tables = (row.table for row, _ in moves if row.kind == "table" and row.table)
    return ChangeRecords(events=tuple(Event("relocated", table, detail=detail) for table in tables))
