"""Which columns of a zone a query hands on as they are: their types are the table's."""

import pytest

from lakebed.sql import passed_columns


@pytest.mark.parametrize(
    ("query", "passed"),
    [
        ("SELECT * FROM zone", {"a", "b", "c"}),
        ("SELECT *, a + 1 AS d FROM `zone` WHERE a > 0 ORDER BY b", {"a", "b", "c"}),
        ("SELECT * EXCEPT (a), CAST(a AS STRING) AS A FROM zone", {"b", "c"}),
        ("SELECT A, z.b, c AS d FROM zone AS z", {"a", "b"}),
        ("SELECT b AS a, a AS b, c FROM zone", {"c"}),
        ("SELECT z.*, other.x FROM zone z JOIN other ON z.a = other.a", {"a", "b", "c"}),
        ("SELECT * FROM zone z JOIN other USING (a)", set()),
        ("SELECT a, z.b FROM zone z LEFT JOIN other o ON z.a = o.a", {"b"}),
        ("SELECT upper(a) AS a, b.c FROM zone", set()),
        ("SELECT * FROM other", set()),
        ("SELECT * FROM zone UNION ALL SELECT * FROM zone", set()),
        ("WITH zone2 AS (SELECT to_date(a) AS a FROM zone) SELECT * FROM zone2", set()),
        ("SELECT * FROM (SELECT to_date(a) AS a FROM zone)", set()),
        ("SELECT count(*) AS a FROM zone", set()),
    ],
)
def test_only_columns_that_a_query_leaves_as_they_are_count_as_handed_on(
    query: str, passed: set[str]
) -> None:
    found = passed_columns(query, "zone")
    assert {name for name in ("a", "b", "c") if found.has(name)} == passed


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("SELECT a AS k FROM zone", "a"),
        ("SELECT *, z.B AS K FROM zone z", "b"),
        ("SELECT a + 1 AS k FROM zone", ""),
        ("SELECT a AS k, b AS k FROM zone", ""),
        ("SELECT o.a AS k FROM zone z JOIN other o ON z.a = o.a", ""),
        ("SELECT * FROM zone", "k"),
    ],
)
def test_a_column_that_is_handed_on_under_another_name_is_recognized(
    query: str, source: str
) -> None:
    assert passed_columns(query, "zone").source("k") == source
