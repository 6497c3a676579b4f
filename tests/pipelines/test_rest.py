"""Pipelines on a REST catalog: the same promises, save that it commits one table at a time and has
no views.
"""

import pytest

from tests.support.lakes.rest_lake import RestLake

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]

UPSERT = "merge_strategy: incremental\nunique_key: id"


def rows(made: RestLake, name: str) -> list[tuple[int, int]]:
    return sorted((row["id"], row["v"]) for row in made.rows(name))


def test_a_first_run_a_merge_a_blocked_batch_and_a_build_together_on_a_rest_catalog(
    rest_lake: RestLake,
) -> None:
    rest_lake.pipeline(
        "silver.a",
        "SELECT * FROM VALUES (1, 1), (2, 2) AS t(id, v)",
        UPSERT,
        ok="SELECT * FROM {{ this }} WHERE v < 0",
    )
    rest_lake.pipeline("gold.b", "SELECT count(*) AS id, sum(v) AS v FROM {{ ref('silver.a') }}")
    assert rest_lake.lake.run(together=True).ok
    assert (rows(rest_lake, "silver.a"), rows(rest_lake, "gold.b")) == ([(1, 1), (2, 2)], [(2, 3)])
    rest_lake.pipeline("silver.a", "SELECT * FROM VALUES (2, -5), (3, 3) AS t(id, v)", UPSERT)
    failed = rest_lake.lake.run("silver.a").records[0]
    assert failed.error["kind"] == "GateFailed"
    assert rows(rest_lake, "silver.a") == [(1, 1), (2, 2)]
    rest_lake.pipeline(
        "silver.a",
        "SELECT * FROM VALUES (2, 5, 'x'), (3, 3, 'y') AS t(id, v, note)",
        f"{UPSERT}\non_schema_change: append",
    )
    assert rest_lake.lake.run().ok
    assert (rows(rest_lake, "silver.a"), rows(rest_lake, "gold.b")) == (
        [(1, 1), (2, 5), (3, 3)],
        [(3, 9)],
    )
    ours = [
        table
        for table in rest_lake.lake.stores.catalog.pointers()
        if table.namespace == rest_lake.namespace
    ]
    assert not [table for table in ours if table.hidden]


def test_a_view_is_refused_with_the_reason_where_the_catalog_has_none(rest_lake: RestLake) -> None:
    rest_lake.pipeline("silver.base", "SELECT 1 AS id, 1 AS v")
    rest_lake.pipeline("silver.v", "SELECT * FROM {{ ref('silver.base') }}", "materialized: view")
    record = rest_lake.lake.run("silver.base", "silver.v").records[-1]
    assert (record.state, record.error["kind"]) == ("failed", "BadPipeline")
    assert "no views" in record.error["what"]


def test_a_rename_is_seen_by_readers_although_a_rest_catalogs_snapshot_keeps_the_schema_of_its_writing(
    rest_lake: RestLake,
) -> None:
    rest_lake.pipeline("silver.r", "SELECT 1 AS id, 1 AS old", UPSERT)
    assert rest_lake.lake.run("silver.r").ok
    rest_lake.pipeline(
        "silver.r",
        "-- @rename: old -> v\nSELECT 2 AS id, 2 AS v",
        UPSERT,
        ok="SELECT v FROM {{ this }} WHERE v < 0",
    )
    rest_lake.pipeline("gold.s", "SELECT id, v FROM {{ ref('silver.r') }}")
    assert rest_lake.lake.run("silver.r", "gold.s", together=True).ok
    assert (rows(rest_lake, "silver.r"), rows(rest_lake, "gold.s")) == (
        [(1, 1), (2, 2)],
        [(1, 1), (2, 2)],
    )
    assert rest_lake.lake.run("gold.s").ok


def test_a_table_moves_onto_other_partitions_and_back_on_a_rest_catalog(
    rest_lake: RestLake,
) -> None:
    rest_lake.pipeline("silver.a", "SELECT * FROM VALUES (1, 1), (2, 2), (3, 3) AS t(id, v)")
    assert rest_lake.lake.run().ok
    name, before = rest_lake.table("silver.a"), rows(rest_lake, "silver.a")
    done = rest_lake.lake.tables.migrate(name, partition_by="bucket(2, id), v")
    assert (done.sum.rows, done.compared) == (3, "all 3 rows are the same as before")
    assert rest_lake.lake.tables.describe(name).partition_by == ("bucket(2, id)", "v")
    assert rows(rest_lake, "silver.a") == before
    assert rest_lake.lake.tables.undo_migration(name).present == ()
    assert rest_lake.lake.tables.describe(name).partition_by == ()
    assert rows(rest_lake, "silver.a") == before
