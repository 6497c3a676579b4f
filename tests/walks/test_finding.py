"""Walks find faults: with one of the fixes taken out, most fresh walks lose, double or delete
something. The shortest ways are in `test_few_steps`. `pytest -s` says how many found what.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.servers.postgres import PostgresServer
from tests.support.scale import SCALE, fuzz_seed
from tests.walks.faults import fault_of, kind_of
from tests.walks.fixes import (
    CLOCKS_ARE_COMPARED,
    DESCENT_IS_RECORDED,
    EXPIRY_IS_RECORDED,
    LAKES_HAVE_OWNERS,
    METADATA_COUNTS,
    RESTORE_FOLLOWS,
    ROLLBACKS_ARE_RECORDED,
    Fix,
)
from tests.walks.themes import (
    CLOCKS,
    COPIED_AND_REBUILT,
    EXPIRY_AND_REBUILD,
    RESTORED_ELSEWHERE,
    UNDONE_AND_EXPIRED,
    Theme,
    twin_databases,
)

WALKS, FIND_IT = 20, 15

pytestmark = pytest.mark.skipif(SCALE == 1, reason="takes minutes: make test-long")


def require_found(theme: Theme, folder: Path) -> None:
    """Most walks fail, and by what the walks look for: that something else broke proves nothing."""
    seeds = [fuzz_seed(number) for number in range(WALKS)]
    walks = [fault_of(theme, theme.steps(seed), folder / str(seed), seed) for seed in seeds]
    faults = [fault for fault in walks if fault]
    for fault in faults:
        if not isinstance(fault, AssertionError):
            raise fault
    found = f"{theme}: {len(faults)} of {WALKS} from {seeds[0]} on: {Counter(map(kind_of, faults))}"
    print(found)
    assert len(faults) >= FIND_IT, found


@pytest.mark.parametrize(
    ("fix", "theme"),
    [
        (EXPIRY_IS_RECORDED, EXPIRY_AND_REBUILD),
        (ROLLBACKS_ARE_RECORDED, EXPIRY_AND_REBUILD),
        (DESCENT_IS_RECORDED, UNDONE_AND_EXPIRED),
        (METADATA_COUNTS, COPIED_AND_REBUILT),
        (RESTORE_FOLLOWS, RESTORED_ELSEWHERE),
    ],
    ids=str,
)
def test_walks_find_what_is_lost_without_a_fix(
    fix: Fix, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fix.take_out(monkeypatch)
    require_found(theme, tmp_path)


@pytest.mark.postgres
def test_walks_find_what_a_second_database_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: PostgresServer
) -> None:
    LAKES_HAVE_OWNERS.take_out(monkeypatch)
    require_found(twin_databases(postgres_server), tmp_path)


@pytest.mark.spark
def test_walks_find_tables_that_a_clock_ahead_has_blocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark_home: Path
) -> None:
    CLOCKS_ARE_COMPARED.take_out(monkeypatch)
    require_found(CLOCKS, tmp_path)
