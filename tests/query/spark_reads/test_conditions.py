"""Which conditions of Spark's SQL count for which table."""

import pytest

from lakebed.ports import Column
from lakebed.query.planning.explain import predicate_text
from lakebed.query.spark_reads.column_tests import leaves
from tests.query.spark_reads.spark_parsed import predicates_of, reads_of


def conditions(sql: str, *, timezone: str = "UTC") -> dict[str, str]:
    """What counts for each table of a query over a and b."""
    found = predicates_of(sql, timezone=timezone)
    return {
        read.table.alias_or_name: predicate_text(predicate) if predicate else ""
        for read, predicate in found
    }


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id > 5 AND s LIKE 'x%' AND n + 1 = 2", "id > 5 and s begins with 'x'"),
        ("5 < id AND (1) >= n", "id > 5 and n <= 1"),
        ("id == 5 AND n <> 3", "id = 5 and n != 3"),
        ("id BETWEEN 1 AND 3 OR id = 9", "id >= 1 and id <= 3 or id = 9"),
        ("id NOT BETWEEN 1 AND 3", "id < 1 or id > 3"),
        ("id IN (1, 2) AND n NOT IN (3)", "id in (1, 2) and n not in (3)"),
        ("id IN (1, NULL)", ""),
        ("id IN (SELECT 1)", ""),
        ("id IN (1, n)", ""),
        ("n IS NULL OR n IS NOT NULL", "n is null or n is not null"),
        ("NOT (n IS NULL)", "n is not null"),
        ("n <=> 5", "n = 5"),
        ("NOT n <=> 5", "n != 5 or n is null"),
        ("n <=> NULL", "n is null"),
        ("n IS NOT DISTINCT FROM 5", "n = 5"),
        ("n IS DISTINCT FROM NULL", "n is not null"),
        ("NOT id = 1 AND NOT (n < 3)", "id != 1 and n >= 3"),
        ("NOT (id = 1 AND n = 2)", "id != 1 or n != 2"),
        ("NOT (id = 1 AND n + 1 = 2)", ""),
        ("NOT (id = 1 OR n + 1 = 2)", "id != 1"),
        ("! (id = 1 OR NOT n = 2)", "id != 1 and n = 2"),
        ("id = 1 OR rand() < 0.5", ""),
        ("(id = 1 AND s RLIKE 'x') OR (id = 2 AND n = 3)", "id = 1 or id = 2 and n = 3"),
        ("id = n", ""),
        ("1 = 1", ""),
        ("id = NULL", ""),
        ("s LIKE 'a_c%'", "s begins with 'a'"),
        ("s LIKE '%a'", ""),
        ("s NOT LIKE 'a%'", ""),
        ("NOT (s LIKE 'a%')", ""),
        ("s LIKE 'a%' ESCAPE '/'", ""),
        ("s LIKE ANY ('a%', 'b%')", ""),
        ("s ILIKE 'a%'", ""),
        ("n LIKE '1%'", ""),
        ("startswith(s, 'a_')", "s begins with 'a_'"),
        ("startswith(s, '')", ""),
        ("s COLLATE UTF8_LCASE = 'a'", ""),
        ("s = 'a' COLLATE UTF8_LCASE", ""),
        ("lower(s) = 'a'", ""),
        ("a.id = 1 AND other.n = 2 AND silver.a.n = 3", "id = 1"),
        ("`ID` = 1 AND A.N = 2", "id = 1 and n = 2"),
        ("EXISTS (SELECT 1)", ""),
        ("CASE WHEN id = 1 THEN true END", ""),
        ("if(id = 1, true, false)", ""),
        ("id + 0 = 1", ""),
        ("coalesce(id, 0) = 1", ""),
        ("s[0] = 'a'", ""),
        # a backslash means one thing or another by a setting
        (r"s = 'a\tb' AND n = 1", "n = 1"),
        (r"s RLIKE '\\d' AND s = 'a' AND id = 1", "id = 1"),
    ],
)
def test_a_condition_counts_as_what_it_certainly_means(condition: str, expected: str) -> None:
    assert conditions(f"SELECT * FROM a WHERE {condition}") == {"a": expected}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id = 5.0", ""),
        ("id = '5'", ""),
        ("id = 5L AND n = 5S", "id = 5 and n = 5"),
        ("id = 9223372036854775808", ""),
        ("n = 3000000000", ""),
        ("n = -1", "n = -1"),
        ("n = -(1) AND id = -5L", "n = -1 and id = -5"),
        ("n = CAST(5 AS INT)", "n = 5"),
        ("n = -CAST(-128 AS TINYINT)", ""),
        ("n = CAST(5.7 AS INT)", ""),
        ("n = CAST(300 AS TINYINT)", ""),
        ("n = CAST('5' AS INT)", ""),
        ("n IN (1, 2.5)", ""),
        ("n BETWEEN 1 AND 2.5", ""),
        ("s = 5", ""),
        ("s = 'ab' AND s > \"c\"", "s = 'ab' and s > 'c'"),
        ("s = 'it''s'", ""),  # two texts or one with a quote, by a setting
        ("s = 'a' 'b'", ""),
        ("s = CAST('a' AS STRING)", ""),
        ("s = X'41'", ""),
        ("day = DATE '2026-01-01'", "day = 2026-01-01"),
        ("day = CAST('2026-01-01' AS DATE)", "day = 2026-01-01"),
        ("day >= '2026-01-01'", "day >= 2026-01-01"),
        ("day = '2026-1-1'", ""),
        ("day = DATE '2026-02-30'", ""),
        ("day >= TIMESTAMP '2026-01-01 12:00:00'", ""),
        ("day = DATE '2026-01-01' + 1", ""),
        ("day = current_date", ""),
        ("day = date('2026-01-01')", "day = 2026-01-01"),
    ],
)
def test_a_literal_counts_only_as_what_spark_compares_it_as(condition: str, expected: str) -> None:
    assert conditions(f"SELECT * FROM a WHERE {condition}") == {"a": expected}


def test_numbers_of_every_kind_compare_with_a_double_and_booleans_stand_alone() -> None:
    assert conditions(
        "SELECT * FROM b WHERE x > 1 AND x < 2.5 AND x != 1e3 AND x >= -1.5D AND x <= .5"
    ) == {"b": "x > 1.0 and x < 2.5 and x != 1000.0 and x >= -1.5 and x <= 0.5"}
    assert conditions("SELECT * FROM b WHERE x = 1.5F AND x = 9007199254740993") == {"b": ""}
    assert conditions("SELECT * FROM b WHERE yes") == {"b": "yes = True"}
    assert conditions("SELECT * FROM b WHERE NOT yes OR yes = true") == {
        "b": "yes = False or yes = True"
    }
    assert conditions("SELECT * FROM b WHERE n AND yes = 'true'") == {"b": ""}


@pytest.mark.parametrize(
    ("type_", "condition", "expected"),
    [
        (
            "decimal(10, 2)",
            "d = 5 AND d < 5.25 AND d > -1.5",
            "d = 5.00 and d < 5.25 and d > -1.50",
        ),
        ("decimal(10, 2)", "d = 5.255", ""),
        (
            "decimal(38, 9)",
            "d > -12345678901234567890123456789.012345678",
            "d > -12345678901234567890123456789.012345678",
        ),
        ("decimal(10, 2)", "d = 100000000", ""),
        ("decimal(10, 2)", "d = 1e1", ""),
        ("decimal(38, 10)", "d = 5", "d = 5.0000000000"),
        # an int takes ten digits before the point, so that the last ones after it are rounded away
        ("decimal(38, 30)", "d = 5", ""),
        ("decimal(38, 20)", "d IN (3000000000)", ""),
        ("float", "d = 1.5", ""),
        ("uuid", "d = 'x'", ""),
    ],
)
def test_digits_are_never_lost(type_: str, condition: str, expected: str) -> None:
    ((_, predicate),) = predicates_of(
        f"SELECT * FROM t WHERE {condition}", {"t": (Column("d", type_, False),)}
    )
    assert (predicate_text(predicate) if predicate else "") == expected


@pytest.mark.parametrize(
    ("type_", "condition", "timezone", "expected"),
    [
        ("timestamptz", "z >= '2026-01-01 00:00:00+01:00'", "Asia/Tokyo", "2025-12-31 23:00:00+00:00"),
        ("timestamptz", "z >= TIMESTAMP '2026-01-01 00:00:00Z'", "Asia/Tokyo", "2026-01-01 00:00:00+00:00"),
        ("timestamptz", "z >= TIMESTAMP '2026-01-01 00:00:00'", "UTC", "2026-01-01 00:00:00+00:00"),
        ("timestamptz", "z >= TIMESTAMP '2026-01-01 00:00:00'", "Asia/Tokyo", ""),
        ("timestamptz", "z >= DATE '2026-01-01'", "UTC", "2026-01-01 00:00:00+00:00"),
        ("timestamptz", "z >= TIMESTAMP_NTZ '2026-01-01 00:00:00'", "Asia/Tokyo", ""),
        ("timestamp", "z >= TIMESTAMP_NTZ '2026-01-01 00:00:00'", "Asia/Tokyo", "2026-01-01 00:00:00"),
        ("timestamp", "z >= '2026-01-01 00:00:00.5'", "Asia/Tokyo", "2026-01-01 00:00:00.500000"),
        ("timestamp", "z >= DATE '2026-01-01'", "Asia/Tokyo", "2026-01-01 00:00:00"),
        ("timestamp", "z >= TIMESTAMP '2026-01-01 00:00:00'", "UTC", ""),
        ("timestamp", "z >= '2026-01-01 00:00:00Z'", "UTC", ""),
    ],
)  # fmt: skip
def test_a_time_counts_where_it_means_the_same_everywhere_or_the_session_is_in_utc(
    type_: str, condition: str, timezone: str, expected: str
) -> None:
    ((_, predicate),) = predicates_of(
        f"SELECT * FROM t WHERE {condition}",
        {"t": (Column("z", type_, False),)},
        timezone=timezone,
    )
    assert (predicate_text(predicate) if predicate else "") == (expected and f"z >= {expected}")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT * FROM a, b WHERE a.id = b.id AND a.id = 1 AND x = 2 AND n = 3",
            {"a": "id = 1", "b": "x = 2.0"},
        ),
        ("SELECT * FROM a AS t WHERE t.id = 1 AND a.n = 2", {"t": "id = 1"}),
        ("SELECT * FROM a JOIN b ON a.id = b.id AND b.n = 1", {"a": "", "b": "n = 1"}),
        ("SELECT * FROM a CROSS JOIN b WHERE s = 'x' AND x = 1", {"a": "s = 'x'", "b": "x = 1.0"}),
        (
            "SELECT * FROM a LEFT JOIN b ON a.id = b.id WHERE b.n = 1 AND a.n = 2",
            {"a": "n = 2", "b": "n = 1"},
        ),
        # the optional side: what NULLs fulfil says nothing of its rows
        ("SELECT * FROM a LEFT JOIN b ON a.id = b.id WHERE b.n IS NULL", {"a": "", "b": ""}),
        ("SELECT * FROM a LEFT JOIN b ON a.id = b.id WHERE NOT b.n <=> 5", {"a": "", "b": ""}),
        (
            "SELECT * FROM a LEFT OUTER JOIN b ON a.id = b.id AND a.n = 1 AND b.n IS NULL",
            {"a": "", "b": "n is null"},
        ),
        (
            "SELECT * FROM a RIGHT JOIN b ON a.id = b.id AND a.s = 'x' AND b.x = 1"
            " WHERE a.n IS NULL AND b.n IS NULL",
            {"a": "s = 'x'", "b": "n is null"},
        ),
        (
            "SELECT * FROM a FULL JOIN b ON a.id = 1 WHERE a.n = 1 AND (b.n = 1 OR b.n IS NULL)",
            {"a": "n = 1", "b": ""},
        ),
        (
            "SELECT * FROM a LEFT SEMI JOIN b ON a.id = b.id AND b.n = 1 AND a.n = 2 WHERE a.id = 3",
            {"a": "id = 3 and n = 2", "b": "n = 1"},
        ),
        (
            "SELECT * FROM a LEFT ANTI JOIN b ON a.id = b.id AND b.n = 1 AND a.n = 2 WHERE a.id = 3",
            {"a": "id = 3", "b": "n = 1"},
        ),
        # the condition of an inner join after an outer one
        (
            "SELECT * FROM a LEFT JOIN b ON a.id = b.id JOIN a AS c ON b.n = 1 AND c.n = 2",
            {"a": "", "b": "n = 1", "c": "n = 2"},
        ),
        # one column made of two
        ("SELECT * FROM a JOIN b USING (id) WHERE id = 1 AND s = 'x'", {"a": "s = 'x'", "b": ""}),
        ("SELECT * FROM a NATURAL JOIN b WHERE n = 1 AND x = 1", {"a": "", "b": "x = 1.0"}),
        (
            "SELECT * FROM a FULL JOIN (SELECT id FROM b) q USING (id) WHERE id = 1",
            {"a": "", "b": ""},
        ),
        # rows that are sampled, columns that are renamed, rows that become columns
        ("SELECT * FROM a TABLESAMPLE (10 PERCENT) WHERE id = 1", {"a": ""}),
        ("SELECT * FROM a AS t(n, id) WHERE id = 1", {"t": ""}),
        ("SELECT * FROM a PIVOT (sum(id) FOR n IN (1, 2)) WHERE s = 'x'", {"a": ""}),
        (
            "SELECT * FROM a JOIN b ON a.n = 1 PIVOT (sum(x) FOR s IN ('u')) WHERE day = '2026-01-01'",
            {"a": "", "b": ""},
        ),
        ("SELECT * FROM a VERSION AS OF 5 WHERE id = 1", {"a": "id = 1"}),
        # a name that another source may have is refused by Spark
        ("SELECT * FROM a, (SELECT 1 AS m) q WHERE n = 1 AND a.id = 2", {"a": "n = 1 and id = 2"}),
        (
            "SELECT * FROM a LATERAL VIEW explode(array(1)) v AS y WHERE n = 1 AND y = 1",
            {"a": "n = 1"},
        ),
        ("SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.id = a.id AND b.n = 1) WHERE a.n = 2", {"a": "n = 2", "b": "n = 1"}),
        ("SELECT * FROM (a JOIN b ON a.id = b.id) WHERE a.n = 1", {"a": "", "b": ""}),
        # queries inside of expressions
        (
            "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.n = 1 AND a.id = 3 AND id = 4"
            " AND s = 'x')",
            {"a": "", "b": "n = 1 and id = 4"},
        ),
        ("SELECT (SELECT max(x) FROM b WHERE n = 1) FROM a WHERE n = 2", {"b": "n = 1", "a": "n = 2"}),
        ("SELECT * FROM a WHERE id NOT IN (SELECT id FROM b WHERE n = 1)", {"a": "", "b": "n = 1"}),
        ("SELECT id FROM a WHERE n = 1 EXCEPT SELECT id FROM b WHERE n = 2", {"a": "n = 1", "b": "n = 2"}),
        # what comes after WHERE
        (
            "SELECT n, count(*), row_number() OVER (ORDER BY n) FROM a WHERE id = 1 GROUP BY n"
            " HAVING n = 2 ORDER BY n LIMIT 3",
            {"a": "id = 1"},
        ),
        ("SELECT id AS n FROM a WHERE n = 1", {"a": "n = 1"}),
    ],
)  # fmt: skip
def test_a_condition_counts_where_rows_that_do_not_fit_cannot_matter(
    sql: str, expected: dict[str, str]
) -> None:
    assert conditions(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM (SELECT * FROM a) WHERE id = 1", {"a": "id = 1"}),
        (
            "SELECT * FROM (SELECT * FROM a WHERE n = 2) q WHERE q.id = 1 AND s = 'x'",
            {"a": "id = 1 and s = 'x' and n = 2"},
        ),
        ("WITH c AS (SELECT * FROM a) SELECT * FROM c WHERE id = 1", {"a": "id = 1"}),
        ("WITH c AS (SELECT id AS k FROM a) SELECT * FROM c AS d WHERE d.K = 1 AND c.k = 2", {"a": "id = 1"}),
        (
            "WITH c AS (SELECT * FROM a), d AS (SELECT *, n AS m FROM c), e AS (SELECT * FROM d)"
            " SELECT * FROM e WHERE id = 1 AND m = 2",
            {"a": "id = 1 and n = 2"},
        ),
        (
            "SELECT * FROM b JOIN (SELECT id AS k, n FROM a) q ON q.k = b.id AND q.n = 1 WHERE b.n = 2",
            {"b": "n = 2", "a": "n = 1"},
        ),
        (
            "SELECT * FROM b LEFT JOIN (SELECT id AS k FROM a) q ON q.k = b.id WHERE q.k = 1",
            {"b": "", "a": "id = 1"},
        ),
        (
            "SELECT * FROM b LEFT JOIN (SELECT id AS k FROM a) q ON q.k = b.id WHERE q.k IS NULL",
            {"b": "", "a": ""},
        ),
        ("SELECT * FROM b, (SELECT n AS m FROM a) q WHERE m = 1", {"b": "", "a": "n = 1"}),
        (
            "SELECT * FROM (SELECT n AS id, id AS n FROM a) WHERE id = 1 AND n = 2",
            {"a": "n = 1 and id = 2"},
        ),
        (
            "SELECT * FROM (SELECT a.id, b.x FROM a JOIN b ON a.n = b.n) WHERE id = 1 AND x = 2",
            {"a": "id = 1", "b": "x = 2.0"},
        ),
        ("SELECT * FROM (SELECT a.* FROM a, b) q WHERE q.n = 1", {"a": "n = 1", "b": ""}),
        ("SELECT * FROM (SELECT * FROM a JOIN b USING (id)) WHERE s = 'x' AND id = 1", {"a": "s = 'x'", "b": ""}),
        ("SELECT * FROM (SELECT id, n + 1 AS n FROM a) WHERE id = 1 OR n = 2", {"a": ""}),
        ("SELECT * FROM (SELECT id, n + 1 AS n FROM a) WHERE id = 1 AND n = 2", {"a": "id = 1"}),
        # groups: what they are grouped by, and nothing else
        (
            "SELECT * FROM (SELECT s, count(*) AS n FROM a GROUP BY s HAVING count(*) > 1)"
            " WHERE s = 'x' AND n = 3",
            {"a": "s = 'x'"},
        ),
        ("SELECT * FROM (SELECT s, sum(id) FROM a GROUP BY ALL) WHERE s = 'x'", {"a": "s = 'x'"}),
        ("SELECT * FROM (SELECT s, sum(id) FROM a GROUP BY ROLLUP (s)) WHERE s IS NULL", {"a": ""}),
        ("SELECT * FROM (SELECT s, sum(id) FROM a GROUP BY s WITH CUBE) WHERE s = 'x'", {"a": ""}),
        (
            "SELECT * FROM (SELECT s, sum(id) FROM a GROUP BY GROUPING SETS ((s), ())) WHERE s = 'x'",
            {"a": ""},
        ),
        ("SELECT * FROM (SELECT DISTINCT id, n FROM a ORDER BY id) WHERE n = 1", {"a": "n = 1"}),
        # rows that are left out would let others in, or change them
        ("SELECT * FROM (SELECT * FROM a LIMIT 10) WHERE n = 1", {"a": ""}),
        ("SELECT * FROM (SELECT * FROM a OFFSET 10) WHERE n = 1", {"a": ""}),
        (
            "SELECT * FROM (SELECT *, row_number() OVER (ORDER BY id) AS r FROM a) WHERE n = 1",
            {"a": ""},
        ),
        ("SELECT * FROM (SELECT *, sum(n) OVER w AS r FROM a WINDOW w AS (ORDER BY id)) WHERE n = 1", {"a": ""}),
        ("SELECT * FROM (SELECT *, monotonically_increasing_id() AS r FROM a) WHERE n = 1", {"a": ""}),
        ("SELECT * FROM (SELECT id, nobody_knows(n) AS z FROM a) WHERE id = 1", {"a": ""}),
        ("SELECT * FROM (SELECT * FROM a) q TABLESAMPLE (5 ROWS) WHERE n = 1", {"a": ""}),
        ("SELECT * FROM (SELECT * FROM a TABLESAMPLE (5 ROWS)) q WHERE n = 1", {"a": ""}),
        ("SELECT * FROM (SELECT id FROM a UNION ALL SELECT id FROM b) WHERE id = 1", {"a": "", "b": ""}),
        ("SELECT * FROM (SELECT * FROM a) q(n, id, s, day) WHERE n = 1", {"a": ""}),
        ("WITH q(n, id) AS (SELECT id, n FROM a) SELECT * FROM q WHERE n = 1", {"a": ""}),
        # names that are something else outside
        ("SELECT * FROM (SELECT *, n + 1 AS id FROM a) WHERE id = 1 AND n = 2", {"a": "n = 2"}),
        ("SELECT * FROM (SELECT * EXCEPT (id) FROM a) q, b WHERE id = 1", {"a": "", "b": "id = 1"}),
        ("SELECT * FROM (SELECT a.* EXCEPT (id) FROM a) q, b WHERE id = 1", {"a": "", "b": "id = 1"}),
        ("SELECT * FROM (SELECT * EXCEPT (id), n AS id FROM a) q WHERE id = 1", {"a": "n = 1"}),
        ("SELECT * FROM (SELECT a.*, b.* FROM a, b) q WHERE s = 'x'", {"a": "", "b": ""}),
        ("SELECT * FROM (SELECT CAST(id AS INT), n FROM a) WHERE id = 1 AND n = 1", {"a": "n = 1"}),
        # what one of those who use a query of WITH asks for, it has to have
        (
            "WITH c AS (SELECT * FROM a) SELECT * FROM c WHERE id = 1 UNION ALL"
            " SELECT * FROM c WHERE id = 2 AND n = 3",
            {"a": "id = 1 or id = 2 and n = 3"},
        ),
        ("WITH c AS (SELECT * FROM a) SELECT * FROM c WHERE id = 1 UNION ALL SELECT * FROM c", {"a": ""}),
        (
            "WITH c AS (SELECT * FROM a) SELECT * FROM c WHERE id = 1 AND n IN (SELECT n FROM c)",
            {"a": ""},
        ),
        (
            "WITH c AS (SELECT * FROM a) SELECT * FROM c x LEFT JOIN c y ON y.id = 2 WHERE x.id = 1",
            {"a": "id = 1 or id = 2"},
        ),
        (
            "WITH c AS (SELECT * FROM a) SELECT b.id FROM b LEFT JOIN c ON c.id = b.id AND c.n = 1"
            " WHERE c.s IS NULL UNION ALL SELECT id FROM c WHERE n = 3",
            {"a": "n = 1 or n = 3", "b": ""},
        ),
        ("WITH c AS (SELECT * FROM a) SELECT * FROM (c) WHERE id = 1", {"a": ""}),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a WHERE id = 1", {"a": "id = 1"}),
        (
            "WITH c AS (SELECT * FROM a) SELECT * FROM (WITH c AS (SELECT * FROM b) SELECT * FROM c)"
            " WHERE n = 1",
            {"a": "", "b": "n = 1"},
        ),
        (
            "WITH RECURSIVE r AS (SELECT id FROM a WHERE n = 1 UNION ALL SELECT id + 1 FROM r WHERE"
            " id < 5) SELECT * FROM r WHERE id = 3",
            {"a": "n = 1"},
        ),
        ("FROM a |> WHERE id = 1", {"a": ""}),
    ],
)  # fmt: skip
def test_what_is_asked_of_a_subquery_counts_for_what_it_reads(
    sql: str, expected: dict[str, str]
) -> None:
    assert conditions(sql) == expected


def test_names_that_spark_may_take_for_the_same_tell_nothing() -> None:
    columns = tuple(Column(name, "long", False) for name in ("id", "ID", "ä", "straße"))
    ((_, predicate),) = predicates_of(
        "SELECT * FROM t WHERE id = 1 AND `ä` = 2 AND `Ä` = 3 AND strasse = 4", {"t": columns}
    )
    assert predicate
    assert predicate_text(predicate) == "ä = 2"


def test_a_hundred_queries_of_with_that_use_each_other_twice_end_soon() -> None:
    ctes = ["c0 AS (SELECT * FROM a)"] + [
        f"c{n} AS (SELECT x.* FROM c{n - 1} x JOIN c{n - 1} y ON x.id = 1 AND y.id = 2)"
        for n in range(1, 100)
    ]
    (read,) = reads_of(f"WITH {', '.join(ctes)} SELECT * FROM c99 WHERE n = 1")
    assert sum(1 for test in read.tests for _ in leaves(test)) < 1000


def test_a_condition_of_thousands_of_parts_is_read() -> None:
    either = " OR ".join(f"id = {number}" for number in range(3000))
    ((_, predicate),) = predicates_of(f"SELECT * FROM a WHERE ({either}) AND n = 1")
    assert predicate
    assert predicate_text(predicate).endswith("id = 2999) and n = 1")


def test_a_metadata_table_has_no_conditions() -> None:
    ((_, predicate),) = predicates_of("SELECT * FROM a.snapshots WHERE id = 1")
    assert predicate is None
