"""After a lake was moved: metadata is written anew with the addresses of today, then all pointers move in one step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.app.fsck import fsck_tools
from lakebed.app.lake import Lake
from lakebed.care.fsck import Report, quiet
from lakebed.errors import DamagedTable, UsageError
from lakebed.ports import ChangeRecords, Event, PointerChange, PointerRow
from lakebed.settings import Root, normalized_location

if TYPE_CHECKING:
    from lakebed.engines.files.files_by_url import FilesByUrl
    from lakebed.engines.iceberg.upkeep.relocation import Relocation


@dataclass(frozen=True)
class Moved:
    """A table, view or dropped table, and how many metadata files were written for it."""

    name: str
    kind: str
    files: int
    location: str


@dataclass(frozen=True)
class Relocated:
    """What a relocation came to, or would come to."""

    origin: str
    root: str
    tables: tuple[Moved, ...]
    lost: tuple[str, ...] = ()  # what cannot be read; a dropped table among them could not have been restored
    left: tuple[str, ...] = ()  # what lay neither there nor here stays where it is


def relocate(
    lake: Lake, *, origin: str | None = None, dry_run: bool = False, skip_damaged: bool = False, report: Report = quiet
) -> Relocated:
    """Let every table point at where it is now. Broken off, it has changed nothing, and can be done again.

    A table whose metadata cannot be read is refused, and with it all; `skip_damaged` leaves it as it is.
    """
    from lakebed.engines.database.backup import held_leases
    from lakebed.engines.iceberg.upkeep.relocation import Relocation, origin_of

    tools = fsck_tools(lake, report=report)
    if tools.pointing is None:
        raise UsageError(
            "the catalog is a server of its own: it places tables itself.", next="Move the tables with its own tools."
        )
    rows = [row for row in tools.pointing.rows() if lake.root.relative(row.location) is None]
    if not rows:
        return Relocated("", str(lake.root), ())
    if held := held_leases(lake.stores.database):
        raise UsageError(f"somebody works on {', '.join(held[:3])}.", next="Wait for them, or stop them.")
    start = _origin(origin, origin_of(row.location for row in rows), lake.root)
    work = Relocation(_places(lake), origin=start, root=lake.root, only_look=dry_run)
    below = [row for row in rows if work.moved(row.location) != row.location]
    if not below:
        raise UsageError(f"no table lay below {start}.", where=str(lake.root), next=f"One lay at {rows[0].location}")
    moves, lost = _written(work, below, report, skip_damaged=skip_damaged)
    if not dry_run:
        tools.pointing.change(
            [PointerChange(row, moved.location) for row, moved in moves], records=_along(moves, start, lake.root)
        )
    left = tuple(row.name for row in rows if row not in below)
    return Relocated(start, str(lake.root), tuple(moved for _, moved in moves), lost, left)


def _written(
    work: "Relocation", rows: Sequence[PointerRow], report: Report, *, skip_damaged: bool
) -> tuple[list[tuple[PointerRow, Moved]], tuple[str, ...]]:
    moves, lost = [], []
    for row in rows:
        report(f"rewriting the metadata of {row.name}")
        try:
            written = work.table(row.name, row.location)
        except DamagedTable:
            if row.kind != "dropped" and not skip_damaged:
                raise
            lost.append(row.name)
            continue
        moves.append((row, Moved(row.name, row.kind, written.files, written.location)))
    return moves, tuple(lost)


def _origin(given: str | None, found: set[str], root: Root) -> str:
    if given:
        return normalized_location(Root.parse(given).url)
    if len(found) != 1:
        several = f"tables lay below several roots: {', '.join(sorted(found))}" if found else "where the lake lay cannot be told"
        raise UsageError(f"{several}.", where=str(root), next="Say it with: lakebed relocate --from ROOT")
    return next(iter(found))


def _places(lake: Lake) -> "FilesByUrl":
    from lakebed.engines.files.files_by_url import FilesByUrl

    return FilesByUrl(lake.root, lake.stores.files, lake.settings.files)


def _along(moves: Iterable[tuple[PointerRow, Moved]], origin: str, root: Root) -> ChangeRecords:
    detail = {"from": origin, "to": str(root)}
    named = (row.table for row, _ in moves if row.kind == "table" and row.table)
    return ChangeRecords(events=tuple(Event("relocated", name, detail=detail) for name in named))
