"""Gates that could never pass."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.sql import check_query, refuse_bare_count

NEVER_PASS = [
    "SELECT count(*) FROM t",
    "SELECT COUNT(1) AS bad FROM t WHERE amount < 0",
    "SELECT count(id) FROM t",
    "SELECT sum(amount) FROM t JOIN u USING (id)",
    "SELECT count(*) FILTER (WHERE amount < 0) AS bad FROM t",
    "SELECT count_if(amount < 0) FROM t",
    "SELECT count(*) > 0 AS broken FROM t",
    "SELECT max(at), min(at) FROM t",
    "SELECT 'orders' AS name, count(*) FROM t",
    "SELECT count(*) FROM t LIMIT 1",
    "SELECT count(*) FROM t GROUP BY ALL",
    "(SELECT count(*) FROM t)",
    "SELECT * FROM (SELECT count(*) AS n FROM t)",
    "WITH c AS (SELECT count(*) AS n FROM t) SELECT n FROM c",
    "WITH a AS (SELECT count(*) AS n FROM t), b AS (SELECT n FROM a) SELECT b.n FROM b",
    "SELECT * FROM t WHERE amount < 0 UNION ALL SELECT count(*) FROM u",
    "SELECT 1",
    "VALUES (1)",
]
MAY_PASS = [
    "SELECT * FROM t WHERE amount < 0",
    "SELECT count(*) FROM t HAVING count(*) > 0",
    "SELECT count(*) AS n FROM t WHERE amount < 0 HAVING n > 0",
    "SELECT id, count(*) FROM t GROUP BY id HAVING count(*) > 1",
    "SELECT id, count(*) FROM t GROUP BY id",
    "SELECT id, count(*) FROM t GROUP BY ALL",
    "SELECT n FROM (SELECT count(*) AS n FROM t) WHERE n > 0",
    "WITH c AS (SELECT count(*) AS n FROM t) SELECT n FROM c WHERE n > 0",
    "WITH c AS (SELECT count(*) AS n FROM t) SELECT n FROM c JOIN t ON true",
    "WITH c AS (SELECT count(*) AS n FROM t) SELECT * FROM u",
    "SELECT id, count(*) OVER (PARTITION BY id) AS n FROM t",
    "SELECT id, (SELECT count(*) FROM u) AS n FROM t",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM t)",
    "SELECT id FROM t EXCEPT SELECT count(*) FROM u",
    "SELECT count(*) FROM t OFFSET 1",
]


@pytest.mark.parametrize("text", NEVER_PASS)
def test_a_gate_that_always_returns_a_row_is_refused_and_told_what_to_write(text: str) -> None:
    with pytest.raises(
        BadPipeline, match=r"whatever the table holds.*HAVING count\(\*\) > 0"
    ) as refused:
        refuse_bare_count(check_query(text, where="gate.sql"), where="gate.sql")
    assert refused.value.where == "gate.sql"


@pytest.mark.parametrize("text", MAY_PASS)
def test_a_gate_that_can_return_no_row_is_accepted(text: str) -> None:
    refuse_bare_count(check_query(text, where="gate.sql"), where="gate.sql")
