"""Which views DuckDB may answer: what is not on the list of constructs that mean the same is left
to Spark, by name.
"""

from collections.abc import Sequence

import pytest

from lakebed.names import TableName
from lakebed.ports import Column
from lakebed.query.views.duck_expression import NotEquivalent
from lakebed.query.views.spark_selects import translate_view

COLUMNS = tuple(
    Column(name, type_, required=False)
    for name, type_ in {
        "id": "long", "n": "int", "x": "double", "f": "float", "m": "decimal(9, 2)", "s": "string", "b": "boolean",
        "d": "date", "t": "timestamp", "z": "timestamptz", "r": "struct<a: int>", "q": "uuid",
    }.items()
)  # fmt: skip
T = TableName("shop", "silver", "t")


def find(parts: tuple[str, ...]) -> tuple[TableName, Sequence[Column]]:
    return T, COLUMNS


def out(*columns: str) -> tuple[Column, ...]:
    return tuple(
        Column(name, type_, required=False)
        for name, _, type_ in (column.partition(" ") for column in columns)
    )


@pytest.mark.parametrize(
    ("sql", "columns", "reason"),
    [
        ("SELECT upper(s) AS s FROM t", out("s string"), "the function upper"),
        ("SELECT s FROM t WHERE s LIKE 'a%'", out("s string"), "like"),
        ("SELECT n / 2 AS n FROM t", out("n double"), "div"),
        ("SELECT n % 2 AS n FROM t", out("n int"), "mod"),
        ("SELECT x + 1 AS x FROM t", out("x double"), "arithmetic of double and int"),
        ("SELECT m + m AS m FROM t", out("m decimal(10, 2)"), "arithmetic of decimal"),
        ("SELECT sum(x) AS x FROM t", out("x double"), "a sum of double"),
        ("SELECT avg(n) AS n FROM t", out("n double"), "the function avg"),
        ("SELECT min(x) AS x FROM t", out("x double"), "min of double"),
        ("SELECT x, count(*) AS c FROM t GROUP BY x", out("x double", "c long"), "GROUP BY of floats"),
        ("SELECT DISTINCT x FROM t", out("x double"), "DISTINCT of floats"),
        ("SELECT id FROM t WHERE n + 1 > 2", out("id long"), "add"),
        ("SELECT CASE WHEN n < 9 THEN n + 1 END AS n FROM t", out("n int"), "add"),
        ("SELECT id FROM t WHERE d = '2026-01-01'", out("id long"), "date compared with string"),
        ("SELECT id FROM t WHERE n = '1'", out("id long"), "int compared with string"),
        ("SELECT id FROM t WHERE f > 1.5", out("id long"), "float compared with"),
        ("SELECT id FROM t WHERE m > 1", out("id long"), "decimal"),
        ("SELECT id FROM t WHERE t = z", out("id long"), "timestamp compared with timestamptz"),
        ("SELECT id FROM t LIMIT 3", out("id long"), "select with limit"),
        ("SELECT id FROM t WHERE n IN (SELECT n FROM t)", out("id long"), "query"),
        ("SELECT id, row_number() OVER (ORDER BY id) AS n FROM t", out("id long", "n int"), "window"),
        ("SELECT r.a AS a FROM t", out("a int"), "the name r.a"),
        ("SELECT id FROM t ORDER BY x", out("id long"), "ORDER BY"),
        ("SELECT x FROM t ORDER BY x", out("x double"), "ORDER BY"),
        ("SELECT id FROM t UNION SELECT id FROM t", out("id long"), "union without ALL"),
        ("SELECT a.id FROM t a RIGHT JOIN t b ON a.id = b.id", out("id long"), "right join"),
        ("SELECT id FROM t a JOIN t b USING (id)", out("id long"), "join with using"),
        ("SELECT a.id FROM t a LEFT SEMI JOIN t b ON a.id = b.id", out("id long"), "left semi join"),
        ("SELECT id FROM t a JOIN t b ON a.n = b.n", out("id long"), "the name id"),
        ("SELECT id FROM t TABLESAMPLE (10 PERCENT)", out("id long"), "sample"),
        ("SELECT 'it''s' AS s FROM t", out("s string"), "concat"),
        (r"SELECT 'a\n' AS s FROM t", out("s string"), "backslash"),
        ("SELECT NULL AS s FROM t", out("s string"), "null"),
        ("SELECT q FROM t", out("q uuid"), "a column of uuid"),
        ("SELECT current_date() AS d FROM t", out("d date"), "the function current_date"),
        ("SELECT n FROM t", out("n long"), "was long when the view was made"),
        ("SELECT id FROM t", out("id long", "n int"), "other columns than when"),
        ("SELECT 1 AS one", out("one int"), "without FROM"),
        ("SELECT id FROM range(3)", out("id long"), "something else than a table"),
        ("SELECT max(n) AS n FROM t HAVING n > 1", out("n int"), "HAVING of a name in the SELECT"),
        ("SELECT count(*) FILTER (WHERE n > 1) AS c FROM t", out("c long"), "filter"),
        ("SELECT sum(DISTINCT n) AS n FROM t", out("n long"), "distinct"),
        ("SELECT * EXCEPT (n) FROM t", COLUMNS[:1], "except"),
        ("SELECT id FROM t GROUP BY ALL", out("id long"), "group with all"),
        ("SELECT id FROM t GROUP BY id WITH ROLLUP", out("id long"), "rollup"),
        ("SELECT CAST(s AS INT) AS n FROM t", out("n int"), "a cast of string to int"),
        ("SELECT CAST(id AS INT) AS n FROM t", out("n int"), "a cast of long to int"),
    ],
)  # fmt: skip
def test_what_may_mean_something_else_in_duckdb_is_left_to_spark(
    sql: str, columns: tuple[Column, ...], reason: str
) -> None:
    with pytest.raises(NotEquivalent) as refused:
        translate_view(sql, columns, find)
    assert reason in str(refused.value)


def test_a_view_of_everything_keeps_the_columns_it_was_made_with() -> None:
    text = translate_view("SELECT * FROM lake.shop.silver.t WHERE n > 1", COLUMNS[:2], find)
    assert (
        text == 'SELECT "s0"."id" AS "id", "s0"."n" AS "n" FROM "shop"."silver"."t" AS s0 WHERE'
        ' ("s0"."n" > (1))'
    )


def test_names_of_columns_are_the_views_own() -> None:
    text = translate_view("SELECT N, S FROM T x", out("Number int", "Text string"), find)
    assert text == 'SELECT "s0"."n" AS "Number", "s0"."s" AS "Text" FROM "shop"."silver"."t" AS s0'
