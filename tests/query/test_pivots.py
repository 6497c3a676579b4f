"""PIVOT and UNPIVOT over tables by their short names and at moments; what a PIVOT reads is told
without its values.
"""

from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa
import pytest

from lakebed.app import Lake
from lakebed.errors import BadQuery, UnknownName
from lakebed.names import TableName
from lakebed.ports import Pointer
from lakebed.requests import QueryRequest
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake, plain_copy
from tests.support.tables import snapshots_of

SCHEMA = pa.schema(
    [pa.field("a", pa.int64()), pa.field("b", pa.int64()), pa.field("s", pa.string())]
)
FIRST = [{"a": 1, "b": 10, "s": "x"}, {"a": 2, "b": 20, "s": "y"}]
SECOND = [{"a": 3, "b": 30, "s": "x"}]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with make_lake(tmp_path_factory.mktemp("pivots") / "lake") as lake:
        bench = bench_of(lake)
        add_table(bench, "t", [table(FIRST), table(SECOND)], schema=SCHEMA)
        add_table(bench, "few-values", [table(FIRST[:1])], schema=SCHEMA)
        bench.close()
        lake.tables.tag("t", "first", at=snapshots_of(lake, "t")[-1].id)
        yield lake


def answer(lake: Lake, sql: str, **options: Any) -> list[str]:
    return sorted(map(str, lake.query(sql, **options)))


@pytest.mark.parametrize(
    "sql",
    [
        "PIVOT {t} ON s USING sum(b) GROUP BY a",
        "PIVOT {t} ON s USING sum(b)",
        "PIVOT {t} ON s, USING sum(b) GROUP BY a -- {t} ON",
        "pivot {silver}.{t} on s || 'é' using count(*) group by a",
        "PIVOT {first} ON s USING sum(b)",
        "PIVOT {aliased} ON s USING sum(b);",
        "PIVOT {t} ON s IN (SELECT s FROM {few}) USING sum(b)",
        "PIVOT {t} ON s IN (SELECT s FROM {first} WHERE a = 2) USING sum(b)",
        "PIVOT {t} ON s IN (PIVOT (SELECT a, s FROM {few}) ON a USING min(s)) USING sum(b)",
        "PIVOT {t} ON s IN ('y'), a > 1 USING count(*)",
        "PIVOT {t} ON CASE WHEN a IN (1, 2) THEN 'few' ELSE 'many' END USING count(*)",
        "PIVOT {t} JOIN (SELECT s, a AS c FROM {few}) f USING (s) ON a USING count(*) GROUP BY s",
        "PIVOT (PIVOT {t} ON s USING sum(b) GROUP BY a) ON a USING count(*)",
        "PIVOT {t} PIVOT (sum(b) FOR a IN (1, 2)) ON s USING count(*)",
        "FROM (PIVOT {t} ON s USING sum(b)) p",
        "SELECT p.* FROM (PIVOT {t} ON s USING sum(b) GROUP BY a) p JOIN {few} f ON p.a = f.a",
        "WITH p AS (PIVOT {t} ON s USING sum(b)), q AS (FROM {t}) FROM p, (SELECT count(*) FROM q)",
        "WITH t AS (SELECT 'z' AS s, 1 AS b) PIVOT t ON s USING sum(b)",
        (
            "PIVOT {t} ON s USING sum(b) GROUP BY a UNION ALL PIVOT {first} ON s USING sum(b) GROUP"
            " BY a"
        ),
        "PIVOT {t} ON s USING sum(b) GROUP BY a ORDER BY a DESC LIMIT 2",
        "SUMMARIZE PIVOT {t} ON s USING sum(b) GROUP BY a",
        "FROM {t} PIVOT (sum(b) FOR s IN ('x', 'y') GROUP BY a)",
        "FROM {first} PIVOT (sum(b) FOR s IN ('x') GROUP BY a)",
        "UNPIVOT {t} ON a, b INTO NAME n VALUE v",
        "FROM {first} UNPIVOT (v FOR n IN (a))",
        "UNPIVOT {first} ON COLUMNS(* EXCLUDE (s)) INTO NAME n VALUE v",
    ],
)
def test_tables_are_pivoted_by_their_short_names_and_at_a_moment(lake: Lake, sql: str) -> None:
    first = "t AT (VERSION => 'first')"
    ours = sql.format(
        t="t",
        first=first,
        aliased="t AS x AT (VERSION => 'first')",
        few="few-values",
        silver="silver",
    )
    plain = plain_copy(
        {"t": [table(FIRST), table(SECOND)], "t_first": [table(FIRST)], "few": [table(FIRST[:1])]}
    )
    theirs = plain.execute(
        sql.format(t="t", first="t_first", aliased="t_first AS x", few="few", silver="main")
    ).fetchall()
    assert answer(lake, ours) == sorted(map(str, theirs))
    assert theirs


def test_a_moment_for_the_whole_query_holds_for_its_values_too(lake: Lake) -> None:
    sql = "PIVOT (SELECT a, b FROM t) ON a IN (SELECT a FROM t ORDER BY a) USING sum(b)"
    assert answer(lake, sql, at="first") == ["(10, 20)"]
    assert answer(lake, sql) == ["(10, 20, 30)"]


def test_a_pivot_leaves_out_files_by_its_own_conditions(lake: Lake) -> None:
    plan = lake.queries.plan(QueryRequest("PIVOT (FROM t WHERE a = 3) ON s USING sum(b)"))
    assert [len(view.scan.files) for view in plan.tables if view.scan] == [1]
    outer = lake.queries.plan(
        QueryRequest("FROM (PIVOT t ON s USING sum(b) GROUP BY a) WHERE a = 3")
    )
    assert [len(view.scan.files) for view in outer.tables if view.scan] == [2]


def test_planning_a_pivot_looks_only_at_the_tables_it_names(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, looks = lake.stores.catalog, []
    pointers = type(catalog).pointers

    def looking(
        self: Any,
        tables: Collection[TableName] | None = None,
        *,
        named: Collection[str] | None = None,
    ) -> dict[TableName, Pointer]:
        looks.append(named)
        return pointers(self, tables, named=named)

    monkeypatch.setattr(type(catalog), "pointers", looking)
    lake.queries.plan(QueryRequest('PIVOT t ON s IN (SELECT s FROM "few-values") USING sum(b)'))
    assert looks == [{"t", "few-values"}]


@pytest.mark.parametrize(
    ("sql", "error", "said"),
    [
        ("PIVOT tt ON s USING sum(b)", UnknownName, "no table 'tt'"),
        ("PIVOT t ON nix USING sum(b)", BadQuery, "nix"),
        ("PIVOT t ON s IN (SELECT s FROM nix) USING sum(b)", UnknownName, "no table 'nix'"),
        ("PIVOT t ON s IN (lower('X')) USING sum(b)", BadQuery, "are computed or parameters"),
        ("PIVOT t ON (SELECT 1) USING sum(b)", BadQuery, "Cannot pivot on subquery"),
    ],
)
def test_what_cannot_be_pivoted_says_why(
    lake: Lake, sql: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        lake.query(sql)


@pytest.mark.parametrize("sql", ["PIVOT t ON s USING sum(b)", "FROM (PIVOT t ON s USING sum(b))"])
def test_untrusted_queries_name_the_values_of_a_pivot(lake: Lake, sql: str) -> None:
    with pytest.raises(BadQuery):
        lake.query(sql, untrusted=True).fetchall()
