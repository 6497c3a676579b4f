"""Conditions on a table's rows: what prunes, what filters, what is refused."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from lakebed.engines.duckdb import DuckEngine
from lakebed.errors import BadQuery
from lakebed.ports import And, Column, Comparison, In, IsNull, Not, Or, Predicate, StartsWith
from lakebed.query.parsing.where import RowFilter, parse_where

COLUMNS = [
    Column("id", "long", False, id=1),
    Column("country", "string", False, id=2),
    Column("at", "timestamptz", False, id=3),
    Column("day", "date", False, id=4),
    Column("paid", "boolean", False, id=5),
]
GERMAN = Comparison("country", "=", "DE")


@pytest.fixture(scope="module")
def parse() -> Iterator[Any]:
    engine = DuckEngine(timezone="UTC", inspect=lambda pinned, part: None, cache=0)
    yield lambda sql: engine.parse(sql)[1]
    engine.close()


def read(text: str, parse: Any) -> RowFilter:
    return parse_where(text, "orders", COLUMNS, parse=parse, timezone="UTC")


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("country = 'DE'", GERMAN),
        ("Orders.COUNTRY = 'DE'", GERMAN),
        ("'DE' = country", GERMAN),
        ("id IN (1, 2)", In("id", (1, 2))),
        ("paid AND id = 1", And((Comparison("paid", "=", True), Comparison("id", "=", 1)))),
        ("id IS NOT NULL", IsNull("id", negated=True)),
        ("day >= DATE '2024-01-01'", Comparison("day", ">=", date(2024, 1, 1))),
        ("starts_with(country, 'D')", StartsWith("country", "D")),
        ("country = 'DE' OR id < 3", Or((GERMAN, Comparison("id", "<", 3)))),
        (
            "country = 'DE' AND at >= TIMESTAMP '2024-01-01'",  # `at` is a word of DuckDB's
            And((GERMAN, Comparison("at", ">=", datetime(2024, 1, 1, tzinfo=UTC)))),
        ),
    ],
)
def test_a_condition_that_can_be_said_is_said_whole(
    text: str, predicate: Predicate, parse: Any
) -> None:
    found = read(text, parse)
    assert found.exact == found.predicate == predicate


def test_not_is_said_too(parse: Any) -> None:
    found = read("NOT (id = 1 OR country = 'DE')", parse)
    assert found.exact in (
        Not(Or((Comparison("id", "=", 1), GERMAN))),
        And((Comparison("id", "!=", 1), Comparison("country", "!=", "DE"))),
    )


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("country = 'DE' AND lower(country) = 'de'", GERMAN),
        ("country = 'DE' AND NOT (id = 1 AND id % 2 = 0)", GERMAN),
        ("country = 'DE' OR lower(country) = 'de'", None),
        ("NOT (country = 'DE' AND id % 2 = 0)", None),
        ("country LIKE 'D_'", StartsWith("country", "D")),
        ("id % 2 = 0", None),
        ("country COLLATE NOCASE = 'de'", None),
        ("id = 1.5 OR id = '7'", None),
    ],
)
def test_what_cannot_be_said_is_left_to_the_engine(
    text: str, predicate: Predicate | None, parse: Any
) -> None:
    found = read(text, parse)
    assert found.text == text
    assert (found.predicate, found.exact) == (predicate, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id = 1) OR (id = 2",
        "id = 1 ORDER BY id",
        "id = 1 LIMIT 1",
        "id = 1 GROUP BY id",
        "id = 1 UNION SELECT 1",
        "id = 1; DROP TABLE orders",
        "id IN (SELECT 1)",
        "EXISTS (SELECT 1 FROM read_csv('/etc/passwd'))",
        "id = 1) --",
        "id = 1 /*",
        "country = '\ud83d'",
    ],
)
def test_what_is_no_condition_on_one_table_is_refused(text: str, parse: Any) -> None:
    with pytest.raises(BadQuery):
        read(text, parse)


def test_a_comment_at_the_end_swallows_nothing(parse: Any) -> None:
    assert read("id = 1 -- the first", parse).predicate == Comparison("id", "=", 1)
