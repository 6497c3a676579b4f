"""Somebody else commits while a run is under way: no row of theirs is lost, whatever the run had
read by then.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.steps import PrepareSchema, RunGate
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import create_statement

pytestmark = pytest.mark.spark

KEEPS_ITS_OWN = "SELECT id, amount FROM {{ this }} WHERE id <> 1 UNION ALL SELECT 1, 1"
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
