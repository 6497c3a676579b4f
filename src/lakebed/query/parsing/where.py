"""Conditions on one table's rows: the whole text filters rows, and what can be a predicate prunes
files.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakebed.errors import BadQuery
from lakebed.names import duckdb_identifier
from lakebed.ports import And, Column, Comparison, Not, Or, Predicate
from lakebed.query.ordering.duckdb_order import order_sensitive
from lakebed.query.parsing.conditions import Find, finder, predicate_of
from lakebed.query.parsing.parse_nodes import Condition, Json, dicts, folded
from lakebed.query.parsing.query_text import require_utf8
from lakebed.query.parsing.tree import MentionedColumns, mentioned_columns, table_reads

_BEGINNINGS = {"prefix", "starts_with", "^@"}
_WORD = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|(?P<word>[^\W\d]\w*)(?!\s*\(|\w)",
    re.DOTALL,
)
_CLAUSES = ("group_expressions", "group_sets", "having", "modifiers", "qualify", "sample")
_NEXT = "Write what comes between WHERE and the next clause, such as: country = 'DE' AND amount > 5"


@dataclass(frozen=True)
class RowFilter:
    """A condition as written.

    `predicate` prunes files and may be weaker; `exact` is the whole condition, if it is one.
    """

    text: str
    predicate: Predicate | None
    exact: Predicate | None
    columns: MentionedColumns  # the columns it needs
    order_sensitive: bool = False  # which rows fulfil it may depend on how they are stored


def parse_where(
    text: str, table: str, columns: Sequence[Column], *, parse: Callable[[str], Json], timezone: str
) -> RowFilter:
    """Parse a condition on a table; `BadQuery` for anything else, or for one that reads more than
    its rows.

    It must parse with and without parentheses around it, so it can neither end the clause nor
    extend it.
    """
    require_utf8(text)
    begin = f"SELECT 1 FROM {duckdb_identifier(table)} WHERE"
    try:
        parse(f"{begin} {text}")
    except BadQuery:
        quoted = _with_columns_quoted(text, columns)
        if quoted == text:
            raise
        return parse_where(quoted, table, columns, parse=parse, timezone=timezone)
    tree = parse(f"{begin} (\n{text}\n)")
    if not _is_condition(tree):
        raise BadQuery("this is not a condition on the rows of one table.", where=text, next=_NEXT)
    (read,) = table_reads(tree)
    find = finder(read, {read.byte: columns})
    condition = tree["node"]["where_clause"]
    same = _exact(condition, find, timezone)
    return RowFilter(
        text,
        same or predicate_of(read.conditions, find, timezone=timezone),
        same,
        mentioned_columns(tree),
        bool(order_sensitive(tree, columns=[column.name for column in columns])),
    )


def _with_columns_quoted(text: str, columns: Sequence[Column]) -> str:
    """The text with columns quoted whose names are SQL keywords, such as `at`.

    Calls and literals stay as they are.
    """
    known = {folded(column.name): column.name for column in columns}

    def quoted(found: re.Match[str]) -> str:
        name = known.get(folded(found["word"] or ""))
        return duckdb_identifier(name) if name else found[0]

    return _WORD.sub(quoted, text)


def _is_condition(tree: Json) -> bool:
    node = tree["node"]
    if (
        node["type"] != "SELECT_NODE"
        or not node.get("where_clause")
        or any(node.get(clause) for clause in _CLAUSES)
    ):
        return False
    nested = any(item.get("class") == "SUBQUERY" for item in dicts(node["where_clause"]))
    return not nested and len(table_reads(tree)) == 1


def _exact(expression: Json, find: Find, timezone: str) -> Predicate | None:
    """The condition as a predicate, if all of it can be one; None otherwise."""
    kind = expression["type"]
    if kind in ("CONJUNCTION_AND", "CONJUNCTION_OR", "OPERATOR_NOT"):
        parts = [_exact(child, find, timezone) for child in expression["children"]]
        known = tuple(part for part in parts if part is not None)
        if len(known) < len(parts):
            return None
        return (
            Not(known[0])
            if kind == "OPERATOR_NOT"
            else And(known)
            if kind == "CONJUNCTION_AND"
            else Or(known)
        )
    if expression["class"] == "COLUMN_REF":
        column = find(expression["column_names"])
        return Comparison(column.name, "=", True) if column and column.type == "boolean" else None
    found = predicate_of([Condition(expression)], find, timezone=timezone)
    if kind == "COMPARE_BETWEEN" and not (isinstance(found, And) and len(found.parts) == 2):
        return None
    if kind == "FUNCTION" and expression.get("function_name") not in _BEGINNINGS:
        return None  # LIKE may test more than a prefix
    return found
