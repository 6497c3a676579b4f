"""Parses a query with DuckDB's own parser, and accepts only one statement that reads."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import duckdb

from lakebed.engines.duckdb.sql.types import text
from lakebed.errors import BadQuery
from lakebed.query.parsing.functions import WRITING
from lakebed.query.parsing.parse_nodes import Json, dicts
from lakebed.query.parsing.pivots import Word, with_former_places, with_values
from lakebed.query.parsing.query_text import BLANK, replaced

_ONE = "Write one SELECT."
_VALUES = "Write its values as literals: ON column IN (1, 2)."
_ELSEWHERE = (
    "Tables are written by pipelines (lakebed run) and by manual changes (lakebed table write)."
)
_EXPLAIN = re.compile(
    rf"(?:{BLANK};)*+{BLANK}EXPLAIN\b{BLANK}(?:ANALY[SZ]E\b)?", re.IGNORECASE | re.DOTALL
)
_OPTIONS = re.compile(rf"{BLANK}\([^()]*\)", re.DOTALL)
_END = re.compile(rf";{BLANK}\Z", re.DOTALL)
_WORD = re.compile(r"\w+|.", re.DOTALL)
_SAID = (duckdb.token_type.keyword, duckdb.token_type.operator)


def parse_query(connection: Any, sql: str) -> tuple[str, Json]:
    """A statement that only reads, and its parse tree; for EXPLAIN, the tree of what it explains.

    A PRAGMA becomes a SELECT.

    `BadQuery` for several statements, and for one that writes, sets or defines something, even in
    EXPLAIN.
    """
    statements = connection.extract_statements(sql)
    kinds = [statement.type for statement in statements]
    if kinds == [duckdb.StatementType.EXPLAIN]:
        return sql, parse_query(connection, _explained(connection, sql))[1]
    if _is_pivot(connection, kinds, sql):
        return sql, _pivot(connection, sql)
    if (
        duckdb.StatementType.EXPLAIN in kinds and not statements[0].query
    ):  # DuckDB wraps it in settings and explains nothing
        raise BadQuery(
            "DuckDB does not explain a PIVOT that has to look up its values.", next=_VALUES
        )
    if len(kinds) != 1:
        raise BadQuery(
            f"there are {len(kinds)} statements." if kinds else "there is no statement.", next=_ONE
        )
    if kinds[0] != duckdb.StatementType.SELECT:
        raise BadQuery(f"{kinds[0].name} is not a query: a query only reads.", next=_ELSEWHERE)
    return _read(connection, sql) or _read(connection, statements[0].query) or _refuse(sql)


def _refuse(sql: str) -> NoReturn:
    if re.search("pivot", sql, re.IGNORECASE):
        raise BadQuery(
            "the values of this PIVOT are computed or parameters, so DuckDB gives no parse tree"
            " of it.",
            next=_VALUES,
        )
    raise BadQuery(
        "DuckDB gives no parse tree of this statement, so its tables are unknown.", next=_ONE
    )


def _is_pivot(connection: Any, kinds: list[Any], sql: str) -> bool:
    """Whether it is a PIVOT without values: DuckDB first creates a type of them, in another
    statement.
    """
    create, select = duckdb.StatementType.CREATE, duckdb.StatementType.SELECT
    if set(kinds[:-1]) != {create} or kinds[-1] != select:
        return False
    while end := _END.search(sql):
        sql = sql[: end.start()]
    try:  # several statements cannot be in brackets
        return [
            statement.type for statement in connection.extract_statements(f"FROM (\n{sql}\n)")
        ] == kinds
    except duckdb.Error:
        return False


def _explained(connection: Any, sql: str) -> str:
    """The explained statement, at its place in the text."""
    begin = _EXPLAIN.match(sql)
    if begin is None:
        raise BadQuery(
            "the explained statement cannot be found in the text.", next="Begin with EXPLAIN."
        )
    end = begin.end()
    inner = " " * len(sql[:end].encode()) + sql[end:]
    options = _OPTIONS.match(sql, end)
    if options is None or _is_statement(connection, inner):  # it may also be a SELECT in brackets
        return inner
    return " " * len(sql[: options.end()].encode()) + sql[options.end() :]


def _is_statement(connection: Any, sql: str) -> bool:
    try:
        return bool(connection.extract_statements(sql))
    except duckdb.Error:
        return False


def _read(connection: Any, sql: str) -> tuple[str, Json] | None:
    """The text and its parse tree; None if DuckDB gives none."""
    # The text is not bound as a parameter: that loads pandas, which takes longer than everything
    # else.
    found = json.loads(connection.execute(f"SELECT json_serialize_sql({text(sql)})").fetchone()[0])
    if found["error"]:
        return None
    _refuse_functions(found["statements"])
    return sql, found["statements"][0]


def _pivot(connection: Any, sql: str) -> Json:
    """The parse tree of a PIVOT without values, as if it had some.

    `values` are the trees of the queries for them.
    """
    text = sql.encode().decode("latin-1")  # a character for each byte, for DuckDB counts bytes
    named = with_values([*_words(sql, text), Word("", len(text))])
    found = _read(connection, replaced(text, named.pieces).encode("latin-1").decode())
    if found is None:
        raise BadQuery("the tables of this PIVOT are unknown.", next=_VALUES)
    queries = (" " * start + text[start:end] for start, end in named.queries)
    values = [parse_query(connection, query.encode("latin-1").decode())[1] for query in queries]
    return {**with_former_places(found[1], text, named.pieces), "values": values}


def _words(sql: str, text: str) -> Iterator[Word]:
    for start, kind in duckdb.tokenize(sql):
        found = _WORD.match(text, start)
        yield Word(found[0].upper() if found and kind in _SAID else "", start)


def _refuse_functions(tree: Json) -> None:
    for item in dicts(tree):
        name = item.get("function_name")
        if isinstance(name, str) and name.casefold() in WRITING:
            advice = WRITING[name.casefold()] or _ONE
            raise BadQuery(
                f"the function {name} may not be called: a query only reads.", next=advice
            )
