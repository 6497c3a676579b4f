"""`table migrate`: all rows of a table move onto another partitioning, a batch at a time. Readers see
every row throughout, others go on writing, and the way back stays open.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import DataFrame

from lakebed.engines.spark import SparkCompute
from lakebed.errors import LakebedError, RunFailed, UsageError
from lakebed.names import TableName
from lakebed.ports import AddSnapshot, Pointer
from lakebed.tables.migration.state import MIGRATION
from lakebed.tables.migration.steps import MigrationListener, MigrationStep, MoveBatch, MovedRows
from tests.support.kills import let_die
from tests.support.lakes.pipeline_lake import Rows, TestLake
from tests.support.tables import create_statement

pytestmark = [pytest.mark.spark]

NAME = "silver.orders"
COLUMNS = (
    "id BIGINT, part STRING, shard INT, at TIMESTAMP, tags ARRAY<STRING>, counts MAP<STRING, INT>"
)
NAMES = "(id, part, shard, at, tags, counts)"


def row(id: int, part: str) -> str:
    month = id % 3 + 1
    return (
        f"({id}L, '{part}', {id % 2}, TIMESTAMP '2026-0{month}-01 00:00:00.000{id:03}',"
        f" array('a', NULL), map('b', {id}))"
    )


def filled(shop: TestLake) -> TableName:
    """30 rows in three partitions, written by three commits: nine files."""
    spark, name = shop.lake.spark, shop.table(NAME)
    spark.sql(create_statement(shop.lake, name, COLUMNS, partition_by=["part"]))
    for begin in (0, 10, 20):
        rows = ", ".join(row(id, "xyz"[id % 3]) for id in range(begin, begin + 10))
        spark.sql(f"INSERT INTO {name.spark} VALUES {rows}")
    return name


def specs(shop: TestLake) -> set[int]:
    """The partition specs of the data files that readers read."""
    _, pointer, metadata = shop.lake.tables.look_up(shop.table(NAME))
    head = metadata.head()
    assert head
    files = shop.lake.stores.reach.files(pointer, snapshots=[head.id])
    return {file.partition.spec for file in files if file.kind == "data" and file.partition}


def some(shop: TestLake) -> int:
    """A size of batches that makes three of nine files."""
    head = shop.lake.tables.describe(shop.table(NAME)).head()
    assert head
    return (head.count("total-files-size") or 0) * 4 // 9


def others_write(shop: TestLake) -> None:
    """Plain Spark and PyIceberg, with nothing of Lakebed."""
    name = shop.table(NAME)
    shop.lake.spark.sql(f"INSERT INTO {name.spark} {NAMES} VALUES {row(100, 'x')}")
    loaded = shop.lake.iceberg.load_table(name.parts)
    loaded.append(loaded.scan("id = 100").to_arrow())


@contextmanager
def before_publishing(shop: TestLake, act: Callable[[str], None]) -> Iterator[None]:
    """`act` is called before each batch is first published, with its label."""
    real = shop.lake.stores.snapshots
    seen: set[str] = set()

    class Acting:
        def of_files(self, pointer: Pointer, files: Collection[str]) -> AddSnapshot | None:
            return real.of_files(pointer, files)

        def replacing(
            self, pointer: Pointer, *, picked: int, by: int, summary: Mapping[str, str]
        ) -> AddSnapshot:
            label = json.loads(summary[MIGRATION])["batch"]
            if label not in seen:
                seen.add(label)
                act(label)
            return real.replacing(pointer, picked=picked, by=by, summary=summary)

    shop.lake.stores.__dict__["snapshots"] = Acting()
    try:
        yield
    finally:
        shop.lake.stores.__dict__["snapshots"] = real


@pytest.mark.filterwarnings("ignore:Parquet writer option")  # PyIceberg has none of row groups
def test_readers_see_every_row_throughout_and_what_others_write_meanwhile_is_kept(
    shop: TestLake,
) -> None:
    name, spark = filled(shop), shop.lake.spark
    spark.sql(f"ALTER TABLE {name.spark} SET TBLPROPERTIES ('write.delete.mode'='merge-on-read')")
    spark.sql(f"DELETE FROM {name.spark} WHERE id = 7")
    spark.sql(f"ALTER TABLE {name.spark} ADD COLUMN note STRING")
    rows, before = shop.rows(NAME), shop.lake.tables.look_up(name)
    plan = shop.lake.tables.plan_migration(NAME, partition_by="shard", batch_size=some(shop))
    assert (plan.files, plan.rows, len(plan.batches)) == (9, 30, 3)
    assert [batch.label for batch in plan.batches] == ["part=x", "part=y", "part=z"]
    assert shop.lake.tables.look_up(name) == before, "a plan changes nothing"
    seen: list[Rows] = []

    def meanwhile(batch: str) -> None:
        """The rows of the batch are written, and not published."""
        if batch == "part=y":
            others_write(shop)
        if batch == "part=z":  # one of its rows: it has to be written again
            spark.sql(f"DELETE FROM {name.spark} WHERE id = 5")

    def end(step: MigrationStep, _: MovedRows) -> None:
        seen.append(shop.rows(NAME))
        if isinstance(step, MoveBatch) and step.batch.number == 1:
            shop.lake.execute(f"INSERT INTO {NAME} {NAMES} VALUES {row(200, 'y')}")

    with before_publishing(shop, meanwhile):
        done = shop.lake.tables.migrate(
            NAME,
            partition_by="shard",
            batch_size=some(shop),
            listener=MigrationListener(on_end=end),
        )
    added = [one for one in shop.rows(NAME) if one["id"] >= 100]
    assert sorted(one["id"] for one in added) == [100, 100, 200]
    assert seen[:2] == [rows, rows]
    assert len(seen) == 5
    assert seen[2] == sorted((*rows, *added), key=repr)
    left = [one for one in seen[2] if one["id"] != 5]
    assert seen[3:] == [left, left]
    assert (done.batches, done.files, done.sum.rows) == (3, 9, 28)
    assert "others" in done.compared
    assert shop.lake.tables.describe(name).partition_by == ("shard",)
    assert specs(shop) == {shop.lake.tables.describe(name).spec}
    assert shop.refs(NAME) == {"main"}
    (entry,) = shop.lake.care_history()
    assert (entry.action, entry.state, entry.counts["rows"]) == ("migrate", "done", 28)
    with pytest.raises(UsageError, match="take these rows away") as refused:
        shop.lake.tables.undo_migration(NAME)
    assert "--partition-by 'part'" in refused.value.next
    back = shop.lake.tables.migrate(NAME, partition_by="part")
    assert (back.batches, back.sum.rows) == (1, 31)
    assert shop.rows(NAME) == left
    assert shop.lake.fsck().problems == 0
    later = datetime.now(UTC) + timedelta(days=40)
    care = shop.lake.care(now=later, only=["expire_snapshots", "remove_orphans"], orphans=True)
    assert care.ok
    assert shop.rows(NAME) == left
    with pytest.raises(UsageError, match="has expired"):
        shop.lake.tables.undo_migration(NAME)
    again = shop.lake.tables.migrate(NAME, partition_by="part")
    assert (again.batches, again.compared) == (0, ""), "there is nothing to do"


def test_killed_half_way_it_goes_on_verifies_all_rows_and_can_be_undone(shop: TestLake) -> None:
    name = filled(shop)
    rows, size, former = shop.rows(NAME), str(some(shop)), shop.lake.tables.describe(name)
    let_die("killed_migration", str(shop.folder), str(name), "month(at), bucket(2, id)", size, "2")
    assert shop.rows(NAME) == rows
    assert len(specs(shop)) == 2, "one batch has moved, others have not"
    plan = shop.lake.tables.plan_migration(NAME, partition_by="month(at), bucket(2, id)")
    assert (plan.goes_on, plan.files) == (True, 6)
    done = shop.lake.tables.migrate(
        NAME, partition_by=["month(at)", "bucket(2, id)"], batch_size=size
    )
    assert (done.batches, done.files) == (2, 6)
    assert done.compared == "all 30 rows are the same as before"
    assert shop.rows(NAME) == rows
    assert len(specs(shop)) == 1
    assert shop.refs(NAME) == {"main"}
    undone = shop.lake.tables.undo_migration(NAME)
    present = shop.lake.tables.describe(name)
    assert (undone.snapshot, undone.present) == (former.refs["main"].snapshot, ("part",))
    assert (present.partition_by, present.spec, present.refs) == (
        former.partition_by,
        former.spec,
        former.refs,
    )
    assert present.properties == former.properties
    assert (shop.rows(NAME), specs(shop)) == (rows, {former.spec})
    with pytest.raises(UsageError, match="no migration to undo"):
        shop.lake.tables.undo_migration(NAME)


def refused_by_spark(shop: TestLake, name: TableName) -> None:
    """A column has the name that Iceberg gives to a field: the table is as it was."""
    shop.lake.spark.sql(f"ALTER TABLE {name.spark} ADD COLUMN at_year INT")
    before = shop.lake.tables.describe(name)
    with pytest.raises(LakebedError, match="at_year"):
        shop.lake.tables.migrate(NAME, partition_by="shard, year(at)")
    after = shop.lake.tables.describe(name)
    assert (after.partition_by, after.spec) == (before.partition_by, before.spec)
    assert (after.refs, after.properties) == (before.refs, before.properties)


def test_a_batch_with_a_row_changed_on_the_way_is_not_published_and_readers_see_the_rows_as_they_were(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = filled(shop)
    refused_by_spark(shop, name)
    rows, spark = shop.rows(NAME), shop.lake.spark
    overwrite = SparkCompute.overwrite

    def change_a_row(self: SparkCompute, frame: DataFrame, target: str) -> None:
        overwrite(self, frame, target)
        spark.sql(f"UPDATE {target} SET tags = array(NULL, 'a') WHERE id = 3")

    monkeypatch.setattr(SparkCompute, "overwrite", change_a_row)
    with pytest.raises(RunFailed, match="had 30 rows with checksum") as failed:
        shop.lake.tables.migrate(NAME, partition_by="month(at)")
    assert "nothing of it was published" in failed.value.safe
    assert shop.rows(NAME) == rows
    assert shop.refs(NAME) == {"main"}
    assert specs(shop) == {0}
    entry = shop.lake.care_history()[0]
    assert (entry.action, entry.state) == ("migrate", "failed")
    monkeypatch.undo()
    assert shop.lake.tables.migrate(NAME, partition_by="month(at)").sum.rows == 30
    assert shop.rows(NAME) == rows
    assert shop.lake.tables.undo_migration(name).present == ("part",)
