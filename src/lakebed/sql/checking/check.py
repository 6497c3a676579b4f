"""User SQL, judged before it runs: one query that reads what it was given, and nothing else.

From a plain SELECT Spark runs programs (TRANSFORM), calls any JVM method (reflect) and reads any file (csv.`/…`). So the
text is cut into tokens as Spark cuts it, each token is judged, Spark's own grammar is followed, a parser has to read the very
same tokens, and the tree it makes of them is judged again. What cannot be read for certain is refused.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from lakebed.errors.source_text import SourceText, same_line
from lakebed.sql.checking.forbidden_words import refuse_words
from lakebed.sql.parsing.lexer import lex


@dataclass(frozen=True)
class CheckedQuery:
    """One query, judged: it may run as it is, or inside `SELECT * FROM (…)`."""

    text: str  # without comments and closing semicolon, each line where it was
    tables: tuple[str, ...]  # what it reads, in the words in which it was given
    columns: tuple[str, ...] | None = None  # what it returns, where that was asked for and can be told


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

    `allowed` are the tables it was given, as the template wrote them (`lake.shop.silver.orders VERSION AS OF 5`, a branch, a
    temporary view); a version among them is part of the name. Without `allowed` any table may be read, but no path.

    `functions` are those that are known besides Spark's and Iceberg's; without it calls are not looked at.
    `columns` are those of tables, by their names in the text without quotes and version; without it columns are not looked at.
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
    refuse_tree(reading, tree)  # of commands it can say more than the grammar
    if wrong:
        raise wrong
    tables = scanned_tables(reading, tree, allowed)
    if functions is not None:
        refuse_unknown_functions(reading, tree, functions)
    returned = None if columns is None else check_columns(reading, tree, columns)
    return CheckedQuery(reading.text[: reading.end], tables, returned)
