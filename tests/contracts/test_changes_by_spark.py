"""Changes that Spark makes are all told: copied and merged on read, with delete files and deletion
vectors, compacted meanwhile, under changing partitions.

For every two snapshots: what was told leads from the files of one to those of the other, and every
year whose rows differ is told, unless a file may be of any year.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake
from lakebed.names import TableName
from lakebed.ports import ChangedFile
from lakebed.settings import normalized_location
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]

YEAR = (2, "identity")
ANY = object()
MERGE_ON_READ = ", ".join(
    f"'write.{change}.mode' = 'merge-on-read'" for change in ("delete", "update", "merge")
)
# Appends after the second merge manifests, so that a snapshot's manifests also have older files.
MERGING = "'commit.manifest.min-count-to-merge' = '2'"
TABLES = {
    "copied": f"PARTITIONED BY (year) TBLPROPERTIES ('format-version' = '1', {MERGING})",
    "marked": f"PARTITIONED BY (year) TBLPROPERTIES ('format-version' = '2', {MERGE_ON_READ})",
    "vectors": f"PARTITIONED BY (year) TBLPROPERTIES ('format-version' = '3', {MERGE_ON_READ})",
    "loose": f"TBLPROPERTIES ('format-version' = '2', {MERGE_ON_READ}, {MERGING})",
}
HISTORY = (
    "INSERT INTO {0} SELECT id, CAST(if(id % 4 = 3, NULL, 2018 + id % 4) AS INT), 'first' FROM range(40)",
    "INSERT INTO {0} VALUES (100, 2019, 'second'), (101, 2021, 'second')",
    "DELETE FROM {0} WHERE id = 0 OR id = 8",
    "UPDATE {0} SET s = 'changed' WHERE id = 1",
    "DELETE FROM {0} WHERE year = 2021",
    "INSERT OVERWRITE {0} SELECT 200, 2020, 'over'",
    "MERGE INTO {0} t USING (SELECT 3L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "CALL lake.system.rewrite_data_files(table => '{0}', options => map('rewrite-all', 'true'))",
    "CALL lake.system.rewrite_manifests('{0}')",
    "DELETE FROM {0} WHERE id = 200",
    "ALTER TABLE {0} ADD PARTITION FIELD bucket(2, id)",
    "INSERT INTO {0} VALUES (300, 2022, 'later'), (301, NULL, 'later')",
    "DELETE FROM {0} WHERE id = 301 OR id = 9",
    "UPDATE {0} SET year = 2023 WHERE id = 300",
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Lake]:
    lake = TestLake(tmp_path_factory.mktemp("changes") / "lake").lake
    lake.stores.catalog.create_namespace("shop", "silver")
    lake.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    yield lake
    lake.close()


def told(lake: Lake, table: TableName, since: int, until: int) -> tuple[ChangedFile, ...]:
    pointer = lake.stores.catalog.pointers([table])[table]
    found = lake.stores.scans.changes(pointer, since=since, until=until)
    assert found is not None
    return found


def files(lake: Lake, table: TableName, snapshot: int) -> Counter[str]:
    """Data and delete files; a file may hold several deletion vectors."""
    sql = f"SELECT file_path FROM {table.spark}.files VERSION AS OF {snapshot}"
    return Counter(normalized_location(row.file_path) for row in lake.spark.sql(sql).collect())


def years(lake: Lake, table: TableName, snapshot: int) -> dict[Any, Any]:
    sql = (
        f"SELECT year, sort_array(collect_list(struct(id, s))) AS held FROM {table.spark} VERSION AS"
        f" OF {snapshot} GROUP BY year"
    )
    return {row.year: row.held for row in lake.spark.sql(sql).collect()}


def differing(then: dict[Any, Any], now: dict[Any, Any]) -> set[Any]:
    return {year for year in {*then, *now} if then.get(year) != now.get(year)}


@pytest.mark.parametrize("name", TABLES)
def test_every_change_is_told_and_no_year_is_missed(lake: Lake, name: str) -> None:
    table = TableName("shop", "silver", name)
    lake.spark.sql(
        f"CREATE TABLE {table.spark} (id BIGINT, year INT, s STRING) USING iceberg {TABLES[name]}"
    )
    for statement in HISTORY:
        lake.spark.sql(statement.format(table.spark)).collect()
    pointer = lake.stores.catalog.pointers([table])[table]
    metadata = lake.stores.catalog.metadata([pointer])[table]
    head = metadata.head()
    assert head
    snapshots = [*metadata.ancestry(head.id)][::-1]
    assert len(snapshots) >= 11
    assert "replace" in {one.operation for one in snapshots}
    held = {one.id: years(lake, table, one.id) for one in snapshots}
    known = {one.id: files(lake, table, one.id) for one in snapshots}
    for then, now in pairwise(snapshots):
        found = told(lake, table, then.id, now.id)
        if now.operation == "replace":
            assert (found, differing(held[then.id], held[now.id])) == ((), set())
            continue
        leads = known[then.id].copy()
        leads.update(one.location for one in found if one.added)
        leads.subtract(one.location for one in found if not one.added)
        assert +leads == known[now.id], now.operation
    for since in snapshots:
        labels = {one.partition.get(YEAR, ANY) for one in told(lake, table, since.id, head.id)}
        assert ANY in labels or differing(held[since.id], held[head.id]) <= labels
    everything = told(lake, table, snapshots[0].id, head.id)
    assert any(one.deletes for one in everything) == (name != "copied")
    certain = [YEAR in one.partition for one in everything if one.deletes or name != "loose"]
    assert set(certain) == {name != "loose"}
