"""Tables made again from the files of their zones: after somebody dropped them, and whenever
something has changed.
"""

import sqlite3
from typing import Any

import pytest

from lakebed.errors import BadFiles
from lakebed.presentation.run import run_label
from tests.support.lakes.pipeline_lake import Rows, TestLake

pytestmark = pytest.mark.spark

QUERY = "SELECT * FROM {{ landing_zone('orders') }}"
ARCHIVE = "archive_landing_zones: true\n"


def drop_abroad(shop: TestLake, name: str) -> None:
    """As another program drops a table: Lakebed's books know nothing of it."""
    shop.lake.iceberg.drop_table(shop.table(name).parts)


def reason(shop: TestLake, name: str, **options: Any) -> str:
    (plan,) = shop.lake.plan(name, **options)
    return plan.reason


def ids(shop: TestLake, name: str) -> list[int]:
    return sorted(row["id"] for row in shop.rows(name))


def test_a_table_that_somebody_dropped_is_made_again_from_its_files(shop: TestLake) -> None:
    shop.pipeline("bronze.orders", QUERY, f"merge_strategy: append_only\n{ARCHIVE}")
    shop.pipeline(
        "bronze.whole", "SELECT * FROM {{ landing_zone('whole') }}", "merge_strategy: full_refresh"
    )
    for number in (1, 2):
        shop.land("whole", f"{number}.csv", f"id\n{number}\n")
        shop.land("orders", f"{number}.csv", f"id\n{number}\n")
        shop.run(*("bronze.orders",) if number == 1 else ())
    before = {name: shop.rows(name) for name in ("bronze.orders", "bronze.whole")}
    for name in before:
        drop_abroad(shop, name)
        assert reason(shop, name) == "the table does not exist"
    shop.run()
    assert {name: shop.rows(name) for name in before} == before
    assert shop.run_one("bronze.orders").message == "no file is waiting in shop.orders"
    shop.land("orders", "3.csv", "id\n3\n")
    assert shop.run_one("bronze.orders").rows["inserted"] == 1
    assert ids(shop, "bronze.orders") == [1, 2, 3]


def test_files_that_a_table_cannot_be_made_from_again_are_named_and_nothing_is_lost(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.orders", QUERY, "merge_strategy: append_only")
    files = [shop.land("orders", f"{number}.csv", f"id\n{number}\n") for number in (1, 2)]
    shop.run_one("bronze.orders")
    files[0].unlink()
    refused = shop.run("bronze.orders", full_refresh=True)["bronze.orders"]
    assert refused.state == "failed"
    assert "shop/landing/orders/1.csv" in refused.error["what"]
    assert ids(shop, "bronze.orders") == [1, 2]
    drop_abroad(shop, "bronze.orders")
    refused = shop.run("bronze.orders")["bronze.orders"]
    assert refused.state == "failed"
    assert "shop/landing/orders/1.csv" in refused.error["what"]
    shop.run_one("bronze.orders", full_refresh=True)
    assert ids(shop, "bronze.orders") == [2]


def test_a_table_that_replaces_all_rows_follows_whatever_has_changed_and_is_left_alone_otherwise(
    shop: TestLake,
) -> None:
    query = "SELECT id, '{{ var('v', '0') }}' AS v FROM {{ landing_zone('orders') }}"
    shop.pipeline("bronze.orders", query, "merge_strategy: full_refresh")
    files = [shop.land("orders", f"{number}.csv", f"id\n{number}\n") for number in (1, 2)]

    def after(why: str, **options: Any) -> Rows:
        """What a run for this reason comes to; a second one is not needed."""
        assert why in reason(shop, "bronze.orders", **options)
        shop.run_one("bronze.orders", **options)
        idle = shop.run_one("bronze.orders", **options)
        assert (idle.phases, idle.message) == ((), reason(shop, "bronze.orders", **options))
        return shop.rows("bronze.orders")

    assert after("2 new files") == [{"id": 1, "v": "0"}, {"id": 2, "v": "0"}]
    files[1].unlink()
    assert after("shop/landing/orders/2.csv is gone") == [{"id": 1, "v": "0"}]
    assert after("variables", vars={"v": "1"}) == [{"id": 1, "v": "1"}]
    assert after("variables") == [{"id": 1, "v": "0"}]
    shop.lake.spark.sql("INSERT INTO lake.shop.bronze.orders VALUES (9, 'by hand')")
    assert after("the table has changed") == [{"id": 1, "v": "0"}]
    shop.lake.spark.sql("ALTER TABLE lake.shop.bronze.orders ADD COLUMN more INT")
    assert after("the table has changed") == [{"id": 1, "v": "0"}]
    (shop.folder / "shop/landing/orders/zone.yaml").write_text("expected_schema: {id: string}\n")
    assert after("settings of the zone") == [{"id": "1", "v": "0"}]
    shop.pipeline("bronze.orders", query.replace("'0'", "'2'"))
    assert after("the pipeline has changed") == [{"id": "1", "v": "2"}]


def test_a_table_whose_files_were_archived_keeps_their_rows_when_it_is_computed_again(
    shop: TestLake,
) -> None:
    query = "SELECT id, '{{ var('v', '0') }}' AS v FROM {{ landing_zone('orders') }}"
    shop.pipeline("bronze.orders", query, f"merge_strategy: full_refresh\n{ARCHIVE}")
    for number in (1, 2):
        shop.land("orders", f"{number}.csv", f"id\n{number}\n")
        shop.run_one("bronze.orders")
    assert shop.rows("bronze.orders") == [{"id": 2, "v": "0"}]
    assert reason(shop, "bronze.orders") == "no new file in shop.orders"
    shop.run_one("bronze.orders", vars={"v": "1"})
    assert shop.rows("bronze.orders") == [{"id": 2, "v": "1"}]
    assert reason(shop, "bronze.orders", vars={"v": "1"}) == "no new file in shop.orders"
    shop.run_one("bronze.orders", full_refresh=True)
    assert shop.rows("bronze.orders") == [{"id": 2, "v": "0"}]


def test_rows_behind_symbolic_links_stay_and_a_link_out_of_the_zone_fails_the_run(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.orders", QUERY, f"merge_strategy: append_only\n{ARCHIVE}")
    shop.pipeline("bronze.whole", QUERY, f"merge_strategy: full_refresh\n{ARCHIVE}")
    kept = shop.land("orders", "kept/1.csv", "id\n1\n")
    link = kept.parents[1] / "1.csv"
    link.symlink_to("kept/1.csv")
    shop.land("orders", "2.csv", "id\n2\n")
    shop.run()
    assert [ids(shop, name) for name in ("bronze.orders", "bronze.whole")] == [[1, 2], [1, 2]]
    assert kept.exists()  # only what no link leads to is archived
    assert not (link.parent / "2.csv").exists()
    outside = shop.folder / "kept.csv"
    kept.rename(outside)
    link.unlink()
    link.symlink_to(outside)
    for record in shop.run().values():
        assert (record.state, record.error["kind"]) == ("failed", "LinkRefused")
        assert "orders/1.csv" in record.error["where"]
        assert str(outside) in record.error["what"]
    assert [ids(shop, name) for name in ("bronze.orders", "bronze.whole")] == [[1, 2], [1, 2]]


def test_a_landed_file_that_is_corrected_in_place_does_not_add_its_rows_twice(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.orders", QUERY, "merge_strategy: append_only")
    shop.pipeline("bronze.merged", QUERY, "merge_strategy: incremental\nunique_key: id")
    shop.land("orders", "1.csv", "id,amount\n1,10\n2,20\n")
    shop.run()
    corrected = shop.land("orders", "1.csv", "id,amount\n1,10\n2,25\n", age=30)
    with pytest.raises(BadFiles, match=r"orders/1.csv was replaced.*--full-refresh.*replaced: ap"):
        shop.lake.plan("bronze.orders")
    assert reason(shop, "bronze.merged") == "1 replaced file in shop.orders"
    assert shop.lake.zones.show("orders").files[0].reason.startswith("it was replaced")
    records = shop.run()
    assert records["bronze.orders"].error["kind"] == "BadFiles"
    assert sorted(row["amount"] for row in shop.rows("bronze.merged")) == [10, 25]
    assert sorted(row["amount"] for row in shop.rows("bronze.orders")) == [10, 20]
    # a zone that was in use before Lakebed could tell goes on, with a warning
    with sqlite3.connect(shop.folder / ".data" / "lake.db") as database:
        database.execute("INSERT INTO lakebed_appending_zones VALUES ('shop.orders')")
    (plan,) = shop.lake.plan("bronze.orders")
    assert (plan.reason, len(plan.warnings)) == ("1 replaced file in shop.orders", 1)
    record = shop.run_one("bronze.orders")
    assert (record.warnings, run_label(record)) == (plan.warnings, "WARN")
    assert shop.lake.runs.show(record.run_id).warnings == plan.warnings
    assert len(shop.rows("bronze.orders")) == 4
    # and where it is meant, without
    (corrected.parent / "zone.yaml").write_text("replaced: append\n")
    shop.land("orders", "1.csv", "id,amount\n3,30\n", age=20)
    assert shop.run_one("bronze.orders").warnings == ()
    assert len(shop.rows("bronze.orders")) == 5
