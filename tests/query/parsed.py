"""Queries as DuckDB reads them."""

import json
from functools import cache
from typing import Any

import duckdb

from lakebed.query.parts import Json, Read
from lakebed.query.tree import reads_of


@cache
def _connection() -> Any:
    return duckdb.connect()


def tree(sql: str) -> Json:
    found = _connection().execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    statement: Json = json.loads(found[0])["statements"][0]
    return statement


def reads(sql: str) -> tuple[Read, ...]:
    return reads_of(tree(sql))
