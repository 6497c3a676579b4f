"""Machines whose clocks disagree: no table becomes unreadable, no history runs backwards."""

import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from lakebed.care.compaction import LEAST
from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.steps import Write
from tests.support.clocks import write_ahead
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),
]

AHEAD = 600.0
ROWS = "SELECT {{ var('id') }} AS id, 'kept' AS note"
CONFIG = """merge_strategy: append_only
layouts: [{partition_by: note}]
care: {compact_min_files: 5}
"""
MINUTE = 60_000  # milliseconds; what Iceberg allows


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
    shop.pipeline("silver.a", "SELECT 3 AS id")
    shop.run_one("silver.a")
    assert seen_by_spark(shop, "silver.a") == [3]


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


def test_a_commit_by_a_clock_that_was_ahead_does_not_block_a_table(shop: TestLake) -> None:
    table, lake = shop.table("silver.a"), shop.lake
    shop.pipeline("silver.a", ROWS, CONFIG)
    shop.run_one("silver.a", vars={"id": 1})
    for _ in range(LEAST):  # files that are worth compacting
        loaded = lake.iceberg.load_table(table.parts)
        loaded.append(loaded.scan().to_arrow()[:1])
    (hidden,) = shop.hidden()
    changes: list[Callable[[], Any]] = [
        lambda: shop.run_one("silver.a", vars={"id": 2}),
        lambda: lake.execute(f"ALTER TABLE {table} ADD COLUMN more INT"),
        lambda: lake.care(only=["compact_files"]),
        lambda: lake.tables.migrate(table, partition_by="id"),
    ]
    for number, change in enumerate(changes):
        written = write_ahead(lake, table)
        write_ahead(lake, hidden)
        outcome = change()
        assert getattr(outcome, "ok", True), outcome
        assert lake.tables.describe(table).updated_at.timestamp() * 1000 < written - MINUTE, number
    write_ahead(lake, hidden)
    assert lake.layouts.build(table)[0].error == ""
    assert {row["id"] for row in shop.rows("silver.a")} == {1, 2}


def test_a_commit_by_a_clock_that_is_ahead_during_a_run_is_reported_with_both_times(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", ROWS, "merge_strategy: append_only")
    shop.run_one("silver.a", vars={"id": 1})

    def commit_ahead(_: str, step: object, when: str) -> None:
        if isinstance(step, Write) and when == "before":
            write_ahead(shop.lake, shop.table("silver.a"))

    options = {"listener": RunListener(on_step=commit_ahead), "vars": {"id": 2}}
    record = shop.run("silver.a", **options)["silver.a"]
    assert record.error["kind"] == "WrittenAhead"
    assert re.search(r"last changed at \S+T\S+Z? .* clock .* says \S+T", record.error["what"])
    shop.run_one("silver.a", vars={"id": 2})
    assert seen_by_spark(shop, "silver.a") == [1, 2]
