"""Layouts that pipelines declare: made and built by runs, which never fail because of them."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from lakebed.app import Lake, open_lake
from lakebed.derived.identity import Layout, find_layouts
from lakebed.errors import BadPipeline, UsageError
from lakebed.pipelines.planning.steps import BuildLayouts
from tests.support.lakes.layout_lake import same_rows
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.source_lake import CONFIG, NAME, SourceLake

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),
]
# as the seed has them
BY_FIPS = """
alternate_partitions:
  - name: by_fips
    partition: {style: hive, keys: [{name: geo, type: VARCHAR}, {name: year, type: INTEGER}]}
    batch_partition_columns: [year]
    incremental_keys: [year]
"""
TRENDING = """\
  - name: by_metric_trending
    partition: {keys: [{name: table}, {name: set}]}
    batch_partition_columns: [year]
"""


@pytest.fixture(scope="module")
def income(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[SourceLake]:
    folder = tmp_path_factory.mktemp("declared") / "lake"
    made = SourceLake(folder, CONFIG + BY_FIPS + TRENDING, settings={"spark": {"quick": True}})
    for year in (2019, 2020):
        made.put_values(f"CA1_{year}_COUNTY", 1, 2, 3)
    yield made
    made.lake.close()


def test_a_run_of_a_source_makes_and_builds_them_after_its_last_batch(income: SourceLake) -> None:
    (plan,) = income.lake.plan(NAME)
    assert plan.source
    told = " ".join(plan.source.notes)
    assert "the layout by_fips (by geo, year) is built after the last batch" in told
    assert "the layout by_metric_trending (by table, set) is built after the last batch" in told
    assert income.lake.layouts.list() == ()

    record = income.run_source()
    assert (record.state, record.message) == ("success", "2 batches written, 0 unchanged")
    lines = {line.name: line for line in income.lake.layouts.list(NAME)}
    assert {name: (line.state, line.fresh) for name, line in lines.items()} == {
        "by_fips": ("fresh", 2),
        "by_metric_trending": ("fresh", 2),
    }
    assert lines["by_metric_trending"].partition_by == ("table", "set", "year")
    assert "NO_PRUNING_GAIN" in lines["by_fips"].why
    assert "NO_PRUNING_GAIN" not in lines["by_metric_trending"].why
    stored = record.metrics["partition_alternate.storage.amplification"]
    source = sum(file.stat().st_size for file in income.source.iterdir())
    table = lines["by_fips"].source_bytes
    assert stored > round(table / source, 3) * 2
    log = last_log(income)
    assert "metric partition_alternate.batch.files_processed = 6 (by_fips)" in log
    assert "metric partition_alternate.storage.amplification = " in log
    same_rows(income.lake, income.table(NAME))

    income.put_values("CA1_2020_COUNTY", 1, 2, 3, 4)
    record = income.run_source()
    assert "layout by_fips: 1 batches built" in last_log(income)
    same_rows(income.lake, income.table(NAME))


def test_what_is_declared_otherwise_replaces_it_and_what_is_not_is_reported(
    income: SourceLake,
) -> None:
    lake = income.lake
    before = {one.name: one.table for one in layouts(lake, income)}
    income.configure(CONFIG + BY_FIPS.replace("[{name: geo,", "[{name: table}, {name: geo,"))
    record = income.run_source()
    assert record.state == "success"
    assert "the layout by_metric_trending is not declared any more" in record.message
    after = {one.name: one.table for one in layouts(lake, income)}
    assert after["by_metric_trending"] == before["by_metric_trending"]
    assert after["by_fips"] != before["by_fips"]
    same_rows(lake, income.table(NAME))
    with pytest.raises(UsageError, match="declares the layout by_fips"):
        lake.layouts.drop(NAME, "by_fips")
    lake.layouts.drop(NAME, "by_metric_trending")
    with pytest.raises(UsageError, match="has a pipeline") as refused:
        lake.layouts.add(NAME, partition_by="truncate(1, geo)", name="by_g")
    assert refused.value.next == (
        "Add to alternate_partitions there, then run it:\n"
        "alternate_partitions:\n  - name: by_g\n    partition_by: [truncate(1, geo)]"
    )


def test_a_layout_that_cannot_be_made_does_not_fail_the_run(income: SourceLake) -> None:
    wrong = "\n  - {name: bad, partition_by: [nothing]}\n  - {name: typed, partition: {keys: [{name: set, type: INT}]}}\n"
    income.configure(CONFIG + BY_FIPS + wrong)
    income.put_values("CA1_2021_COUNTY", 1)
    (plan,) = income.lake.plan(NAME)
    assert [line.split()[:3] for line in plan.advice] == [
        ["the", "layout", "bad"],
        ["the", "layout", "typed"],
    ]
    lines = {line.name: line for line in income.lake.layouts.list(NAME)}
    assert lines["bad"].why == plan.advice[0]
    record = income.run_source()
    assert record.state == "success"
    assert (
        "the layout bad was not built: there is no column of shop.bronze.income" in record.message
    )
    assert "declares set as int, and the table has string" in record.message
    assert {one.name for one in layouts(income.lake, income)} == {"by_fips"}
    same_rows(income.lake, income.table(NAME))
    income.configure(CONFIG + BY_FIPS)


def test_other_pipelines_and_manual_changes_build_them_in_line(income: SourceLake) -> None:
    lake = income.lake
    query = "SELECT * FROM VALUES (2019, 'a', 1L), (2020, 'b', 2L) AS t(year, geo, v)"
    config = "partition_by: [year]\nlayouts: [{partition_by: 'bucket(2, geo)', sort_by: geo}]\n"
    income.pipeline("silver.regions", query, config)
    (plan,) = lake.plan("silver.regions")
    assert plan.after[-1].kind == "BuildLayouts"
    record = income.run_one("silver.regions")
    assert record.message == ""
    assert record.phases[-1].name == "BuildLayouts"
    same_rows(lake, income.table("silver.regions"))
    (line,) = lake.layouts.list("silver.regions")
    assert (line.state, line.batch_by) == ("fresh", ("year",))

    rows = pa.table({"year": [2021], "geo": ["c"], "v": [3]})
    lake.write(
        "silver.regions",
        rows.cast(pa.schema([("year", "int32"), ("geo", "string"), ("v", "int64")])),
    )
    lake.execute("DELETE FROM shop.silver.regions WHERE year = 2019")
    assert lake.layouts.list("silver.regions")[0].state == "fresh"
    lake.execute("ALTER TABLE shop.silver.regions ADD COLUMN note STRING")
    assert lake.layouts.list("silver.regions")[0].state == "fresh"
    same_rows(lake, income.table("silver.regions"))
    copy = "SELECT year, geo, v FROM {{ ref('silver.regions') }}"
    income.pipeline("gold.regions", copy, "layouts: [{sort_by: geo}]\n")
    records = income.run("silver.regions", "gold.regions", together=True)
    assert {record.state for record in records.values()} == {"success"}
    assert [one.state for one in lake.layouts.list() if one.table.name == "regions"] == [
        "fresh"
    ] * 2
    same_rows(lake, income.table("gold.regions"))


def test_building_can_be_left_to_care(income: SourceLake) -> None:
    with open_lake(income.folder, environment={"LAKEBED_LAYOUTS_BUILD": "later"}) as lake:
        lake.spark = income.lake.spark
        income.pipeline("silver.late", "SELECT 1 AS a, 'x' AS b", "layouts: [{partition_by: b}]\n")
        (plan,) = lake.plan("silver.late")
        assert isinstance(plan.after[-1], BuildLayouts)
        assert not plan.after[-1].rows
        assert lake.run("silver.late").ok
        assert [line.state for line in lake.layouts.list("silver.late")] == ["not built"]
        done = lake.care("silver.late", dry_run=True, only=["build_layouts"])
        assert [entry.counts for entry in done.entries] == [{"layouts": 1, "stale batches": 1}]
        (entry,) = lake.care("silver.late", only=["build_layouts"]).entries
        assert (entry.state, entry.counts) == ("done", {"layouts": 1, "batches": 1})
        assert [line.state for line in lake.layouts.list("silver.late")] == ["fresh"]
        assert lake.care("silver.late", only=["build_layouts"]).entries == ()
        same_rows(lake, income.table("silver.late"))
        lake.__dict__.pop("spark")


def test_a_view_has_none_and_names_are_given_once(income: SourceLake) -> None:
    for config, said in (
        ("materialized: view\nlayouts: [{partition_by: a}]\n", "a view has no rows of its own"),
        ("layouts: [{partition_by: a}, {sort_by: a}]\n", "two layouts have the name by_a"),
        ("layouts: [{name: x}]\n", "a layout needs partition_by or sort_by"),
    ):
        income.pipeline("silver.bad", "SELECT 1 AS a", config)
        with pytest.raises(BadPipeline, match=said):
            income.lake.plan("silver.bad")
    for file in (income.folder / "shop/pipelines/silver/bad").glob("*.*"):
        file.unlink()


def layouts(lake: Lake, made: TestLake) -> tuple[Layout, ...]:
    return find_layouts(lake.tables.describe(made.table(NAME)), lake.stores.catalog)


def last_log(made: TestLake) -> str:
    logs = (made.folder / ".data/logs/runs").glob("*")
    return max(logs, key=lambda file: file.stat().st_mtime).read_text()
