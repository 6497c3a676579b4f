"""Whether a text is one statement that only reads, as DuckDB's own parser sees it, and its tree."""

import json
import re
from typing import Any

import duckdb

from lakebed.engines.duckdb.types import text
from lakebed.errors import BadQuery
from lakebed.query.functions import WRITING
from lakebed.query.parts import Json, dicts
from lakebed.query.text import BLANK

_ONE = "Write one SELECT."
_ELSEWHERE = "Tables are written by pipelines (lakebed run) and by hand (lakebed table write)."
_EXPLAIN = re.compile(rf"(?:{BLANK};)*+{BLANK}EXPLAIN\b{BLANK}(?:ANALY[SZ]E\b)?", re.IGNORECASE | re.DOTALL)
_OPTIONS = re.compile(rf"{BLANK}\([^()]*\)", re.DOTALL)
_END = re.compile(rf";{BLANK}\Z", re.DOTALL)
_WRITES = re.compile(rf'\b({"|".join(sorted(WRITING))})"?{BLANK}\(', re.IGNORECASE | re.DOTALL)


def reading(connection: Any, sql: str) -> Json | None:
    """The tree of a statement that only reads; of what EXPLAIN explains, its own. None where DuckDB gives none.

    `BadQuery` for several statements, for one that writes, sets or defines something, and for EXPLAIN of such a one.
    """
    statements = connection.extract_statements(sql)
    kinds = [statement.type for statement in statements]
    if kinds == [duckdb.StatementType.EXPLAIN]:
        return reading(connection, _explained(connection, sql))
    if _is_pivot(connection, kinds, sql):
        _refuse_words(sql)
        return None
    if duckdb.StatementType.EXPLAIN in kinds and not statements[0].query:  # DuckDB puts settings around it, and shows nothing
        raise BadQuery("DuckDB does not explain a PIVOT that has to look for its values.", next="Name them: ON column IN (…).")
    if len(kinds) != 1:
        raise BadQuery(f"there are {len(kinds)} statements." if kinds else "there is no statement.", next=_ONE)
    if kinds[0] != duckdb.StatementType.SELECT:
        raise BadQuery(f"{kinds[0].name} is no query: a query only reads.", next=_ELSEWHERE)
    tree = _tree(connection, sql)
    _refuse_functions(tree or _tree(connection, statements[0].query) or {})  # a PRAGMA is a SELECT by another name
    return tree


def _is_pivot(connection: Any, kinds: list[Any], sql: str) -> bool:
    """Whether it is a PIVOT of values that are yet unknown: DuckDB makes a type of them first, in a statement of its own."""
    create, select = duckdb.StatementType.CREATE, duckdb.StatementType.SELECT
    if set(kinds[:-1]) != {create} or kinds[-1] != select:
        return False
    while end := _END.search(sql):
        sql = sql[: end.start()]
    try:  # several statements cannot stand between brackets
        return [statement.type for statement in connection.extract_statements(f"FROM (\n{sql}\n)")] == kinds
    except duckdb.Error:
        return False


def _explained(connection: Any, sql: str) -> str:
    """What is explained, at the place where it stands."""
    begin = _EXPLAIN.match(sql)
    if begin is None:
        raise BadQuery("what is to be explained cannot be found in the text.", next="Begin with EXPLAIN.")
    end = begin.end()
    inner = " " * len(sql[:end].encode()) + sql[end:]
    options = _OPTIONS.match(sql, end)
    if options is None or _is_statement(connection, inner):  # it may as well be a SELECT in brackets
        return inner
    return " " * len(sql[: options.end()].encode()) + sql[options.end() :]


def _is_statement(connection: Any, sql: str) -> bool:
    try:
        return bool(connection.extract_statements(sql))
    except duckdb.Error:
        return False


def _tree(connection: Any, sql: str) -> Json | None:
    # The text is no parameter: binding one loads pandas, which takes longer than all else.
    found = json.loads(connection.execute(f"SELECT json_serialize_sql({text(sql)})").fetchone()[0])
    if found["error"]:
        return None
    statement: Json = found["statements"][0]
    return statement


def _refuse_functions(tree: Json) -> None:
    for item in dicts(tree):
        name = item.get("function_name")
        if isinstance(name, str) and name.casefold() in WRITING:
            raise _not_called(name)


def _refuse_words(sql: str) -> None:
    if found := _WRITES.search(sql):
        raise _not_called(found[1])


def _not_called(name: str) -> BadQuery:
    return BadQuery(f"the function {name} may not be called: a query only reads.", next=WRITING[name.casefold()] or _ONE)
