"""Queries that only filter the rows of one source: `SELECT * FROM source WHERE condition`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.errors.source_text import SourceText
from lakebed.sql.parsing.lexer import Token, lex

if TYPE_CHECKING:
    from sqlglot import exp

_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}


@dataclass(frozen=True)
class FilteringQuery:
    """Which rows of a source a query returns; both texts are as they were written."""

    source: str  # what follows FROM
    condition: str  # what follows WHERE


def read_filtering(query: str) -> FilteringQuery | None:
    """The filter that a checked query consists of; None if it does anything else."""
    from lakebed.sql.parsing.parse import parse

    reading = lex(SourceText(query, "the query"))
    if reading.hints or not _only_filters(parse(reading)):
        return None
    outside = list(outside_brackets(reading.plain))
    where = [token for token in outside if token.upper == "WHERE"]
    begins_plainly = [token.upper for token in outside[:3]] == ["SELECT", "*", "FROM"]
    if not begins_plainly or len(where) != 1 or any(token.upper == "|" for token in outside):
        return None
    source = reading.bare[outside[2].end : where[0].start]
    condition = reading.bare[where[0].end : reading.end]
    return FilteringQuery(source.strip(), condition.strip())


def _only_filters(tree: "exp.Expr") -> bool:
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return False
    given = {name for name, value in tree.args.items() if value}
    if given != {"expressions", "from_", "where"} or not _is_all(tree.expressions):
        return False
    return reads_rows_of_one_source(tree)


def reads_rows_of_one_source(tree: "exp.Select") -> bool:
    """Whether a query reads one table or subquery as it is, and its WHERE nothing else."""
    from sqlglot import exp

    source, where = tree.args["from_"].this, tree.args.get("where")
    extras = {name for name, value in source.args.items() if value}
    reads_one = isinstance(source, exp.Table | exp.Subquery)
    return (
        reads_one
        and extras <= {"this", "db", "catalog", "alias"}
        and not any(
            isinstance(node, exp.Query | exp.Table | exp.Window | exp.AggFunc)
            for node in (where.walk() if where else ())
        )
    )


def _is_all(projection: "Sequence[exp.Expr]") -> bool:
    from sqlglot import exp

    (first, *more) = projection
    return isinstance(first, exp.Star) and not more and not any(first.args.values())


def outside_brackets(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens that are in no pair of brackets; closing brackets are among them."""
    depth = 0
    for token in tokens:
        depth += _DEPTH.get(token.upper, 0)
        if depth == 0:
            yield token
