"""Whatever happens to a lake over time and in other places: no row is lost, none comes twice, and no
file that a table needs is deleted.

Each walk has a theme. `make test` takes one way for each, always the same; `make test-long` takes 20
new ones. A walk that fails is shortened, and the shortest way becomes a test in `test_few_steps`.
"""

from pathlib import Path

import pytest

from lakebed.settings import Settings
from tests.servers.postgres import PostgresServer
from tests.support.scale import SCALE, fuzz_seed
from tests.walks.clocks import walk_with_clocks
from tests.walks.feed import Feed
from tests.walks.links import walk_with_links
from tests.walks.place import new_place
from tests.walks.themes import Theme, require_nothing_lost
from tests.walks.twins import walk_with_twins
from tests.walks.walk import Walk

SEEDS = range(20 if SCALE > 1 else 1)
RUNS = ("run", "run", "run")


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
        "run": 3, "hold": 1, "requeue": 1, "expire": 3, "let_a_year_pass": 1, "lose_and_rebuild": 4,
        "back_up": 1, "restore": 2,
    },
    16,
    _without_spark,
)  # fmt: skip
UNDONE_AND_EXPIRED = Theme(
    "undone and expired",
    RUNS,
    {
        "run": 4, "hold": 6, "requeue": 3, "expire": 4, "refresh": 1, "append_elsewhere": 2,
    },
    24,
    _without_spark,
)  # fmt: skip
COPIED_AND_REBUILT = Theme(
    "copied and rebuilt",
    RUNS,
    {
        "run": 3, "hold": 1, "copy": 2, "move": 2, "lose_and_rebuild": 4, "remove_orphans": 2, "expire": 1,
        "relocate": 1, "mend": 1,
    },
    16,
    _without_spark,
)  # fmt: skip
RESTORED_ELSEWHERE = Theme(
    "restored elsewhere",
    (*RUNS, "back_up", "run"),
    {
        "run": 3, "back_up": 1, "copy": 2, "move": 3, "restore": 5, "relocate": 1, "remove_orphans": 1,
        "mend": 1,
    },
    14,
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
    {"run": 2, "append_ahead": 2, "tag_ahead": 1, "hold_ahead": 1, "hold": 1, "expire": 1},
    5,
    walk_with_clocks,
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_whatever_happens_no_row_is_lost_and_none_comes_twice(
    theme: Theme, seed: int, tmp_path: Path
) -> None:
    require_nothing_lost(theme, tmp_path, fuzz_seed(seed))


@pytest.mark.postgres
@pytest.mark.parametrize("seed", SEEDS)
def test_a_second_database_changes_nothing_of_a_lake(
    seed: int, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    require_nothing_lost(twin_databases(postgres_server), tmp_path, fuzz_seed(seed))


@pytest.mark.spark
@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_goes_on_after_commits_by_clocks_that_were_ahead(
    seed: int, tmp_path: Path, spark_home: Path
) -> None:
    require_nothing_lost(CLOCKS, tmp_path, fuzz_seed(seed))
