"""Files that are left out never hold a row of the answer: random queries against the same rows
without files.
"""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake
from lakebed.query.request import QueryRequest
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake, plain_copy, random_rows
from tests.support.scale import SCALE
from tests.support.tables import snapshots_of

_LITERALS = {
    "id": ["0", "15", "37", "-1", "99999999999", "15.5", "'15'"],
    "n": ["0", "2", "-3", "5", "3000000000"],
    "x": ["0", "1.5", "-2.25", "1e10", "'nan'::double", "'inf'::double", "2"],
    "m": ["0", "1.50", "-2.25", "3", "0.001", "12345678901"],
    "s": ["'a'", "'ab'", "''", "'é'", "'b'"],
    "day": [
        "DATE '2026-01-03'",
        "'2026-01-04'",
        "TIMESTAMP '2026-01-03 12:00:00'",
        "DATE '2026-01-01' + 2",
    ],
    "at": ["TIMESTAMP '2026-01-03 05:00:00'", "DATE '2026-01-04'", "'2026-01-02 00:00:00'"],
    "atz": [
        "TIMESTAMPTZ '2026-01-03 05:00:00+01'",
        "'2026-01-03 05:00:00Z'",
        "TIMESTAMP '2026-01-04 00:00:00'",
        "DATE '2026-01-02'",
    ],
    "flag": ["true", "false"],
}
OLD = 3  # commits of the state that is asked for by AT
_OPS = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM"]
_JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "ASOF JOIN"]


_SHOWN = [
    "*",
    "*",
    "*, n AS id",
    "n AS id, *",
    "*, id AS id_1",
    "id, n, s, day, at",
    "n AS id, id AS n, s, x, m",
    "id, n, m, s, day, flag, n AS id, s AS n_1",
    "DISTINCT id, n, s, day",
    "DISTINCT ON (id, n, s) id, n, s",
    "id, n, s, row_number() OVER (PARTITION BY s ORDER BY id, n, x, m, day, at, atz, flag) AS m",
    "s, day, n, count(*) AS id, sum(m) AS m",
    "s, n, max(id) AS id",
    "unnest({{'id': n, 'k': 1}}) AS q, id, n, s",
    "id, n, unnest([1, n]) AS s",
    "unnest([id, n]) AS id, s, n",
    "COLUMNS(['n', 'id']) AS n, id AS n_1, s",
    "COLUMNS('^(id|n|s)$')",
    "* REPLACE (n AS id)",
    "* EXCLUDE (id), n AS id",
    "* RENAME (n AS id, id AS n)",
    "{{'id': n}} AS q, id, n",
    "n AS ID, s AS N, id AS S",
]
_ENDS = [
    "",
    "",
    "",
    " ORDER BY ALL",
    " ORDER BY ALL LIMIT 9",
    " ORDER BY ALL OFFSET 5",
    " GROUP BY ALL",
    " GROUP BY ROLLUP (s, n)",
]


class Writer:
    """Writes random conditions and queries over the tables a and b."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def leaf(self, *prefixes: str) -> str:
        chance = self.chance
        column = chance.choice(list(_LITERALS))
        name = f"{chance.choice(prefixes)}{column}"
        value = chance.choice(_LITERALS[column])
        match chance.randrange(9):
            case 0:
                return f"{name} IS {chance.choice(['', 'NOT '])}NULL"
            case 1:
                return (
                    f"{name} {chance.choice(['', 'NOT '])}IN ({value},"
                    f" {chance.choice(_LITERALS[column])})"
                )
            case 2:
                return f"{name} BETWEEN {value} AND {chance.choice(_LITERALS[column])}"
            case 3:
                return f"{value} {chance.choice(_OPS)} {name}"
            case 4 if column == "s":
                return f"{name} LIKE {chance.choice(['%r', '%r', '%r'])}" % chance.choice(
                    ["a%", "ab%", "%b", "z%", "a_", "é%"]
                )
            case 5 if column == "s":
                return f"starts_with({name}, {value})"
        return f"{name} {chance.choice(_OPS)} {value}"

    def condition(self, *prefixes: str, depth: int = 2) -> str:
        if depth == 0 or self.chance.random() < 0.4:
            return self.leaf(*prefixes)
        joined = self.chance.choice([" AND ", " OR ", " AND "]).join(
            f"({self.condition(*prefixes, depth=depth - 1)})"
            for _ in range(self.chance.choice([2, 2, 3]))
        )
        return f"NOT ({joined})" if self.chance.random() < 0.15 else joined

    def inner(self, depth: int = 2) -> str:
        """A query whose rows somebody asks about: filtered, renamed, grouped, cut off, ranked,
        joined.
        """
        chance = self.chance
        source = (
            chance.choice(["{a}", "{b}"])
            if depth == 0 or chance.random() < 0.5
            else f"({self.inner(depth - 1)})"
        )
        shown = chance.choice(_SHOWN)
        if chance.random() < 0.15:
            return (
                f"SELECT l.*, r.id AS other FROM {source} l {chance.choice(['', 'LEFT '])}JOIN"
                " {b} r ON l.n = r.n"
            )
        where = f" WHERE {self.condition('')}" if chance.random() < 0.4 else ""
        return f"SELECT {shown} FROM {source}{where}{chance.choice(_ENDS)}"

    def outer(self) -> str:
        """A condition on a subquery, as such or by WITH, alone or beside a table."""
        chance, condition = self.chance, self.condition("", "q.", depth=1)
        match chance.randrange(7):
            case 0:
                return f"SELECT * FROM ({self.inner()}) q WHERE {condition}"
            case 4:
                other = self.condition("", "q.", depth=1)
                return (
                    f"WITH q AS ({self.inner()}) SELECT * FROM q WHERE {condition} UNION ALL SELECT"
                    f" * FROM q WHERE {other}"
                )
            case 5:
                kind, on = chance.choice(_JOINS[:4]), self.condition("q.", "r.", depth=1)
                where, shown = (
                    self.condition("q.", "r.", depth=1),
                    "count(*), count(q.n), sum(q.n), count(r.n), sum(r.n)",
                )
                return (
                    f"WITH q AS ({self.inner()}) SELECT {shown} FROM q {kind} q AS r ON q.n = r.n"
                    f" AND {on} WHERE {where}"
                )
            case 1:
                return f"WITH q AS ({self.inner()}) SELECT * FROM q WHERE {condition}"
            case 2:
                p, q = self.inner(), f"SELECT * FROM p WHERE {self.condition('', depth=1)}"
                return f"WITH p AS ({p}), q AS ({q}) SELECT * FROM q WHERE {condition}"
            case 3:
                return (
                    f"WITH q AS ({self.inner()}) SELECT * FROM q WHERE {condition} UNION ALL SELECT"
                    " * FROM q"
                )
        kind = chance.choice(_JOINS[:-1])
        right = [] if kind in ("SEMI JOIN", "ANTI JOIN") else ["q."]
        on = f"l.n = q.n AND {self.condition('l.', 'q.', depth=1)}"
        where = self.condition("l.", *right, depth=1)
        return f"SELECT l.id FROM {{a}} l {kind} ({self.inner()}) q ON {on} WHERE {where}"

    def odd(self) -> str:
        """Constructs that show other columns than they name, or read what they do not name, or
        another state.
        """
        chance, leaf = self.chance, self.leaf
        column = chance.choice(["id", "n"])
        value = chance.choice(_LITERALS[column])
        match chance.randrange(9):
            case 0:
                return (
                    "SELECT * FROM (SELECT unnest({{'id': n, 'k': 1}}) AS q, id, n FROM {a})"
                    f" WHERE {column} = {value}"
                )
            case 1:
                shown = f"COLUMNS(['n', 'id']) AS z, {column} AS z_1"
                return (
                    f"SELECT * FROM (SELECT {shown} FROM {{a}}) WHERE z_1 {chance.choice(_OPS)}"
                    f" {value}"
                )
            case 2:
                counts = (
                    f"(SELECT count(*) FROM x WHERE {leaf('')}), (SELECT count(*) FROM"
                    f" query_table('x') WHERE {leaf('')})"
                )
                return f"WITH x AS ({self.inner(1)}) SELECT {counts}"
            case 3:
                letter = chance.choice(["Ä", "ä"])
                return (
                    f'SELECT * FROM (SELECT id AS "Ä", n AS "ä" FROM {{a}}) WHERE "{letter}"'
                    f" {chance.choice(_OPS)} {value}"
                )
            case 4:
                queries = f'WITH "Ä" AS ({self.inner(0)}), "ä" AS ({self.inner(0)})'
                return (
                    f'{queries} SELECT count(*) FROM "Ä" WHERE {leaf("")} UNION ALL SELECT count(*)'
                    f' FROM "ä" WHERE {leaf("")}'
                )
            case 5:
                pivot = "PIVOT {a} ON flag IN (true, false) USING count(id) GROUP BY s, n, day"
                return f"SELECT * FROM ({pivot}) WHERE {leaf('')}"
            case 6:
                return f"PIVOT ({self.inner(1)}) ON n USING count(*) GROUP BY s"
            case 7:
                return f"SELECT count(*), min(id), sum(n) FROM {{old}} WHERE {self.condition('')}"
        then, now = (
            f"SELECT {chance.choice(_SHOWN)} FROM {{old}}",
            f"SELECT * FROM {{a}} WHERE {leaf('')}",
        )
        return (
            f"SELECT q.id, q.n, p.id FROM ({then}) q JOIN ({now}) p ON q.id = p.id WHERE"
            f" {leaf('q.', 'p.')}"
        )

    def shaped(self) -> str:
        """PIVOT and UNPIVOT of states, with values from queries, and tables whose names
        are texts.
        """
        leaf = self.leaf("")
        match self.chance.randrange(6):
            case 0:
                return f"SELECT count(*), sum(id) FROM query_table('{{a}}') WHERE {leaf}"
            case 1:
                values = "SELECT s FROM {old} WHERE s = 'a'"
                return (
                    f"PIVOT (FROM {{a}} WHERE {leaf}) ON s IN ({values}) USING count(*) GROUP BY n"
                )
            case 2:
                return (
                    f"SELECT * FROM (UNPIVOT {{old}} ON id, n INTO NAME x VALUE id_1) WHERE {leaf}"
                )
            case 3:
                return (
                    "SELECT * FROM (PIVOT {old} ON flag USING sum(n) GROUP BY id, s) WHERE"
                    f" {leaf}"
                )
            case 4:
                return f"PIVOT (FROM {{a}} WHERE {leaf}) ON flag, n % 2 USING count(*) GROUP BY s"
        return (
            f"WITH q AS (FROM {{old}} WHERE {leaf}) SELECT * FROM (PIVOT q ON s USING count(*)"
            " GROUP BY n) SEMI JOIN q USING (n)"
        )

    def query(self) -> str:
        match self.chance.randrange(6):
            case 0 | 1:
                return f"SELECT * FROM {{a}} WHERE {self.condition('', 'a.')}"
            case 2:
                return f"SELECT count(*), sum(id) FROM {{a}} AS t WHERE {self.condition('', 't.')}"
            case 3:
                inner = f"SELECT id FROM {{b}} WHERE {self.condition('')}"
                return f"SELECT id, s FROM {{a}} WHERE {self.condition('')} AND id IN ({inner})"
            case 4:
                return (
                    f"WITH c AS (SELECT * FROM {{b}} WHERE {self.condition('')}) SELECT * FROM c"
                    " UNION ALL SELECT * FROM {a}"
                )
        return self.join()

    def join(self) -> str:
        kind = self.chance.choice(_JOINS)
        if kind == "ASOF JOIN":
            where = self.condition("l.", "r.")
            return (
                "SELECT l.id, r.at FROM {a} l ASOF JOIN {b} r ON l.n = r.n AND l.at >= r.at"
                f" WHERE {where}"
            )
        right = [] if kind in ("SEMI JOIN", "ANTI JOIN") else ["r."]
        shown = "l.id, l.s" + (", r.id, r.n" if right else "")
        on = f"l.id = r.id AND {self.condition('l.', 'r.', depth=1)}"
        return (
            f"SELECT {shown} FROM {{a}} l {kind} {{b}} r ON {on} WHERE"
            f" {self.condition('l.', *right)}"
        )


@pytest.fixture(scope="module")
def lake_and_plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, Any]]:
    folder: Path = tmp_path_factory.mktemp("pruning") / "lake"
    chance = random.Random(6)
    parts = {name: [random_rows(chance, 8, around=day) for day in range(6)] for name in ("a", "b")}
    with make_lake(folder) as lake:
        bench = bench_of(lake)
        for name, rows in parts.items():
            add_table(bench, name, rows)
        bench.close()
        yield lake, plain_copy({**parts, "a_old": parts["a"][:OLD]})


def _answers(rows: list[Any]) -> list[str]:
    return sorted(map(str, rows))


@pytest.mark.parametrize("seed", range(8))
def test_no_row_is_lost_by_leaving_files_out(lake_and_plain: tuple[Lake, Any], seed: int) -> None:
    writer = Writer(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.query() for _ in range(int(60 * SCALE))])
    assert asked > 20
    assert pruned > 10


@pytest.mark.parametrize("seed", range(8))
def test_no_row_is_lost_by_odd_constructs(lake_and_plain: tuple[Lake, Any], seed: int) -> None:
    writer = Writer(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.odd() for _ in range(int(60 * SCALE))])
    assert asked > 20
    assert pruned > 1


@pytest.mark.parametrize("seed", range(4))
def test_no_row_is_lost_by_pivots_and_by_names_in_texts(
    lake_and_plain: tuple[Lake, Any], seed: int
) -> None:
    writer = Writer(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.shaped() for _ in range(int(40 * SCALE))])
    assert asked > 10
    assert pruned > 1


@pytest.mark.parametrize("seed", range(8))
def test_no_row_is_lost_by_what_is_asked_of_a_subquery(
    lake_and_plain: tuple[Lake, Any], seed: int
) -> None:
    writer = Writer(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.outer() for _ in range(int(120 * SCALE))])
    assert asked > 20
    assert pruned > 1


_GIVEN: dict[str, list[Any]] = {
    "id": [0, 15, 37, 15.5, "15", None, True],
    "n": [0, 2, -3, 3_000_000_000, 2.5],
    "x": [0.0, -0.0, 1.5, float("nan"), float("inf"), 2],
    "m": [0, Decimal("1.50"), 3, 1.5],
    "s": ["a", "ab", "", "é", None],
    "day": [date(2026, 1, 3), "2026-01-04", datetime(2026, 1, 3, 12)],  # noqa: DTZ001
    "at": [
        datetime(2026, 1, 3, 5),  # noqa: DTZ001
        date(2026, 1, 4),
        "2026-01-02 00:00:00",
        datetime(2026, 1, 3, 5, tzinfo=UTC),
    ],
    "atz": [
        datetime(2026, 1, 3, 5, tzinfo=UTC),
        datetime(2026, 1, 3, 5),  # noqa: DTZ001
        date(2026, 1, 2),
    ],
    "flag": [True, False, None],
}


def test_no_row_is_lost_by_parameters(lake_and_plain: tuple[Lake, Any]) -> None:
    lake, plain = lake_and_plain
    pruned = asked = 0
    for column, op in product(
        _GIVEN, ("=", "<>", "<", "<=", ">", ">=", "IN (?, 2)", "BETWEEN ? AND")
    ):
        for value in _GIVEN[column]:
            query = f"SELECT * FROM {{}} WHERE {column} {op} {'' if '(' in op else '?'}"
            given = [value] * query.count("?")
            try:
                expected = plain.execute(query.format("a"), given).fetchall()
            except Exception:  # not every value can be compared with every column
                continue
            with lake.query(query.format("shop.silver.a"), parameters=given) as result:
                assert _answers(result.fetchall()) == _answers(expected), (query, given)
                pruned += sum(
                    table.reason in ("PRUNED", "ALL_PRUNED") for table in result.explain()
                )
            asked += 1
    assert asked > 150
    assert pruned > 30


def _compare(lake: Lake, plain: Any, queries: list[str]) -> tuple[int, int]:
    """How many queries had an answer, which is the same without files, and how many tables were not
    read whole.
    """
    pruned, asked = 0, 0
    first = snapshots_of(lake, "shop.silver.a")[-OLD].id
    for query in queries:
        try:
            expected = plain.execute(query.format(a="a", b="b", old="a_old")).fetchall()
        except (
            Exception
        ):  # not every condition makes sense to DuckDB: '15' of a string, NaN of an integer
            continue
        sql = query.format(
            a="shop.silver.a", b="shop.silver.b", old=f"shop.silver.a AT (VERSION => {first})"
        )
        with lake.query(sql) as result:
            assert _answers(result.fetchall()) == _answers(expected), query
            pruned += sum(table.reason in ("PRUNED", "ALL_PRUNED") for table in result.explain())
        asked += 1
        if asked % 10 == 0 and "values" not in (
            result.plan.tree or {}
        ):  # DuckDB explains no PIVOT that looks for its values
            assert lake.queries.plan(QueryRequest(f"EXPLAIN {sql}")).tables == result.plan.tables
    return asked, pruned
