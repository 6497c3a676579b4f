"""Layouts in a bucket, on a REST catalog and in PostgreSQL: the same rows, batches and states as in a
folder.
"""

import pytest

from lakebed.derived.identity import find_layouts
from tests.support.lakes.layout_lake import same_rows
from tests.support.lakes.rest_lake import BucketLake
from tests.support.scale import rotated

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]
CONFIG = """\
merge_strategy: delete_insert
unique_key: year
partition_by: [year]
layouts: [{name: by_geo, partition_by: [geo]}]
"""
# SeaweedFS makes no table that is partitioned by its first column.
ROWS = "SELECT * FROM VALUES (1, 2019, 'a'), (2, 2020, 'b') AS t(v, year, geo)"
POINT = "SELECT v FROM silver.income WHERE geo = 'b'"


@pytest.mark.parametrize("made", rotated(["rest_lake", "bucket_lake"], 1))
def test_a_layout_on_a_server_is_made_built_read_and_dropped(
    made: str, request: pytest.FixtureRequest
) -> None:
    stored: BucketLake = request.getfixturevalue(made)
    lake, table = stored.lake, stored.table("silver.income")
    stored.pipeline("silver.income", ROWS, CONFIG)
    (record,) = lake.run("silver.income").records
    assert (record.state, record.message) == ("success", ""), record.error
    (layout,) = find_layouts(lake.tables.describe(table), lake.stores.catalog)
    assert layout.table.name.startswith("mv_" if made == "rest_lake" else "_mv_")
    same_rows(lake, table)
    asked = f"/*+ use_layout(by_geo) */ {POINT}"
    for engine in ("duckdb", "spark"):
        (read,) = lake.explain(asked, engine=engine, namespace=stored.namespace)
        assert read.layout == "by_geo"
        found = lake.query(asked, engine=engine, namespace=stored.namespace)
        assert found.fetchall() == [(2,)]

    stored.pipeline("silver.income", "SELECT 3 AS v, 2020 AS year, 'c' AS geo", CONFIG)
    (record,) = lake.run("silver.income").records
    assert (record.state, record.message) == ("success", ""), record.error
    (line,) = lake.layouts.list(table)
    assert (line.state, line.fresh) == ("fresh", 2)
    same_rows(lake, table)
    assert all(check.ok for check in lake.layouts.verify(table))

    lake.iceberg.load_table(table.parts).delete("year = 2019")
    (line,) = lake.layouts.list(table)
    assert (line.state, line.stale) == ("stale", 1)
    everything = lake.query("SELECT v FROM silver.income", namespace=stored.namespace)
    assert everything.fetchall() == [(3,)]

    stored.pipeline("silver.income", ROWS, CONFIG.replace("[{name: by_geo", "[{name: other"))
    (record,) = lake.run("silver.income").records
    assert "by_geo is not declared any more" in record.message
    lake.layouts.drop(table, "by_geo")
    assert [line.name for line in lake.layouts.list(table)] == ["other"]
    same_rows(lake, table)
