"""Themes: which steps a walk takes, and how often each."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lakebed.settings import Settings
from tests.servers.postgres import PostgresServer
from tests.walks.clocks import walk_with_clocks
from tests.walks.feed import Feed
from tests.walks.links import walk_with_links
from tests.walks.place import new_place
from tests.walks.twins import walk_with_twins
from tests.walks.walk import Step, Walk

NewWalk = Callable[[Path, int], Walk]
RUNS = ("run", "run", "run")


@dataclass(frozen=True)
class Theme:
    """Every walk begins with the same steps, then draws so many more by weight."""

    name: str
    begin: Sequence[str]
    weights: Mapping[str, int]
    length: int
    new_walk: NewWalk  # in a new folder, for a seed

    def __str__(self) -> str:
        return self.name

    def steps(self, seed: int) -> tuple[Step, ...]:
        chance = random.Random(seed)
        names = [name for name, weight in self.weights.items() for _ in range(weight)]
        drawn = [*self.begin, *(chance.choice(names) for _ in range(self.length))]
        return tuple(Step(name, number) for number, name in enumerate(drawn, start=1))


def _without_spark(folder: Path, seed: int) -> Walk:
    archive = seed % 4 == 3
    place = new_place(
        folder / "lake",
        Settings(),
        lambda kept: Feed(kept, archive=archive, strategy="append_only"),
    )
    return Walk(folder, [place])


EXPIRY_AND_REBUILD = Theme(
    "expiry and rebuild",
    RUNS,
    {
        "run": 3, "hold": 4, "requeue": 1, "expire": 3, "let_a_year_pass": 1, "lose_and_rebuild": 6,
        "back_up": 1, "restore": 1,
    },
    24,
    _without_spark,
)  # fmt: skip
UNDONE_AND_EXPIRED = Theme(
    "undone and expired",
    RUNS,
    {
        "run": 6, "hold": 6, "requeue": 2, "expire": 5, "refresh": 1, "append_elsewhere": 2,
    },
    28,
    _without_spark,
)  # fmt: skip
COPIED_AND_REBUILT = Theme(
    "copied and rebuilt",
    RUNS,
    {
        "run": 2, "hold": 1, "copy": 2, "move": 5, "lose_and_rebuild": 7, "remove_orphans": 2, "expire": 1,
        "relocate": 1, "mend": 1,
    },
    20,
    _without_spark,
)  # fmt: skip
RESTORED_ELSEWHERE = Theme(
    "restored elsewhere",
    (*RUNS, "back_up", "run"),
    {
        "run": 3, "back_up": 1, "copy": 2, "move": 4, "restore": 7, "relocate": 1, "remove_orphans": 1,
        "mend": 1,
    },
    18,
    _without_spark,
)  # fmt: skip
LINKS = Theme(
    "links",
    RUNS,
    {
        "run": 3, "land": 2, "refresh": 1, "hold": 1, "requeue": 1, "link_inside": 3, "link_outside": 1,
        "put_back": 1, "expire": 1,
    },
    12,
    walk_with_links,
)  # fmt: skip

THEMES = (EXPIRY_AND_REBUILD, UNDONE_AND_EXPIRED, COPIED_AND_REBUILT, RESTORED_ELSEWHERE, LINKS)


def twin_databases(server: PostgresServer) -> Theme:
    return Theme(
        "twin databases",
        (*RUNS, "back_up", "restore_into_second_database"),
        {
            "run": 2, "hold": 1, "expire": 1, "back_up": 1, "restore_into_second_database": 1,
            "run_in_twin": 1, "hold_in_twin": 1, "expire_in_twin": 2, "remove_orphans_in_twin": 2,
            "drop_in_twin": 1, "run_with_an_empty_database": 1, "create_lake_on_the_same_database": 1,
        },
        12,
        walk_with_twins(server),
    )  # fmt: skip


CLOCKS = Theme(
    "clocks",
    ("run", "run"),
    {"run": 2, "append_ahead": 3, "tag_ahead": 1, "hold_ahead": 1, "hold": 1, "expire": 1},
    6,
    walk_with_clocks,
)
