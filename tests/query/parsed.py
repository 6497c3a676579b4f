"""Queries as DuckDB reads them."""

import json
from functools import cache
from typing import Any

import duckdb

from lakebed.query.parsing.parse_nodes import Json, TableRead
from lakebed.query.parsing.tree import table_reads


@cache
def _connection() -> Any:
    return duckdb.connect()


def tree(sql: str) -> Json:
    found = _connection().execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    statement: Json = json.loads(found[0])["statements"][0]
    return statement


def reads(sql: str) -> tuple[TableRead, ...]:
    return table_reads(tree(sql))
