"""Undoing what runs did: rollback with the files they took, and what a diff says of two states."""

import pytest

from lakebed.errors import LeaseHeld, UsageError
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]

APPEND = "merge_strategy: append_only\non_schema_change: sync\n"
QUERY = "SELECT * FROM {{ landing_zone('orders') }}"


def landed_twice(shop: TestLake, *, archive: bool = False) -> tuple[str, str]:
    """A table that took one file by each of two runs; returns the runs' ids."""
    shop.pipeline(
        "silver.orders", QUERY, APPEND + ("archive_landing_zones: true\n" if archive else "")
    )
    runs = []
    for number in (1, 2):
        shop.land("orders", f"{number}.csv", f"id,v\n{number},{number}0\n")
        runs.append(shop.run_one("silver.orders").run_id)
    return runs[0], runs[1]


def ids(shop: TestLake, name: str = "silver.orders") -> list[int]:
    return [row["id"] for row in shop.rows(name)]


@pytest.mark.parametrize("archive", [False, True], ids=["files left in the zone", "files archived"])
def test_requeued_files_are_read_again_by_the_next_run(shop: TestLake, archive: bool) -> None:
    first, second = landed_twice(shop, archive=archive)
    shop.lake.tables.rollback("orders", first, files="requeue")
    assert ids(shop) == [1]
    assert (shop.folder / "shop/landing/orders/2.csv").exists()
    assert shop.run_one("silver.orders").rows["inserted"] == 1
    assert ids(shop) == [1, 2]
    # Forward again to the first time that the file was read: it counts as taken once, and is not
    # read a third time.
    shop.lake.tables.rollback("orders", second, files="requeue")
    assert ids(shop) == [1, 2]
    assert shop.run_one("silver.orders").message.startswith("no ")
    assert ids(shop) == [1, 2]


def test_held_files_are_read_by_no_run_until_the_way_back(shop: TestLake) -> None:
    first, second = landed_twice(shop)
    shop.lake.tables.rollback("orders", first, files="exclude")
    assert shop.run_one("silver.orders").message.startswith("no ")
    assert ids(shop) == [1]
    shop.run_one("silver.orders", full_refresh=True)
    assert ids(shop) == [1]
    undone = shop.lake.tables.rollback("orders", second, files="exclude")
    assert undone.redone == (second,)
    assert ids(shop) == [1, 2]


@pytest.mark.parametrize("archive", [False, True], ids=["files left in the zone", "files archived"])
def test_holding_the_files_of_a_full_refresh_keeps_those_that_the_restored_state_has(
    shop: TestLake, archive: bool
) -> None:
    shop.pipeline(
        "silver.orders", QUERY, APPEND + ("archive_landing_zones: true\n" if archive else "")
    )
    shop.land("orders", "1.csv", "id,v\n1,10\n")
    first = shop.run_one("silver.orders").run_id
    shop.land("orders", "2.csv", "id,v\n2,20\n")
    shop.run_one("silver.orders", full_refresh=True)
    shop.lake.tables.rollback("orders", first, files="exclude")
    shop.land("orders", "3.csv", "id,v\n3,30\n")
    shop.run_one("silver.orders")
    assert ids(shop) == [1, 3]
    shop.run_one("silver.orders", full_refresh=True)
    assert ids(shop) == [1, 3]


def test_a_file_whose_rows_are_visible_again_is_not_reported_as_held(shop: TestLake) -> None:
    first, second = landed_twice(shop)
    shop.lake.tables.rollback("orders", first, files="requeue")
    shop.run_one("silver.orders")
    shop.lake.tables.rollback("orders", second, files="exclude")
    assert ids(shop) == [1, 2]
    files = shop.lake.zones.show("orders").files
    assert {file.path: file.state for file in files} == {"1.csv": "taken", "2.csv": "taken"}
    shop.run_one("silver.orders", full_refresh=True)
    assert ids(shop) == [1, 2]


def test_a_table_made_from_archived_files_does_not_read_them_again_when_another_rolls_back(
    shop: TestLake,
) -> None:
    first, _ = landed_twice(shop, archive=True)
    shop.pipeline("silver.later", QUERY, APPEND)
    shop.run_one("silver.later", full_refresh=True)
    assert ids(shop, "silver.later") == [1, 2]
    shop.lake.tables.rollback("orders", first, files="requeue")
    assert (shop.folder / "shop/landing/orders/2.csv").exists()
    assert {record.rows.get("inserted") for record in shop.run().values()} == {None, 1}
    assert (ids(shop), ids(shop, "silver.later")) == ([1, 2], [1, 2])


def test_what_becomes_of_the_files_must_be_said_and_a_foreign_lease_refuses(shop: TestLake) -> None:
    first, _ = landed_twice(shop)
    with pytest.raises(UsageError, match="would be undone") as refused:
        shop.lake.tables.rollback("orders", first)
    assert "--requeue" in refused.value.next
    with shop.lake.tables.lease("shop.silver.orders"), pytest.raises(LeaseHeld):
        shop.lake.tables.rollback("orders", first, files="exclude")
    (shop.folder / "shop/landing/orders/2.csv").unlink()
    with pytest.raises(UsageError, match="gone"):
        shop.lake.tables.rollback("orders", first, files="requeue")
    assert ids(shop) == [1, 2]


def test_a_rollback_brings_the_columns_back_and_a_diff_tells_what_it_undid(shop: TestLake) -> None:
    config = "merge_strategy: incremental\nunique_key: id\non_schema_change: sync\n"
    shop.pipeline(
        "silver.a",
        "SELECT * FROM VALUES (1, 'x', 1.5D), (2, 'y', 2.5D) AS t(id, name, gone)",
        config,
    )
    first = shop.run_one("silver.a").run_id
    shop.pipeline(
        "silver.a", "SELECT * FROM VALUES (2, 'Y', 1), (3, 'z', 2) AS t(id, name, more)", config
    )
    shop.run_one("silver.a")
    found = shop.lake.tables.diff("silver.a", first)
    assert {(change.kind, change.name) for change in found.columns} == {
        ("added", "more"),
        ("removed", "gone"),
    }
    assert {key: found.rows[key] for key in ("before", "after", "added", "removed", "changed", "same")} == {
        "before": 2, "after": 3, "added": 1, "removed": 0, "changed": 1, "same": 1,
    }  # fmt: skip
    (changed,) = found.examples["changed"]
    assert (changed.before, changed.after) == ({"id": 2, "name": "y"}, {"id": 2, "name": "Y"})
    as_bags = shop.lake.tables.diff("silver.a", first, keys=[])
    assert [as_bags.rows[kind] for kind in ("added", "removed", "changed", "same")] == [2, 1, 0, 1]
    (figures,) = [one for one in found.figures if one.column == "id"]
    assert (figures.before["max"], figures.after["max"]) == (2, 3)
    shop.lake.tables.rollback("silver.a", first)
    assert shop.rows("silver.a") == [
        {"id": 1, "name": "x", "gone": 1.5},
        {"id": 2, "name": "y", "gone": 2.5},
    ]
    assert [
        row["name"]
        for row in shop.lake.spark.sql("SELECT name FROM lake.shop.silver.a ORDER BY id").collect()
    ] == ["x", "y"]
    shop.run_one("silver.a")
    assert [row["more"] for row in shop.rows("silver.a")] == [None, 1, 2]


def test_a_dropped_table_is_made_anew_from_the_files_in_its_zone(shop: TestLake) -> None:
    landed_twice(shop)
    shop.lake.tables.drop("orders")
    assert shop.run_one("silver.orders").rows["inserted"] == 2
    shop.lake.tables.restore("orders", to="shop.silver.older")
    assert (ids(shop), ids(shop, "silver.older")) == ([1, 2], [1, 2])
    ledger = shop.lake.stores.records.ledger
    assert (
        len(
            {
                file.run_id
                for name in ("orders", "older")
                for file in ledger(shop.table(f"silver.{name}"))
            }
        )
        == 3
    )
    assert shop.run_one("silver.orders").message.startswith("no ")


def test_a_file_that_changed_no_row_waits_again_with_the_state_that_it_was_read_for(
    shop: TestLake,
) -> None:
    first, _ = landed_twice(shop)
    shop.land("orders", "3.csv", "id,v\n")
    assert shop.run_one("silver.orders").message == "nothing changed"
    undone = shop.lake.tables.rollback("orders", first, files="requeue")
    assert [file.path.rpartition("/")[2] for file in undone.files] == ["2.csv", "3.csv"]


def test_lineage_names_the_run_that_a_rollback_went_back_to(shop: TestLake) -> None:
    first, second = landed_twice(shop)

    def shown() -> tuple[str | None, int | None]:
        (node,) = (one for one in shop.lake.pipelines.lineage().nodes if one.kind == "table")
        (columns,) = shop.lake.pipelines.column_lineage()
        assert columns.run == node.run
        return node.run, node.snapshot

    before = shown()
    assert before[0] == second
    shop.lake.tables.rollback("orders", first, files="exclude")
    head = shop.lake.tables.describe("orders").head()
    assert shown() == (first, head and head.id)
    shop.lake.tables.rollback("orders", second, files="exclude")
    assert shown() == before
