"""`lake.write(mode="overwrite", where=…)`: part of a table is replaced, and nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.csv import write_csv
from pyarrow.parquet import write_table
from typer.testing import CliRunner

from lakebed.cli.main import app
from lakebed.errors import BadBatch, BadPipeline, Diverged, GateFailed, RunFailed, UsageError
from tests.support.kills import let_die
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import rotated

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),  # PyIceberg has not all of them
]

QUERY = "SELECT * FROM VALUES (1, 'DE', 10), (2, 'FR', 20), (3, NULL, 30) AS t(id, country, v)"
GATE = {"positive": "SELECT * FROM {{ this }} WHERE v < 0"}
SCHEMA = pa.schema({"id": pa.int32(), "country": pa.string(), "v": pa.int32()})
RENAMING = """
contract: true
columns:
  - {name: number, type: int, renamed_from: odd id}
  - {name: at, type: timestamp}
  - {name: note, type: string}
"""
GERMANY = "country = 'DE'"


@pytest.fixture
def orders(shop: TestLake) -> TestLake:
    """Three rows in one file, two of them in countries; the gate lets nothing negative in."""
    shop.pipeline("silver.orders", QUERY, gates=GATE)
    shop.run_one("silver.orders")
    return shop


def frame(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA
    )


def ids(shop: TestLake, name: str = "silver.orders") -> list[int]:
    return sorted(row["id"] for row in shop.rows(name))


def head(shop: TestLake) -> Any:
    return shop.lake.tables.describe("orders").refs["main"]


def test_only_rows_that_match_are_replaced_in_one_snapshot_that_history_shows(
    orders: TestLake,
) -> None:
    lake = orders.lake
    record = lake.write(
        "orders", frame((4, "DE", 40), (5, "DE", 50)), mode="overwrite", where=GERMANY
    )
    assert ids(orders) == [2, 3, 4, 5]
    assert orders.snapshots("silver.orders") == 2
    assert (record.rows["inserted"], record.rows["deleted"], record.rows["total"]) == (2, 1, 4)
    assert (record.strategy, record.message) == ("by hand", f"overwrite where {GERMANY}")
    newest = next(change for change in lake.tables.history("orders") if change.snapshot)
    assert newest.snapshot is not None
    assert newest.snapshot.run_id == record.run_id
    lake.write("orders", frame(), mode="replace", where="country IN ('DE', 'FR')")
    assert ids(orders) == [3]  # its country is unknown
    assert orders.snapshots("silver.orders") == 3
    assert (orders.refs("silver.orders"), orders.hidden()) == ({"main"}, [])


def test_rows_outside_of_the_condition_are_refused_with_their_count_and_some_of_them(
    orders: TestLake,
) -> None:
    before = head(orders)
    rows = frame((4, "DE", 40), (5, "FR", 50), (6, "FR", 60), (7, None, 70))
    with pytest.raises(BadBatch, match="3 rows are outside") as refused:
        orders.lake.write("orders", rows, mode="overwrite", where=GERMANY)
    assert '{"country":"FR"} (2×), {"country":null} (1×)' in refused.value.what
    assert refused.value.safe == "The table is unchanged."
    with pytest.raises(GateFailed):
        orders.lake.write("orders", frame((4, "DE", -1)), mode="overwrite", where=GERMANY)
    assert (head(orders), ids(orders), orders.hidden()) == (before, [1, 2, 3], [])


REFUSED: list[tuple[str, str, type[Exception], str]] = [
    ("append", GERMANY, UsageError, "only mode overwrite takes a condition"),
    ("overwrite", "", BadPipeline, "there is no condition"),
    ("overwrite", "contry = 'DE'", BadPipeline, "Did you mean country"),
    ("overwrite", "id IN (SELECT 1)", BadPipeline, "reads no other table"),
    ("overwrite", "v + 1", BadBatch, "gives int, not true or false"),
    ("overwrite", "v > to_date(v)", RunFailed, "(?i)type"),
]


def test_a_condition_that_cannot_be_meant_leaves_all_as_it_was(orders: TestLake) -> None:
    before = head(orders)
    for mode, where, error, told in REFUSED:
        with pytest.raises(error, match=told):
            orders.lake.write("orders", frame((4, "DE", 40)), mode=mode, where=where)
    assert (head(orders), ids(orders), orders.hidden()) == (before, [1, 2, 3], [])


def test_a_table_that_does_not_exist_is_created_with_rows_that_match(shop: TestLake) -> None:
    with pytest.raises(BadBatch, match="1 row is outside"):
        shop.lake.write("shop.gold.new", frame((1, "FR", 1)), mode="overwrite", where=GERMANY)
    assert not list(shop.lake.stores.catalog.pointers())
    shop.lake.write("shop.gold.new", frame((1, "DE", 1)), mode="overwrite", where=GERMANY)
    assert ids(shop, "gold.new") == [1]


def test_columns_may_be_new_renamed_oddly_named_or_times_in_the_lakes_zone(
    tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"timezone": "Asia/Tokyo"})
    lake = shop.lake
    query = (
        "SELECT * FROM VALUES (1, TIMESTAMP '2026-01-01 00:30:00'), (2, TIMESTAMP"
        " '2025-12-31 23:30:00') AS t(id, at)"
    )
    shop.pipeline("silver.orders", query)
    shop.run_one("silver.orders")
    lake.execute("ALTER TABLE orders RENAME COLUMN id TO `odd id`")
    new = lake.spark.sql("SELECT 3 AS `odd id`, TIMESTAMP '2026-01-01 00:00:00' AS at, 'x' AS note")
    where = "at >= TIMESTAMP '2026-01-01 00:00:00' AND `odd id` <> 2"
    lake.write("orders", new, mode="overwrite", where=where, on_schema_change="append")
    assert [(row["odd id"], row["note"]) for row in shop.rows("silver.orders")] == [
        (2, None),
        (3, "x"),
    ]
    shop.pipeline("silver.orders", query, RENAMING)  # with the next publication
    other = lake.spark.sql("SELECT 4 AS number, TIMESTAMP '2026-01-02 00:00:00' AS at, 'y' AS note")
    lake.write("orders", other, mode="overwrite", where="number IN (3, 4)")
    assert [row["number"] for row in shop.rows("silver.orders")] == [2, 4]
    lake.close()


class Overtaken:
    """A frame during whose reading somebody else commits, once."""

    def __init__(self, rows: pa.Table, act: Callable[[], Any]) -> None:
        self._rows, self._left = rows, [act]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        if self._left:
            self._left.pop()()
        return self._rows.__arrow_c_stream__(requested_schema)


def test_rows_that_others_commit_in_the_meantime_are_not_lost(orders: TestLake) -> None:
    lake = orders.lake
    table = lake.iceberg.load_table(orders.table("silver.orders").parts)
    theirs = frame((7, "DE", 70), (8, "FR", 80))
    rows = Overtaken(frame((4, "DE", 40)), lambda: table.append(theirs))
    lake.write("orders", rows, mode="overwrite", where=GERMANY)
    assert ids(orders) == [2, 3, 4, 8]  # the rewrite began anew, from what they had left
    by_spark = f"UPDATE {orders.table('silver.orders').spark} SET country = 'DE' WHERE id = 2"
    rows = Overtaken(frame((5, "DE", 50)), lambda: lake.spark.sql(by_spark))
    lake.write("orders", rows, mode="overwrite", where=GERMANY)
    assert ids(orders) == [3, 5, 8]


def test_rows_that_can_be_read_only_once_never_empty_a_table(orders: TestLake) -> None:
    lake = orders.lake
    table = lake.iceberg.load_table(orders.table("silver.orders").parts)

    def batches() -> Any:
        table.append(frame((7, "DE", 70)))
        yield from frame((4, "DE", 40)).to_batches()

    reader = pa.RecordBatchReader.from_batches(SCHEMA, batches())
    with pytest.raises(Diverged, match="could be read only once"):
        lake.write("orders", reader, mode="overwrite", where=GERMANY)
    assert ids(orders) == [1, 2, 3, 7]


BOUNDARIES = [
    ("after", "Stage"),
    ("after", "OpenBranch"),
    ("after", "Write"),
    ("before", "Publish"),
]


@pytest.mark.parametrize(("when", "step"), rotated(BOUNDARIES, 1))
def test_a_write_killed_half_way_leaves_main_as_it_was_and_the_next_one_succeeds(
    when: str, step: str, tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    shop.lake.write("shop.silver.orders", frame((1, "DE", 10), (2, "FR", 20)))
    rows, file = frame((4, "DE", 40)), tmp_path / "germany.parquet"
    write_table(rows, file)
    let_die("killed_write", str(shop.folder), "orders", str(file), GERMANY, when, step)
    assert ids(shop) == [1, 2]
    shop.lake.write("orders", rows, mode="overwrite", where=GERMANY)
    assert ids(shop) == [2, 4]
    assert shop.snapshots("silver.orders") == 2
    assert (shop.refs("silver.orders"), shop.hidden()) == ({"main"}, [])
    shop.lake.close()


def test_the_command_replaces_part_of_a_table_by_a_file(orders: TestLake, tmp_path: Path) -> None:
    write_csv(frame((4, "DE", 40)), tmp_path / "germany.csv")
    write_table(frame((5, "FR", 50)), tmp_path / "france.parquet")

    def write(file: str, where: str) -> Any:
        command = ["table", "write", "orders", str(tmp_path / file), "--mode", "overwrite"]
        more = ["--where", where, "--on-schema-change", "append", "--lake", str(orders.folder)]
        return CliRunner().invoke(app, [*command, *more])

    refused = write("germany.csv", "country = 'FR'")
    assert refused.exit_code == 1
    assert "1 row is outside" in refused.output
    for file, country in (("germany.csv", "DE"), ("france.parquet", "FR")):
        done = write(file, f"country = '{country}'")
        assert done.exit_code == 0, done.output
    assert ids(orders) == [3, 4, 5]
