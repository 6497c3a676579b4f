"""Advice in words, with what to write or to run."""

from dataclasses import replace

import pytest
import yaml

from lakebed.derived import LayoutSpec
from lakebed.query.advice.advice import judged, proposed
from lakebed.query.advice.figures import TableFigures
from lakebed.query.advice.judge import Judgement, PresentLayout, judge
from lakebed.query.advice.propose import propose
from lakebed.query.advice.workload import ReadPattern, TableWorkload
from tests.query.advice.test_propose import MB, by_year_only, income, reads

COUNTY = ReadPattern((("geo_fips", "point"),))
BY_COUNTY = LayoutSpec(
    name="by_county", partition_by=("truncate(2, geo_fips)",), batch_by=("year",)
)


def used(count: int, *, reads: int = 100) -> TableWorkload:
    return TableWorkload({COUNTY: reads}, {"by_county": {COUNTY: count}} if count else {}, days=7)


def with_pipeline(table: TableFigures) -> TableFigures:
    return TableFigures(**{**table.__dict__, "layouts_key": "layouts"})


def test_a_table_with_a_pipeline_gets_lines_for_its_config() -> None:
    table = with_pipeline(income(reads({"geo_fips": "point"}), reads({"geo_fips": "prefix"})))
    (found,) = (proposed(one, table, taken=(), stored=0) for one in propose(table))
    given = yaml.safe_load("\n".join(found.config))
    assert given == {
        "layouts": [
            {
                "name": "by_geo_fips",
                "partition_by": ["truncate(2, geo_fips)"],
                "sort_by": ["geo_fips"],
                "batch_by": ["year"],
            }
        ]
    }
    assert LayoutSpec.model_validate(given["layouts"][0]).fields
    assert (found.kind, found.commands, found.amplification) == ("layout", (), 2.0)


def test_lines_for_a_config_have_the_name_that_it_uses_for_layouts() -> None:
    table = income(reads({"geo_fips": "point"}), reads({"geo_fips": "prefix"}))
    seeded = replace(table, layouts_key="alternate_partitions")
    (found,) = (proposed(one, seeded, taken=(), stored=0) for one in propose(seeded))
    assert found.config[0] == "alternate_partitions:"


def test_a_table_without_a_pipeline_gets_a_command() -> None:
    table = income(reads({"geo_fips": "point"}), reads({"geo_fips": "prefix"}))
    (found,) = (proposed(one, table, taken=("by_geo_fips",), stored=0) for one in propose(table))
    assert found.config == ()
    assert found.commands == (
        "lakebed layout add bea.gold.income --name by_geo_fips_2 --partition-by"
        " 'truncate(2, geo_fips)' --sort-by geo_fips --batch-by year",
    )


def test_sorting_in_place_stores_nothing_twice() -> None:
    table = with_pipeline(by_year_only(reads({"geo_fips": "point"}, files=10, partitions=10)))
    (found,) = (proposed(one, table, taken=(), stored=0) for one in propose(table))
    assert (found.kind, found.layout, found.amplification) == ("sort_in_place", "", 1.0)
    assert found.config == ("sort_by: [geo_fips]",)


def test_a_table_without_a_pipeline_is_sorted_by_statements() -> None:
    table = by_year_only(reads({"geo_fips": "point"}, files=10, partitions=10))
    (found,) = (proposed(one, table, taken=(), stored=0) for one in propose(table))
    order, groups = found.commands
    assert "'ALTER TABLE bea.gold.income WRITE ORDERED BY `geo_fips`'" in order
    assert "'write.parquet.row-group-size-bytes' = '1048576'" in groups


def test_the_gain_is_told_in_files_and_bytes() -> None:
    table = income(reads({"geo_fips": "point"}), reads({"geo_fips": "prefix"}))
    (found,) = (proposed(one, table, taken=(), stored=0) for one in propose(table))
    assert (found.reads, found.files_now, found.files_then) == (200, 400.0, 10.0)
    assert found.needed_now == 90 * MB
    assert found.saved // found.reads in range(87 * MB, 90 * MB)


def test_a_layout_that_no_query_used_is_named() -> None:
    layout = PresentLayout(BY_COUNTY, bytes=170 * MB, written=170 * MB)
    found = judge(layout, used(0))
    assert found == Judgement(layout, "unused", 0, 0, 100, 7)
    told = judged(found, income(), stored=170 * MB)
    assert told.commands == ("lakebed layout drop bea.gold.income by_county",)
    assert told.amplification == 1.0
    assert told.why == "none of the 100 reads of the table on 7 days used it"


@pytest.mark.parametrize(("reads", "days"), [(1, 1), (9, 5), (1000, 1)])
def test_one_query_or_one_day_condemns_no_layout(reads: int, days: int) -> None:
    layout = PresentLayout(BY_COUNTY, bytes=170 * MB, written=170 * MB)
    assert judge(layout, replace(used(0, reads=reads), days=days)) is None
    assert judge(layout, replace(used(1, reads=reads), days=days)) is None


def test_a_layout_that_cost_more_than_it_saved_is_named() -> None:
    layout = PresentLayout(BY_COUNTY, written=170 * MB, saves={COUNTY: 90.0 * MB})
    assert judge(layout, used(1)) == Judgement(layout, "costs_more", 1, 90 * MB, 100, 7)
    assert judge(layout, used(2)) is None


def test_a_layout_that_only_reorders_is_named_even_if_it_is_only_declared() -> None:
    layout = PresentLayout(BY_COUNTY, exists=False, only_reorders=True)
    found = judge(layout, None)
    assert found
    assert found.fault == "no_pruning_gain"
    told = judged(found, income(), stored=0)
    assert told.why.startswith("NO_PRUNING_GAIN")
    assert told.commands == ()


def test_a_layout_of_a_table_that_nobody_read_is_not_judged() -> None:
    assert judge(PresentLayout(BY_COUNTY), TableWorkload({}, {})) is None
