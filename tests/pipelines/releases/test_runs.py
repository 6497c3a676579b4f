"""Runs of releases: whatever became of the draft, what was released runs, with its own gates."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.pipelines.releases import reap_releases
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]

CODE = """\
from pyspark.sql.functions import udf

def double(number):
    return 2 * number

def run(spark, context):
    return spark.range(1, 3).select(udf(double, "bigint")("id").alias("id"))
"""
HUNDRED = 100


def test_edit_a_draft_delete_it_reap_a_hundred_times_and_the_release_runs_and_rolls_back(
    shop: TestLake,
) -> None:
    releases, stores = shop.lake.pipelines, shop.lake.stores
    shop.pipeline("silver.orders", CODE)
    assert shop.run_one("silver.orders").version is None
    (saved,) = releases.drafts("silver.orders")
    assert saved.digest == shop.lake.runs.list()[0].release
    first = releases.release("silver.orders").release
    shop.pipeline("silver.orders", CODE.replace("2 *", "3 *"))
    second = releases.release("silver.orders").release
    shop.pipeline(
        "silver.orders", "def run(spark, context):\n    raise ValueError('half an edit')\n"
    )
    assert shop.run("silver.orders")["silver.orders"].state == "failed"
    shutil.rmtree(shop.folder / "shop" / "pipelines" / "silver" / "orders")

    reaped = []
    for month in range(HUNDRED):
        now = datetime.now(UTC) + timedelta(days=30 * (month + 1))
        reaped.append(
            reap_releases(stores.files, stores.releases, shop.lake.settings.releases, now=now)
        )
    assert (reaped[0].drafts, reaped[0].objects) == (
        3,
        1,
    )  # what only the broken draft consisted of
    assert not any(one.drafts or one.releases or one.objects for one in reaped[1:])

    record = shop.run_one("silver.orders", released=True)
    assert (record.version, record.release) == (2, second.digest)
    assert shop.rows("silver.orders") == [{"id": 3}, {"id": 6}]
    assert releases.rollback("silver.orders", 1).release.version == 3
    record = shop.run_one("silver.orders", released=True)
    assert (record.version, record.release) == (3, first.digest)
    assert shop.rows("silver.orders") == [{"id": 2}, {"id": 4}]


def test_a_released_run_asks_the_gates_of_the_release(shop: TestLake) -> None:
    strict, lax = (
        "SELECT id FROM {{ this }} WHERE id < 10",
        "SELECT id FROM {{ this }} WHERE id < 0",
    )
    shop.pipeline("silver.orders", "SELECT 1 AS id", gates={"g": strict})
    shop.lake.pipelines.release("silver.orders")
    shop.pipeline("silver.orders", "SELECT 1 AS id", gates={"g": lax})
    blocked = shop.run("silver.orders", released=True)["silver.orders"]
    assert (blocked.state, blocked.error["kind"], blocked.version) == ("failed", "GateFailed", 1)
    assert shop.lake.pipelines.retry().records[0].version == 1  # as it was asked for
    assert shop.run_one("silver.orders").version is None
    shop.lake.pipelines.release("silver.orders")
    shop.pipeline("silver.orders", "SELECT 1 AS id", gates={"g": strict})
    assert shop.run_one("silver.orders", released=True).version == 2
    assert shop.run("silver.orders")["silver.orders"].error["kind"] == "GateFailed"
