"""Machines whose clocks disagree: no table becomes unreadable, no history runs backwards."""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from tests.support.lakes.pipeline_lake import TestLake

pytestmark = pytest.mark.spark

AHEAD = 600.0


@contextmanager
def clock_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a machine whose clock is ten minutes ahead of ours."""
    right = time.time
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: right() + AHEAD)
        yield


def append(shop: TestLake, name: str, value: int) -> None:
    """A foreign append, by PyIceberg."""
    import pyarrow as pa

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not know all of Spark's write options
        shop.lake.iceberg.load_table(shop.table(name).parts).append(
            pa.table({"id": pa.array([value], pa.int32())})
        )


def seen_by_spark(shop: TestLake, name: str) -> list[int]:
    return sorted(
        row.id for row in shop.lake.spark.sql(f"SELECT id FROM {shop.table(name).spark}").collect()
    )


def test_a_table_written_by_a_clock_ahead_of_ours_stays_readable_after_tags_and_rollbacks(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.pipeline("silver.a", "SELECT 1 AS id")
    first = shop.run_one("silver.a")
    with clock_ahead(monkeypatch):
        append(shop, "silver.a", 2)
    shop.lake.tables.tag("silver.a", "v2")
    assert seen_by_spark(shop, "silver.a") == [1, 2]
    shop.lake.tables.rollback("silver.a", str(first.snapshot))
    assert seen_by_spark(shop, "silver.a") == [1]
    described = shop.lake.tables.describe(shop.table("silver.a"))
    assert all(before <= after for (before, _), (after, _) in pairwise(described.snapshot_log))
    assert described.updated_at >= described.snapshot_log[-1][0]
    refused = shop.run("silver.a")["silver.a"]  # Spark itself does not commit to the past
    assert (refused.state, "timestamp" in refused.error["what"]) == ("failed", True)
    assert seen_by_spark(shop, "silver.a") == [1]


def test_no_version_of_a_history_ends_before_it_began_after_the_clock_was_set_back(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", "SELECT 1 AS id, 'a' AS v", "merge_strategy: scd2\nunique_key: id")
    shop.run_one("silver.a")
    ahead = f"current_timestamp() + INTERVAL {AHEAD:.0f} SECONDS"
    table = shop.table("silver.a").spark
    shop.lake.spark.sql(
        f"UPDATE {table} SET valid_from = {ahead}"
    )  # as a run wrote it before the clock was set back
    shop.pipeline("silver.a", "SELECT 1 AS id, 'b' AS v")
    shop.run_one("silver.a")
    shop.pipeline("silver.a", "SELECT 1 AS id, 'c' AS v")
    shop.run_one("silver.a")
    versions = sorted(shop.rows("silver.a"), key=lambda row: str(row["v"]))
    assert [row["v"] for row in versions] == ["a", "b", "c"]
    assert all(row["valid_to"] is None or row["valid_from"] < row["valid_to"] for row in versions)
    assert all(before["valid_to"] == after["valid_from"] for before, after in pairwise(versions))
