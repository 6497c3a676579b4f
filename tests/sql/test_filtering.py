"""Gates that only filter rows share a scan; anything else must not be taken for such a filter."""

import pytest

from lakebed.sql import FilteringQuery, read_filtering

FILTERS = {
    "SELECT * FROM a.b.c WHERE id IS NULL": ("a.b.c", "id IS NULL"),
    "select *\nfrom a.`b c` o where o.x in (1, 2) -- why\n;": ("a.`b c` o", "o.x in (1, 2)"),
    "SELECT * FROM (SELECT 'a  b' AS x FROM y WHERE z\n) WHERE q": (
        "(SELECT 'a  b' AS x FROM y WHERE z\n)",
        "q",
    ),
    "SELECT * FROM a WHERE extract(year FROM d) > 3 AND x['a'] = 1": (
        "a",
        "extract(year FROM d) > 3 AND x['a'] = 1",
    ),
    "SELECT * FROM a WHERE ' WHERE ' = x": ("a", "' WHERE ' = x"),
}
OTHERS = [
    "SELECT id FROM a WHERE x",
    "SELECT *, id FROM a WHERE x",
    "SELECT t.* FROM a t WHERE x",
    "SELECT * EXCEPT (b) FROM a WHERE x",
    "SELECT * FROM a",
    "SELECT DISTINCT * FROM a WHERE x",
    "SELECT /*+ BROADCAST(a) */ * FROM a WHERE x",
    "SELECT * FROM a WHERE x IN (SELECT y FROM b)",
    "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b)",
    "SELECT * FROM a JOIN b WHERE x",
    "SELECT * FROM a, b WHERE x",
    "SELECT * FROM a LATERAL VIEW explode(y) AS z WHERE x",
    "SELECT * FROM a TABLESAMPLE (1 PERCENT) WHERE x",
    "SELECT * FROM a VERSION AS OF 3 WHERE x",
    "SELECT * FROM VALUES (1) AS t(x) WHERE x",
    "SELECT * FROM a WHERE x LIMIT 1",
    "SELECT * FROM a WHERE x ORDER BY y",
    "SELECT * FROM a WHERE x GROUP BY ALL",
    "SELECT * FROM a WHERE x UNION SELECT * FROM b WHERE y",
    "WITH t AS (SELECT 1 AS x) SELECT * FROM t WHERE x",
    "FROM a SELECT * WHERE x",
    "FROM a |> WHERE x",
    "SELECT * FROM a |> WHERE x",
    "(SELECT * FROM a WHERE x)",
]


@pytest.mark.parametrize("query", FILTERS)
def test_a_query_that_only_filters_rows_is_taken_apart_as_it_was_written(query: str) -> None:
    assert read_filtering(query) == FilteringQuery(*FILTERS[query])


@pytest.mark.parametrize("query", OTHERS)
def test_a_query_that_does_more_than_filter_is_asked_alone(query: str) -> None:
    assert read_filtering(query) is None
