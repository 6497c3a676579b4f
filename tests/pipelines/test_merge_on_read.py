"""Tables whose deletes are files of their own: what is deleted stays deleted, is counted, and
compaction is not alarmed by it.
"""

import pytest

from lakebed.care.compaction import refuse_lost_rows
from lakebed.errors import RunFailed
from lakebed.names import TableName
from lakebed.ports import Snapshot
from tests.query.test_deletes import MERGE_ON_READ
from tests.support.lakes.care_lakes import entry
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import create_statement

FILES = 6


@pytest.mark.spark
def test_rows_that_are_deleted_by_delete_files_stay_deleted(shop: TestLake) -> None:
    lake, name = shop.lake, shop.table("silver.orders")
    lake.spark.sql(create_statement(lake, name, "id INT, v INT"))
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in MERGE_ON_READ.items())
    lake.spark.sql(f"ALTER TABLE {name.spark} SET TBLPROPERTIES ({listed})")
    for number in range(FILES):
        lake.execute(f"INSERT INTO orders VALUES ({2 * number}, 0), ({2 * number + 1}, 1)")
    deleted = lake.execute("DELETE FROM orders WHERE id = 1")
    merged = lake.execute(
        "MERGE INTO orders AS t USING (SELECT 2 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    )
    left = [number for number in range(2 * FILES) if number not in {1, 2}]
    assert sorted(row["id"] for row in shop.rows("silver.orders")) == left
    assert (deleted.rows["deleted"], deleted.rows["total"], merged.rows["total"]) == (1, 11, 10)
    assert _rows(shop) == len(left)
    config = shop.folder / "shop/pipelines/silver/orders/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("care: {compact_min_files: 2, compact_small_ratio: 0.1}\n")
    done = entry(lake.care(only=["compact_files"]), "compact_files")
    assert done.state == "done", done
    assert sorted(row["id"] for row in shop.rows("silver.orders")) == left
    assert _rows(shop) == len(left)


def _rows(shop: TestLake) -> int | None:
    head = shop.lake.tables.describe(shop.table("silver.orders")).head()
    assert head
    return head.rows


def snapshot(**summary: int) -> Snapshot:
    from datetime import UTC, datetime

    counts = {key.replace("_", "-"): str(value) for key, value in summary.items()}
    return Snapshot(1, None, datetime(2026, 11, 1, tzinfo=UTC), "replace", counts)


def test_deleted_rows_are_not_counted_and_what_cannot_be_counted_is_not_told() -> None:
    assert snapshot(total_records=10).rows == 10
    assert snapshot(total_records=10, total_position_deletes=3).rows == 7
    assert snapshot(total_records=10, total_equality_deletes=1).rows is None
    assert snapshot().rows is None


@pytest.mark.parametrize(
    ("had", "marked", "has"), [(10, 0, 10), (10, 3, 7), (10, 3, 8), (10, 3, 10)]
)
def test_a_rewrite_that_leaves_out_deleted_rows_is_no_alarm(
    had: int, marked: int, has: int
) -> None:
    before = snapshot(total_records=had, total_position_deletes=marked)
    refuse_lost_rows(before, snapshot(total_records=has), TableName("shop", "silver", "orders"))


@pytest.mark.parametrize(("had", "marked", "has"), [(10, 0, 9), (10, 3, 6), (10, 3, 11)])
def test_a_rewrite_that_loses_or_doubles_rows_is_an_alarm(had: int, marked: int, has: int) -> None:
    before = snapshot(total_records=had, total_position_deletes=marked)
    with pytest.raises(RunFailed, match="changed its rows"):
        refuse_lost_rows(before, snapshot(total_records=has), TableName("shop", "silver", "orders"))
