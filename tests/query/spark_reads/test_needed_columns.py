"""Which columns a query in Spark's SQL may need of each table."""

import pytest

from tests.query.spark_reads.spark_parsed import reads_of

EVERY = "*"


def needed(sql: str) -> dict[str, str]:
    """Of the columns id, n, s and x, those that may be needed of each table."""
    return {
        read.table.alias_or_name: EVERY
        if read.columns.all
        else " ".join(name for name in ("id", "n", "s", "x") if name in read.columns.names)
        for read in reads_of(sql)
    }


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id FROM a WHERE N = 1 ORDER BY s", {"a": "id n s"}),
        ("SELECT a.id, sum(a.n) AS x FROM a GROUP BY 1", {"a": "id n"}),
        ("SELECT count(*) FROM a", {"a": ""}),
        ("SELECT count(*) FROM a JOIN b USING (id)", {"a": "id", "b": "id"}),
        ("SELECT s.city.name FROM a", {"a": "s"}),
        ("SELECT * FROM a", {"a": EVERY}),
        ("TABLE a", {"a": EVERY}),
        ("SELECT a.*, b.id FROM a JOIN b ON a.id = b.id", {"a": EVERY, "b": "id"}),
        ("SELECT * EXCEPT (id) FROM a", {"a": EVERY}),
        ("SELECT struct(*) FROM a", {"a": EVERY}),
        ("SELECT count(DISTINCT *) FROM a", {"a": EVERY}),
        ("SELECT s.* FROM a", {"a": EVERY}),
        # a star over what names its columns
        ("SELECT * FROM (SELECT id, n FROM a) WHERE n = 1", {"a": "id n"}),
        ("WITH c AS (SELECT id FROM a) SELECT * FROM c JOIN b ON b.n = 1", {"a": "id n", "b": EVERY}),
        ("SELECT id FROM a WHERE EXISTS (SELECT * FROM b WHERE b.n = a.n)", {"a": "id n", "b": EVERY}),
        # all columns count
        ("SELECT a.id FROM a NATURAL JOIN b", {"a": EVERY, "b": EVERY}),
        ("SELECT `1` FROM a PIVOT (sum(id) FOR n IN (1, 2))", {"a": EVERY}),
        ("SELECT k FROM a AS t(k, l)", {"t": EVERY}),
        ("SELECT a.id FROM (a JOIN b ON a.id = b.id)", {"a": EVERY, "b": EVERY}),
        ("FROM a |> SELECT id", {"a": EVERY}),
    ],
)  # fmt: skip
def test_the_columns_that_may_be_needed_are_known(sql: str, expected: dict[str, str]) -> None:
    assert needed(sql) == expected
