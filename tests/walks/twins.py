"""Second databases on the files of a lake: restored, empty, or given to another lake."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lakebed.app import create_lake
from lakebed.errors import LakebedError
from lakebed.settings import PostgresCatalog, Settings
from tests.servers.postgres import Database, PostgresServer
from tests.walks.feed import TABLE, Feed
from tests.walks.place import Place, new_place
from tests.walks.walk import WEEK, Walk

MONTHS = timedelta(days=60)  # by then every dropped table is purged


@dataclass
class TwinWalk(Walk):
    """One lake, whose files second databases know as well. Those may read and change nothing."""

    server: PostgresServer | None = None
    databases: list[Database] = field(default_factory=list)
    opened: list[Place] = field(default_factory=list)
    twins: list[Place] = field(default_factory=list)  # those that know the table

    def restore_into_second_database(self, place: Place) -> None:
        if place.backups and len(self.twins) < 2:
            path, _ = self.chance.choice(place.backups)
            twin = self._second(place)
            with self._nothing_changes(place):
                twin.lake.restore(path, newest=self.chance.random() < 0.5)
                self.twins.append(twin)

    def run_in_twin(self, place: Place) -> None:
        if not place.books.waiting:
            self.land(place)
        self._in_twin(place, lambda twin: twin.feed.run())

    def hold_in_twin(self, place: Place) -> None:
        self._in_twin(place, self._hold_first)

    def expire_in_twin(self, place: Place) -> None:
        self._in_twin(place, lambda twin: twin.lake.care(now=datetime.now(UTC) + WEEK))

    def remove_orphans_in_twin(self, place: Place) -> None:
        later = datetime.now(UTC) + WEEK
        self._in_twin(place, lambda twin: twin.lake.care(now=later, only=["remove_orphans"]))

    def drop_in_twin(self, place: Place) -> None:
        self._in_twin(place, self._drop)

    def run_with_an_empty_database(self, place: Place) -> None:
        """As after a mistyped address: every file would be read a second time."""
        twin = self._second(place)
        with self._nothing_changes(place), suppress(LakebedError):
            with twin.lake.tables.lease(TABLE):
                twin.kept.bench.table(TABLE.name)
            twin.feed.run()

    def create_lake_on_the_same_database(self, place: Place) -> None:
        catalog = place.settings.catalog
        assert isinstance(catalog, PostgresCatalog)
        assert catalog.password
        settings = {"catalog": {"kind": "postgres", "url": catalog.url, "user": catalog.user}}
        secret = {"LAKEBED_CATALOG_PASSWORD": catalog.password.get_secret_value()}
        try:
            create_lake(
                self.folder / f"other-{self.number}",
                settings=settings,
                environment={**os.environ, **secret},
            ).close()
        except LakebedError:
            return
        raise AssertionError("a second lake was created on a database that has one")

    def _second(self, place: Place) -> Place:
        assert self.server
        self.databases.append(self.server.fresh_database())
        settings = Settings(catalog=self.databases[-1].catalog)
        self.opened.append(Place(place.folder, settings, place.make_feed, books=place.books))
        return self.opened[-1]

    def _in_twin(self, place: Place, action: Callable[[Place], object]) -> None:
        if self.twins:
            twin = self.chance.choice(self.twins)
            with self._nothing_changes(place), suppress(LakebedError):
                if TABLE in twin.lake.stores.catalog.pointers():
                    action(twin)

    def _hold_first(self, twin: Place) -> None:
        twin.lake.tables.rollback(TABLE, twin.points()[0], files="exclude")

    def _drop(self, twin: Place) -> None:
        twin.lake.tables.drop(TABLE)
        twin.lake.care(now=datetime.now(UTC) + MONTHS)

    @contextmanager
    def _nothing_changes(self, place: Place) -> Iterator[None]:
        before = place.tree()
        yield
        assert place.tree() == before, "a second database changed the lake's files"

    def close(self) -> None:
        for second in self.opened:
            second.close()
        super().close()
        assert self.server
        for database in self.databases:
            self.server.drop(database)


def walk_with_twins(server: PostgresServer) -> Callable[[Path, int], TwinWalk]:
    """Walks whose lakes have their catalogs in databases of this server."""

    def new_walk(folder: Path, seed: int) -> TwinWalk:
        database = server.fresh_database()
        place = new_place(
            folder / "lake",
            Settings(catalog=database.catalog),
            lambda kept: Feed(kept, archive=seed % 4 == 3, strategy="append_only"),
        )
        return TwinWalk(folder, [place], server=server, databases=[database])

    return new_walk
