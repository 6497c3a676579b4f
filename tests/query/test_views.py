"""Views of the catalog: listed, described and asked like tables, by DuckDB where that means the
same and by Spark otherwise.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from lakebed.app import Lake
from lakebed.cli.main import app
from lakebed.errors import BadQuery, UnknownName, UsageError
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.query_lakes import add_table, bench_of

pytestmark = [pytest.mark.spark]

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "s": ["a", "b", None],
        "day": pa.array([0, 1, 2], pa.date32()),
    }
)
VIEWS = {
    "shop.silver.few": "SELECT id, s FROM lake.shop.silver.orders WHERE id > 1",
    "shop.silver.loud": (
        "SELECT id, upper(s) AS s, CAST(day AS TIMESTAMP) AS at FROM lake.shop.silver.orders"
    ),
    "shop.gold.counted": "SELECT count(*) AS n FROM lake.shop.silver.few",
    "shop.gold.louder": "SELECT s FROM lake.shop.silver.loud WHERE s = 'B'",
    "`my ns`.`my view`": "SELECT id FROM lake.shop.silver.orders WHERE id = 3",
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Lake]:
    made = TestLake(tmp_path_factory.mktemp("views") / "lake").lake
    with made as lake:
        add_table(bench_of(lake), "orders", [ROWS], schema=ROWS.schema)
        for namespace in ("shop.gold", "`my ns`"):
            lake.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{namespace}")
        for name, sql in VIEWS.items():
            lake.spark.sql(f"CREATE VIEW lake.{name} AS {sql}")
        yield lake


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(
        app, [str(argument) for argument in arguments], env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(lake: Lake, sql: str) -> list[tuple[object, ...]]:
    return lake.query(sql).fetchall()


def test_views_are_listed_and_described_beside_tables(lake: Lake) -> None:
    assert [str(view) for view in lake.tables.views()] == [
        "shop.gold.counted",
        "shop.gold.louder",
        "shop.silver.few",
        "shop.silver.loud",
    ]
    assert [str(view) for view in lake.tables.views("gold")] == [
        "shop.gold.counted",
        "shop.gold.louder",
    ]
    listed = {
        row["table"]: row["kind"]
        for row in json.loads(invoke("ls", "--json", "--lake", lake.root.folder))
    }
    assert (
        listed["shop.silver.orders"],
        listed["shop.silver.few"],
        listed['"my ns"."my view"'],
    ) == (
        "table",
        "view",
        "foreign view",
    )
    assert "shop.silver.few" in invoke("ls", "--lake", lake.root.folder)
    described = json.loads(invoke("table", "describe", "few", "--json", "--lake", lake.root.folder))
    assert [column["name"] for column in described["columns"]] == ["id", "s"]
    assert described["sql"] == VIEWS["shop.silver.few"]
    assert lake.query(
        "SELECT table_type FROM information_schema.tables WHERE table_name = 'few'"
    ).fetchall() == [("VIEW",)]
    assert [row[0] for row in lake.query("DESCRIBE silver.few")] == ["id", "s"]
    assert "upper(s)" in invoke("table", "describe", "silver.loud", "--lake", lake.root.folder)


def test_a_view_of_known_constructs_is_answered_by_duckdb_over_its_tables(lake: Lake) -> None:
    assert rows(lake, "SELECT * FROM silver.few ORDER BY id") == [(2, "b"), (3, None)]
    assert rows(
        lake, "SELECT o.id, f.s FROM orders o JOIN few f ON o.id = f.id WHERE f.id = 2"
    ) == [(2, "b")]
    assert rows(lake, "SELECT few.id FROM few WHERE shop.silver.few.id = 3") == [(3,)]
    assert rows(lake, "SELECT n FROM counted") == [(2,)]
    assert rows(lake, 'SELECT id FROM "my ns"."my view"') == [(3,)]
    explained = [(one.table, one.reason) for one in lake.explain("SELECT * FROM counted")]
    assert [table for table, _ in explained] == [
        "shop.gold.counted",
        "shop.silver.few",
        "shop.silver.orders",
    ]
    assert explained[0][1] == explained[1][1] == "VIEW_BY_DUCKDB"
    assert lake.query("SELECT n FROM counted", untrusted=True).fetchall() == [(2,)]


def test_any_other_view_is_answered_by_spark_and_leaves_no_file(lake: Lake) -> None:
    asked = (
        "SELECT l.id, l.s, l.at, o.s FROM loud l JOIN orders o ON o.id = l.id WHERE l.id < 3 ORDER"
        " BY 1"
    )
    with lake.query(asked) as answer:
        assert answer.types[2] == "TIMESTAMP WITH TIME ZONE"
        assert [(row[0], row[1], row[2].isoformat(), row[3]) for row in answer] == [
            (1, "A", "1970-01-01T00:00:00+00:00", "a"),
            (2, "B", "1970-01-02T00:00:00+00:00", "b"),
        ]
        assert answer.to_arrow().num_rows == 2  # asked a second time
    assert rows(lake, "SELECT * FROM louder") == [("B",)]
    assert rows(lake, "SELECT count(*) FROM loud WHERE id > 99") == [(0,)]
    assert not list((lake.root.folder / ".data" / "staging").rglob("*.parquet"))
    assert [(one.table, one.reason, one.why) for one in lake.explain("SELECT * FROM louder")] == [
        ("shop.gold.louder", "VIEW_BY_SPARK", "the view shop.silver.loud: the function upper")
    ]
    with pytest.raises(BadQuery, match="takes Spark"):
        lake.query("SELECT * FROM louder", untrusted=True)


def test_what_a_view_cannot_do_is_refused_by_name(lake: Lake) -> None:
    refused: list[Callable[[], object]] = [
        lambda: lake.query("SELECT * FROM few", at="2026-01-01"),
        lambda: lake.query("SELECT * FROM few$snapshots"),
        lambda: lake.table("few"),
        lambda: lake.tables.tag("silver.few", "v1"),
        lambda: lake.tables.drop("few"),
    ]
    for change in refused:
        with pytest.raises(UsageError, match=r"shop\.silver\.few is a view"):
            change()
    with pytest.raises(UnknownName, match=r"silver\.few"):
        lake.query("SELECT * FROM silver.fwe")


def test_a_view_follows_its_tables_and_its_own_definition(lake: Lake) -> None:
    orders = lake.iceberg.load_table(("shop", "silver", "orders"))
    lake.spark.sql("CREATE VIEW lake.shop.silver.changing AS SELECT * FROM lake.shop.silver.orders")
    orders.append(ROWS.slice(0, 1))
    assert rows(lake, "SELECT count(*) FROM changing") == [(4,)]
    lake.spark.sql("ALTER TABLE lake.shop.silver.orders ADD COLUMN more INT")
    assert rows(lake, "SELECT * FROM changing WHERE id = 2")[0][:2] == (2, "b")
    assert len(lake.query("SELECT * FROM changing").columns) == 3
    lake.spark.sql(
        "CREATE OR REPLACE VIEW lake.shop.silver.changing AS SELECT 7 AS seven FROM"
        " lake.shop.silver.orders WHERE id = 2"
    )
    assert rows(lake, "SELECT * FROM changing") == [(7,)]
    lake.spark.sql("DROP VIEW lake.shop.silver.changing")
    with pytest.raises(UnknownName, match="changing"):
        lake.query("SELECT * FROM changing")
