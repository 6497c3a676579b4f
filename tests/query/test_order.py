"""Which queries may answer differently when their tables are stored in another order."""

import math
import random
from typing import Any

import duckdb
import pytest

from lakebed.errors.source_text import SourceText
from lakebed.query.ordering.duckdb_order import order_sensitive
from lakebed.query.ordering.order_functions import (
    DUCKDB_ORDER_BOUND,
    DUCKDB_ORDER_FREE,
    SPARK_ORDER_BOUND,
    SPARK_ORDER_FREE,
)
from lakebed.query.ordering.spark_order import spark_order_sensitive
from lakebed.query.parsing.functions import ALLOWED
from lakebed.sql.checking.functions import changing_functions, spark_aggregates, spark_functions
from lakebed.sql.parsing.lexer import lex
from lakebed.sql.parsing.parse import parse
from tests.query.parsed import tree


def spark_order(sql: str, columns: tuple[str, ...] = ()) -> str:
    reading = lex(SourceText(sql, "the query"))
    return spark_order_sensitive(reading, parse(reading), columns=columns)


FREE_IN_BOTH = [
    "SELECT * FROM t",
    "SELECT * FROM t ORDER BY x",
    "SELECT DISTINCT x FROM t",
    "SELECT * FROM t LIMIT 0",
    "SELECT sum(x), count(*), min(y), max(y), avg(x), count(DISTINCT y) FROM t GROUP BY z",
    "SELECT sum(x) FILTER (WHERE y > 1) FROM t HAVING count(*) > 1",
    "SELECT sum(x) OVER (PARTITION BY y), rank() OVER (ORDER BY z) FROM t",
    "SELECT sum(x) OVER (ORDER BY y) FROM t",
    "SELECT sum(x) OVER (ORDER BY y RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
    (
        "SELECT sum(x) OVER (ORDER BY y ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
        " FROM t"
    ),
    "SELECT a.x FROM a JOIN b ON a.id = b.id LEFT JOIN c ON b.id = c.id",
    "SELECT x FROM a UNION SELECT x FROM b EXCEPT SELECT x FROM c",
    "SELECT * FROM t WHERE x IN (SELECT y FROM u) AND EXISTS (SELECT 1 FROM v)",
    "WITH c AS (SELECT x FROM t) SELECT upper(x), coalesce(x, 'a'), CASE WHEN x > 1 THEN 2 END FROM c",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM t",
    "SELECT extract(year FROM d), cast(x AS int), x LIKE 'a%', current_date, now() FROM t",
]
BOUND_IN_BOTH = {
    "SELECT * FROM t LIMIT 3": "LIMIT",
    "SELECT * FROM t ORDER BY x LIMIT 3": "LIMIT",
    "SELECT * FROM t LIMIT 3 OFFSET 2": "LIMIT",
    "SELECT * FROM t OFFSET 2": "LIMIT",
    "SELECT * FROM (SELECT * FROM t LIMIT 3) q": "LIMIT",
    "SELECT * FROM t WHERE x IN (SELECT y FROM u LIMIT 3)": "LIMIT",
    "WITH c AS (SELECT * FROM t LIMIT 3) SELECT 1 FROM c": "LIMIT",
    "SELECT first(x) FROM t": "first()",
    "SELECT FIRST ( x ) FROM t": "first()",
    "SELECT any_value(x) FROM t GROUP BY y": "any_value()",
    "SELECT array_agg(x) FROM t": "array_agg()",
    "SELECT string_agg(x, ',') FROM t": "string_agg()",
    "SELECT max_by(x, y) FROM t": "max_by()",
    "SELECT mode(x) FROM t": "mode()",
    "SELECT row_number() OVER (ORDER BY x) FROM t": "row_number()",
    "SELECT lag(x) OVER (ORDER BY y) FROM t": "lag()",
    "SELECT ntile(4) OVER (ORDER BY x) FROM t": "ntile()",
    "SELECT sum(x) OVER (ORDER BY y ROWS 3 PRECEDING) FROM t": "a window of ROWS",
    "SELECT sum(x) OVER w FROM t WINDOW w AS (ORDER BY y ROWS 3 PRECEDING)": "a window of ROWS",
    "SELECT * FROM t WHERE random() < 0.5": "random()",
    "SELECT uuid(), x FROM t": "uuid()",
    "SELECT nobody_knows(x) FROM t": "nobody_knows()",
    "SELECT * FROM t WHERE x = (SELECT first(y) FROM u)": "first()",
}


@pytest.mark.parametrize("sql", FREE_IN_BOTH)
def test_a_query_over_sets_of_rows_does_not_depend_on_their_order(sql: str) -> None:
    assert order_sensitive(tree(sql)) == ""
    assert spark_order(sql) == ""


@pytest.mark.parametrize(("sql", "why"), BOUND_IN_BOTH.items())
def test_a_query_that_depends_on_the_order_says_by_what(sql: str, why: str) -> None:
    assert order_sensitive(tree(sql)) == why
    assert spark_order(sql) == why


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("FROM t LIMIT 0 OFFSET 3", ""),
        ("FROM t LIMIT 10%", "LIMIT"),
        ("FROM t LIMIT ?", "LIMIT"),
        ("FROM t LIMIT (SELECT 0)", "LIMIT"),
        ("FROM t FETCH FIRST 3 ROWS ONLY", "LIMIT"),
        ("FROM t TABLESAMPLE 10%", "a sample"),
        ("FROM t USING SAMPLE 10", "a sample"),
        ("FROM (FROM t USING SAMPLE 10) q", "a sample"),
        ("SELECT DISTINCT ON (x) * FROM t", "DISTINCT ON"),
        ("FROM a POSITIONAL JOIN b", "POSITIONAL JOIN"),
        ("FROM a ASOF JOIN b ON a.x >= b.x", "ASOF JOIN"),
        ("FROM a SEMI JOIN b USING (x)", ""),
        ("FROM a NATURAL JOIN b", ""),
        ("FROM a, LATERAL (SELECT * FROM b WHERE b.x = a.x)", ""),
        ("PIVOT t ON y IN (1, 2) USING sum(x)", ""),
        ("PIVOT t ON y IN (1, 2) USING first(x)", "first()"),
        ("FROM t UNPIVOT (x FOR y IN (a, b))", ""),
        ("FROM t QUALIFY row_number() OVER (PARTITION BY x) = 1", "row_number()"),
        ("SELECT array(SELECT x FROM t)", "array_agg()"),
        ("SUMMARIZE t", "SUMMARIZE"),
        ("DESCRIBE t", ""),
        ("SELECT list(x ORDER BY x DESC), string_agg(x, ',' ORDER BY x) FROM t", ""),
        ("SELECT list_sort(list(DISTINCT x)), first(x ORDER BY x) FROM t", ""),
        ("SELECT list(x ORDER BY y) FROM t", "list()"),
        ("SELECT list_sort(list(x)[1]) FROM t", "list()"),
        ("SELECT first(x ORDER BY y) FROM t", "first()"),
        ("SELECT sum(x ORDER BY y) FROM t", ""),
        ("SELECT sum(x) OVER (ORDER BY y GROUPS 2 PRECEDING EXCLUDE TIES) FROM t", ""),
        ("SELECT fill(x) OVER (ORDER BY y) FROM t", "fill()"),
        ("SELECT approx_quantile(x, 0.5) FROM t", "approx_quantile()"),
        ("SELECT list_first(l), [y + 1 FOR y IN l], l[1], {'a': x}, COLUMNS('a.*') FROM t", ""),
        ("SELECT rowid FROM t", "rowid"),
        ("SELECT t.FILENAME FROM t", "filename"),
        ("FROM query_table('t')", "query_table()"),
        ("FROM t, unnest(l), range(3)", ""),
        ("FROM t, 'x.csv'", ""),
        (
            "WITH RECURSIVE r(a, b) USING KEY (a) AS (SELECT 1, 2 UNION SELECT a, b FROM r) FROM r",
            "USING KEY",
        ),
        ("WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r WHERE n < 5) FROM r", ""),
        ("VALUES (1), (2)", ""),
        ("SELECT t.x.first() FROM t", "first()"),
        ("SELECT MAIN.First(x) FROM t", "first()"),
    ],
)
def test_the_constructs_of_duckdb(sql: str, why: str) -> None:
    assert order_sensitive(tree(sql)) == why


def test_what_a_newer_duckdb_may_add_counts_as_dependent() -> None:
    assert order_sensitive({"node": {"class": "MIRACLE", "type": "MIRACLE"}}) == "miracle"
    assert order_sensitive({"type": "NEW_REF", "alias": "", "sample": None}) == "new ref"
    assert order_sensitive({"type": "NEW_NODE", "modifiers": []}) == "new node"
    assert order_sensitive({"type": "SELECT_NODE", "modifiers": [{"type": "NEW_MODIFIER"}]})


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT * FROM t LIMIT ALL", "LIMIT"),
        ("(SELECT * FROM t LIMIT 0) UNION ALL (SELECT * FROM u LIMIT 2)", "LIMIT"),
        ("SELECT * FROM t TABLESAMPLE (10 PERCENT)", "a sample"),
        ("SELECT * FROM t SORT BY x", ""),
        ("SELECT `first`(x) FROM t", "first()"),
        ("SELECT builtin.last(x) FROM t", "last()"),
        ("SELECT first(x IGNORE NULLS) FROM t", "first()"),
        ("SELECT collect_set(x) FROM t", "collect_set()"),
        ("SELECT percentile_approx(x, 0.5) FROM t", "percentile_approx()"),
        ("SELECT percentile(x, 0.5), approx_count_distinct(x), any(y), bool_or(y) FROM t", ""),
        ("SELECT monotonically_increasing_id() FROM t", "monotonically_increasing_id()"),
        ("SELECT input_file_name() FROM t", "input_file_name()"),
        ("SELECT _file, _pos FROM t", "_file"),
        ("SELECT t._metadata.file_path FROM t", "_metadata"),
        ("SELECT `_POS` FROM t", "_pos"),
        ("SELECT * FROM t PIVOT (first(x) FOR y IN (1, 2))", "first()"),
        ("SELECT * FROM t PIVOT (sum(x) FOR y IN (1, 2))", ""),
        ("SELECT explode(l), transform(l, e -> e + 1), named_struct('a', 1) FROM t", ""),
        ("SELECT * FROM t LATERAL VIEW posexplode(l) v AS at, e", ""),
        ("SELECT lake.system.bucket(4, x) FROM t", ""),
        ("SELECT other.tools.bucket(4, x) FROM t", "bucket()"),
        ("SELECT bucket(4, x) FROM t", "bucket()"),
        ("SELECT system.builtin.abs(x), builtin.sum(x) FROM t", ""),
        ("SELECT count(*) FROM t AS q(a, b) WHERE (a) IN (1)", ""),
        ("SELECT x, sum(y) FROM t GROUP BY GROUPING SETS ((x), ())", ""),
        ("FROM t |> WHERE x = 1", "|>"),
    ],
)
def test_the_constructs_of_spark(sql: str, why: str) -> None:
    assert spark_order(sql) == why


def test_a_column_that_the_table_really_has_tells_no_place() -> None:
    assert order_sensitive(tree("SELECT filename FROM t"), columns=["Filename", "x"]) == ""
    assert order_sensitive(tree("SELECT rowid FROM t"), columns=["filename"]) == "rowid"
    assert spark_order("SELECT _file FROM t", ("_file",)) == ""


def test_every_aggregate_and_window_function_of_duckdb_is_in_one_list() -> None:
    found = duckdb.sql(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    ).fetchall()
    names = {name for (name,) in found}
    assert not names - DUCKDB_ORDER_FREE - DUCKDB_ORDER_BOUND
    assert not DUCKDB_ORDER_FREE & DUCKDB_ORDER_BOUND


def test_every_macro_of_duckdb_that_aggregates_is_in_one_list() -> None:
    macros = duckdb.sql(
        "SELECT function_name, macro_definition FROM duckdb_functions() WHERE function_type ="
        " 'macro' AND function_name IN (SELECT unnest($names))",
        params={"names": sorted(ALLOWED)},
    ).fetchall()
    names = {name for name, text in macros if _aggregates(text)}
    assert names >= {"geomean", "json_group_array", "weighted_avg"}
    assert not names - DUCKDB_ORDER_FREE - DUCKDB_ORDER_BOUND


def _aggregates(definition: str) -> bool:
    called = {
        item["function_name"]
        for item in _functions(tree(f"SELECT {definition}"))
        if item["function_name"] in DUCKDB_ORDER_FREE | DUCKDB_ORDER_BOUND
    }
    return bool(called - {"error"})


def _functions(part: Any) -> list[Any]:
    from lakebed.query.parsing.parse_nodes import dicts

    return [item for item in dicts(part) if item.get("class") == "FUNCTION"]


def test_every_function_of_duckdb_that_gives_another_value_each_time_counts() -> None:
    found = duckdb.sql(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = 'VOLATILE'"
    ).fetchall()
    assert not {name for (name,) in found} - DUCKDB_ORDER_BOUND


def test_every_aggregate_and_window_function_of_spark_is_in_one_list() -> None:
    """The list of them is compared with Spark's own by `test_against_spark`."""
    assert len(spark_aggregates()) > 80
    assert not spark_aggregates() - SPARK_ORDER_FREE - SPARK_ORDER_BOUND
    assert not SPARK_ORDER_FREE & SPARK_ORDER_BOUND
    assert changing_functions() <= SPARK_ORDER_BOUND
    assert not (SPARK_ORDER_FREE | SPARK_ORDER_BOUND) - spark_functions()


ARGUMENTS = {
    "bitstring_agg": "n, 0, 9",
    "bool_and": "n > 1",
    "bool_or": "n > 1",
    "count_if": "n > 1",
    "countif": "n > 1",
    "count_star": "",
    "histogram_exact": "n, [1, 3, 5]",
    "quantile": "n, 0.3",
    "quantile_cont": "x, [0.3, 0.7]",
    "quantile_disc": "s, 0.3",
    "weighted_avg": "x, n",
    "wavg": "x, n",
}
TWO = {"corr", "covar_pop", "covar_samp"}
SHOWN_BY_WINDOWS = {"cume_dist", "dense_rank", "percent_rank", "rank", "rank_dense"}
NOT_ALONE = {"grouping", "grouping_id", "sum_no_overflow"}  # they need GROUP BY, or are internal
# texts, where these take them
TEXTS = {"approx_count_distinct", "count", "entropy", "histogram", "max", "median", "min"}


def test_what_is_said_not_to_depend_on_the_order_answers_the_same_in_any_order() -> None:
    chance, connection = random.Random(3), duckdb.connect()
    rows = [
        (
            chance.randrange(1, 9),
            round(chance.random() * 9 + 1, 2),
            chance.choice("abcdefg"),
            row % 3,
        )
        for row in range(200)
    ]
    calls = []
    for name in sorted(DUCKDB_ORDER_FREE - SHOWN_BY_WINDOWS - NOT_ALONE):
        regression = name in TWO or name.startswith("regr_")
        calls.append(f"{name}({ARGUMENTS.get(name, 'x, n' if regression else 'n')})")
        calls += [f"{name}(s)", f"{name}(s, 3)"] if name in ("max", "min") else []
        calls += [f"{name}(s)"] if name in TEXTS - {"max", "min"} else []
    sql = f"SELECT g, {', '.join(calls)} FROM t GROUP BY g ORDER BY g"
    windows = ", ".join(f"{name}() OVER (ORDER BY n)" for name in sorted(SHOWN_BY_WINDOWS))
    ranked = f"SELECT DISTINCT n, {windows} FROM t ORDER BY n"
    answers = []
    for _ in range(4):
        chance.shuffle(rows)
        values = ", ".join(f"({n}, {x}, '{s}', {g})" for n, x, s, g in rows)
        connection.execute("CREATE OR REPLACE TABLE t (n BIGINT, x DOUBLE, s VARCHAR, g INT)")
        connection.execute(f"INSERT INTO t VALUES {values}")
        answers.append([*connection.sql(sql).fetchall(), *connection.sql(ranked).fetchall()])
    for answer in answers[1:]:
        for ours, theirs in zip(answers[0], answer, strict=True):
            assert all(map(_alike, ours, theirs)), (ours, theirs)


def _alike(one: Any, other: Any) -> bool:
    """Floats may differ in the last digits, as between two runs of the same query."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)
