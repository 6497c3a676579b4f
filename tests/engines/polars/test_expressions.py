"""Filters of Polars: split or not, the same rows as if nothing were pushed."""

import operator
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lakebed
from lakebed.engines.polars.expressions import split_filter
from lakebed.ports import And, Comparison, In, IsNull, Not, Or, Predicate, ScanColumn, StartsWith
from tests.support.benches import sqlite_bench
from tests.support.lakes.iceberg_histories import grow, value
from tests.support.scale import SCALE

_OPS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
COLUMNS = (
    ScanColumn(1, "n", "long", False),
    ScanColumn(2, "s", "string", False),
    ScanColumn(3, "f", "float", False),
    ScanColumn(4, "b", "boolean", False),
    ScanColumn(5, "m", "decimal(9, 2)", False),
)
n, s, m = pl.col("n"), pl.col("s"), pl.col("m")


@pytest.mark.parametrize(
    ("expression", "predicate"),
    [
        (n > 5, Comparison("n", ">", 5)),
        (pl.lit(5) > n, Comparison("n", "<", 5)),
        ((n > 5) & (s.str.to_uppercase() == "A"), Comparison("n", ">", 5)),
        ((n > 5) | (s.str.to_uppercase() == "A"), None),
        ((n > 5) | (s == "a"), Or((Comparison("n", ">", 5), Comparison("s", "=", "a")))),
        (~(n > 5), Not(Comparison("n", ">", 5))),
        (~((n > 5) & (s.str.len_chars() > 1)), None),
        (n.is_in([1, 2]), In("n", (1, 2))),
        (n.is_in([1, None]), None),
        (
            n.is_between(1, 2, closed="left"),
            And((Comparison("n", ">=", 1), Comparison("n", "<", 2))),
        ),
        (n.is_not_null(), IsNull("n", negated=True)),
        (s.str.starts_with("a"), StartsWith("s", "a")),
        (pl.col("b"), Comparison("b", "=", True)),
        (
            pl.col("f") > 0.1,
            None,
        ),  # Polars compares it as a float of half the length, DuckDB does not
        (n > 0.5, None),
        (m > Decimal("1.5"), Comparison("m", ">", Decimal("1.50"))),
        (m < Decimal("1.236"), None),  # DuckDB would compare with 1.24
        (m < Decimal(12345678901), None),
        (n + 1 > 5, None),
        (n.map_batches(lambda column: column > 1, return_dtype=pl.Boolean), None),
    ],
    ids=str,
)
def test_what_is_known_is_said_and_the_rest_is_not(
    expression: pl.Expr, predicate: Predicate | None
) -> None:
    said, whole = split_filter(expression, COLUMNS)
    assert said == (And((predicate,)) if predicate else None)
    assert whole is expression


def anything(
    rng: random.Random, schema: pl.Schema, types: dict[str, Any], depth: int = 2
) -> pl.Expr:
    kind = rng.random()
    if depth and kind < 0.4:
        one, other = (anything(rng, schema, types, depth - 1) for _ in range(2))
        return one & other if kind < 0.25 else one | other
    if depth and kind < 0.5:
        return ~anything(rng, schema, types, depth - 1)
    name = rng.choice([name for name in schema if name in types])
    column = pl.col(name)
    if kind < 0.58:
        return column.is_null() if rng.random() < 0.5 else column.is_not_null()
    if kind < 0.65 and schema[name] == pl.String:
        return column.str.to_lowercase() >= str(value(rng, types[name]))
    if kind < 0.75:
        return column.is_in([value(rng, types[name]) for _ in range(3)])
    return pl.Expr.__and__(rng.choice(_OPS)(column, value(rng, types[name])), pl.lit(True))


@pytest.mark.parametrize("seed", range(3 * SCALE))
def test_a_lazy_frame_filters_as_a_whole_one_does(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    bench = sqlite_bench(tmp_path)
    (tmp_path / "lakebed.yaml").touch()
    _, table = grow(rng, bench, "grown")
    types = {
        field.name: field.type
        for field in table.schema().as_arrow()
        if field.name not in ("u", "clock")
    }
    with lakebed.open(tmp_path, environment={"LAKEBED_CACHE": str(tmp_path / "cache")}) as lake:
        lazy = lake.table("grown").to_polars(lazy=True)
        whole = lazy.collect()
        for _ in range(40):
            expression = anything(rng, whole.schema, types)
            wanted, got = whole.filter(expression), lazy.filter(expression).collect()
            assert sorted(map(repr, got.rows())) == sorted(map(repr, wanted.rows())), expression
    bench.close()
