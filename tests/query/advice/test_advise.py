"""Advice on a real lake, from queries that were asked there."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.query.advice.advise import AdviceServices, advise
from lakebed.query.advice.workload import LoggedQuery, LoggedRead
from tests.query.advice.income import INCOME, make_income

NOW = datetime(2026, 11, 17, tzinfo=UTC)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("advice") / "lake"
    create_lake(folder)
    with open_lake(folder) as opened:
        make_income(opened)
        yield opened


def income(*conditions: tuple[str, str]) -> LoggedQuery:
    return LoggedQuery(NOW, reads=(LoggedRead(str(INCOME), conditions),))


def services(lake: Lake, *queries: LoggedQuery) -> AdviceServices:
    return AdviceServices(
        lake.queries.context, lambda: queries, lake.queries.engines.frames, lambda _: None
    )


def test_counties_get_the_layout_that_the_benchmark_shows_to_pay(lake: Lake) -> None:
    log = [income(("geo_fips", "="))] * 30 + [income(("geo_fips", "starts with"))] * 5
    log += [income(("year", "="))] * 20 + [income()]
    found = advise(services(lake, *log))
    (one,) = found.advice
    print(one)
    assert (one.kind, one.partition_by) == ("layout", ("truncate(2, geo_fips)",))
    assert (one.sort_by, one.batch_by) == (("geo_fips",), ("year",))
    assert (one.files_now, one.files_then) == (100, 10)
    assert found.log.queries == 56
