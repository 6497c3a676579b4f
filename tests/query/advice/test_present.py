"""Advice on layouts that are there."""

from collections.abc import Iterator

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.query.advice.advice import LayoutAdvice
from tests.query.advice.income import INCOME, log_half_of_it_yesterday, make_income
from tests.support.benches import RealBench
from tests.support.handmade_layouts import HandMadeLayout

COUNTY = "SELECT sum(value) FROM bea.gold.income WHERE geo_fips = '{}'"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A table with three layouts, of which queries use one."""
    folder = tmp_path_factory.mktemp("present") / "lake"
    create_lake(folder)
    with open_lake(folder) as opened:
        make_income(opened, years=4, lines=20)
        bench = RealBench(opened.settings, opened.root, INCOME.namespace)
        for name, partition_by, sort_by in (
            ("by_county", (), ("geo_fips",)),
            ("by_line", ("line_code", "year"), ()),
            ("by_value", (), ("value",)),
        ):
            layout = HandMadeLayout(
                bench,
                INCOME,
                name=name,
                partition_by=partition_by,
                sort_by=sort_by,
                batch_by=("year",),
            )
            layout.build()
        bench.close()
        for place in range(40):
            opened.query(COUNTY.format(f"{1 + place % 10:02}001")).to_arrow()
        log_half_of_it_yesterday(opened)
        yield opened


@pytest.fixture(scope="module")
def advice(lake: Lake) -> dict[str, LayoutAdvice]:
    return {one.layout: one for one in lake.layouts.advise(INCOME).advice}


def test_the_log_names_the_layout_that_was_read(lake: Lake) -> None:
    assert {entry.layouts for entry in lake.query_log.entries()} == {("by_county",)}


def test_a_layout_that_pays_is_neither_proposed_again_nor_judged(
    advice: dict[str, LayoutAdvice],
) -> None:
    assert advice.keys() == {"by_line", "by_value"}


def test_a_layout_that_only_reorders_is_named(advice: dict[str, LayoutAdvice]) -> None:
    assert advice["by_line"].kind == "no_pruning_gain"
    assert advice["by_line"].why.startswith("NO_PRUNING_GAIN")


def test_a_layout_that_no_query_used_is_named(advice: dict[str, LayoutAdvice]) -> None:
    found = advice["by_value"]
    assert found.kind == "unused"
    assert found.commands == ("lakebed layout drop bea.gold.income by_value",)
    assert 1 < found.amplification < 4
