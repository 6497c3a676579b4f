"""What a run does that has no new rows: it is in the plan, and in the record, or it is not done."""

import pytest

from lakebed.pipelines.planning.steps import ArchiveFiles, BuildLayouts
from lakebed.presentation.run import run_label
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = pytest.mark.spark

NAME = "bronze.orders"
SOURCE = "SELECT * FROM {{ landing_zone('orders') }}"
APPENDS = "merge_strategy: append_only\n"
BY_DAY = "layouts: [{name: by_day, partition_by: day}]\n"


def landed(shop: TestLake, config: str = APPENDS) -> None:
    shop.pipeline(NAME, SOURCE, config)
    shop.land("orders", "1.csv", "id,day\n1,a\n2,b\n")
    shop.run_one(NAME)


def test_a_layout_declared_since_the_last_run_is_planned_built_and_recorded_without_new_files(
    shop: TestLake,
) -> None:
    landed(shop)
    shop.pipeline(NAME, SOURCE, APPENDS + BY_DAY)
    (plan,) = shop.lake.plan(NAME)
    assert plan.steps == plan.after == (BuildLayouts(shop.table(NAME), ("by_day",)),)
    assert shop.hidden() == []
    record = shop.run_one(NAME)
    assert (run_label(record), [phase.name for phase in record.phases]) == ("OK", ["BuildLayouts"])
    assert [line.state for line in shop.lake.layouts.list(NAME)] == ["fresh"]

    (plan,) = shop.lake.plan(NAME)
    before = shop.lake.stores.catalog.pointers()
    record = shop.run_one(NAME)
    assert (plan.steps, record.phases, run_label(record)) == ((), (), "NOOP")
    assert shop.lake.stores.catalog.pointers() == before


def test_a_layout_that_is_stale_is_planned_and_built_without_new_files(shop: TestLake) -> None:
    landed(shop, APPENDS + BY_DAY)
    shop.lake.spark.sql(f"INSERT INTO {shop.table(NAME).spark} VALUES (3, 'c')")
    (plan,) = shop.lake.plan(NAME)
    assert plan.steps == (BuildLayouts(shop.table(NAME), ("by_day",)),)
    assert [phase.name for phase in shop.run_one(NAME).phases] == ["BuildLayouts"]
    assert [line.state for line in shop.lake.layouts.list(NAME)] == ["fresh"]


def test_a_layout_that_is_no_longer_declared_is_reported_and_nothing_is_done(
    shop: TestLake,
) -> None:
    landed(shop, APPENDS + BY_DAY)
    shop.pipeline(NAME, SOURCE, APPENDS)
    (plan,) = shop.lake.plan(NAME)
    assert (plan.steps, "by_day is not declared any more" in plan.reason) == ((), True)
    record = shop.run_one(NAME)
    assert run_label(record) == "NOOP"
    assert "by_day is not declared any more" in record.message


def test_files_that_a_crash_left_in_their_zone_are_archived_as_planned(shop: TestLake) -> None:
    landed(shop)
    shop.pipeline(NAME, SOURCE, APPENDS + "archive_landing_zones: true\n")
    (plan,) = shop.lake.plan(NAME)
    assert [type(step) for step in plan.steps] == [ArchiveFiles]
    record = shop.run_one(NAME)
    assert (run_label(record), [phase.name for phase in record.phases]) == ("OK", ["Archive"])
    assert "no file is waiting in shop.orders" in record.message
    assert "shop/landing/orders/1.csv" not in shop.files()
    assert shop.lake.plan(NAME)[0].steps == ()
    assert run_label(shop.run_one(NAME)) == "NOOP"
