"""SHOW, DESCRIBE, information_schema and duckdb_tables() tell of the lake as it is, whatever was
asked before.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from lakebed.app import Lake
from lakebed.errors import BadQuery
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake
from tests.support.tables import snapshots_of

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("s", pa.string()),
        pa.field("n", pa.int32()),
    ]
)
ROWS = pa.table({"id": [1, 2], "s": ["a", "b"], "n": [1, 2]}, schema=SCHEMA)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with make_lake(tmp_path_factory.mktemp("listings") / "lake") as lake:
        shop, other = bench_of(lake), bench_of(lake, "my-shop")
        add_table(shop, "orders", [ROWS, ROWS], schema=SCHEMA)
        add_table(shop, "clean-orders", [ROWS], layer="gold", schema=SCHEMA)
        add_table(shop, "gone", [ROWS], schema=SCHEMA)
        add_table(other, "orders", [], schema=SCHEMA)
        shop.iceberg.load_table(("shop", "silver", "orders")).transaction().set_properties(
            comment="it's all"
        ).commit_transaction()
        shop.close()
        other.close()
        for asked in (
            "FROM gone",
            "FROM shop.silver.orders",
            "FROM shop.silver.orders a, shop.silver.orders b WHERE b.id = 1",
        ):
            lake.query(asked).fetchall()  # what queries made for themselves is no table of the lake
        lake.tables.drop("gone")
        yield lake


def answer(lake: Lake, sql: str, **options: Any) -> list[tuple[Any, ...]]:
    return lake.query(sql, **options).fetchall()


THREE = [
    ("my-shop", "silver", "orders"),
    ("shop", "gold", "clean-orders"),
    ("shop", "silver", "orders"),
]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SHOW TABLES", [("clean-orders",), ("orders",), ("orders",)]),
        ("PRAGMA show_tables", [("clean-orders",), ("orders",), ("orders",)]),
        ("SHOW DATABASES", [("my-shop",), ("shop",)]),
        ("SHOW TABLES FROM shop", [("clean-orders",), ("orders",)]),
        ("SHOW TABLES FROM shop.gold", [("clean-orders",)]),
        ("SHOW TABLES FROM gold", [("clean-orders",)]),
        ("SELECT database, schema, name FROM (SHOW ALL TABLES)", THREE),
        ("SELECT name, column_names FROM (DESCRIBE) WHERE schema = 'gold'", [("clean-orders", ["id", "s", "n"])]),
        ("SELECT table_catalog, table_schema, table_name FROM information_schema.tables ORDER BY ALL", THREE),
        ("SELECT DISTINCT table_type FROM information_schema.tables", [("BASE TABLE",)]),
        ("SELECT TABLE_COMMENT FROM information_schema.tables WHERE TABLE_COMMENT IS NOT NULL", [("it's all",)]),
        (
            "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = 'gold'",
            [("id", "BIGINT", "NO"), ("s", "VARCHAR", "YES"), ("n", "INTEGER", "YES")],
        ),
        (
            "SELECT DISTINCT catalog_name, schema_name FROM information_schema.schemata"
            " WHERE catalog_name NOT IN ('system', 'temp') AND schema_name != 'main' ORDER BY ALL",
            [("my-shop", "silver"), ("shop", "gold"), ("shop", "silver")],
        ),
        ("SELECT database_name, schema_name, table_name FROM duckdb_tables() ORDER BY ALL", THREE),
        ("SELECT database_name, schema_name, table_name FROM duckdb_tables ORDER BY ALL", THREE),
        ("WITH x AS (FROM Duckdb_Columns()) SELECT count(*) FROM x WHERE NOT internal", [(9,)]),
        ("SELECT count(*) FROM duckdb_views() WHERE NOT internal", [(0,)]),
        ("SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY ALL", [("my-shop",), ("shop",)]),
        ("SELECT name FROM sqlite_master ORDER BY ALL", [("clean-orders",), ("orders",), ("orders",)]),
        ("SELECT tablename FROM pg_catalog.pg_tables ORDER BY ALL", [("clean-orders",), ("orders",), ("orders",)]),
    ],
)  # fmt: skip
def test_what_there_is_is_the_lake(lake: Lake, sql: str, rows: list[Any]) -> None:
    assert answer(lake, sql) == rows


DESCRIBED = [("id", "BIGINT"), ("s", "VARCHAR"), ("n", "INTEGER")]


@pytest.mark.parametrize(
    "sql",
    ["DESCRIBE {}", "DESC {}", "SHOW {}", "DESCRIBE TABLE {}", "DESCRIBE FROM {}", "SUMMARIZE {}"],
)
@pytest.mark.parametrize("name", ["clean-orders", "shop.silver.orders", '"my-shop".silver.orders'])
def test_a_table_is_described_by_any_of_its_names(lake: Lake, sql: str, name: str) -> None:
    assert [row[:2] for row in answer(lake, sql.format(name))] == DESCRIBED


@pytest.mark.parametrize(
    "sql", ["FROM pragma_table_info({})", "FROM pragma_show({})", "PRAGMA table_info({})"]
)
@pytest.mark.parametrize(
    "name", ["'clean-orders'", "'shop.silver.orders'", "'\"my-shop\".silver.orders'"]
)
def test_functions_that_describe_a_table_take_its_name_as_a_text(
    lake: Lake, sql: str, name: str
) -> None:
    assert "('id', 'BIGINT'" in str(answer(lake, sql.format(name))).replace("(0, ", "(")


def test_a_description_is_of_the_moment_that_is_asked_for(tmp_path: Any) -> None:
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        table = add_table(
            bench, "t", [pa.table({"a": [1]})], schema=pa.schema([pa.field("a", pa.int64())])
        )
        first = snapshots_of(lake, "t")[0].id
        with bench.iceberg.load_table(table.parts).update_schema() as update:
            update.rename_column("a", "b")
        bench.iceberg.load_table(table.parts).append(pa.table({"b": [2]}))
        bench.close()
        for sql in ("DESCRIBE t", "SUMMARIZE t"):
            assert [answer(lake, sql, at=str(first))[0][0], answer(lake, sql)[0][0]] == ["a", "b"]
        assert [
            row[0] for row in answer(lake, "SELECT column_name FROM information_schema.columns")
        ] == ["b"]


def test_a_table_is_listed_from_its_first_commit_to_its_last(tmp_path: Any) -> None:
    with make_lake(tmp_path / "lake") as lake:
        assert answer(lake, "SHOW TABLES") == []
        assert answer(lake, "SELECT table_name FROM information_schema.tables") == []
        bench = bench_of(lake)
        add_table(bench, "t", [ROWS], schema=SCHEMA)
        bench.close()
        assert answer(lake, "SHOW TABLES") == [("t",)]
        lake.tables.rename("t", "shop.silver.u")
        assert answer(lake, "SHOW TABLES") == [("u",)]
        lake.tables.drop("u")
        assert answer(lake, "SHOW TABLES") == []
        assert answer(lake, "SELECT count(*) FROM duckdb_tables()") == [(0,)]


def test_a_layer_of_several_namespaces_is_that_of_the_namespace_given(lake: Lake) -> None:
    assert answer(lake, "SHOW TABLES FROM silver", namespace="shop") == [("orders",)]
    assert answer(lake, "SHOW TABLES FROM silver", namespace="my-shop") == [("orders",)]


def test_two_listings_at_once_do_not_disturb_each_other(lake: Lake) -> None:
    one, two = (
        lake.query("SELECT table_name FROM information_schema.tables ORDER BY ALL")
        for _ in range(2)
    )
    assert two.fetchall() == one.fetchall() == [("clean-orders",), ("orders",), ("orders",)]


@pytest.mark.parametrize(
    ("sql", "said", "advice"),
    [
        (
            "SHOW TABLES FROM silver",
            "silver is ambiguous: it may be my-shop.silver or shop.silver",
            "namespace",
        ),
        (
            "SELECT * FROM gold.clean-orders, duckdb_tables()",
            "cannot be combined with rows",
            "two queries",
        ),
        (
            "FROM pragma_storage_info('orders')",
            "pragma_storage_info inspects tables that DuckDB stores",
            "files",
        ),
        (
            "FROM pragma_table_info('or' || 'ders')",
            "pragma_table_info takes the names of tables as texts",
            "FROM",
        ),
        ("FROM query('FROM orders')", "function query may not be called", "subquery"),
        ("SELECT rowid FROM gold.clean-orders", "have no rowid", "row_number"),
        ("SELECT o.rowid FROM gold.clean-orders o", "have no rowid", "row_number"),
        ("SELECT id FROM gold.clean-orders o WHERE o.rowid = 1", "have no rowid", "row_number"),
    ],
)
def test_what_is_not_told_is_refused_by_name(lake: Lake, sql: str, said: str, advice: str) -> None:
    with pytest.raises(BadQuery, match=said) as refused:
        lake.query(sql)
    assert advice in refused.value.next


@pytest.mark.parametrize(
    "sql",
    ["SHOW TABLES", "SHOW ALL TABLES", "DESCRIBE orders", "FROM information_schema.tables", "FROM duckdb_tables()", "SUMMARIZE x",
     "FROM (SHOW TABLES)", "FROM pragma_table_info('shop.silver.orders')", "FROM query_table('shop.silver.orders')",
     "FROM sqlite_master", "FROM histogram('shop.silver.orders', 'id')"],
)  # fmt: skip
def test_untrusted_queries_are_told_of_no_table(lake: Lake, sql: str) -> None:
    with pytest.raises(BadQuery):
        lake.query(sql, untrusted=True).fetchall()
