"""What Spark itself makes of conditions: rows for which one is true fulfil the predicate of it."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from lakebed.ports import Column, Predicate
from lakebed.query.parsing.query_text import Piece, replaced
from lakebed.settings import Settings
from tests.query.spark_reads.made_queries import COLUMNS, QueryMaker, rows_of
from tests.query.spark_reads.row_predicates import fulfils
from tests.query.spark_reads.spark_parsed import predicates_of
from tests.query.spark_reads.test_oracle import spelt
from tests.support.lakes.spark_lakes import new_lake
from tests.support.scale import SCALE
from tests.support.spark_sessions import OpenSpark

pytestmark = pytest.mark.spark

QUERIES = 15 * SCALE
TYPES = {
    "i": ("int", "INT"),
    "l": ("long", "BIGINT"),
    "x": ("double", "DOUBLE"),
    "s": ("string", "STRING"),
    "b": ("boolean", "BOOLEAN"),
    "d": ("date", "DATE"),
    "t": ("timestamp", "TIMESTAMP_NTZ"),
    "z": ("timestamptz", "TIMESTAMP"),
    "p": ("decimal(10, 2)", "DECIMAL(10, 2)"),
    "q": ("decimal(38, 30)", "DECIMAL(38, 30)"),
    "v": ("decimal(38, 0)", "DECIMAL(38, 0)"),
}
MOMENTS = [
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2026, 1, 1, 1, tzinfo=UTC),
    datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
    datetime(2025, 12, 31, 23, tzinfo=UTC),
]
VALUES: dict[str, list[Any]] = {
    "i": [0, 1, -1, 2, 2**31 - 1, -(2**31)],
    "l": [0, 1, -1, 2, 2**53 + 1, -(2**63)],
    "x": [0.0, -0.0, 1.0, 1.5, float("nan"), float("inf"), 2.0**53],
    "s": ["", "a", "A", "ab", "a ", "\uffff", "\U0001f600", "2026-01-01", "1"],
    "b": [True, False],
    "d": [date(2026, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(2025, 12, 31)],
    "t": [moment.replace(tzinfo=None) for moment in MOMENTS],
    "z": MOMENTS,
    "p": [Decimal("0.00"), Decimal("1.00"), Decimal("1.50"), Decimal("-1.50")],
    "q": [Decimal(1), Decimal("1.000000000000000000000000000001"), Decimal(2)],
    "v": [Decimal(1), Decimal(10) ** 37, Decimal(-1)],
}
LITERALS = [
    "0", "1", "-1", "2", "1L", "-1S", "1.0", "1.5", "-1.50", "1.50", "1e0", "1.5D", "1.5F", "1.50BD",
    "2147483647", "2147483648", "-2147483648", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "10000000000000000000000000000000000000", "0.1", "-0.0", "CAST(1 AS INT)",
    "CAST(1 AS BIGINT)", "CAST(1.5 AS DOUBLE)", "''", "'a'", "'A'", "'ab'", "'a '", "'1'", "'1.5'",
    '"a"', "'\U0001f600'", "true", "false", "'true'", "'2026-01-01'", "DATE '2026-01-01'",
    "date('2026-01-01')", "'2026-01-01 00:00:00'", "'2026-01-01T00:00:00.000001'",
    "TIMESTAMP '2026-01-01 00:00:00'", "TIMESTAMP_NTZ '2026-01-01 00:00:00'",
    "TIMESTAMP '2026-01-01 01:00:00+01:00'", "'2026-01-01 00:00:00Z'", "'2026-01-01 00:00:00+01'",
    "TIMESTAMP_LTZ '2026-01-01 00:00:00'", "CAST('2026-01-01 00:00:00' AS TIMESTAMP)", "NULL",
]  # fmt: skip
FORMS = [
    "{c} = {v}", "{c} < {v}", "{v} <= {c}", "NOT ({c} <=> {v})", "{c} IN ({v}, {w})",
    "{c} NOT IN ({v})", "{c} NOT BETWEEN {v} AND {w}", "NOT ({c} = {v} OR {c} > {w})",
]  # fmt: skip
TEXTS = ["s LIKE 'a%'", "s LIKE 'a_'", "startswith(s, 'a')", "s LIKE '\U0001f600%'", "b", "NOT b"]


@pytest.fixture
def session(open_spark: OpenSpark, tmp_path: Path) -> Any:
    return open_spark(Settings(), new_lake(tmp_path))


def rows() -> list[dict[str, Any]]:
    """A row for each odd value, with NULLs in all other columns, and one of NULLs."""
    empty = dict.fromkeys(TYPES)
    return [empty, *(empty | {name: value} for name, each in VALUES.items() for value in each)]


def asked(chance: random.Random) -> list[tuple[str, Predicate]]:
    """Conditions that have a predicate."""
    columns = {"rows": tuple(Column(name, kind, False) for name, (kind, _) in TYPES.items())}

    def predicate_of(condition: str) -> Predicate | None:
        return predicates_of(f"SELECT * FROM rows WHERE {condition}", columns)[0][1]

    usable = {
        column: [one for one in LITERALS if predicate_of(f"{column} = {one}")] for column in TYPES
    }
    conditions = [
        form.format(c=column, v=value, w=chance.choice(usable[column]))
        for column, form in product(TYPES, FORMS)
        for value in usable[column]
    ]
    found = [(one, predicate_of(one)) for one in (*conditions, *TEXTS)]
    return [(condition, predicate) for condition, predicate in found if predicate is not None]


def test_every_row_that_spark_finds_fulfils_the_predicate(session: Any) -> None:
    given, conditions = rows(), asked(random.Random(1))
    assert len(conditions) > 600
    schema = ", ".join(["row INT", *(f"{name} {kind}" for name, (_, kind) in TYPES.items())])
    data = [(number, *row.values()) for number, row in enumerate(given)]
    session.createDataFrame(data, schema).createOrReplaceTempView("rows")
    lost = []
    for first in range(0, len(conditions), 200):
        some = conditions[first : first + 200]
        shown = ", ".join(f"({condition}) AS c{at}" for at, (condition, _) in enumerate(some))
        for number, *answers in session.sql(f"SELECT row, {shown} FROM rows").collect():
            for answer, (condition, predicate) in zip(answers, some, strict=True):
                if answer and not fulfils(given[number], predicate):
                    lost.append((condition, predicate, given[number]))
    assert lost == []


def test_rows_that_a_predicate_leaves_out_change_no_answer_of_spark(session: Any) -> None:
    session.conf.set("spark.sql.shuffle.partitions", 1)
    chance = random.Random(5)
    data = {table: rows_of(chance, table) + rows_of(chance, table) for table in COLUMNS}
    for table in COLUMNS:
        put(session, table, table, data[table])
    for _ in range(QUERIES):
        sql, pieces = QueryMaker(chance).query(), []
        for number, (read, predicate) in enumerate(predicates_of(sql, COLUMNS)):
            table = read.table.name
            kept = [row for row in data[table] if fulfils(row, predicate)]
            put(session, f"kept{number}", table, kept)
            pieces.append(Piece(read.start, read.names[-1].end, f"kept{number}"))
        whole = Counter(session.sql(sql).collect())
        assert Counter(session.sql(replaced(sql, pieces)).collect()) == whole, sql


def put(session: Any, name: str, table: str, given: Sequence[Mapping[str, Any]]) -> None:
    """Rows as a view that Spark answers without a job."""
    kinds = {"long": "BIGINT", "int": "INT", "string": "STRING"}
    columns = COLUMNS[table]
    typed = ", ".join(f"CAST({one.name} AS {kinds[one.type]}) AS {one.name}" for one in columns)
    listed = [tuple(row.values()) for row in given] or [(None,) * len(columns)]
    values = ", ".join(f"({', '.join(map(spelt, row))})" for row in listed)
    session.sql(
        f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT {typed} FROM VALUES {values}"
        f" AS v({', '.join(one.name for one in columns)}) {'' if given else 'WHERE false'}"
    )
