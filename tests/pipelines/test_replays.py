"""A full refresh makes the table that the runs made: the files of each run are one batch, in the
order of the runs.
"""

import random

import pytest

from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import SCALE

pytestmark = pytest.mark.spark

ZONE = "SELECT * FROM {{ landing_zone('orders') }}"
CONFIGS = {
    "full_refresh": "merge_strategy: full_refresh",
    "append_only": "merge_strategy: append_only",
    "incremental": "merge_strategy: incremental\nunique_key: id",
    "delete_insert": "merge_strategy: delete_insert\nunique_key: id",
    "snapshot": "merge_strategy: snapshot\npartition_column: day",
    "scd2": "merge_strategy: scd2\nunique_key: id\nscd_close_absent: true",
    "soft_delete": "merge_strategy: soft_delete\nunique_key: id",
}
SOURCES = {
    "append_only": (
        "SELECT count(*) AS id, '{{ run_started_at }}' AS at FROM {{ landing_zone('orders') }}"
    ),
    "scd2": "def run(spark, context):\n    return context.landing_zone('orders').drop('at')\n",
}


def extract(draw: random.Random) -> str:
    """Some of five keys, each with a value, a day and a time; times may go back."""
    ids = sorted(draw.sample(range(5), draw.randint(1, 4)))
    rows = (f"{id},{draw.randint(1, 2)},{draw.randint(1, 3)},{draw.randint(1, 9)}" for id in ids)
    return "\n".join(("id,day,v,at", *rows, ""))


@pytest.mark.parametrize("seed", range(SCALE))
def test_a_full_refresh_gives_the_rows_that_the_runs_gave_whatever_the_strategy(
    seed: int, shop: TestLake
) -> None:
    draw = random.Random(seed)
    names = [f"bronze.{name}" for name in CONFIGS]
    for name, config in CONFIGS.items():
        ordered = "\nwatermark_column: at" if name == "incremental" and draw.random() < 0.5 else ""
        archived = f"\narchive_landing_zones: {str(draw.random() < 0.5).lower()}"
        shop.pipeline(f"bronze.{name}", SOURCES.get(name, ZONE), config + ordered + archived)
    for number in range(2 if SCALE == 1 else draw.randint(2, 5)):
        shop.land(
            "orders", f"{draw.randint(0, 99)}-{number}.csv", extract(draw)
        )  # names say nothing of the order
        assert {record.state for record in shop.run().values()} == {"success"}
    before, snapshots = (
        {name: shop.rows(name) for name in names},
        {name: shop.snapshots(name) for name in names},
    )
    records = shop.run(full_refresh=True)
    assert {
        name: (record.state, record.error) for name, record in records.items()
    } == dict.fromkeys(names, ("success", {}))
    for name in names:
        assert shop.rows(name) == before[name], (seed, name)
        assert shop.snapshots(name) - snapshots[name] <= 1
    dropped = f"bronze.{draw.choice([*CONFIGS])}"
    shop.lake.iceberg.drop_table(shop.table(dropped).parts)
    shop.run_one(dropped)
    assert shop.rows(dropped) == before[dropped], (seed, dropped)
    assert shop.hidden() == []


def test_a_changed_query_sees_null_where_old_files_lack_its_columns_and_one_type_in_all(
    shop: TestLake,
) -> None:
    config = "merge_strategy: incremental\nunique_key: id\non_schema_change: append"
    shop.pipeline("bronze.named", "SELECT id, v FROM {{ landing_zone('orders') }}", config)
    shop.pipeline("bronze.all", ZONE, config)
    for number, text in enumerate(("id,v,w\n1,1,a\n2,1,b\n", "id,v,x\n2,2,c\n")):
        shop.land("orders", f"{number}.csv", text)
        shop.run()
    before = shop.rows("bronze.all")
    assert before[1] == {
        "id": 2,
        "v": 2,
        "w": "b",
        "x": "c",
    }  # a column that a file lacks keeps its values
    shop.pipeline("bronze.named", "SELECT id, v, x FROM {{ landing_zone('orders') }}", config)
    shop.land("orders", "4.csv", "id,v\n4,4\n")
    shop.run(full_refresh=True)
    assert shop.rows("bronze.all") == [*before, {"id": 4, "v": 4, "w": None, "x": None}]
    assert [(row["id"], row["x"]) for row in shop.rows("bronze.named")] == [
        (1, None),
        (2, "c"),
        (4, None),
    ]


def test_extracts_that_wait_together_are_taken_one_by_one_or_refused(shop: TestLake) -> None:
    config = "merge_strategy: soft_delete\nunique_key: id\nwatermark_column: at\n"
    shop.pipeline("bronze.orders", ZONE, config)
    for number, ids in enumerate(((1, 2), (1,), (1, 3))):
        rows = "".join(f"{id},{number}\n" for id in ids)
        shop.land("orders", f"{9 - number}.csv", f"id,at\n{rows}", age=60 - number)
    refused = shop.run("bronze.orders")["bronze.orders"]
    assert (refused.state, "one_file_a_run" in refused.error["next"]) == ("failed", True)
    shop.pipeline("bronze.orders", ZONE, f"{config}one_file_a_run: true")
    assert (
        shop.lake.plan("bronze.orders")[0].reason
        == "1 new file in shop.orders, and 2 more, each in its own run"
    )
    shop.run_one("bronze.orders")
    before = shop.rows("bronze.orders")
    assert [(row["id"], row["_deleted_at"] is not None) for row in before] == [
        (1, False),
        (2, True),
        (3, False),
    ]
    assert shop.snapshots("bronze.orders") == 3
    shop.run_one("bronze.orders", full_refresh=True)
    assert shop.rows("bronze.orders") == before


def test_a_full_refresh_that_would_lose_history_is_refused(shop: TestLake) -> None:
    shop.pipeline("bronze.a", "SELECT 1 AS id, {{ var('v', 1) }} AS v")
    shop.pipeline(
        "silver.a", "SELECT * FROM {{ ref('bronze.a') }}", "merge_strategy: scd2\nunique_key: id"
    )
    shop.run()
    shop.run(vars={"v": 2})
    before = shop.rows("silver.a")
    refused = shop.run("silver.a", full_refresh=True)["silver.a"]
    assert (refused.state, "would lose history" in refused.error["what"]) == ("failed", True)
    assert shop.rows("silver.a") == before
    shop.lake.tables.drop("silver.a")
    shop.run_one("silver.a", full_refresh=True)
    assert [row["v"] for row in shop.rows("silver.a")] == [2]
