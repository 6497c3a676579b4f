"""SQL of pipelines and gates, judged before it runs."""

import subprocess
import sys

import pytest

from lakebed.errors import BadPipeline
from lakebed.sql import CheckedQuery, check_query
from tests.sql.attacks import ATTACKS
from tests.sql.queries import COLUMNS, COMMENTS, VALID, WRONG_NAMES, WRONG_SYNTAX

PINNED = "lake.`shop`.`silver`.`orders` VERSION AS OF 5"
BRANCH = "lake.`shop`.`silver`.`clean`.`branch_run_1`"
ZONE = "`zone_shop_orders`"
ALLOWED = [PINNED, BRANCH, ZONE, " spaced "]


def tables(text: str, allowed: list[str] | None = None) -> tuple[str, ...]:
    return check_query(text, where="a.sql", allowed=allowed).tables


@pytest.mark.parametrize("text", VALID)
def test_ordinary_spark_sql_is_accepted(text: str) -> None:
    assert check_query(text, where="a.sql").text.splitlines()[0] == text.splitlines()[0]


@pytest.mark.parametrize("text", COMMENTS)
def test_comments_stand_inside_comments_as_in_spark(text: str) -> None:
    assert check_query(text, where="a.sql").text.split() == ["SELECT", "1", "AS", "a"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT `a` TABLE t",
        "SELECT 1 TABLE t",
        "SELECT values `a` FROM t",
        "SELECT 1 AS values 'a'",
    ],
)
def test_table_and_values_are_left_to_their_old_rules_beside_what_is_quoted(text: str) -> None:
    with pytest.raises(
        BadPipeline,
        match=r"TABLE is not allowed|is not a valid name|followed by a name|not understood",
    ):
        check_query(text, where="a.sql")


@pytest.mark.parametrize(
    "options", ["'branch' = 'run_1'", "`split-size` = 5, `snapshot-id` = 1", "", "'path' = '/'"]
)
def test_options_that_choose_what_is_read_are_refused(options: str) -> None:
    with pytest.raises(BadPipeline, match=r"options|'\)'"):
        check_query(f"SELECT * FROM orders WITH ({options})", where="a.sql")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM t\nQUALIFY row_number() OVER (ORDER BY id) = 1",
        (
            "SELECT id FROM t o WHERE id > 1\nqualify row_number() OVER (PARTITION BY a ORDER BY"
            " id) = 1 ORDER BY id"
        ),
        "SELECT id FROM t\nQUALIFY (rank() OVER (ORDER BY id) = 1)",
        "SELECT id FROM t GROUP BY id HAVING count(*) > 1\nQUALIFY id = 1",
        (
            "WITH w AS (SELECT id FROM t WINDOW w AS (ORDER BY id)\nQUALIFY rank() OVER w = 1)"
            " SELECT * FROM w"
        ),
    ],
)
def test_qualify_is_refused_before_a_run_begins_and_the_way_around_it_is_told(text: str) -> None:
    with pytest.raises(BadPipeline, match="Spark has no QUALIFY") as refused:
        check_query(text, where="a.sql")
    assert refused.value.where == "a.sql:2"
    assert "subquery" in refused.value.next


@pytest.mark.parametrize(("text", "reason"), ATTACKS)
def test_what_is_not_a_plain_query_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadPipeline, match=reason) as refused:
        check_query(text, where="a.sql")
    assert refused.value.next
    assert refused.value.where == "a.sql:1" or "\n" in text


@pytest.mark.parametrize(("text", "reason"), ATTACKS)
def test_an_attack_is_refused_also_when_its_tables_are_allowed(text: str, reason: str) -> None:
    with pytest.raises(BadPipeline):
        check_query(text, where="a.sql", allowed=["t", "u", "a", "c"])


@pytest.mark.parametrize(
    "wrap",
    [
        "SELECT * FROM ({})",
        "WITH w AS ({}) SELECT * FROM w",
        "SELECT 1 UNION ALL ({})",
        "SELECT ({})",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT reflect('a', 'b')",
        "SELECT * FROM text.`hostname`",
        "SELECT TRANSFORM(a) USING 'cat' FROM t",
        "DROP TABLE a",
    ],
)
def test_no_place_in_a_query_hides_an_attack(wrap: str, text: str) -> None:
    with pytest.raises(BadPipeline):
        check_query(wrap.format(text), where="a.sql")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("SELECT 1;", "SELECT 1"),
        ("SELECT 1 ; ; ", "SELECT 1"),
        ("SELECT 1 -- end", "SELECT 1"),
        ("SELECT 1 -- end;\n;\n-- more\n", "SELECT 1"),
        ("SELECT 1 /* end */ ; -- ;", "SELECT 1"),
        ("-- first\nSELECT 1 /* a\nb */, 2", "        \nSELECT 1     \n    , 2"),
        ("SELECT ';' AS a -- ;", "SELECT ';' AS a"),
        ("SELECT /*+ COALESCE(1) */ 1 -- ;", "SELECT /*+ COALESCE(1) */ 1"),
        (
            "SELECT '-- no comment', \"/* nor */ this\", `--`",
            "SELECT '-- no comment', \"/* nor */ this\", `--`",
        ),
    ],
)
def test_a_query_loses_its_comments_and_its_end_and_keeps_its_lines(text: str, kept: str) -> None:
    query = check_query(text, where="a.sql")
    assert query == CheckedQuery(kept, ())
    assert check_query(f"SELECT * FROM ({query.text})", where="a.sql")


def test_an_error_shows_the_line_of_the_file() -> None:
    text = "-- @tag: x\nSELECT 1,\n  reflect('a', 'b') AS bad\nFROM t"
    with pytest.raises(BadPipeline) as refused:
        check_query(text, where="shop/pipeline.sql", line_of=lambda line: line + 10)
    assert (refused.value.where, refused.value.line) == ("shop/pipeline.sql:13", 13)
    assert refused.value.excerpt == "reflect('a', 'b') AS bad"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("SELECT 1\nFROM t\nWHERE AND x", 3),
        ("SELECT 1\n\nFROM t\nJOIN csv.`x`\nON true", 4),
        ("SELECT 1\nFROM t;\nSELECT 2", 2),
        ("SELECT 1,\n'open", 2),
        ("SELECT *\nFROM t\nORDER BY 1\nLIMIT a", 4),
        ("SELECT *\nFROM (\n  DESCRIBE t)", 3),
    ],
)
def test_every_kind_of_refusal_knows_its_line(text: str, line: int) -> None:
    with pytest.raises(BadPipeline) as refused:
        check_query(text, where="a.sql")
    assert refused.value.line == line


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"SELECT * FROM {PINNED} AS o JOIN {ZONE} z ON true", (PINNED, ZONE)),
        (f"SELECT * FROM {PINNED}", (PINNED,)),
        ("SELECT * FROM lake.shop.silver.orders version as of 5 o", (PINNED,)),
        ("SELECT * FROM lake . shop . `silver`./* */orders\nVERSION AS OF 5", (PINNED,)),
        (f"SELECT * FROM {BRANCH} WHERE id IN (SELECT id FROM {PINNED})", (BRANCH, PINNED)),
        (f"WITH a AS (SELECT * FROM {ZONE}) SELECT * FROM a JOIN A b ON true", (ZONE,)),
        (f"SELECT * FROM {ZONE} UNION ALL SELECT * FROM {ZONE}", (ZONE,)),
        (f"SELECT * FROM {BRANCH} VERSION AS OF 7", (BRANCH,)),
        (f"SELECT * FROM {ZONE} TABLESAMPLE (1 ROWS)", (ZONE,)),
        ("SELECT 1 FROM range(3)", ()),
        ("SELECT * FROM spaced", (" spaced ",)),
    ],
)
def test_the_tables_read_are_told_in_the_words_they_were_given_in(
    text: str, read: tuple[str, ...]
) -> None:
    assert tables(text, ALLOWED) == read


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM lake.shop.silver.orders",  # not at the pinned version
        "SELECT * FROM lake.shop.silver.orders VERSION AS OF 6",
        "SELECT * FROM lake.shop.silver.orders TIMESTAMP AS OF '2026-01-01'",
        "SELECT * FROM shop.silver.orders VERSION AS OF 5",
        "SELECT * FROM lake.shop.silver.orders.snapshots",
        "SELECT * FROM lake.shop.silver.orders.branch_other",
        "SELECT * FROM lake.shop.silver.clean.branch_run_1.files",
        "SELECT * FROM lake.shop.silver.clean",
        "SELECT * FROM zone_shop_orders.x",
        "SELECT * FROM zone_shop_other",
        "SELECT * FROM `lake.shop.silver.orders` VERSION AS OF 5",
        "WITH a AS (SELECT * FROM a) SELECT * FROM a",  # the inner a is not the WITH
        "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
        "SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a), a",
        "WITH a AS (SELECT 1) SELECT * FROM s.a",
    ],
)
def test_a_table_that_was_not_given_is_refused(text: str) -> None:
    with pytest.raises(BadPipeline, match=r"(?s)was not given.*ref\('…'\)"):
        tables(text, ALLOWED)


def test_without_a_list_any_table_may_be_read_but_no_path() -> None:
    assert tables("SELECT * FROM a JOIN lake.`s`.b c ON true") == ("a", "lake.`s`.b")
    with pytest.raises(BadPipeline, match="path"):
        tables("SELECT * FROM a JOIN csv.b")


def test_with_an_empty_list_no_table_may_be_read() -> None:
    assert tables("SELECT 1", []) == ()
    with pytest.raises(BadPipeline, match="was not given"):
        tables("SELECT * FROM a", [])


def test_a_name_that_was_not_given_gets_near_ones_suggested() -> None:
    with pytest.raises(BadPipeline, match=r"Did you mean lake\.shop\.silver\.orders\?"):
        tables("SELECT * FROM lake.shop.silver.order", ["lake.`shop`.`silver`.`orders`", "x"])


def test_a_recursion_reads_itself() -> None:
    assert (
        tables(
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT * FROM t", []
        )
        == ()
    )


@pytest.mark.parametrize(
    "text",
    ["SELECT " + "(" * 500 + "1" + ")" * 500, "SELECT " + "coalesce(" * 500 + "1" + ")" * 500],
)
def test_what_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(BadPipeline, match="nested too deeply"):
        check_query(text, where="a.sql")


def test_long_queries_are_checked() -> None:
    wide = "SELECT * FROM t WHERE " + " OR ".join(f"a = {number}" for number in range(2000))
    tall = " UNION ALL ".join(f"SELECT {number} AS n FROM t{number}" for number in range(300))
    assert tables(wide) == ("t",)
    assert len(tables(tall)) == 300


def test_opening_the_package_does_not_load_the_parser() -> None:
    script = "import sys, lakebed.sql; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_parser_logs_nothing_of_what_it_does_not_understand(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(BadPipeline):
        check_query(
            "WITH a AS (SELECT 1 AS x), b AS (REVOKE SELECT x FROM a) * FROM b", where="a.sql"
        )
    assert caplog.records == []


@pytest.mark.parametrize(("text", "stops"), WRONG_SYNTAX)
def test_syntax_that_spark_does_not_take_is_refused_at_the_place_where_spark_stops(
    text: str, stops: str
) -> None:
    with pytest.raises(BadPipeline) as refused:
        check_query(f"-- a comment\n{text}", where="a.sql")
    error = refused.value
    assert error.where == "a.sql:2"
    assert error.next
    assert (
        "ends too early" in error.what
        if stops == "end"
        else text[error.column or 0 :].startswith(stops)
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SELECT id FRM orders", "FROM"),
        ("SELCT 1", ""),
        ("SELECT id FROM orders WERE id = 1", "WHERE"),
        ("SELECT a FROM b GROPU BY a", "GROUP"),
    ],
)
def test_a_misspelt_keyword_gets_the_near_one_suggested(text: str, meant: str) -> None:
    with pytest.raises(
        BadPipeline, match=f"Did you mean {meant}" if meant else "does not begin a query"
    ):
        check_query(text, where="a.sql")


@pytest.mark.parametrize(("text", "missing", "near"), WRONG_NAMES)
def test_functions_and_columns_that_are_not_there_are_refused_with_near_names(
    text: str, missing: str, near: str
) -> None:
    with pytest.raises(BadPipeline) as refused:
        check_query(text, where="a.sql", functions=(), columns=COLUMNS)
    assert f"there is no {missing}." in refused.value.what
    assert near in refused.value.next
    assert "^" in str(refused.value)


@pytest.mark.parametrize("text", VALID)
def test_no_column_or_function_of_an_ordinary_query_is_called_missing(text: str) -> None:
    check_query(text, where="a.sql", functions=(), columns=COLUMNS)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT anything FROM unknown",
        "SELECT anything FROM orders, unknown",
        "SELECT anything FROM orders JOIN (SELECT * FROM unknown) u ON true",
        "WITH u AS (SELECT * FROM unknown) SELECT anything, u.thing FROM u",
        "SELECT anything FROM orders LATERAL VIEW explode(tags) t AS anything",
        "SELECT total * 2 AS twice, sum(amount) AS total FROM orders",
        "SELECT address.whatever, o.address.geo.whatever FROM orders o",
        "SELECT (SELECT max(c.id) FROM customers c WHERE c.id = customer) FROM orders",
        "SELECT (SELECT max(anything) FROM unknown) FROM orders",
        "SELECT id FROM orders WHERE id IN (SELECT customer FROM customers)",
        (
            "SELECT new, _file, _metadata.file_path FROM (SELECT * FROM orders) PIVOT (max(id) FOR"
            " status IN ('new'))"
        ),
        "SELECT anything FROM wide UNPIVOT (v FOR anything IN (a, b))",
        "SELECT max_by(anything, 1) FROM (SELECT explode(tags) FROM orders)",
        "SELECT `count(1)` FROM (SELECT count(*) FROM orders)",
        "SELECT _file, _pos FROM orders",
        "SELECT address.geo, count(*) FROM orders GROUP BY address.geo ORDER BY geo, `count(1)`",
        "SELECT explode(tags) FROM orders ORDER BY col",
        "SELECT address.* FROM orders ORDER BY city",
        "FROM orders |> EXTEND id AS anything |> SELECT anything",
        "SELECT anything FROM (VALUES (1)) AS t(anything)",
        (
            "SELECT timestampdiff(QUARTER, at, at), date_diff(WEEK, at, at), dateadd(MICROSECOND,"
            " 1, at) FROM orders"
        ),
        "SELECT extract(DOW FROM at), extract(WEEK FROM at) FROM orders",
        "SELECT current_time, localtimestamp, session_user, user, current_catalog FROM orders",
        "SELECT other.place.my_udf(id) FROM orders",
        "SELECT ID, O.NAME FROM Orders o",
    ],
)
def test_what_is_not_certain_is_left_to_spark(text: str) -> None:
    check_query(text, where="a.sql", functions=(), columns=COLUMNS | {"Orders": COLUMNS["orders"]})


def test_functions_that_a_project_registers_are_known() -> None:
    check_query("SELECT My_Udf(id) FROM t", where="a.sql", functions={"my_udf"})
    check_query("SELECT my_udf(id) FROM t", where="a.sql")
    with pytest.raises(BadPipeline, match=r"no function my_udf\(\)"):
        check_query("SELECT my_udf(id) FROM t", where="a.sql", functions=())


def test_an_error_far_to_the_right_of_a_long_line_is_shown() -> None:
    text = f"SELECT {', '.join(f'column_{number}' for number in range(80))},, 2 AS b FROM t"
    with pytest.raises(BadPipeline) as refused:
        check_query(text, where="a.sql")
    excerpt, column = refused.value.excerpt, refused.value.column
    assert len(excerpt) <= 120
    assert column is not None
    assert excerpt[column - 1 :].startswith(",, 2 AS b")
