"""The first two walls around untrusted SQL: what they refuse, what they let through, and what they
say.
"""

import json
from typing import Any

import pytest

from lakebed.errors import BadQuery
from lakebed.query.guard.duckdb_guard import check_duckdb_tree
from lakebed.query.guard.statement_guard import check_untrusted
from lakebed.query.parsing.functions import ALLOWED
from tests.query.attacks import ATTACKS, HONEST, SIZES

TABLES = [("shop", "silver", "orders"), ("shop", "bronze", "t"), ("shop", "gold", "daily-revenue")]
PLACES = {"secret": "/tmp/secret.csv", "lake": "/tmp/lake", "out": "/tmp/out"}


def spelled(attack: str) -> str:
    for name, place in PLACES.items():
        attack = attack.replace(f"{{{name}}}", place)
    return attack


def serialized(sql: str) -> dict[str, Any]:
    import duckdb

    row = duckdb.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    assert row is not None
    read: dict[str, Any] = json.loads(row[0])
    return read


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_wall_refuses_every_attack_by_itself(attack: str) -> None:
    sql = spelled(attack)
    with pytest.raises(BadQuery):
        check_untrusted(sql, TABLES)
    with pytest.raises(BadQuery):
        check_duckdb_tree(serialized(sql), TABLES)


@pytest.mark.parametrize("attack", SIZES, ids=lambda sql: sql[:20])
def test_queries_beyond_every_measure_are_refused_by_the_first_wall(attack: str) -> None:
    with pytest.raises(BadQuery):
        check_untrusted(attack, TABLES)


@pytest.mark.parametrize("sql", HONEST)
def test_both_walls_let_honest_queries_through(sql: str) -> None:
    checked = check_untrusted(sql, TABLES)
    assert checked.text == sql
    check_duckdb_tree(serialized(sql), TABLES)


def test_tables_and_functions_are_told_as_they_were_written() -> None:
    checked = check_untrusted(
        'SELECT Upper(a) FROM "shop".gold."daily-revenue", orders, ORDERS', TABLES
    )
    assert checked.tables == (("shop", "gold", "daily-revenue"), ("orders",), ("ORDERS",))
    assert checked.functions == ("Upper",)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM ordres", "Did you mean orders?"),
        ("SELECT * FROM shop.silver.order", "Did you mean shop.silver.orders?"),
        (
            "SELECT uper(a) FROM orders",
            (
                "the function uper may not be called. Nothing was changed. Did you mean upper or"
                " power?"
            ),
        ),
        (
            "DROP TABLE orders",
            "DROP is a command, not a query. Nothing was changed. Write one SELECT",
        ),
        ("SELECT 1; SELECT 2", "there are 2 statements."),
        ("SELECT FROM WHERE", "cannot be read"),
        ("SELECT $1", "Write the value itself."),
        ("SELECT * FROM t AT (VERSION => 5)", "Read another point with the option `at`."),
        ("SELECT '" + "x" * 20_001 + "'", "the limit is 20000"),
    ],
)
def test_a_refusal_says_what_and_what_next(sql: str, said: str) -> None:
    with pytest.raises(BadQuery) as refused:
        check_untrusted(sql, TABLES)
    assert said in str(refused.value)


def test_an_end_of_a_name_that_several_tables_share_is_refused() -> None:
    with pytest.raises(BadQuery, match=r"a\.silver\.orders or b\.silver\.orders"):
        check_untrusted(
            "SELECT * FROM silver.orders", [("a", "silver", "orders"), ("b", "silver", "orders")]
        )


def test_every_function_that_may_be_called_only_computes() -> None:
    import duckdb

    known = {
        name for (name,) in duckdb.sql("SELECT function_name FROM duckdb_functions()").fetchall()
    }
    grammar = {"cast", "coalesce", "columns", "current_time", "current_timestamp", "exists", "extract", "grouping", "grouping_id",
               "if", "iff", "ifnull", "localtime", "localtimestamp", "try", "try_cast"}  # fmt: skip
    assert ALLOWED - known == grammar
    risky = ("read_", "_scan", "duckdb_", "pragma_", "parquet_", "glob", "query", "getenv", "setting", "secret", "sniff",
             "execute", "sleep", "log_", "nextval", "variable", "icu_", "pg_", "__internal")  # fmt: skip
    assert not [name for name in ALLOWED if any(part in name for part in risky)]


def test_a_kind_of_node_that_nobody_looked_at_is_refused() -> None:
    tree = serialized("SELECT id FROM orders")
    tree["statements"][0]["node"]["select_list"][0]["class"] = "SOMETHING_NEW"
    with pytest.raises(BadQuery):
        check_duckdb_tree(tree, TABLES)
    tree = serialized("SELECT id FROM orders")
    tree["statements"][0]["node"]["from_table"]["type"] = "SOMETHING_NEW"
    with pytest.raises(BadQuery):
        check_duckdb_tree(tree, TABLES)
