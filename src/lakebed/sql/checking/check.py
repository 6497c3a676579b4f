"""Checking user SQL before it runs: one query that reads the tables it was given, and nothing else.

In a plain SELECT Spark can run programs (TRANSFORM), call any JVM method (reflect) and read any
file (csv.`/…`). So the text is split into tokens as Spark splits it, each token is checked, Spark's
own grammar is followed, a parser must read exactly the same tokens, and its tree is checked again.
What cannot be read with certainty is refused.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from lakebed.errors.source_text import SourceText, same_line
from lakebed.sql.checking.forbidden_words import refuse_words
from lakebed.sql.parsing.lexer import lex


@dataclass(frozen=True)
class CheckedQuery:
    """A query that may run as it is, or inside `SELECT * FROM (…)`."""

    text: str  # without comments and final semicolon, with the same line numbers
    tables: tuple[str, ...]  # the tables it reads, as they were given
    columns: tuple[str, ...] | None = None  # the columns it returns, if requested and known


def check_query(
    text: str,
    *,
    where: str,
    allowed: Collection[str] | None = None,
    line_of: Callable[[int], int] | None = None,
    functions: Collection[str] | None = None,
    columns: Mapping[str, tuple[str, ...]] | None = None,
) -> CheckedQuery:
    """The query in rendered SQL, or `BadPipeline` with the line.

    `allowed` are the tables it was given, as the template wrote them (`lake.shop.silver.orders
    VERSION AS OF 5`, a branch, a temporary view); a version among them is part of the name. Without
    `allowed` any table may be read, but no path.

    `functions` are those that exist besides Spark's and Iceberg's; without it calls are not
    checked. `columns` are those of tables, by name without quotes and version; without it columns
    are not checked.
    """
    from lakebed.sql.checking.functions import refuse_unknown_functions
    from lakebed.sql.checking.scans import scanned_tables
    from lakebed.sql.checking.tree import refuse_tree
    from lakebed.sql.lineage.columns import check_columns
    from lakebed.sql.parsing.parse import parse
    from lakebed.sql.parsing.wrong_syntax import syntax_error

    reading = lex(SourceText(text, where, line_of or same_line))
    refuse_words(reading)
    wrong = syntax_error(reading)
    tree = parse(reading, wrong)
    refuse_tree(reading, tree)  # it says more about commands than the grammar does
    if wrong:
        raise wrong
    tables = scanned_tables(reading, tree, allowed)
    if functions is not None:
        refuse_unknown_functions(reading, tree, functions)
    returned = None if columns is None else check_columns(reading, tree, columns)
    return CheckedQuery(reading.text[: reading.end], tables, returned)
