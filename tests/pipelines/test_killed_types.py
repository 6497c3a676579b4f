"""kill -9 at every phase of a run that replaces a column's type: readers keep the former column
until the new one is published.
"""

from pathlib import Path

import pytest

from tests.support.kills import killed
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import rotated

pytestmark = pytest.mark.spark

NUMBERS = "SELECT * FROM VALUES (1, 5), (2, NULL) AS t(id, v)"
WORDS = "SELECT * FROM VALUES (1, 'five'), (2, NULL) AS t(id, v)"
GATE = {"ids": "SELECT * FROM {{ this }} WHERE id IS NULL OR v = '5'"}
BOUNDARIES = [
    ("after", "PrepareSchema"),
    ("after", "OpenBranch"),
    ("after", "Write"),
    ("after", "Judge"),
    ("before", "Publish"),
    ("after", "Publish"),
]


def columns(shop: TestLake) -> list[tuple[str, str]]:
    return [(one.name, one.type) for one in shop.lake.tables.describe("silver.a").columns]


@pytest.mark.parametrize(("when", "step"), rotated(BOUNDARIES, 1))
def test_a_run_killed_while_it_replaces_a_type_leaves_the_former_values_and_the_next_run_heals(
    when: str, step: str, tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    shop.pipeline("silver.a", NUMBERS)
    shop.run_one("silver.a")
    before, former = shop.rows("silver.a"), columns(shop)
    numbers = shop.lake.tables.describe("silver.a").refs["main"]

    shop.pipeline("silver.a", WORDS, gates=GATE)
    killed(shop.folder, when, step)
    published = (when, step) == ("after", "Publish")
    if not published:  # at most a column was added to them
        assert shop.rows("silver.a", columns=("id", "v")) == before
        assert columns(shop)[:2] == former
        assert shop.lake.tables.describe("silver.a").refs["main"] == numbers

    shop.run_one("silver.a")
    assert shop.rows("silver.a") == [{"id": 1, "v": "five"}, {"id": 2, "v": None}]
    assert columns(shop) == [("id", "int"), ("v", "string")]
    assert shop.snapshots("silver.a") == 2 + published
    assert (shop.refs("silver.a"), shop.hidden()) == ({"main"}, [])
    assert shop.lake.stores.records.runs(table=shop.table("silver.a"), state="running") == ()

    shop.lake.tables.rollback("silver.a", to=str(numbers.snapshot))
    assert (shop.rows("silver.a"), columns(shop)) == (before, former)
    shop.lake.close()
