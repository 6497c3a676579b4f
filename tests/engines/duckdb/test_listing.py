"""The statement that makes a lake's tables for a listing: any name, any type, nothing else
beside.
"""

import duckdb
import pytest

from lakebed.engines.duckdb.sql.listing import listing_part
from lakebed.names import TableName
from lakebed.ports import Column
from lakebed.query.planning.listings import ListedTable

ODD = TableName("my-shop", "silver", "select")


def listed(*tables: ListedTable) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(listing_part(tables).statement)
    return connection


@pytest.mark.parametrize(
    ("type_", "shown"),
    [
        ("long", "BIGINT"),
        ("decimal(9, 2)", "DECIMAL(9,2)"),
        ("timestamptz", "TIMESTAMP WITH TIME ZONE"),
        ("fixed[3]", "BLOB"),
        ("list<list<string>>", "VARCHAR[][]"),
        ("map<string, decimal(9, 2)>", "MAP(VARCHAR, DECIMAL(9,2))"),
        (
            "struct<a: int, it's: struct<b-c: list<long>>>",
            'STRUCT(a INTEGER, "it\'s" STRUCT("b-c" BIGINT[]))',
        ),
        ("geometry", '"NULL"'),
        ("list<variant>", '"NULL"'),
        ("struct<a: int, b: variant>", '"NULL"'),
    ],
)
def test_every_type_of_a_column_is_told(type_: str, shown: str) -> None:
    with listed(ListedTable(ODD, (Column("a b", type_, False),))) as connection:
        assert connection.execute(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE NOT internal"
        ).fetchall() == [("a b", shown)]


def test_comments_and_what_must_not_be_null_are_told() -> None:
    columns = (Column("id", "long", True, "it's the key"), Column("s", "string", False))
    with listed(ListedTable(ODD, columns, "all; of 'them'")) as connection:
        found = connection.execute(
            "SELECT column_name, is_nullable, comment FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
        assert found == [("id", False, "it's the key"), ("s", True, None)]
        assert connection.execute("SELECT comment FROM duckdb_tables()").fetchall() == [
            ("all; of 'them'",)
        ]


def test_a_lake_without_tables_lists_nothing() -> None:
    with listed() as connection:
        assert (
            connection.execute("SELECT table_name FROM information_schema.tables").fetchall() == []
        )


def test_names_that_differ_in_case_only_do_not_end_a_listing() -> None:
    names = [TableName("shop", *parts) for parts in (("silver", "orders"), ("Silver", "Orders"))]
    with listed(*(ListedTable(name) for name in names)) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("orders",)]
