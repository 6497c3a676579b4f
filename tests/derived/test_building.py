"""Layouts of tables: built batch by batch, fresh whatever others do, and never with other rows."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyiceberg.types import UUIDType

from lakebed.app import Lake, create_lake, open_lake
from lakebed.derived.building.run import BuildOptions, build_layouts
from lakebed.derived.identity import DERIVED_TABLES, find_layouts
from lakebed.errors import BadName, NameTaken, UnknownName, UsageError
from tests.support.lakes.layout_lake import COLUMNS, LayoutTable

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
    assert (income.state().state, income.state().fresh, income.state().rows) == ("fresh", 3, 4)
    income.check()
    assert income.build().built == 0
    assert income.commits == 1

    income.insert((2020, "d", 5), (2021, "e", 6))
    assert (income.state().state, income.state().stale) == ("stale", 2)
    assert "year=2021: the table has gained them" in income.state().why
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
    assert all(check.ok for check in lake.layouts.verify(income.table))


def test_what_others_write_into_a_table_counts_and_rewriting_its_files_does_not(lake: Lake) -> None:
    income = LayoutTable(lake, "foreign", *ROWS)
    income.add("geo")
    income.build()
    income.append_elsewhere(income.table, (2019, "z", 9))
    assert income.state().why == "year=2019: the table has changed"
    assert income.build().built == 1
    income.check()

    for table in (income.table, income.layout.table):
        income.sql(
            f"CALL lake.system.rewrite_data_files(table => '{table.spark.removeprefix('lake.')}',"
            " options => map('rewrite-all', 'true'))"
        )
    assert income.state().state == "fresh"
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
    assert income.state().state == "TAINTED"
    done = income.build()
    assert (done.built, done.complete) == (3, True)
    assert income.state().state == "fresh"
    income.check()
    income.insert((2020, "x", 1))
    assert income.build().built == 1  # what was written by others is history
    income.check()


def test_rows_that_differ_are_found_and_built_again(lake: Lake) -> None:
    income = LayoutTable(lake, "differing", *ROWS)
    income.add("geo")
    income.build()
    with income.told_as_built("year=2020"):
        income.sql(f"UPDATE {income.layout.table.spark} SET v = 99 WHERE year = 2020")
    assert income.state().state == "fresh"
    (check,) = lake.layouts.verify(income.table)
    assert [(one.batch, one.problem) for one in check.batches if one.differs] == [
        ("year=2020", "its rows have other values")
    ]
    assert (income.state().state, income.state().stale) == ("stale", 1)
    done = income.build()
    assert (done.built, done.complete) == (1, True)
    income.check()

    with income.told_as_built("year=2019"):
        income.sql(f"INSERT INTO {income.layout.table.spark} VALUES (1900, 'x', 0)")
    (check,) = lake.layouts.verify(income.table)
    assert [one.batch for one in check.batches if one.differs] == ["year=1900"]
    assert income.state().state == "not built"
    assert income.build().built == 3
    income.check()


def test_columns_that_a_table_gains_are_added_and_other_changes_make_a_layout_anew(
    lake: Lake,
) -> None:
    income = LayoutTable(lake, "columns", *ROWS)
    income.add("geo", batch_by="year")
    income.build()
    hidden, commits = income.layout.table, income.commits
    income.sql(
        f"ALTER TABLE {income.table.spark} ADD COLUMNS (note STRING FIRST, s STRUCT<a: INT>)"
    )
    assert income.state().state == "SCHEMA_DRIFT"
    done = income.build()
    assert (done.built, done.complete, income.layout.table) == (0, True, hidden)
    assert income.state().state == "fresh"
    assert income.commits == commits
    income.sql(f"INSERT INTO {income.table.spark} VALUES ('n', 2019, 'x', 7, named_struct('a', 1))")
    assert income.build().built == 1
    income.check()

    income.sql(f"ALTER TABLE {income.table.spark} RENAME COLUMN geo TO region")
    assert "made anew" in income.state().why
    done = income.build()
    assert (done.created, done.built, done.complete) == (True, 3, True)
    assert income.state().partition_by == ("region", "year")
    assert income.state().name == "by_geo"
    assert hidden not in lake.stores.catalog.pointers()
    income.check()

    income.sql(f"ALTER TABLE {income.table.spark} DROP COLUMN note")
    income.sql(f"ALTER TABLE {income.table.spark} ADD COLUMN note STRING")  # without its values
    assert income.build().created
    income.check()
    income.sql(f"ALTER TABLE {income.table.spark} ALTER COLUMN year TYPE BIGINT")
    income.sql(f"INSERT INTO {income.table.spark} (year) VALUES (2019)")
    assert income.build().built == 3
    income.check()
    income.sql(f"ALTER TABLE {income.table.spark} DROP COLUMN region")
    (failed,) = lake.layouts.build(income.table)
    assert "there is no column of shop.silver.columns 'region'" in failed.error
    assert income.state().state == "SCHEMA_DRIFT"


def test_rollback_expiry_and_a_present_snapshot_without_rows(lake: Lake) -> None:
    income = LayoutTable(lake, "rolled", *ROWS)
    income.add("geo")
    first = income.metadata.refs["main"].snapshot
    income.build()
    income.insert((2020, "late", 1))
    income.build()
    lake.tables.rollback(income.table, first)
    assert income.state().why.endswith("has expired or was rolled back")
    assert income.build().built == 3
    income.check()
    assert set(income.stamps.values()) == {first}

    income.insert((2022, "x", 1))
    income.sql(
        "CALL lake.system.expire_snapshots(table => 'shop.silver.rolled', retain_last => 1,"
        " older_than => TIMESTAMP '2100-01-01 00:00:00')"
    )
    assert income.state().fresh == 3  # what came after the snapshot is known
    assert income.build().built == 1
    income.check()
    income.sql(f"DELETE FROM {income.table.spark} WHERE TRUE")
    done = income.build()
    assert (done.removed, done.complete, income.state().state) == (4, True, "fresh")
    income.check()


def test_a_table_whose_files_do_not_tell_batches_apart(lake: Lake) -> None:
    whole = LayoutTable(lake, "whole", *ROWS, partition_by="")
    assert whole.add(sort_by="geo").batch_by == ()
    assert whole.build().built == 1
    whole.check()
    whole.insert((2019, "n", 1))
    assert whole.build().built == 1
    whole.check()

    mixed = LayoutTable(lake, "mixed", *ROWS, partition_by="bucket(2, geo)")
    mixed.add("geo", batch_by="year")
    assert mixed.build().built == 3
    mixed.check()
    mixed.insert((2030, "n", 1))
    assert mixed.state().fresh + mixed.state().stale >= 3
    assert mixed.build().complete
    mixed.check()


def test_bad_input_is_refused_and_changes_nothing(lake: Lake) -> None:
    income = LayoutTable(lake, "refusing", *ROWS, columns=f"{COLUMNS}, n STRUCT<a: INT>, f DOUBLE")
    before = income.metadata
    for given, kind, said in (
        ({"partition_by": "gei"}, UnknownName, "Did you mean geo?"),
        ({"sort_by": "gei"}, UnknownName, "Did you mean geo?"),
        ({"partition_by": "geo", "batch_by": "yeer"}, UnknownName, "Did you mean year?"),
        ({"partition_by": "geo", "batch_by": "f"}, UsageError, "cannot be of type double"),
        ({"partition_by": "hour(geo)"}, UsageError, "geo is of type string"),
        ({"partition_by": "n"}, UsageError, "n cannot be computed"),
        ({"partition_by": "weeks(geo)"}, UsageError, "there is no transform 'weeks'"),
        ({}, UsageError, "a layout needs partition_by or sort_by"),
        ({"partition_by": "geo", "name": "a b"}, BadName, "letters, digits"),
    ):
        with pytest.raises(kind, match=re.escape(said)):
            lake.layouts.add(income.table, **given)
    assert income.metadata == before
    income.add("geo")
    with pytest.raises(NameTaken, match="already has a layout BY_GEO"):
        income.add("truncate(1, geo)", name="BY_GEO")
    with pytest.raises(UsageError, match="is a layout"):
        lake.layouts.add(str(income.layout.table), partition_by="geo")
    with pytest.raises(UnknownName, match="Did you mean"):
        lake.layouts.add("shop.silver.refusin", partition_by="geo")
    with pytest.raises(UnknownName, match="Did you mean by_geo"):
        lake.layouts.drop(income.table, "by_ge")
    with pytest.raises(UnknownName, match="Did you mean by_geo"):
        lake.layouts.build(income.table, name="by_go")
    income.sql(f"CREATE VIEW lake.shop.silver.seen AS SELECT * FROM {income.table.spark}")
    with pytest.raises(UsageError, match="is a view"):
        lake.layouts.add("shop.silver.seen", partition_by="geo")
    lake.layouts.drop(income.table, "by_geo")
    assert income.layouts == ()
    assert DERIVED_TABLES not in income.metadata.properties


def test_a_type_that_spark_stores_otherwise_is_refused(lake: Lake) -> None:
    income = LayoutTable(lake, "typed", *ROWS)
    loaded = lake.iceberg.load_table(income.table.parts)
    with loaded.update_schema() as update:
        update.add_column("id", UUIDType())
    with pytest.raises(UsageError, match="Spark would store the column id"):
        income.add("geo")
    assert income.layouts == ()
    assert DERIVED_TABLES not in income.metadata.properties


def test_layouts_follow_their_table_by_its_uuid(lake: Lake) -> None:
    income = LayoutTable(lake, "named", *ROWS)
    income.add("geo")
    income.build()
    hidden = income.layout.table
    lake.stores.catalog.create_namespace("other", "gold")
    income.table = lake.tables.rename(income.table, "other.gold.renamed")
    assert (income.layout.table, income.state().state) == (hidden, "fresh")
    income.insert((2020, "x", 1))
    assert income.build().built == 1
    income.check()

    clone = lake.tables.clone(income.table, "shop.silver.cloned")
    assert DERIVED_TABLES not in lake.tables.describe(clone).properties
    assert find_layouts(lake.tables.describe(clone), lake.stores.catalog) == ()
    assert lake.layouts.list(clone) == ()
    lake.layouts.add(clone, partition_by="geo")
    assert [one.built for one in lake.layouts.build(clone)] == [3]
    assert income.state().state == "fresh"

    lake.tables.drop(income.table)
    assert hidden in lake.stores.catalog.pointers()
    lake.tables.restore("renamed")
    assert income.state().state == "fresh"
    lake.care("shop.silver.*", "other.gold.*", now=datetime.now(UTC) + timedelta(days=9))
    assert income.state().state == "fresh"
    income.check()


def test_batches_are_built_together_up_to_a_budget(lake: Lake) -> None:
    income = LayoutTable(lake, "grouped", *((year, "a", year) for year in range(2000, 2010)))
    income.add("geo")
    size = sum(file.size for file in income.files) // 10
    options = BuildOptions(budget=3 * size + size // 2)
    (done,) = build_layouts(lake.layouts.services, income.table, options).builds
    assert (done.built, income.commits, done.complete) == (10, 4, True)
    income.check()
    (done,) = build_layouts(
        lake.layouts.services, income.table, BuildOptions(budget=1, force=True)
    ).builds
    assert "larger than 1 B" in done.warnings[0]
    assert income.state().state == "fresh"
