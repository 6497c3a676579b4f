"""Every construct of views that DuckDB answers for Spark, asked of both over rows that are out of
the ordinary.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.ports import Column
from lakebed.query.views.spark_selects import translate_view
from tests.query.odd_rows import SCHEMA, odd_rows, told
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.query_lakes import add_table, bench_of

pytestmark = [pytest.mark.spark]

A, B = "lake.shop.silver.odd", "lake.shop.silver.other"
CONDITIONS = (
    "n = 1", "n <> 1", "n >= 2147483647", "n < -2147483647", "k > n", "k = n", "k > 3000000000", "n <=> k",
    "x > 0", "x >= 0", "x < 1.5", "x = 0", "x <> 0", "x <= -0.0", "x > 1.0D", "f = f", "f < f", "x = x",
    "m = m", "m <=> m", "s = 'a'", "s > 'a'", "s < 'ä'", "s >= ''", "s <= '😀'", "s <> 'A'", "s = ' a'", "s = 'a '", "s > 'z'",
    "b", "NOT b", "b = true", "b <> false", "b IS NULL", "d = DATE'1970-01-01'", "d > DATE'1582-10-04'",
    "d < CAST('2026-02-28' AS DATE)", "d = d", "t = t", "z >= z", "n IS NULL", "s IS NOT NULL", "r IS NULL", "x IS NULL",
    "n IN (1, 2, -1)", "n NOT IN (1, 2)", "s IN ('a', 'ä')", "k IN (1, 3000000000)", "n BETWEEN 0 AND 5",
    "n NOT BETWEEN 0 AND 5", "s BETWEEN 'a' AND 'z'", "n > 0 OR s = 'a' AND NOT b", "NOT (n > 0 AND k > 0)",
    "coalesce(n, 0) = 0", "CASE WHEN n > 0 THEN true ELSE b END", "true", "n = 1 AND true", "u = u",
)  # fmt: skip
SAME = [
    f"SELECT * FROM {A}",
    (
        "SELECT id,"
        f" {', '.join(f'{condition} AS c{number}' for number, condition in enumerate(CONDITIONS))}"
        f" FROM {A}"
    ),
    (
        f"SELECT `id`, N AS number FROM {A} WHERE (n > 0 OR s < 'ä' OR x >= 0) AND NOT b AND d IS"
        " NOT NULL"
    ),
    f"""SELECT id, CASE WHEN n > 0 THEN 'up' WHEN n < 0 THEN 'down' END AS way,
    CASE n WHEN 1 THEN k WHEN 2 THEN NULL ELSE k END AS c,
    if(b, s, 'no') AS i, coalesce(s, 'none') AS s, coalesce(k, 7L) AS k, coalesce(x, x) AS x, coalesce(d, DATE'2026-01-01') AS d,
    1 AS one, -5 AS five, 3000000000 AS long, 'text' AS text, true AS yes, DATE'0001-01-01' AS day, CAST(n AS BIGINT) AS l,
    CAST(n AS INT) AS j, id + 1 AS next, id * 2 - 1 AS twice FROM {A}""",
    f"SELECT p.n + 1 AS m, p.n - p.n AS nought, r, u, x, f FROM {A} p WHERE p.n < 100",
    f"""SELECT count(*) AS c, count(n) AS n, count(x) AS x, count(DISTINCT n) AS dn, count(DISTINCT s) AS ds, count(1) AS o,
    sum(n) AS sn, sum(id) AS si, sum(m) AS sm, sum(id * 2) AS sd, min(n) AS a1, max(n) AS a2, min(s) AS a3, max(s) AS a4,
    min(d) AS a5, max(d) AS a6, min(t) AS a7, max(t) AS a8, min(z) AS b1, max(z) AS b2, min(m) AS b3, max(m) AS b4,
    min(k) AS b5, max(k) AS b6 FROM {A}""",
    f"SELECT sum(n) AS n, min(s) AS s, count(*) AS c FROM {A} WHERE id < 0",
    f"SELECT s, b, n > 0 AS up, sum(n) AS n FROM {A} GROUP BY 1, b, 3",
    (
        f"SELECT n, d, m, t, z, u, count(*) AS c FROM {A} GROUP BY n, d, m, t, z, u HAVING"
        " count(*) > 0"
    ),
    f"SELECT DISTINCT n, s, m, b, d, t, z FROM {A}",
    f"SELECT a.id, b.id AS bid FROM {A} a INNER JOIN {B} b ON a.s = b.s AND a.n = b.n",
    f"SELECT odd.*, other.id AS bid FROM {A} JOIN {B} ON odd.x = other.x",
    (
        f"SELECT a.id, b.id AS bid FROM {A} a LEFT JOIN {B} b ON a.k = b.k WHERE b.id IS NULL OR"
        " b.n > 0"
    ),
    (
        f"SELECT a.id, b.id AS bid FROM {A} a LEFT OUTER JOIN {B} b ON a.m = b.m AND a.d = b.d AND"
        " b.n > 0"
    ),
    f"SELECT a.id, b.id AS bid FROM {A} a, {B} b WHERE a.n = b.n AND a.z = b.z",
    f"SELECT a.id FROM {A} a CROSS JOIN {B} b WHERE a.id = 3",
    f"""WITH few AS (SELECT id, n FROM {A} WHERE n > 0), more AS (SELECT n, count(*) AS c FROM few GROUP BY n)
    SELECT few.id, c FROM few JOIN more ON few.n = more.n""",
    f"SELECT q.top FROM (SELECT max(n) AS top, s FROM {A} GROUP BY s) q WHERE q.top > 0",
    f"SELECT n FROM {A} UNION ALL SELECT n FROM {B}",
]
ORDERED = [
    f"SELECT id, n FROM {A} ORDER BY n, id",
    f"SELECT id, s FROM {A} ORDER BY s DESC, id DESC",
    f"SELECT id, d FROM {A} ORDER BY d ASC NULLS LAST, id",
    f"SELECT id, m FROM {A} ORDER BY m DESC NULLS FIRST, id",
]
REFUSED_BY_BOTH = [
    f"SELECT n + 1 AS n FROM {A}",
    f"SELECT n * 2 AS n FROM {A}",
    f"SELECT n - 1 AS n FROM {A}",
    f"SELECT k * 4 AS k FROM {A}",
    f"SELECT sum(k + k) AS k FROM (SELECT k FROM {A} WHERE k > 5) q",
]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[TestLake]:
    made = TestLake(
        tmp_path_factory.mktemp("alike") / "lake", settings={"timezone": "Europe/Amsterdam"}
    )
    bench = bench_of(made.lake)
    add_table(bench, "odd", [odd_rows(40), odd_rows(17, step=3)], schema=SCHEMA)
    add_table(bench, "other", [odd_rows(23, step=2)], schema=SCHEMA)
    with made.lake:
        yield made


class Both:
    """One query, in both engines."""

    def __init__(self, made: TestLake, sql: str) -> None:
        self.lake, self.sql = made.lake, sql
        self.frame = made.lake.spark.sql(sql)

    def text(self) -> str:
        return translate_view(self.sql, self._columns(), self._find)

    def _columns(self) -> Sequence[Column]:
        names = {"bigint": "long", "timestamp": "timestamptz", "timestamp_ntz": "timestamp"}
        shown = [(field.name, field.dataType.simpleString()) for field in self.frame.schema.fields]
        columns = {column.name: column.type for column in self.lake.tables.describe("odd").columns}
        return [Column(name, _type(type_, names, columns), required=False) for name, type_ in shown]

    def _find(self, parts: tuple[str, ...]) -> tuple[TableName, Sequence[Column]]:
        table = TableName(*parts[1:])
        return table, self.lake.tables.describe(table).columns

    def by_spark(self) -> list[tuple[Any, ...]]:
        return told(self.frame.toArrow())

    def by_duckdb(self) -> list[tuple[Any, ...]]:
        return told(self.lake.query(self.text()).to_arrow())


def _type(type_: str, names: dict[str, str], columns: dict[str, str]) -> str:
    if type_.startswith("struct"):
        return columns["r"]
    return names.get(type_, type_.replace(",", ", "))


def test_what_duckdb_answers_for_spark_is_what_spark_answers(lake: TestLake) -> None:
    for sql in SAME:
        both = Both(lake, sql)
        assert sorted(both.by_duckdb(), key=repr) == sorted(both.by_spark(), key=repr), sql


def test_rows_come_in_the_order_that_spark_gives_them(lake: TestLake) -> None:
    for sql in ORDERED:
        both = Both(lake, sql)
        assert both.by_duckdb() == both.by_spark(), sql


def test_a_number_that_does_not_fit_is_an_error_in_both(lake: TestLake) -> None:
    for sql in REFUSED_BY_BOTH:
        both = Both(lake, sql)
        with pytest.raises(Exception, match=r"(?i)overflow"):
            both.by_spark()
        with pytest.raises(LakebedError, match=r"(?i)overflow|out of range"):
            both.by_duckdb()
