"""Layouts of tables: built batch by batch, fresh whatever others do, and never with other rows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.derived.identity import DERIVED_TABLES, find_layouts
from lakebed.errors import NameTaken, UnknownName, UsageError
from tests.support.lakes.layout_lake import LayoutTable

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),  # PyIceberg has not all of them
    pytest.mark.filterwarnings("ignore:Delete operation did not match"),
]
ROWS = ((2019, "a", 1), (2019, "b", 2), (2020, "a", 3), (None, "c", 4))
NULL_YEAR = "year=__HIVE_DEFAULT_PARTITION__"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("layouts") / "lake"
    create_lake(folder, settings={"spark": {"quick": True}})
    with open_lake(folder) as opened:
        yield opened


def test_only_what_has_changed_is_built_and_the_rest_is_stamped(lake: Lake) -> None:
    income = LayoutTable(lake, "income", *ROWS)
    made = income.add("truncate(1, geo)", sort_by="v desc")
    assert (made.name, made.state, made.batch_by) == ("by_geo_v", "not built", ("year",))
    assert made.partition_by == ("truncate(1, geo)", "year")
    assert income.layout.metadata.snapshots == {}
    assert income.layout.metadata.sort_by == ("v desc",)
    assert income.layout.metadata.properties["write.distribution-mode"] == "hash"

    first = income.build()
    assert (first.built, first.files, first.complete) == (3, 3, True)
    assert first.metrics["partition_alternate.batch.files_processed"] == 3
    assert first.metrics["partition_alternate.storage.amplification"] > 1
    assert (income.state.state, income.state.fresh, income.state.rows) == ("fresh", 3, 4)
    income.check()
    assert income.build().built == 0
    assert income.commits == 1

    income.insert((2020, "d", 5), (2021, "e", 6))
    assert (income.state.state, income.state.stale) == ("stale", 2)
    assert "year=2021: the table has gained them" in income.state.why
    second = income.build()
    assert (second.built, second.complete) == (2, True)
    head = income.metadata.refs["main"].snapshot
    assert set(income.stamps.values()) == {head}
    assert set(income.stamps) == {"year=2019", "year=2020", "year=2021", NULL_YEAR}
    assert income.commits == 2
    income.check()

    income.sql(f"DELETE FROM {income.table.spark} WHERE year IS NULL OR year = 2021")
    done = income.build()
    assert (done.built, done.removed, done.complete) == (0, 2, True)
    assert set(income.stamps) == {"year=2019", "year=2020"}
    income.check()


def test_what_others_write_into_a_table_counts_and_rewriting_its_files_does_not(lake: Lake) -> None:
    income = LayoutTable(lake, "foreign", *ROWS)
    income.add("geo")
    income.build()
    income.append_elsewhere(income.table, (2019, "z", 9))
    assert income.state.why == "year=2019: the table has changed"
    assert income.build().built == 1
    income.check()

    for table in (income.table, income.layout.table):
        income.sql(
            f"CALL lake.system.rewrite_data_files(table => '{table.spark.removeprefix('lake.')}',"
            " options => map('rewrite-all', 'true'))"
        )
    assert income.state.state == "fresh"
    assert income.build().built == 0
    income.check()

    income.sql(f"UPDATE {income.table.spark} SET v = v + 1 WHERE geo = 'z'")
    assert income.build().built == 1
    income.check()


def test_a_layout_that_others_wrote_into_is_built_anew(lake: Lake) -> None:
    income = LayoutTable(lake, "tainted", *ROWS)
    income.add("geo")
    income.build()
    income.append_elsewhere(income.layout.table, (1999, "stranger", 0))
    assert income.state.state == "TAINTED"
    done = income.build()
    assert (done.built, done.complete) == (3, True)
    assert income.state.state == "fresh"
    income.check()
    income.insert((2020, "x", 1))
    assert income.build().built == 1  # what was written by others is history
    income.check()


def test_rows_that_differ_are_found_and_built_again(lake: Lake) -> None:
    income = LayoutTable(lake, "differing", *ROWS)
    income.add("geo")
    income.build()
    hidden = income.layout.table
    # a change that looks like one of ours
    lake.spark.conf.set("spark.sql.iceberg.snapshot-property.lakebed.batch", "[]")
    income.sql(f"UPDATE {hidden.spark} SET v = 99 WHERE year = 2020")
    lake.spark.conf.unset("spark.sql.iceberg.snapshot-property.lakebed.batch")
