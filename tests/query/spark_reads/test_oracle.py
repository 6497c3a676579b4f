"""Queries answer the same when each table holds only the rows that its predicate asks for."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pytest

from lakebed.query.parsing.query_text import Piece, replaced
from tests.query.spark_reads.made_queries import COLUMNS, QueryMaker, rows_of
from tests.query.spark_reads.row_predicates import fulfils
from tests.query.spark_reads.spark_parsed import predicates_of
from tests.support.scale import SCALE

QUERIES = 150 * SCALE
_TYPES = {"long": "BIGINT", "int": "INTEGER", "string": "VARCHAR"}


def answer(connection: Any, sql: str) -> Counter[tuple[Any, ...]]:
    ours = sql.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI")
    return Counter(connection.execute(ours).fetchall())


def put(connection: Any, name: str, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = COLUMNS[table]
    typed = ", ".join(f"CAST({one.name} AS {_TYPES[one.type]}) AS {one.name}" for one in columns)
    listed = [tuple(row.values()) for row in rows] or [(None,) * len(columns)]
    values = ", ".join(f"({', '.join(map(spelt, row))})" for row in listed)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {typed} FROM (VALUES {values})"
        f" AS v({', '.join(one.name for one in columns)}) {'' if rows else 'WHERE false'}"
    )


def spelt(value: Any) -> str:
    return "NULL" if value is None else repr(value)


@pytest.mark.parametrize("seed", range(2))
def test_rows_that_a_predicate_leaves_out_change_no_answer(seed: int) -> None:
    chance, connection = random.Random(seed), duckdb.connect()
    answered = asked = left_out = 0
    for _ in range(QUERIES):
        sql = QueryMaker(chance).query()
        data = {table: rows_of(chance, table) for table in COLUMNS}
        for table, rows in data.items():
            put(connection, table, table, rows)
        pieces = []
        for number, (read, predicate) in enumerate(predicates_of(sql, COLUMNS)):
            table = read.table.name
            kept = [row for row in data[table] if fulfils(row, predicate)]
            put(connection, f"kept{number}", table, kept)
            pieces.append(Piece(read.start, read.names[-1].end, f"kept{number}"))
            asked += predicate is not None
            left_out += len(data[table]) - len(kept)
        try:
            whole = answer(connection, sql)
        except (
            duckdb.Error
        ):  # such as a column of another query with the same name and another type
            continue
        assert answer(connection, replaced(sql, pieces)) == whole, sql
        answered += 1
    assert answered > QUERIES * 0.8
    assert asked > QUERIES / 2
    assert left_out > QUERIES
