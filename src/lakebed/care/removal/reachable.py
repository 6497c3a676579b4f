"""Files that tables reach, Lakebed's and others: what must not be removed."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from lakebed.care.all_tables import Member, Stock, path_below
from lakebed.care.removal.removal import belongs_to, below
from lakebed.errors import DamagedTable, LakebedError, PathUnresolved
from lakebed.ports import Files, ForeignTable, Pointer, ReachableFiles
from lakebed.settings import normalized_location
from lakebed.tables import table_folder


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

    def unneeded(self, files: Mapping[str, int]) -> dict[str, int]:
        """The files that no table or view needs; the checksum of a file is needed with it."""
        views = self.stock.views
        return {
            path: size
            for path, size in files.items()
            if belongs_to(path) not in self.reached and not below(path, views)
        }


@dataclass(frozen=True)
class Reachable:
    """Which files tables reach. A metadata file never changes, so each is followed once."""

    files: Files
    reach: ReachableFiles
    # by where a table's metadata is
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _reached: Counter[str] = field(default_factory=Counter)  # by how many of those

    def look(self, stock: Stock) -> Look:
        """What these tables reach, or why that is unknown."""
        if stock.obstacle():
            return Look(stock, refused=stock.obstacle(), in_the_way=stock.in_the_way)
        try:
            return Look(stock, self.by(stock))
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
            self._forget(location)
        for location in followed.keys() - self._known.keys():
            self._known[location] = tuple(self._follow(followed[location]))
            self._reached.update(self._known[location])
        return self._reached.keys()

    def sharer(self, member: Member, stock: Stock) -> str:
        """Another table that needs a file which this one reaches or has in its folder; empty if
        there is none.
        """
        self.by(stock)
        own, folder = (
            set(self._known[member.pointer.location]),
            f"{member.folder or _spelt(member)}/",
        )
        # a REST catalog keeps it under that name
        itself = member.dropped.hidden_name if member.dropped else member.pointer.table
        others = (row for row in stock.rows if row != member.pointer and row.table != itself)
        found = (
            str(one.table)
            for one in others
            if any(_meets(path, own, folder) for path in self._known[one.location])
        )
        view = next(
            (f"the view in {view}" for view in stock.views if f"{view}/".startswith(folder)), ""
        )
        return next(found, view)

    def _forget(self, location: str) -> None:
        for path in self._known.pop(location):
            self._reached[path] -= 1
            if not self._reached[path]:
                del self._reached[path]

    def _follow(self, one: Pointer | ForeignTable) -> Iterator[str]:
        for file in self.reach.files(one):
            yield path_below(self.files, file.location, one) or file.location


def _meets(path: str, own: Container[str], folder: str) -> bool:
    return path in own or path.startswith(folder)


def _spelt(member: Member) -> str:
    return normalized_location(
        member.metadata.location if member.metadata else table_folder(member.pointer.location)
    )
