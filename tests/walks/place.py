"""A lake of a walk, in a folder of its own, with what must be true of it in plain sets."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from lakebed.app import Lake, create_lake
from lakebed.errors import LakebedError
from lakebed.ports import NAME, SetProperties
from lakebed.settings import DATABASE_FILE, Root, Settings
from lakebed.tables import published_snapshots
from tests.support.benches import RealBench
from tests.support.lakes.kept_lake import Kept
from tests.walks.feed import TABLE, Feed

Rows = frozenset[int]
Tree = dict[str, tuple[int, int]]
MakeFeed = Callable[[Kept], Feed]


@dataclass(frozen=True)
class Books:
    """What must have become of each file of one row."""

    visible: Rows = frozenset()
    waiting: Rows = frozenset()
    held: Rows = frozenset()
    at: dict[int, Rows] = field(default_factory=dict)  # the rows of each published snapshot

    def landed(self, row: int) -> "Books":
        return replace(self, waiting=self.waiting | {row})

    def published(self, snapshot: int, visible: Rows, *, waiting: Rows) -> "Books":
        return replace(self, visible=visible, waiting=waiting, at={**self.at, snapshot: visible})

    def rolled_back(self, to: int, *, requeue: bool) -> "Books":
        visible = self.at[to]
        gone = frozenset(row for row in self.visible - visible if not is_foreign(row))
        waiting = self.waiting | gone if requeue else self.waiting
        held = self.held if requeue else self.held | gone
        return replace(self, visible=visible, waiting=waiting - visible, held=held - visible)


_FIRST_FOREIGN = 100_000


def foreign_row(row: int) -> int:
    """A row that another program adds; it comes from no file."""
    return _FIRST_FOREIGN + row


def is_foreign(row: int) -> bool:
    return row >= _FIRST_FOREIGN


@dataclass
class Place:
    """A lake at one folder.

    It has *strayed* if it was copied or moved and not relocated since, and is *lost* while its
    catalog is. Until then its own files that tables need (`needed`, below its root) must stay.
    """

    folder: Path
    settings: Settings
    make_feed: MakeFeed
    books: Books = Books()
    backups: tuple[tuple[str, Path], ...] = ()  # with the folder that the lake was in then
    strayed_from: Path | None = None
    lost: bool = False
    needed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        root = Root.parse(self.folder)
        self.lake = Lake(root, self.settings, environment=os.environ)
        self.kept = Kept(self.lake, RealBench(self.settings, root, TABLE.namespace))
        self.feed = self.make_feed(self.kept)

    def close(self) -> None:
        self.lake.close()
        self.kept.bench.close()

    @property
    def healthy(self) -> bool:
        return self.strayed_from is None and not self.lost

    # -- its files

    def tree(self) -> Tree:
        """All files of tables and zones, and when each was written."""
        files = (file for file in (self.folder / TABLE.namespace).rglob("*") if file.is_file())
        return {
            str(file.relative_to(self.folder)): (file.stat().st_size, file.stat().st_mtime_ns)
            for file in files
        }

    def reached(self) -> frozenset[str]:
        """The paths below the root of all files that the table needs; none may be elsewhere."""
        stores = self.lake.stores
        pointer = stores.catalog.pointers([TABLE])[TABLE]
        paths = set()
        for file in stores.reach.files(pointer):
            path = self.lake.root.relative(file.location)
            assert path, f"the table needs a file elsewhere: {file.location}"
            paths.add(path)
        return frozenset(paths)

    @property
    def is_whole(self) -> bool:
        """Whether the table is in the catalog and all that it needs is in this folder."""
        if TABLE not in self.lake.stores.catalog.pointers():
            return False
        try:
            return bool(self.reached())
        except (AssertionError, LakebedError):
            return False

    def points(self) -> list[int]:
        """Snapshots that can be rolled back to, in the order in which they were published."""
        published = published_snapshots(self.lake.tables.describe(TABLE))
        return [snapshot for snapshot in self.books.at if snapshot in published]

    # -- what happens to it as a whole

    def stray(self, origin: Path) -> None:
        """From now on metadata may name another root than this one."""
        if self.healthy:
            self.needed = self.reached()
        self.strayed_from = self.strayed_from or origin

    def lose_catalog(self) -> None:
        if self.healthy:
            self.needed = self.reached()
        self.close()
        for file in self.folder.glob(f"{DATABASE_FILE}*"):
            file.unlink()
        self.open()
        self.lost = True

    def copied_to(self, folder: Path) -> "Place":
        """As `cp -a` does it, while nothing is running."""
        needed = self.reached() if self.healthy else self.needed
        self.close()
        shutil.copytree(self.folder, folder, symlinks=True)
        self.open()
        origin = self.strayed_from or self.folder
        return replace(self, folder=folder, strayed_from=origin, needed=needed)

    def move_to(self, folder: Path) -> None:
        self.stray(self.folder)
        self.close()
        shutil.move(self.folder, folder)
        self.folder = folder
        self.open()

    # -- the oracle

    def check(self) -> None:
        """Nothing was lost, nothing came twice, and every file that is needed is there."""
        self._check_landing_files()
        if not self.healthy:
            missing = sorted(path for path in self.needed if not (self.folder / path).exists())
            assert not missing, f"files that the lake's tables need are gone: {missing}"
            return
        missing = sorted(path for path in self.reached() if not (self.folder / path).exists())
        assert not missing, f"files that the table reaches are gone: {missing}"
        assert self.feed.rows() == sorted(self.books.visible), "rows"
        states = self.feed.states()
        assert {row for row in states if states[row] == "held"} == self.books.held, "held"
        from_files = {row for row in self.books.visible if not is_foreign(row)}
        assert from_files <= {row for row in states if states[row] == "taken"}, "taken"
        assert self.feed.waits() == self.books.waiting, "waiting"

    def _check_landing_files(self) -> None:
        there = {file.name for file in self.feed.landing.rglob("*.csv") if file.exists()}
        books = self.books
        rows = books.visible | books.waiting | books.held
        missing = sorted(f"{row}.csv" for row in rows if not is_foreign(row))
        missing = [name for name in missing if name not in there]
        assert not missing, f"landing files are gone: {missing}"


def new_place(folder: Path, settings: Settings, make_feed: MakeFeed) -> Place:
    """A lake with the empty table."""
    if settings == Settings():
        create_lake(folder, environment=os.environ).close()
    place = Place(folder, settings, make_feed)
    place.feed.write_pipeline()
    place.kept.bench.table(TABLE.name)
    # a run that creates a table says so in its metadata
    place.lake.stores.catalog.amend(TABLE, [SetProperties({NAME: str(TABLE)})])
    return place
