"""Tables from which others delete by delete files: readers see the rows that are left, whichever
way they read.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from lakebed.app import Lake
from lakebed.names import TableName
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]

TABLE = TableName("shop", "silver", "marked")
MERGE_ON_READ = {
    f"write.{change}.mode": "merge-on-read" for change in ("delete", "update", "merge")
} | {"format-version": "2"}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Lake]:
    lake = TestLake(tmp_path_factory.mktemp("deletes") / "lake").lake
    lake.stores.catalog.create_namespace(TABLE.namespace, TABLE.layer)
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "s", StringType()))
    lake.iceberg.create_table(
        TABLE.parts, schema, location=lake.root.at(TABLE.folder), properties=MERGE_ON_READ
    )
    for statement in (
        "INSERT INTO {} SELECT id, 'first' FROM range(100)",
        "INSERT INTO {} SELECT id, 'second' FROM range(100, 200)",
        "DELETE FROM {} WHERE id % 3 = 0",
        "UPDATE {} SET s = 'changed' WHERE id BETWEEN 50 AND 60",
        "DELETE FROM {} WHERE id = 199",
    ):
        lake.spark.sql(statement.format(TABLE.spark))
    yield lake
    lake.close()


def by_spark(lake: Lake, where: str = "true") -> list[tuple[int, str]]:
    return [
        (row.id, row.s)
        for row in lake.spark.sql(
            f"SELECT id, s FROM {TABLE.spark} WHERE {where} ORDER BY id"
        ).collect()
    ]


def test_there_are_delete_files(lake: Lake) -> None:
    (summary,) = next(
        iter(lake.query(f"SELECT summary FROM {TABLE}$snapshots ORDER BY committed_at DESC"))
    )
    assert int(summary["total-position-deletes"]) > 60


@pytest.mark.parametrize(
    "where", ["true", "id < 20", "id >= 150", "s = 'changed'", "id = 199", "id = 51 OR id = 3"]
)
def test_every_way_to_read_leaves_out_what_is_deleted(lake: Lake, where: str) -> None:
    wanted = by_spark(lake, where)
    asked = f"SELECT id, s FROM {TABLE} WHERE {where} ORDER BY id"
    assert lake.query(asked).fetchall() == wanted
    assert lake.query(asked, untrusted=True).fetchall() == wanted
    table = lake.table(TABLE, where=where)
    assert table.count() == len(wanted)
    assert sorted(table.to_polars(lazy=True).collect().rows()) == wanted
    assert sorted((row["id"], row["s"]) for row in table.to_arrow().to_pylist()) == wanted
    assert sorted(table.to_duckdb().fetchall()) == wanted


def test_a_count_is_not_that_of_the_files(lake: Lake) -> None:
    wanted = len(by_spark(lake))
    assert lake.table(TABLE).count() == wanted
    assert lake.query(f"SELECT count(*) FROM {TABLE}").fetchall() == [(wanted,)]
    assert lake.explain(f"FROM {TABLE}")[0].how == "iceberg"


def test_each_former_state_has_its_own_deletes(lake: Lake) -> None:
    snapshots = [
        row[0]
        for row in lake.query(f"SELECT snapshot_id FROM {TABLE}$snapshots ORDER BY committed_at")
    ]
    for snapshot in snapshots:
        wanted = lake.spark.sql(
            f"SELECT count(*), sum(id) FROM {TABLE.spark} VERSION AS OF {snapshot}"
        ).collect()[0]
        assert lake.query(f"SELECT count(*), sum(id) FROM {TABLE}", at=snapshot).fetchall() == [
            tuple(wanted)
        ]
        assert lake.table(TABLE, at=snapshot).count() == wanted[0]


def test_deletes_hold_after_the_schema_has_changed(lake: Lake) -> None:
    lake.spark.sql(f"ALTER TABLE {TABLE.spark} RENAME COLUMN s TO t")
    lake.spark.sql(f"ALTER TABLE {TABLE.spark} ADD COLUMN s BIGINT")
    lake.spark.sql(f"INSERT INTO {TABLE.spark} VALUES (500, 'new', 5)")
    lake.spark.sql(f"DELETE FROM {TABLE.spark} WHERE id = 1")
    wanted = [
        tuple(row)
        for row in lake.spark.sql(f"SELECT id, t, s FROM {TABLE.spark} ORDER BY id").collect()
    ]
    assert lake.query(f"SELECT id, t, s FROM {TABLE} ORDER BY id").fetchall() == wanted
    assert (500, "new", 5) in wanted
