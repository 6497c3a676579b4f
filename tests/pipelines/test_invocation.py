"""What templates and code are told of their run: since when it goes, and whether only what is new
is wanted.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lakebed.names import TableName
from lakebed.pipelines.definition.config import PipelineConfig, build_strategy
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.compile import TemplateContext
from lakebed.pipelines.planning.pins import Pins, TargetTable
from lakebed.ports import MAIN, Snapshot, SnapshotRef, TableMetadata
from lakebed.tables import STRATEGIES
from lakebed.templates import SqlValue
from tests.support.lakes.pipeline_lake import TestLake

TABLE, NOW = TableName("shop", "silver", "a"), datetime(2026, 11, 15, tzinfo=UTC)


def setting(
    strategy: str,
    *,
    rows: int = 3,
    full_refresh: bool = False,
    mark: SqlValue | None = None,
    **config: Any,
) -> TemplateContext:
    """A run of a pipeline over a table of so many rows."""
    given = {"merge_strategy": strategy, "unique_key": "id", "partition_column": "day", **config}
    known = PipelineConfig.model_validate(given)
    spec = PipelineSpec(
        TABLE,
        "",
        "pipeline.sql",
        "sql",
        "sql",
        "",
        known,
        build_strategy(known),
        (),
        (),
        (),
        (),
        frozenset(),
        digest="",
    )
    head = Snapshot(1, None, NOW, "append", {"total-records": str(rows)})
    metadata = TableMetadata(
        "u", "l", 2, NOW, (), (), (), {}, {1: head}, {MAIN: SnapshotRef(MAIN, 1, "branch")}
    )
    pins = Pins("1", {}, {}, full_refresh=full_refresh)
    return TemplateContext(spec, {}, pins, TargetTable(TABLE, metadata), {}, mark, NOW, {})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_is_incremental_only_if_rows_that_it_leaves_out_stay_as_they_are(
    strategy: str,
) -> None:
    assert setting(strategy).is_incremental == (strategy not in {"full_refresh", "soft_delete"})
    assert not setting(strategy, rows=0).is_incremental
    assert not setting(strategy, full_refresh=True).is_incremental
    assert not setting(
        strategy, watermark_column="at"
    ).is_incremental  # nothing in the table has one


def test_history_that_closes_absent_keys_is_never_asked_for_a_part() -> None:
    assert not setting("scd2", scd_close_absent=True).is_incremental


STARTED = {
    "silver.sql": (
        "SELECT '{{ run_started_at }}' AS at, current_timestamp() >= '{{ run_started_at }}' AS past"
    ),
    "silver.spark": (
        'def run(spark, context):\n    return spark.sql(f"SELECT'
        " '{context.run_started_at.isoformat(' ')}' at, true past\")"
    ),
    "silver.duck": (
        "def run(conn, context):\n"
        "    at = context.run_started_at.isoformat(' ')\n"
        "    return conn.sql(f\"SELECT '{at}' AS at, now() >= '{at}' AS past\")"
    ),
}


@pytest.mark.spark
def test_all_tables_of_an_invocation_have_one_start_in_the_lakes_time_zone(
    tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"timezone": "Asia/Kathmandu"})
    for name, source in STARTED.items():
        shop.pipeline(name, source)
    runs = shop.run()
    assert {run.state for run in runs.values()} == {"success"}
    (first,) = {row["at"] for name in STARTED for row in shop.rows(name)}
    assert first.endswith("+05:45")
    assert datetime.fromisoformat(first) <= min(run.started_at for run in runs.values())
    assert all(row["past"] for name in STARTED for row in shop.rows(name))
    shop.run_one("silver.sql")
    assert shop.rows("silver.sql")[0]["at"] > first
    shop.lake.close()
