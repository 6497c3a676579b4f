"""What may happen to a lake, one step at a time, and what must hold after each."""

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lakebed.errors import LakebedError, UsageError
from lakebed.tables import UndoneFiles
from tests.support.benches import ids
from tests.walks.feed import TABLE
from tests.walks.place import Place, foreign_row, is_foreign

WEEK = timedelta(days=8)  # by then everything superseded expires, and orphans are old enough
YEAR = timedelta(days=400)  # by then events, publications and records are gone as well


@dataclass(frozen=True)
class Step:
    """One step of a walk. What it draws depends on its number alone, so that a walk from which
    other steps are taken out still does the same.
    """

    name: str
    number: int

    def __repr__(self) -> str:
        return f"{self.number}:{self.name}"


class Refused(AssertionError):
    """A step that must be possible was refused."""


@dataclass
class Walk:
    """The lakes of a walk, the first of which is the original."""

    folder: Path
    places: list[Place]
    chance: random.Random = field(default_factory=random.Random)
    vacated: set[Path] = field(default_factory=set)  # folders that lakes were moved away from
    number: int = 0

    def perform(self, step: Step, *, seed: int) -> None:
        """One step, then all that must hold. A refusal may have changed nothing."""
        self.number, self.chance = step.number, random.Random(f"{seed} {step.number}")
        place = self.chance.choice(self.places)
        others = [(other, other.tree()) for other in self.places if other is not place]
        self._act(step.name, place)
        for other, before in others:
            assert other.tree() == before, f"{step} in {place.folder} changed {other.folder}"
        back = sorted(str(folder) for folder in self.vacated if folder.exists())
        assert not back, f"{step} wrote to where the lake was before: {back}"
        self.check()

    def check(self) -> None:
        for place in self.places:
            place.check()

    def may_refuse(self, place: Place) -> bool:
        """Whether the lake is in a state in which steps may be refused."""
        return not place.healthy

    def _act(self, name: str, place: Place) -> None:
        if place.lost and name not in MENDING:
            return  # without a catalog there is nothing to act on
        action: Callable[[Place], None] = getattr(self, name)
        try:
            action(place)
        except LakebedError as refusal:
            if not self.may_refuse(place):
                raise Refused(f"{name} was refused at step {self.number}: {refusal}") from refusal

    # -- files and runs

    def land(self, place: Place) -> None:
        row = self.number * 10
        place.feed.land_row(row)
        place.books = place.books.landed(row)

    def run(self, place: Place) -> None:
        if not place.books.waiting:
            self.land(place)
        self._run(place, full_refresh=False)

    def refresh(self, place: Place) -> None:
        self._run(place, full_refresh=True)

    def _run(self, place: Place, *, full_refresh: bool) -> None:
        books = place.books
        head = place.feed.run(full_refresh=full_refresh)
        if head is None:
            assert not books.waiting, f"a run left {sorted(books.waiting)} and said nothing"
            return
        kept = (row for row in books.visible if not (full_refresh and is_foreign(row)))
        place.books = books.published(head.id, books.waiting.union(kept), waiting=frozenset())

    def append_elsewhere(self, place: Place) -> None:
        """Another program appends a row, by PyIceberg, and knows nothing of Lakebed."""
        if place.healthy:
            row = foreign_row(self.number)
            place.kept.bench.iceberg.load_table(TABLE.parts).append(ids([row]))
            head = place.feed.head()
            assert head
            books = place.books
            place.books = books.published(head.id, books.visible | {row}, waiting=books.waiting)

    # -- rollbacks

    def hold(self, place: Place) -> None:
        self._roll_back(place, requeue=False)

    def requeue(self, place: Place) -> None:
        self._roll_back(place, requeue=True)

    def _roll_back(self, place: Place, *, requeue: bool) -> None:
        if len(place.points()) < 2:  # only the head is left: nothing could be undone
            self.run(place)
        head = place.feed.head()
        to = self.chance.choice([point for point in place.points() if head and point != head.id])
        files: UndoneFiles = "requeue" if requeue else "exclude"
        place.lake.tables.rollback(TABLE, to, files=files)
        place.books = place.books.rolled_back(to, requeue=requeue)

    # -- time

    def expire(self, place: Place) -> None:
        place.lake.care(now=datetime.now(UTC) + WEEK)

    def let_a_year_pass(self, place: Place) -> None:
        place.lake.care(now=datetime.now(UTC) + YEAR)

    def remove_orphans(self, place: Place) -> None:
        place.lake.care(now=datetime.now(UTC) + WEEK, only=["remove_orphans"])

    # -- loss and repair

    def lose_and_rebuild(self, place: Place) -> None:
        place.lose_catalog()
        self.rebuild(place)

    def rebuild(self, place: Place) -> None:
        place.lake.rebuild_catalog()
        place.lost = TABLE not in place.lake.stores.catalog.pointers()

    def back_up(self, place: Place) -> None:
        if place.healthy:
            path = f"{self.folder}/backup-{self.number}.zip"
            if not Path(path).exists():
                place.lake.backup(path)
                place.backups = (*place.backups, (path, place.folder))

    def restore(self, place: Place) -> None:
        """Go back to a backup's catalog, and follow what was committed since."""
        if place.backups:
            path, origin = self.chance.choice(place.backups)
            if origin != place.folder:
                place.stray(origin)
            place.lake.restore(path, force=True, newest=True)
            place.lost = False
            if place.is_whole:  # the restore has relocated it
                place.strayed_from = None

    # -- other places

    def copy(self, place: Place) -> None:
        if len(self.places) < 3:
            self.places.append(place.copied_to(self.folder / f"copy-{self.number}"))

    def move(self, place: Place) -> None:
        former = place.folder
        place.move_to(self.folder / f"moved-{self.number}")
        self.vacated.add(former)

    def relocate(self, place: Place) -> None:
        """From wherever it was; if that is unknown, the user names it."""
        origin = place.strayed_from
        moved = origin is not None and not origin.exists()
        try:
            place.lake.relocate(moved=moved)
        except UsageError:
            if origin is None:
                raise
            place.lake.relocate(origin=str(origin), moved=moved)
        place.strayed_from = None

    def mend(self, place: Place) -> None:
        """The documented way back, whatever happened: afterwards the lake must be whole."""
        for repair in (self.relocate, self.rebuild):
            with suppress(LakebedError):
                repair(place)
        try:
            self.relocate(place)
        except LakebedError as refusal:
            raise Refused(f"there is no way back: {refusal}") from refusal
        assert not place.lost, "the table is not in the catalog any more"

    def end(self) -> None:
        """Every lake is mended and goes on: what waits arrives, what is held stays away."""
        self.number = LAST
        for place in self.places:
            for name in ("mend", "expire", "hold", "run", "refresh"):
                self.number += 1
                self._act(name, place)
                self.check()

    def close(self) -> None:
        for place in self.places:
            place.close()
        shutil.rmtree(self.folder)


LAST = 1000  # steps are numbered from 1
MENDING = frozenset({"rebuild", "lose_and_rebuild", "restore", "relocate", "mend", "copy", "move"})
