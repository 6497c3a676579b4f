"""Manual changes: atomic, judged by the table's gates, and told in its history."""

import pyarrow as pa
import pytest

from lakebed.errors import (
    BadBatch,
    BadPipeline,
    GateFailed,
    LeaseHeld,
    RunFailed,
    UnknownName,
    UsageError,
)
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import snapshots_of

pytestmark = [pytest.mark.spark]


def pairs(shop: TestLake, name: str = "silver.orders") -> list[tuple[int, int]]:
    return [(row["id"], row["v"]) for row in shop.rows(name)]


@pytest.fixture
def orders(shop: TestLake) -> TestLake:
    """A table of two rows whose pipeline lets nothing negative in."""
    query = "SELECT * FROM VALUES (1, 10), (2, 20) AS t(id, v)"
    shop.pipeline(
        "silver.orders", query, gates={"positive": "SELECT * FROM {{ this }} WHERE v < 0"}
    )
    shop.run_one("silver.orders")
    return shop


def test_statements_change_the_table_in_one_step_each_and_show_in_history(orders: TestLake) -> None:
    lake = orders.lake
    lake.execute("INSERT INTO shop.silver.orders VALUES (3, 30), (4, 40)")
    lake.execute("UPDATE orders SET v = v + 1 WHERE orders.id >= 3")
    lake.execute("DELETE FROM silver.orders WHERE id = 1;")
    merged = lake.execute(
        "MERGE INTO orders AS t USING (SELECT 2 AS id, 22 AS v UNION ALL SELECT 5, 50) s ON t.id ="
        " s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    )
    assert pairs(orders) == [(2, 22), (3, 31), (4, 41), (5, 50)]
    assert orders.snapshots("silver.orders") == 5
    lake.execute("ALTER TABLE orders ADD COLUMN note STRING")
    assert list(orders.rows("silver.orders")[0]) == ["id", "v", "note"]
    changes = lake.tables.history("orders")
    assert changes[0].what == "altered"
    assert next(change.snapshot.run_id for change in changes if change.snapshot) == merged.run_id
    told = lake.runs.list(table="orders")
    assert [(run.strategy, run.state) for run in told[:5]] == [("by hand", "success")] * 5
    assert told[1].message.startswith("MERGE INTO shop.silver.orders")
    assert orders.refs("silver.orders") == {"main"}
    assert orders.hidden() == []


def test_what_the_gates_refuse_nobody_sees(orders: TestLake) -> None:
    with pytest.raises(GateFailed):
        orders.lake.execute("UPDATE orders SET v = -1 WHERE id = 2")
    with pytest.raises(GateFailed):
        orders.lake.write(
            "orders", pa.table({"id": [3], "v": [-3]}), mode="append", on_schema_change="append"
        )
    assert pairs(orders) == [(1, 10), (2, 20)]
    orders.lake.execute("UPDATE orders SET v = -1 WHERE id = 2", gates=False)
    assert pairs(orders) == [(1, 10), (2, -1)]


def test_rows_come_in_from_any_frame_by_any_strategy(orders: TestLake) -> None:
    lake = orders.lake
    lake.write("orders", lake.spark.sql("SELECT 3 AS id, 30 AS v"))
    head = snapshots_of(lake, "orders")[0]
    assert head.run_id == lake.runs.list(table="orders")[0].run_id
    arrow = pa.table(
        {"id": [3, 4], "v": [33, 44]}, schema=pa.schema({"id": pa.int32(), "v": pa.int32()})
    )
    lake.write("orders", arrow, mode="merge", key="id")
    assert pairs(orders) == [(1, 10), (2, 20), (3, 33), (4, 44)]
    lake.write(
        "orders",
        pa.table({"id": [9], "v": [99]}).to_pandas(),
        mode="overwrite",
        on_schema_change="sync",
    )
    assert pairs(orders) == [(9, 99)]
    made = lake.write("shop.gold.made", pa.table({"id": [1], "v": [2]}))
    assert (made.rows["inserted"], pairs(orders, "gold.made")) == (1, [(1, 2)])
    with pytest.raises(BadBatch):
        lake.write("orders", pa.table({"id": [1], "other": [2]}))
    with pytest.raises(UsageError, match="key"):
        lake.write("orders", arrow, mode="merge")
    with pytest.raises(RunFailed, match="rows cannot be read from a int"):
        lake.write("orders", 5)
    with pytest.raises(BadBatch, match="the columns of what is written differ from the table's"):
        lake.write("orders", pa.table({"id": [9], "other": [9]}))
    with pytest.raises(
        BadBatch, match=r"Leave such rows out in what is written .* or choose another key"
    ):
        lake.write(
            "orders",
            pa.table({"id": pa.array([None], pa.int32()), "v": pa.array([1], pa.int32())}),
            mode="merge",
            key="id",
        )
    with pytest.raises(UnknownName, match="merge"):
        lake.write("orders", pa.table({"id": [1]}), mode="mrege")
    assert orders.hidden() == []


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("UPDATE nowhere SET v = 1", UnknownName),
        ("UPDATE orders SET nothing = 1", RunFailed),
        ("UPDATE orders SET v = nothing", RunFailed),
        ("DROP TABLE orders", BadPipeline),
        ("INSERT INTO orders VALUES ('x', 'y')", RunFailed),
        ("ALTER TABLE orders DROP COLUMN nothing", RunFailed),
    ],
)
def test_a_statement_that_cannot_be_leaves_all_as_it_was(
    orders: TestLake, statement: str, error: type[Exception]
) -> None:
    before = orders.lake.tables.describe("orders").refs["main"]
    with pytest.raises(error):
        orders.lake.execute(statement)
    assert orders.lake.tables.describe("orders").refs["main"] == before
    with orders.lake.tables.lease("shop.silver.orders"), pytest.raises(LeaseHeld):
        orders.lake.execute("DELETE FROM orders")
    assert pairs(orders) == [(1, 10), (2, 20)]
