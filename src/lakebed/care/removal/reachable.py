"""Files that tables reach, Lakebed's and others: what must not be removed."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from lakebed.care.all_tables import Member, Stock, path_below
from lakebed.care.removal.digests import Paths, ReachedPaths
from lakebed.care.removal.removal import belongs_to, below
from lakebed.errors import DamagedTable, LakebedError, PathUnresolved, PointsElsewhere
from lakebed.ports import Files, ForeignTable, Pointer, ReachableFiles
from lakebed.settings import normalized_location
from lakebed.tables import MovedTables, table_folder


@dataclass(frozen=True)
class Look:
    """All tables at one moment and the files they reach; `refused` says why that is unknown, so
    nothing may be removed.
    """

    stock: Stock
    reached: Container[str] = ()
    refused: str = ""
    # as of a table that is not damaged, but points where it should not
    in_the_way: LakebedError | None = None

    def needs(self, path: str) -> bool:
        """Whether a table or view needs a file; the checksum of a file is needed with it. All
        files of an adopted folder count: they are not Lakebed's.
        """
        return (
            belongs_to(path) in self.reached
            or below(path, self.stock.views)
            or below(path, self.stock.adopted)
        )

    def unneeded(self, files: Mapping[str, int]) -> dict[str, int]:
        """The files that no table or view needs."""
        return {path: size for path, size in files.items() if not self.needs(path)}


@dataclass(frozen=True)
class Reachable:
    """Which files tables reach, as digests of their paths. A metadata file never changes, so each
    is followed once.

    `moved` looks for files here that tables reach at another place; None: tables may be anywhere.
    """

    files: Files
    reach: ReachableFiles
    moved: MovedTables | None = None
    _known: dict[str, Paths] = field(default_factory=dict)  # by where a table's metadata is
    _reached: ReachedPaths = field(default_factory=ReachedPaths)  # by any of those
    # by where a table's metadata is: files here, and the address by which it reaches each
    _counterparts: dict[str, dict[str, str]] = field(default_factory=dict)

    def look(self, stock: Stock) -> Look:
        """What these tables reach, or why that is unknown."""
        if stock.obstacle():
            return Look(stock, refused=stock.obstacle(), in_the_way=stock.in_the_way)
        try:
            reached = self.by(stock)
            if astray := self._astray(stock):
                return Look(stock, refused=str(astray), in_the_way=astray)
            return Look(stock, reached)
        except PathUnresolved as unresolved:
            return Look(stock, refused=str(unresolved), in_the_way=unresolved)
        except DamagedTable as damaged:
            return Look(stock, refused=str(damaged))

    def by(self, stock: Stock) -> Container[str]:
        """Paths below the root, and addresses of files elsewhere; valid until the next call.

        `DamagedTable` or `PathUnresolved` if a table cannot be followed.
        """
        followed = {row.location: row for row in stock.rows}
        for location in self._known.keys() - followed.keys():
            self._reached.remove(self._known.pop(location))
            self._counterparts.pop(location, None)
        for location in followed.keys() - self._known.keys():
            self._known[location] = Paths.of(self._follow(followed[location]))
            self._reached.add(self._known[location])
        return self._reached

    def sharer(self, member: Member, stock: Stock) -> str:
        """Another table that needs a file which this one reaches or has in its folder; empty if
        there is none.
        """
        self.by(stock)
        own, folder = self._known[member.pointer.location], member.folder or _spelt(member)
        # a REST catalog keeps it under that name
        itself = member.dropped.hidden_name if member.dropped else member.pointer.table
        others = (row for row in stock.rows if row != member.pointer and row.table != itself)
        found = (
            str(one.table)
            for one in others
            if self._known[one.location].below(folder) or own.shares(self._known[one.location])
        )
        inside = (view for view in stock.views if f"{view}/".startswith(f"{folder}/"))
        return next(found, next((f"the view in {view}" for view in inside), ""))

    def _follow(self, one: Pointer | ForeignTable) -> Iterator[str]:
        for file in self.reach.files(one):
            path = path_below(self.files, file.location, one)
            if path is None and self.moved and (here := self.moved.counterpart(file.location)):
                self._counterparts.setdefault(one.location, {})[here] = file.location
            yield path or file.location

    def _astray(self, stock: Stock) -> PointsElsewhere | None:
        """The error for a table that reaches a file at another place, while the same file is here
        and no table reaches it: the lake was copied or moved, and this is the table's own file.
        """
        for row in stock.rows:
            for path, location in self._counterparts.get(row.location, {}).items():
                if path not in self._reached:
                    return PointsElsewhere(str(row.table), location, path)
        return None


def _spelt(member: Member) -> str:
    return normalized_location(
        member.metadata.location if member.metadata else table_folder(member.pointer.location)
    )
