"""Gates for repeated values may be answered another way; nothing else may be taken for one."""

import pytest

from lakebed.sql import UniquenessQuery, read_uniqueness

REPEATED = {
    "SELECT id FROM a.b.c GROUP BY id HAVING count(*) > 1": ("id", "a.b.c"),
    "select `the id`, count(*) as n\nfrom a.b -- why\ngroup by `the id` having count(*) > 1;": (
        "the id",
        "a.b",
    ),
    "SELECT id, COUNT(*) FROM a o WHERE id IS NOT NULL GROUP BY id HAVING COUNT(*) > 1": (
        "id",
        "a o WHERE id IS NOT NULL",
    ),
}
OTHERS = [
    "SELECT id FROM a GROUP BY id HAVING count(*) > 2",
    "SELECT id FROM a GROUP BY id HAVING count(*) > '1'",
    "SELECT id FROM a GROUP BY id HAVING count(*) >= 1",
    "SELECT id FROM a GROUP BY id HAVING count(x) > 1",
    "SELECT id FROM a GROUP BY id HAVING count(DISTINCT x) > 1",
    "SELECT id FROM a GROUP BY id HAVING count(*) FILTER (WHERE x) > 1",
    "SELECT id FROM a GROUP BY id HAVING count(*) > 1 OR x",
    "SELECT id FROM a GROUP BY id, x HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY id % 2 HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY 1 HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY ALL HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY CUBE (id) HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY id WITH ROLLUP HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY id GROUPING SETS ((id), ()) HAVING count(*) > 1",
    "SELECT o.id FROM a o GROUP BY o.id HAVING count(*) > 1",
    "SELECT id, 1 / sum(x) FROM a GROUP BY id HAVING count(*) > 1",
    "SELECT x % 2 AS id FROM a GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM (SELECT 1 AS id) GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a JOIN b GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a, b GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a LATERAL VIEW explode(y) AS id GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a VERSION AS OF 3 GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a WHERE x IN (SELECT y FROM b) GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY id HAVING count(*) > 1 LIMIT 0",
    "SELECT DISTINCT id FROM a GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY id HAVING count(*) > 1 UNION SELECT 1",
    "SELECT id FROM a GROUP BY id",
    "SELECT /*+ BROADCAST(a) */ id FROM a GROUP BY id HAVING count(*) > 1",
    "FROM a SELECT id GROUP BY id HAVING count(*) > 1",
    "SELECT id FROM a GROUP BY id HAVING count(*) > 1 |> WHERE false",
    "WITH a AS (SELECT 1 AS id) SELECT id FROM a GROUP BY id HAVING count(*) > 1",
]


@pytest.mark.parametrize("query", REPEATED)
def test_a_query_for_repeated_values_is_recognised(query: str) -> None:
    assert read_uniqueness(query) == UniquenessQuery(*REPEATED[query])


@pytest.mark.parametrize("query", OTHERS)
def test_any_other_query_is_asked_as_it_is(query: str) -> None:
    assert read_uniqueness(query) is None
