"""Files that are left out never hold a row of the answer: random queries against the same rows
without files.
"""

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake
from lakebed.requests import QueryRequest
from tests.query.query_writer import QueryWriter
from tests.support.lakes.query_lakes import (
    WIDE,
    add_table,
    bench_of,
    make_lake,
    plain_copy,
    random_rows,
)
from tests.support.scale import SCALE
from tests.support.tables import snapshots_of

OLD = 3  # commits of the state that is asked for by AT


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
    writer = QueryWriter(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.query() for _ in range(int(60 * SCALE))])
    assert asked > 20
    assert pruned > 10


@pytest.mark.parametrize("seed", range(8))
def test_no_row_is_lost_by_odd_constructs(lake_and_plain: tuple[Lake, Any], seed: int) -> None:
    writer = QueryWriter(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.odd() for _ in range(int(80 * SCALE))])
    assert asked > 20
    assert pruned > 1


@pytest.mark.parametrize("seed", range(4))
def test_no_row_is_lost_by_pivots_and_by_names_in_texts(
    lake_and_plain: tuple[Lake, Any], seed: int
) -> None:
    writer = QueryWriter(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.shaped() for _ in range(int(40 * SCALE))])
    assert asked > 10
    assert pruned > 1


@pytest.mark.parametrize("seed", range(8))
def test_no_row_is_lost_by_what_is_asked_of_a_subquery(
    lake_and_plain: tuple[Lake, Any], seed: int
) -> None:
    writer = QueryWriter(seed)
    asked, pruned = _compare(*lake_and_plain, [writer.outer() for _ in range(int(120 * SCALE))])
    assert asked > 20
    assert pruned > 1


_GIVEN: dict[str, list[Any]] = {
    "id": [0, 15, 37, 15.5, "15", None, True],
    "n": [0, 2, -3, 3_000_000_000, 2.5],
    "x": [0.0, -0.0, 1.5, float("nan"), float("inf"), 2],
    "m": [0, Decimal("1.50"), 3, 1.5],
    "s": ["a", "ab", "", "é", None],
    "day": [
        date(2026, 1, 3),
        "2026-01-04",
        datetime(2026, 1, 3, 12),  # noqa: DTZ001
        date.min,
        date.max,
    ],
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
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        datetime.min.replace(tzinfo=UTC),
    ],
    "flag": [True, False, None],
    "h": [Decimal(WIDE + 15), WIDE + 37, -WIDE - 37, Decimal(f"{WIDE + 15}.5"), 7],
    "w": [Decimal(f"{WIDE + 15}e-10"), Decimal(f"-{WIDE + 37}e-10"), WIDE // 10**10, 1e27],
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
