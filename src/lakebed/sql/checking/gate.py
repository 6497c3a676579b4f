"""A gate's query must be able to return no rows."""

from lakebed.errors import BadPipeline
from lakebed.errors.source_text import SourceText
from lakebed.sql.checking.check import CheckedQuery
from lakebed.sql.parsing.lexer import lex


def refuse_bare_count(query: CheckedQuery, *, where: str) -> None:
    """Refuse a gate that always returns a row, such as `SELECT count(*) FROM …`: it could never
    pass.
    """
    from lakebed.sql.checking.emptiness import always_returns
    from lakebed.sql.parsing.parse import parse

    if always_returns(parse(lex(SourceText(query.text, where)))):
        raise BadPipeline(
            "this gate returns a row whatever the table holds (a count without GROUP BY is one row,"
            " even if it is 0), and a gate passes only when it returns none.",
            where=where,
            next=(
                "Return the bad rows (SELECT * FROM {{ this }} WHERE …), or add: HAVING"
                " count(*) > 0"
            ),
        )
