"""Which queries read every row of a zone: only their runs may check its files while they write."""

import pytest

from lakebed.sql import reads_every_row


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM zone",
        "SELECT upper(a) AS a FROM `zone` AS z WHERE a > 0 OR b IS NULL ORDER BY c",
        "SELECT a, count(*) AS n FROM zone GROUP BY a HAVING count(*) > 1",
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM zone)"
        " WHERE n = 1",
        "WITH t AS (SELECT * FROM zone), u AS (SELECT a FROM t) SELECT * FROM u",
        "SELECT a, word FROM zone LATERAL VIEW explode(split(b, ' ')) AS word",
    ],
)
def test_a_query_over_all_rows_of_a_zone_is_recognised(query: str) -> None:
    assert reads_every_row(query, "zone")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM zone LIMIT 3",
        "SELECT DISTINCT 1 AS one FROM zone",
        "SELECT * FROM (SELECT * FROM zone LIMIT 3)",
        "SELECT * FROM (SELECT * FROM zone) OFFSET 3",
        "WITH t AS (SELECT * FROM zone LIMIT 3) SELECT * FROM t",
        "SELECT * FROM zone TABLESAMPLE (10 PERCENT)",
        "SELECT z.* FROM zone z JOIN other o ON z.a = o.a",
        "SELECT z.* FROM zone z, other o",
        "SELECT z.* FROM other o LEFT JOIN zone z ON z.a = o.a",
        "SELECT * FROM zone WHERE a NOT IN (SELECT a FROM other)",
        "SELECT * FROM zone WHERE EXISTS (SELECT 1 FROM other)",
        "SELECT *, (SELECT max(a) FROM zone) AS most FROM zone",
        "SELECT * FROM zone UNION ALL SELECT * FROM zone",
        "SELECT * FROM (SELECT * FROM zone UNION ALL SELECT * FROM other)",
        "SELECT * FROM other",
        "SELECT * FROM VALUES (1), (2) AS zone(a)",
        "WITH zone AS (SELECT 1 AS a) SELECT * FROM zone",
        "WITH t AS (SELECT * FROM zone) SELECT 1 AS one",
        "SELECT 1 AS one",
        "SELECT * FROM zone, LATERAL (SELECT a + 1 AS b)",
        "SELECT * FROM zone PIVOT (sum(b) FOR a IN (1, 2))",
    ],
)
def test_a_query_that_may_leave_rows_of_a_zone_unread_is_not_taken_for_one_that_reads_all(
    query: str,
) -> None:
    assert not reads_every_row(query, "zone")
