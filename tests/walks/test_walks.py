"""Whatever happens to a lake over time and in other places: no row is lost, none comes twice, and no
file that a table needs is deleted.

Each walk has a theme. `make test` takes one way for each, always the same; `make test-long` takes 20
new ones. A walk that fails is shortened, and the shortest way becomes a test in `test_few_steps`.
"""

from pathlib import Path

import pytest

from tests.servers.postgres import PostgresServer
from tests.support.scale import SCALE, fuzz_seed
from tests.walks.faults import require_nothing_lost
from tests.walks.themes import CLOCKS, THEMES, Theme, twin_databases

SEEDS = range(20 if SCALE > 1 else 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("theme", THEMES, ids=str)
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
