"""kill -9 at every step boundary of a run, then a rerun: `main` was right all the time, and the
rerun gives the right rows.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kills import check_healed, killed
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import rotated

pytestmark = pytest.mark.spark

CONFIGS = {
    "incremental": "merge_strategy: incremental\nunique_key: id\nwatermark_column: at",
    "append_only": "merge_strategy: append_only",
    "full_refresh": "merge_strategy: full_refresh",
    "delete_insert": "merge_strategy: delete_insert\nunique_key: id",
    "scd2": "merge_strategy: scd2\nunique_key: id",
    "snapshot": "merge_strategy: snapshot\npartition_column: at",
    "soft_delete": "merge_strategy: soft_delete\nunique_key: id",
}
EXPECTED = {  # ids after a first file with 1 and 2 (at 1), and a second with 2 (at 2) and 3 (at 2)
    "incremental": [1, 2, 3],
    "append_only": [1, 2, 2, 3],
    "full_refresh": [1, 2, 2, 3],
    "delete_insert": [1, 2, 3],
    "scd2": [1, 2, 2, 3],
    "snapshot": [1, 2, 2, 3],
    "soft_delete": [1, 2, 3],
}
BOUNDARIES = [
    ("before", "OpenZone"),
    ("after", "OpenZone"),
    ("after", "Calculate"),
    ("after", "Stage"),
    ("after", "CheckKeys"),
    ("after", "PrepareSchema"),
    ("after", "OpenBranch"),
    ("after", "Write"),
    ("after", "DropStage"),
    ("after", "Judge"),
    ("before", "Publish"),
    ("after", "Publish"),
    ("after", "Archive"),
]
SOURCE = "SELECT * FROM {{ landing_zone('orders') }}"
GATE = {"ids": "SELECT * FROM {{ this }} WHERE id IS NULL"}


def applicable(strategy: str) -> Iterator[tuple[str, str]]:
    """The boundaries that a run of the strategy has."""
    staged = strategy not in {"append_only", "full_refresh"}
    keyed = strategy not in {"append_only", "full_refresh", "snapshot"}
    for when, step in BOUNDARIES:
        if (step in {"Stage", "DropStage"} and not staged) or (step == "CheckKeys" and not keyed):
            continue
        yield when, step


CASES = [(strategy, when, step) for strategy in CONFIGS for when, step in applicable(strategy)]
AT_A_TIME = 2


@pytest.mark.parametrize(("strategy", "when", "step"), rotated(CASES, AT_A_TIME))
def test_a_killed_run_leaves_main_right_and_the_next_run_heals(
    strategy: str, when: str, step: str, tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    config = f"{CONFIGS[strategy]}\narchive_landing_zones: true\non_schema_change: append"
    shop.pipeline("bronze.orders", SOURCE, config, gates=GATE)
    shop.land("orders", "1.csv", "id,at\n1,1\n2,1\n")
    shop.run_one("bronze.orders")
    before = shop.rows("bronze.orders")
    columns = shop.lake.tables.describe(shop.table("bronze.orders")).columns

    rows = "2,2,x\n3,2,y\n"
    rows = f"1,1,w\n2,1,w\n{rows}" if strategy == "full_refresh" else rows
    shop.land(
        "orders",
        "2.csv",
        f"id,at,note\n{rows}" if strategy != "soft_delete" else f"id,at,note\n1,1,w\n{rows}",
    )
    killed(shop.folder, when, step)
    published = (when, step) in {("after", "Publish"), ("after", "Archive")}
    if not published:
        seen = [{key: row[key] for key in before[0]} for row in shop.rows("bronze.orders")]
        assert sorted(seen, key=repr) == before

    record = shop.run("bronze.orders")["bronze.orders"]
    assert record.state == "success", record.error
    _right(shop, strategy)
    assert shop.lake.tables.describe(shop.table("bronze.orders")).columns[: len(columns)] == columns
    shop.lake.close()


def _right(shop: TestLake, strategy: str) -> None:
    """The oracle after every fault: acknowledged rows once, no leftovers, one record and one
    snapshot for each success.
    """
    found = sorted(row["id"] for row in shop.rows("bronze.orders"))
    expected = EXPECTED[strategy]
    assert found == expected
    assert shop.snapshots("bronze.orders") == 2
    check_healed(shop.lake, [shop.table("bronze.orders")])
    landing = {path for path in shop.files() if "/landing/" in path}
    assert {path.rpartition("/")[2] for path in landing if "/_processed/" in path} == {
        "1.csv",
        "2.csv",
    }
    assert not any(path.count("/") == 3 for path in landing)


def test_a_first_run_killed_at_its_end_is_forgotten_and_made_anew(
    tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    shop.pipeline("bronze.orders", SOURCE, CONFIGS["incremental"], gates=GATE)
    shop.land("orders", "1.csv", "id,at\n1,1\n2,1\n")
    killed(shop.folder, "after", "Judge")
    assert [table.hidden for table in shop.lake.stores.catalog.pointers()] == [True]
    shop.run_one("bronze.orders")
    assert sorted(row["id"] for row in shop.rows("bronze.orders")) == [1, 2]
    assert shop.hidden() == []
    shop.lake.close()


@pytest.mark.parametrize("when", rotated(["before", "after"], 1))
def test_a_run_killed_while_it_follows_what_others_have_appended_leaves_theirs_and_adds_its_rows_once(
    when: str, tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    shop.pipeline("bronze.orders", SOURCE, CONFIGS["append_only"], gates=GATE)
    shop.land("orders", "1.csv", "id,at\n1,1\n")
    shop.run_one("bronze.orders")
    shop.land("orders", "2.csv", "id,at\n2,2\n")
    killed(shop.folder, when, "Rebase", "appends")
    assert [row["id"] for row in shop.rows("bronze.orders")] == [1, 100]
    shop.run_one("bronze.orders")
    assert [row["id"] for row in shop.rows("bronze.orders")] == [1, 100, 2]
    check_healed(shop.lake, [shop.table("bronze.orders")])
    shop.lake.close()


@pytest.mark.parametrize("step", rotated(["Replay", "Write", "Judge"], 1))
def test_a_full_refresh_killed_half_way_leaves_main_as_it_was_and_the_next_one_ends_it(
    step: str, tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    shop.pipeline("bronze.orders", SOURCE, CONFIGS["scd2"], gates=GATE)
    for number in (1, 2):
        shop.land("orders", f"{number}.csv", f"id,at\n1,{number}\n")
        shop.run_one("bronze.orders")
    before, snapshots = shop.rows("bronze.orders"), shop.snapshots("bronze.orders")
    killed(shop.folder, "after", step, "full_refresh")
    assert shop.rows("bronze.orders") == before
    shop.run_one("bronze.orders", full_refresh=True)
    assert shop.rows("bronze.orders") == before
    assert (shop.hidden(), shop.refs("bronze.orders")) == ([], {"main"})
    assert shop.snapshots("bronze.orders") == snapshots + 1
    shop.lake.close()
