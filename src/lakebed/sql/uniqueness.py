"""Queries that return the repeated values of one column:
`SELECT id FROM source GROUP BY id HAVING count(*) > 1`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.errors.source_text import SourceText
from lakebed.sql.filtering import outside_brackets, reads_rows_of_one_source
from lakebed.sql.parsing.lexer import lex

if TYPE_CHECKING:
    from sqlglot import exp

_PARTS = ["SELECT", "FROM", "GROUP", "HAVING"]


@dataclass(frozen=True)
class UniquenessQuery:
    """A query that returns no row if a column of a source has no value twice."""

    column: str
    source: str  # what follows FROM, WHERE included, as it was written


def read_uniqueness(query: str) -> UniquenessQuery | None:
    """The column whose repeated values a checked query returns; None if it does anything else."""
    from lakebed.sql.parsing.parse import parse

    reading = lex(SourceText(query, "the query"))
    column = None if reading.hints else _repeated_column(parse(reading))
    outside = outside_brackets(reading.plain)
    parts = [token for token in outside if token.upper in {*_PARTS, "|"}]
    if column is None or [part.upper for part in parts] != _PARTS:
        return None
    _, after, before, _ = parts
    return UniquenessQuery(column, reading.bare[after.end : before.start].strip())


def _repeated_column(tree: "exp.Expr") -> str | None:
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return None
    given = {name for name, value in tree.args.items() if value}
    if given - {"where"} != {"expressions", "from_", "group", "having"}:
        return None
    group = tree.args["group"]
    extras = {name for name, value in group.args.items() if value}
    if extras != {"expressions"} or len(group.expressions) > 1:
        return None
    (key,) = group.expressions
    fits = (
        _is_bare(key)
        # a subquery would be computed twice to find out
        and isinstance(tree.args["from_"].this, exp.Table)
        and reads_rows_of_one_source(tree)
        and _is_more_than_one(tree.args["having"].this)
        and all(_is_harmless(one, key) for one in tree.expressions)
    )
    return str(key.name) if fits else None


def _is_bare(node: "exp.Expr") -> bool:
    """Whether this is a column without the name of its table or a field of a struct."""
    from sqlglot import exp

    return isinstance(node, exp.Column) and [*filter(None, node.args.values())] == [node.this]


def _is_more_than_one(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return (
        isinstance(node, exp.GT)
        and _counts_rows(node.this)
        and isinstance(node.expression, exp.Literal)
        and not node.expression.is_string
        and node.expression.this == "1"
    )


def _counts_rows(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star) and not node.expressions


def _is_harmless(node: "exp.Expr", key: "exp.Expr") -> bool:
    """Whether the expression cannot fail."""
    from sqlglot import exp

    plain = node.this if isinstance(node, exp.Alias) else node
    return plain == key or _counts_rows(plain)
