"""Advice on a real lake, from queries that were asked there."""

import json
from collections.abc import Iterator

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.errors import LakebedError
from lakebed.query.advice.advice import AdviceReport, ThinLog
from tests.cli.json_shapes import described, differences
from tests.query.advice.income import INCOME, log_half_of_it_yesterday, make_income
from tests.support.lakes.shop import lakebed

COUNTY = "SELECT year, sum(value) FROM bea.gold.income WHERE geo_fips = '{}' GROUP BY year"
STATE = "SELECT year, sum(value) FROM bea.gold.income WHERE geo_fips LIKE '{}%' GROUP BY year"
YEAR = "SELECT line_code, sum(value) FROM bea.gold.income WHERE year = {} GROUP BY line_code"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake with a log: counties are asked for most."""
    folder = tmp_path_factory.mktemp("advice") / "lake"
    create_lake(folder)
    with open_lake(folder) as opened:
        make_income(opened)
        counties = [COUNTY.format(f"{1 + place % 10:02}00{place % 4}") for place in range(30)]
        states = [STATE.format(f"{1 + place:02}") for place in range(5)]
        years = [YEAR.format(2010 + place) for place in range(10)]
        for sql in (*counties, *states, *years, "SELECT sum(value) FROM bea.gold.income"):
            opened.query(sql).to_arrow()
        with pytest.raises(LakebedError):
            opened.query("SELECT nothing FROM bea.gold.income").to_arrow()
        yield opened


@pytest.fixture(scope="module")
def on_one_day(lake: Lake) -> AdviceReport:
    return lake.layouts.advise()


@pytest.fixture(scope="module")
def report(lake: Lake, on_one_day: AdviceReport) -> AdviceReport:
    assert on_one_day.advice == ()
    log_half_of_it_yesterday(lake)
    return lake.layouts.advise()


def test_a_log_of_one_day_is_told_and_gives_no_advice(on_one_day: AdviceReport) -> None:
    assert on_one_day.thin == (ThinLog(str(INCOME), 46, 1),)


def test_counties_get_the_layout_that_the_benchmark_shows_to_pay(report: AdviceReport) -> None:
    (one,) = report.advice
    assert (one.table, one.kind, one.layout) == (str(INCOME), "layout", "by_geo_fips")
    assert one.partition_by == ("truncate(2, geo_fips)",)
    assert (one.sort_by, one.batch_by) == (("geo_fips",), ("year",))
    assert (one.reads, one.files_now, one.files_then) == (35, 100, 10)
    assert 0 < one.needed_then < one.needed_now / 5
    assert one.amplification == 2.0


def test_the_report_tells_what_of_the_log_it_saw(report: AdviceReport) -> None:
    log = report.log
    assert (log.queries, log.spark, log.failed) == (47, 0, 1)
    assert (log.reads, log.without_conditions) == (46, 1)
    assert log.since
    assert log.until
    assert log.since < log.until


def test_the_command_says_the_same(lake: Lake, report: AdviceReport) -> None:
    place = ("--lake", str(lake.root))
    done = lakebed("layout", "advise", "income", "--json", *place)
    told = json.loads(done.stdout)
    assert told["advice"][0]["commands"] == list(report.advice[0].commands)
    shapes = described()
    assert not list(differences(told, shapes["lakebed layout advise"], shapes))
    text = lakebed("layout", "advise", *place).stdout
    assert "add the layout by_geo_fips" in text
    assert report.advice[0].commands[0] in text


def test_a_table_that_does_not_exist_is_an_error(lake: Lake) -> None:
    done = lakebed("layout", "advise", "incme", "--lake", str(lake.root))
    assert done.exit_code != 0
    assert "income" in done.output
