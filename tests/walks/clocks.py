"""Commits by machines whose clocks are ahead, others' and our own."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from unittest.mock import patch

from lakebed.errors import LakebedError
from lakebed.settings import Settings
from tests.walks.feed import TABLE, SparkFeed
from tests.walks.place import Place, new_place
from tests.walks.walk import Walk

AHEAD = (90.0, 600.0, 100_000.0)  # seconds; Iceberg tolerates one minute


@contextmanager
def clock_ahead(seconds: float) -> Iterator[None]:
    """As on a machine whose clock is ahead of the database's, and of Spark's."""
    right = time.time

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=seconds)

    with ExitStack() as patches:
        patches.enter_context(patch("time.time", lambda: right() + seconds))
        for module in ("pyiceberg.table.update", "lakebed.tables.publishing.clock"):
            patches.enter_context(patch(f"{module}.datetime", Ahead))
        yield


class ClockWalk(Walk):
    """One lake, whose runs are Spark's. With the right clock nothing is refused."""

    def append_ahead(self, place: Place) -> None:
        with clock_ahead(self.chance.choice(AHEAD)):
            self.append_elsewhere(place)

    def tag_ahead(self, place: Place) -> None:
        with clock_ahead(self.chance.choice(AHEAD)), suppress(LakebedError):
            place.lake.tables.tag(TABLE, f"v{self.number}")

    def hold_ahead(self, place: Place) -> None:
        with clock_ahead(self.chance.choice(AHEAD)), suppress(LakebedError):
            self.hold(place)


def walk_with_clocks(folder: Path, seed: int) -> ClockWalk:
    place = new_place(
        folder / "lake",
        Settings(),
        lambda kept: SparkFeed(kept, archive=seed % 4 == 3, strategy="append_only"),
    )
    return ClockWalk(folder, [place])
