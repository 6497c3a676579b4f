"""Tables of Iceberg's format version 3, which others make: each change that Lakebed makes leaves
their rows, deletion vectors, row ids and columns as they should be.
"""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import BadQuery, UsageError
from lakebed.names import TableName
from tests.support.lakes.care_lakes import entry
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import create_statement

pytestmark = [pytest.mark.spark]

VERSION_3 = {
    "format-version": "3",
    **{f"write.{change}.mode": "merge-on-read" for change in ("delete", "update", "merge")},
}
UPGRADE = (
    "SET TBLPROPERTIES ("
    + ", ".join(f"'{key}' = '{value}'" for key, value in VERSION_3.items())
    + ")"
)
ROWS, FILES = 12, 6


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[TestLake]:
    """A lake in which each test has somebody else make it a table of its own."""
    made = TestLake(tmp_path_factory.mktemp("format3") / "lake")
    yield made
    made.lake.close()


def events(shop: TestLake, name: str) -> TableName:
    """A table of a few files."""
    table, spark = shop.table(f"silver.{name}"), shop.lake.spark
    spark.sql(create_statement(shop.lake, table, "id BIGINT, s STRING"))
    spark.sql(f"ALTER TABLE {table.spark} {UPGRADE}")
    spark.sql(f"INSERT INTO {table.spark} SELECT id, 'first' FROM range(0, {ROWS}, 1, {FILES})")
    return table


def lineage(shop: TestLake, table: TableName) -> dict[int, int]:
    """The row id of each row."""
    return {
        row.id: row._row_id
        for row in shop.lake.spark.sql(f"SELECT id, _row_id FROM {table.spark}").collect()
    }


def read(shop: TestLake, table: TableName) -> list[tuple[int, str]]:
    """The rows, on which all readers agree; `ls` counts them."""
    lake = shop.lake
    wanted = [
        tuple(row)
        for row in lake.spark.sql(f"SELECT id, s FROM {table.spark} ORDER BY id").collect()
    ]
    assert lake.query(f"SELECT id, s FROM {table} ORDER BY id").fetchall() == wanted
    assert [
        (row["id"], row["s"])
        for row in lake.iceberg.load_table(table.parts).scan().to_arrow().sort_by("id").to_pylist()
    ] == wanted
    assert sorted(lake.table(table).to_polars(lazy=True).collect().rows()) == wanted
    assert lake.table(table).count() == len(wanted)
    head = lake.tables.describe(table).head()
    assert head
    assert head.rows == len(wanted)
    return wanted


def test_every_change_is_made_and_keeps_rows_deletion_vectors_and_row_ids(shop: TestLake) -> None:
    lake, table = shop.lake, events(shop, "changed")
    first = lineage(shop, table)
    lake.tables.tag(table, "begun")
    assert lake.execute(f"DELETE FROM {table} WHERE id = 3").rows["total"] == ROWS - 1
    lake.write(table, pa.table({"id": [5, 20], "s": ["merged", "new"]}), mode="merge", key="id")
    wanted = [
        (id_, {5: "merged", 20: "new"}.get(id_, "first"))
        for id_ in (*range(3), *range(4, ROWS), 20)
    ]
    assert read(shop, table) == wanted
    head = lake.tables.describe(table).head()
    assert head
    assert (head.count("total-position-deletes") or 0) > 0  # of vectors
    now = lineage(shop, table)
    assert {id_: row for id_, row in now.items() if id_ in first} == {
        id_: row for id_, row in first.items() if id_ != 3
    }
    assert now[20] >= ROWS
    clone = lake.tables.clone(table, "shop.silver.copied")
    lake.execute("DELETE FROM copied WHERE id = 20")
    assert read(shop, clone) == wanted[:-1]
    assert (
        lake.query(f"SELECT id, s FROM {clone} ORDER BY id", untrusted=True).fetchall()
        == wanted[:-1]
    )
    assert lineage(shop, clone) == {id_: row for id_, row in now.items() if id_ != 20}
    renamed = lake.tables.rename(clone, "shop.silver.renamed")
    lake.tables.drop(renamed)
    restored = lake.tables.restore("renamed", to="shop.silver.restored")
    assert lake.table(restored).count() == len(wanted) - 1
    lake.tables.rollback(table, "begun")
    assert lineage(shop, table) == first
    lake.tables.rollback(table, str(head.id))
    assert read(shop, table) == wanted
    assert lineage(shop, table) == now
    assert lake.tables.describe(table).format_version == 3
    assert set(lake.tables.describe(table).refs) == {"main", "begun"}


def test_care_rewrites_and_expires_and_fsck_finds_no_fault(shop: TestLake) -> None:
    lake, table = shop.lake, events(shop, "cared_for")
    lake.execute(f"DELETE FROM {table} WHERE id IN (0, 10)")
    before, rows = lineage(shop, table), read(shop, table)
    settings = (
        "care: {compact_min_files: 2, compact_small_ratio: 0.1}\nmerge_strategy: append_only\n"
    )
    shop.pipeline("silver.cared_for", "SELECT 1 AS id, '' AS s", settings)
    done = entry(lake.care("cared_for", only=["compact_files"]), "compact_files")
    assert done.state == "done", done
    assert (read(shop, table), lineage(shop, table)) == (rows, before)
    later = datetime.now(UTC) + timedelta(days=30)
    expired = entry(
        lake.care("cared_for", only=["expire_snapshots"], now=later), "expire_snapshots"
    )
    assert expired.state == "done", expired
    lake.care(orphans=True, only=["remove_orphans"], now=later)
    assert (read(shop, table), lineage(shop, table)) == (rows, before)
    assert lake.fsck(sample=None).problems == 0


def test_a_moved_lake_is_relocated_unless_deletion_vectors_name_files_where_they_were(
    tmp_path: Path, spark_home: Path
) -> None:
    there = TestLake(tmp_path / "lake")
    table = events(there, "moved")
    rows, copies = read(there, table), (tmp_path / "copied", tmp_path / "marked")
    shutil.copytree(there.folder, copies[0])
    there.lake.execute(f"DELETE FROM {table} WHERE id = 1")
    shutil.copytree(there.folder, copies[1])
    there.lake.close()
    with lakebed.open(copies[0]) as lake:
        lake.relocate(origin=str(there.folder))
        assert lake.query(f"SELECT id, s FROM {table} ORDER BY id").fetchall() == rows
        assert lake.tables.describe(table).format_version == 3
    with (
        lakebed.open(copies[1]) as lake,
        pytest.raises(UsageError, match="moved has position delete files"),
    ):
        lake.relocate(origin=str(there.folder))


def test_a_table_with_types_that_only_spark_knows_is_changed_and_stands_in_nobodys_way(
    shop: TestLake,
) -> None:
    lake, table = shop.lake, shop.table("silver.any")
    lake.spark.sql(create_statement(lake, table, "id BIGINT"))
    lake.spark.sql(f"ALTER TABLE {table.spark} {UPGRADE}")
    lake.spark.sql(f"ALTER TABLE {table.spark} ADD COLUMNS (v VARIANT, nothing VOID)")
    lake.spark.sql(f"INSERT INTO {table.spark} SELECT 1, parse_json('{{\"a\": [1, 2]}}'), NULL")
    lake.tables.tag(table, "begun")
    lake.execute("INSERT INTO any SELECT 2, parse_json('[3]'), NULL")
    lake.execute("ALTER TABLE any ADD COLUMN more INT")
    asked = "SELECT id, to_json(v) AS v FROM any ORDER BY id"
    assert lake.query(asked, engine="spark").fetchall() == [(1, '{"a":[1,2]}'), (2, "[3]")]
    clone = lake.tables.clone(table, "shop.silver.any_copy", at="begun")
    lake.execute(f"UPDATE {clone} SET v = parse_json('true') WHERE id = 1")
    assert lake.query(f"SELECT to_json(v) AS v FROM {clone}", engine="spark").fetchall() == [
        ("true",)
    ]
    assert [row[0] for row in lake.query(f"SELECT record_count FROM {table}$files")] == [1, 1]
    with pytest.raises(
        BadQuery, match=r"DuckDB has no type for variant, the type of v of shop.silver.any"
    ):
        lake.query(f"FROM {table}").to_arrow()
    with pytest.raises(UsageError, match="Arrow has no type for variant, the type of v"):
        lake.table(table).to_arrow()
    assert sorted(lake.table(table, columns=["id"]).to_arrow()["id"].to_pylist()) == [1, 2]
    assert not [
        one for one in lake.care(orphans=True, dry_run=True).entries if one.state == "failed"
    ]
    assert lake.fsck(sample=None).problems == 0


def test_a_pipelines_table_that_was_upgraded_goes_on(shop: TestLake) -> None:
    config = "merge_strategy: incremental\nunique_key: [id]\non_schema_change: append_new_columns\n"
    query = (
        "SELECT CAST(id AS BIGINT) AS id, CAST(v AS BIGINT) AS v{} FROM {{{{ landing_zone('sales')"
        " }}}}"
    )
    shop.pipeline("silver.sales", query.format(""), config)
    shop.land("sales", "1.csv", "id,v\n1,1\n2,2\n")
    shop.run_one("silver.sales")
    table = shop.table("silver.sales")
    shop.lake.execute(f"ALTER TABLE sales {UPGRADE}")
    shop.pipeline("silver.sales", query.format(", CAST(w AS BIGINT) AS w"), config)
    shop.land("sales", "2.csv", "id,v,w\n2,3,4\n3,5,6\n")
    shop.run_one("silver.sales")
    wanted = [(1, 1, None), (2, 3, 4), (3, 5, 6)]
    assert shop.lake.query(f"SELECT id, v, w FROM {table} ORDER BY id").fetchall() == wanted
    assert [
        tuple(row)
        for row in shop.lake.spark.sql(f"SELECT id, v, w FROM {table.spark} ORDER BY id").collect()
    ] == wanted
    assert shop.lake.tables.describe(table).format_version == 3
