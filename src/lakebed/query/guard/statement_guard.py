"""Untrusted SQL, checked before it runs: one query over the lake's tables, with functions that only
compute.

This is the first of three defences, and the one that explains what is wrong. DuckDB's own parse of
the same text is checked again (`duckdb_guard.py`), so that a difference between the two parsers
opens nothing; and the query runs in a process that can open no other file
(`engines/duckdb/untrusted/confined.py`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.errors import BadQuery, near, suggestion
from lakebed.query.parsing.functions import ALLOWED, TABLE_FUNCTIONS
from lakebed.query.parsing.parse_nodes import folded

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST = 20_000  # characters
DEEPEST = 60  # nested brackets: parsers recurse
DEEPEST_TREE = 240  # DuckDB's own limit is set to 250
_WRITE = "Write one SELECT over the lake's tables."

Parts = tuple[str, ...]


@dataclass(frozen=True)
class GuardedQuery:
    """A query that may run. `tables` are the names it reads, as written, each once."""

    text: str
    tables: tuple[Parts, ...]
    functions: tuple[str, ...]


def check_untrusted(sql: str, tables: Iterable[Parts]) -> GuardedQuery:
    """The query, or `BadQuery` with the reason.

    `tables` are the full names it may read; it may write the ends of names.
    """
    from sqlglot import exp

    _require_size(sql)
    tree = _parsed(sql)
    known = KnownTables(tables)
    read: dict[Parts, None] = {}
    called: dict[str, None] = {}
    for node in _nodes(tree):
        _require_allowed_node(node)
        if isinstance(node, exp.Table):
            read.update(dict.fromkeys(_table(node, known)))
        if isinstance(node, exp.Func) and (name := _called(node, sql)):
            _require_allowed_function(name)
            called[name] = None
    return GuardedQuery(sql, tuple(read), tuple(called))


class KnownTables:
    """The tables that may be read, found by their full name or by an end that only one has."""

    def __init__(self, tables: Iterable[Parts]) -> None:
        self._names = [tuple(parts) for parts in tables]
        self._folded = [tuple(part.casefold() for part in parts) for parts in self._names]

    def require_known(self, parts: Parts) -> None:
        """Raise `BadQuery` for an unknown or ambiguous name."""
        wanted = tuple(part.casefold() for part in parts)
        if wanted in self._folded:
            return
        found = [
            ".".join(name)
            for name, folded in zip(self._names, self._folded, strict=True)
            if folded[-len(wanted) :] == wanted
        ]
        shown = ".".join(parts)
        if len(found) > 1:
            raise BadQuery(
                f"{shown} is ambiguous: it may be {' or '.join(sorted(found)[:3])}.",
                next="Write the full name.",
            )
        if not found:
            raise BadQuery(
                f"there is no table {shown!r} to read.", next=self._suggested(parts) or _WRITE
            )

    def _suggested(self, parts: Parts) -> str:
        shown = ".".join(parts)
        return suggestion(near(shown, [".".join(name[-len(parts) :]) for name in self._names]))


def _require_size(sql: str) -> None:
    if len(sql) > LONGEST:
        raise BadQuery(
            f"the query has {len(sql)} characters; the limit is {LONGEST}.", next="Make it shorter."
        )
    if "\0" in sql:
        raise BadQuery("the query holds a NUL character.", next="Remove it.")
    depth = deepest = 0
    for character in sql:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise BadQuery(
            f"the query is nested {deepest} deep; the limit is {DEEPEST}.",
            next="Use WITH to flatten it.",
        )


def _parsed(sql: str) -> "exp.Expr":
    import logging

    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(
        logging.ERROR
    )  # it would warn about commands, which are rejected here anyway
    try:
        trees = [
            tree
            for tree in parse(sql, dialect="duckdb")
            if tree is not None and not isinstance(tree, exp.Semicolon)
        ]
    except SqlglotError as error:
        raise BadQuery(
            f"the query cannot be read: {_first_line(error)}", next="Fix the query."
        ) from None
    except (
        RecursionError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        KeyError,
        AssertionError,
    ):
        raise BadQuery("the query cannot be read.", next="Make it simpler.") from None
    if len(trees) != 1:
        raise BadQuery(
            f"there are {len(trees)} statements." if trees else "there is no statement.",
            next=_WRITE,
        )
    if not isinstance(trees[0], exp.Query | exp.Values):
        raise BadQuery(f"{_kind(trees[0], sql)} is a command, not a query.", next=_WRITE)
    return trees[0]


def _nodes(tree: "exp.Expr") -> "Iterator[exp.Expr]":
    """All nodes of the tree; `BadQuery` if it is too deep."""
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST_TREE:
            raise BadQuery(
                f"the query is nested more than {DEEPEST_TREE} deep.",
                next="Make it simpler: IN (…) for many ORs.",
            )
        yield node
        waiting += [(child, depth + 1) for child in node.iter_expressions(reverse=True)]


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0].replace("\x1b[4m", "").replace("\x1b[0m", "")


def _kind(tree: "exp.Expr", sql: str) -> str:
    words = sql.split(None, 1)
    return words[0].upper()[:20] if words else type(tree).__name__.upper()


def _require_allowed_node(node: "exp.Expr") -> None:
    from sqlglot import exp

    commands = (
        exp.Command, exp.DDL, exp.DML, exp.Describe, exp.Show, exp.Summarize, exp.Into, exp.Lock,
        exp.Set, exp.Pragma, exp.Attach, exp.Detach, exp.Copy, exp.Use, exp.Drop, exp.Alter,
    )  # fmt: skip
    if isinstance(node, commands) and not isinstance(node, exp.Query):
        raise BadQuery(f"{type(node).__name__.upper()} is not allowed in a query.", next=_WRITE)
    if isinstance(node, exp.Placeholder | exp.Parameter | exp.SessionParameter):
        raise BadQuery("the query has a parameter without a value.", next="Write the value itself.")
    if isinstance(node, exp.HistoricalData):
        raise BadQuery(
            "AT (…) is not allowed here.", next="Read another point with the option `at`."
        )


def _table(node: "exp.Table", known: KnownTables) -> Iterator[Parts]:
    from sqlglot import exp

    if isinstance(node.this, exp.Func):
        if (
            isinstance(node.this, exp.Anonymous)
            and node.this.name.casefold() not in TABLE_FUNCTIONS
        ):
            raise BadQuery(
                f"the function {node.this.name} may not be used as a table.", next=_WRITE
            )
        return
    parts = tuple(part.name for part in node.parts if part is not None)
    if not all(isinstance(part, exp.Identifier) for part in node.parts) or not all(parts):
        raise BadQuery("something other than a table is used as a table.", next=_WRITE)
    if len(parts) == 1 and folded(parts[0]) in _ctes(node):
        return
    known.require_known(parts)
    yield parts


def _ctes(node: "exp.Expr | None") -> Iterator[str]:
    """The names of WITH that are visible here."""
    while node is not None:
        clause = node.args.get("with_")
        yield from (folded(cte.alias) for cte in (clause.expressions if clause else ()))
        node = node.parent


def _called(node: "exp.Func", sql: str) -> str:
    """The name of a function as it was written.

    Empty for syntax such as CASE or a list in brackets.
    """
    from sqlglot import exp

    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.name)
    start, end = node.meta.get("start"), node.meta.get("end")
    if start is None or end is None:
        return ""
    return sql[start : end + 1].strip('"')


def _require_allowed_function(name: str) -> None:
    if name.casefold() not in ALLOWED:
        raise BadQuery(
            f"the function {name} may not be called.", next=suggestion(near(name, ALLOWED))
        )
