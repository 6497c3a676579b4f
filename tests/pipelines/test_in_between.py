"""Somebody else commits while a run is under way: no row of theirs is lost, whatever the run had
read by then.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.otherwise import REBUILDS
from lakebed.pipelines.planning.steps import (
    OpenBranch,
    PrepareSchema,
    Publish,
    RunGate,
    Write,
)
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import create_statement

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),
]

KEEPS_ITS_OWN = "SELECT id, amount FROM {{ this }} WHERE id <> 1 UNION ALL SELECT 1, 1"
ROWS = "SELECT {{ var('id') }} AS id, 'kept' AS note"
LAYOUTS = (
    "merge_strategy: append_only\nlayouts: [{partition_by: note}]\ncare: {compact_min_files: 5}"
)
MINUTE = 60_000  # milliseconds; what Iceberg allows
BY_AMOUNT = "merge_strategy: snapshot\npartition_column: amount"


def append(shop: TestLake, name: str, value: int) -> None:
    """A foreign append, by plain Spark."""
    shop.lake.spark.sql(f"INSERT INTO {shop.table(name).spark} VALUES ({value}, 1)")


def once(kind: type, act: Callable[[], Any]) -> Callable[..., None]:
    """Do something before the first step of a kind, and never again."""
    left = [act]

    def watch(run_id: str, step: object, when: str) -> None:
        if isinstance(step, kind) and when == "before" and left:
            left.pop()()

    return watch


def ids(shop: TestLake, name: str) -> list[int]:
    return sorted(row["id"] for row in shop.rows(name))


def created(shop: TestLake, name: str) -> None:
    shop.lake.spark.sql(create_statement(shop.lake, shop.table(name), "id INT, amount INT"))


@pytest.mark.parametrize(
    ("config", "together"),
    [
        ("merge_strategy: full_refresh", False),
        ("merge_strategy: full_refresh", True),
        (BY_AMOUNT, False),
    ],
)
def test_rows_appended_by_others_between_reading_a_table_and_branching_from_it_are_not_lost(
    shop: TestLake, config: str, together: bool
) -> None:
    created(shop, "silver.a")
    shop.pipeline("silver.a", KEEPS_ITS_OWN, config)
    for foreign in (7, 8):  # the table has no snapshot yet, then some
        watch = once(PrepareSchema, partial(append, shop, "silver.a", foreign))
        result = shop.lake.run(together=together, listener=RunListener(on_step=watch))
        assert result.ok, [record.error for record in result.records]
    assert ids(shop, "silver.a") == [1, 7, 8]
    assert len(shop.lake.stores.records.runs(table=shop.table("silver.a"), state="success")) == 2
    assert shop.snapshots("silver.a") == 4


def test_a_column_that_others_add_while_a_run_is_under_way_stays_when_the_run_fails(
    shop: TestLake,
) -> None:
    never = {"never": "SELECT * FROM {{ this }}"}
    shop.pipeline("silver.a", "SELECT 1 AS id")
    shop.run_one("silver.a")
    shop.pipeline("silver.a", "SELECT 1 AS id, 'x' AS note", gates=never)
    table = shop.table("silver.a").spark
    watch = once(
        RunGate, lambda: shop.lake.spark.sql(f"ALTER TABLE {table} ADD COLUMN theirs STRING")
    )
    assert not shop.lake.run(listener=RunListener(on_step=watch)).ok
    shop.lake.spark.sql(f"UPDATE {table} SET theirs = 'kept'")
    assert not shop.lake.run().ok
    assert shop.rows("silver.a", columns=("id", "theirs")) == [{"id": 1, "theirs": "kept"}]


@pytest.mark.parametrize(
    ("strategy", "when"),
    [("append_only", OpenBranch), ("incremental\nunique_key: id", Write), ("append_only", RunGate)],
)
def test_values_of_a_column_that_others_drop_while_a_run_is_under_way_arrive_nevertheless(
    shop: TestLake, strategy: str, when: type
) -> None:
    always = {"always": "SELECT * FROM {{ this }} WHERE false"}
    config = f"merge_strategy: {strategy}\non_schema_change: append"
    shop.pipeline("silver.a", ROWS, config, gates=always)
    shop.run_one("silver.a", vars={"id": 1})
    table = shop.table("silver.a").spark
    watch = once(when, lambda: shop.lake.spark.sql(f"ALTER TABLE {table} DROP COLUMN note"))
    result = shop.lake.run(listener=RunListener(on_step=watch), vars={"id": 2})
    assert result.ok, [record.error for record in result.records]
    assert shop.rows("silver.a") == [{"id": 1, "note": None}, {"id": 2, "note": "kept"}]
    (overtaken,) = shop.lake.stores.records.runs(table=shop.table("silver.a"), state="failed")
    assert overtaken.error["kind"] == "ColumnsChanged"


@pytest.mark.parametrize("when", [PrepareSchema, Write, RunGate])
def test_a_table_that_others_drop_while_a_run_is_under_way_is_reported_as_dropped(
    shop: TestLake, when: type
) -> None:
    always = {"always": "SELECT * FROM {{ this }} WHERE false"}
    shop.pipeline("silver.a", ROWS, "merge_strategy: append_only", gates=always)
    shop.run_one("silver.a", vars={"id": 1})
    watch = once(when, lambda: shop.lake.spark.sql(f"DROP TABLE {shop.table('silver.a').spark}"))
    (record,) = shop.lake.run(listener=RunListener(on_step=watch), vars={"id": 2}).records
    assert record.error["kind"] == "TableDropped"
    assert "dropped by another process" in record.error["what"]


def before_each(kind: type, acts: Iterable[Callable[[], Any]]) -> RunListener:
    """Do one thing after the other, each before a step of a kind."""
    left = iter(acts)

    def watch(run_id: str, step: object, when: str) -> None:
        if isinstance(step, kind) and when == "before" and (act := next(left, None)):
            act()

    return RunListener(on_step=watch)


def append_id(shop: TestLake, name: str, value: int) -> None:
    """A foreign append, by PyIceberg."""
    loaded = shop.lake.iceberg.load_table(shop.table(name).parts)
    rows = {"id": [value], "note": ["theirs"]}
    loaded.append(pa.table(rows, schema=loaded.schema().as_arrow()))


def test_a_run_that_appends_is_published_beside_somebody_who_appends_all_the_time(
    shop: TestLake,
) -> None:
    gates = {
        "filled": "SELECT * FROM {{ this }} WHERE id IS NULL",
        "few": "SELECT count(*) AS n FROM {{ this }} HAVING count(*) > 1000",
    }
    shop.pipeline("silver.a", ROWS, "merge_strategy: append_only", gates=gates)
    shop.run_one("silver.a", vars={"id": 1})
    table, theirs = shop.table("silver.a"), range(100, 100 + REBUILDS + 2)
    by_spark = f"INSERT INTO {table.spark} VALUES ({theirs[0]}, 'theirs')"
    acts: list[Callable[[], Any]] = [lambda: shop.lake.spark.sql(by_spark)]
    acts += [partial(append_id, shop, "silver.a", id) for id in theirs[1:]]
    listener = before_each(Publish, acts)
    record = shop.run_one("silver.a", vars={"id": 2}, listener=listener)
    assert ids(shop, "silver.a") == [1, 2, *theirs]
    assert (record.attempt, record.rows["inserted"], record.rows["total"]) == (1, 1, 7)
    described = shop.lake.tables.describe(table)
    head = described.head()
    assert head
    assert (head.id, head.parent, head.run_id) == (record.snapshot, record.base, record.run_id)
    assert sum(one.run_id == record.run_id for one in described.snapshots.values()) == 1
    phases = [phase.name for phase in record.phases]
    assert phases.count("Rebase") == phases.count("judge few") - 1 == len(theirs)
    assert phases.count("judge filled") == 1
    assert sorted(verdict.gate for verdict in record.verdicts) == ["few", "filled"]
    assert not shop.lake.stores.records.runs(table=table, state="failed")


def test_a_gate_sees_what_others_have_appended_before_a_run_follows_it(shop: TestLake) -> None:
    config = "merge_strategy: append_only\ncolumns: {id: {tests: [unique]}}"
    shop.pipeline("silver.a", ROWS, config)
    shop.run_one("silver.a", vars={"id": 1})
    listener = before_each(Publish, [partial(append_id, shop, "silver.a", 2)])
    record = shop.run("silver.a", vars={"id": 2}, listener=listener)["silver.a"]
    assert record.error["kind"] == "GateFailed"
    assert shop.rows("silver.a") == [{"id": 1, "note": "kept"}, {"id": 2, "note": "theirs"}]


def test_a_run_that_reads_its_own_table_reads_again_what_others_have_appended(
    shop: TestLake,
) -> None:
    counted = "SELECT INT(count(*) + 1) AS id, 'kept' AS note FROM {{ this }}"
    shop.pipeline("silver.a", ROWS, "merge_strategy: append_only")
    shop.run_one("silver.a", vars={"id": 1})
    shop.pipeline("silver.a", counted)
    listener = before_each(Publish, [partial(append_id, shop, "silver.a", 2)])
    shop.run_one("silver.a", listener=listener)
    assert ids(shop, "silver.a") == [1, 2, 3]
