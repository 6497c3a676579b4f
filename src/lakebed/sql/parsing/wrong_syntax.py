"""Syntax errors: where Spark would stop reading a text, and what it expects there."""

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.sql.parsing.lexer import LexedText, Token, TokenKind
from lakebed.sql.parsing.syntax import SyntaxStop, find_stop
from lakebed.sql.parsing.tokens import spark_tokens

_FEW = 6
_BACK = 4  # so many tokens later Spark may notice that QUALIFY is not an alias
_ALIKE_BEFORE = 2


def syntax_error(reading: LexedText) -> BadPipeline | None:
    """The query's syntax error, if any; a query nested too deeply is left to the parser."""
    tokens = spark_tokens(reading)
    try:
        found = find_stop([number for number, _, _ in tokens])
    except RecursionError:
        return None
    if found is None:
        return None
    at = tokens[found.at][1] if found.at < len(tokens) else reading.end
    before = [
        token for token in reading.tokens if token.start <= at < reading.end or token.end <= at
    ]
    return _qualify(reading, before[-_BACK:]) or _stopped(
        reading, found, at, before[-_ALIKE_BEFORE:]
    )


def _stopped(reading: LexedText, found: SyntaxStop, at: int, before: list[Token]) -> BadPipeline:
    token = next((token for token in before if token.start == at), None)
    what = f"{token.text!r} is not understood here" if token else "the query ends too early"
    few = 0 < len(found.wanted) <= _FEW
    expected = (
        ": Spark expects"
        f" {' or '.join(filter(None, (', '.join(found.wanted[:-1]), found.wanted[-1])))}"
        if few
        else ""
    )
    words = [
        one.upper
        for one in before
        if one.kind is TokenKind.WORD and (token is None or token.is_name)
    ]
    meant = next(
        (
            names
            for word in words
            if word not in found.wanted and (names := near(word, found.wanted))
        ),
        (),
    )
    advice = suggestion(meant) or "Check it against Spark SQL's grammar."
    return reading.source.error_at(
        f"{what}{expected}.", at=min(at, max(reading.end - 1, 0)), next=advice
    )


def _qualify(reading: LexedText, before: list[Token]) -> BadPipeline | None:
    """The error for a QUALIFY clause, which Spark reads as an alias as long as it can."""
    for token in before:
        if token.kind is TokenKind.WORD and token.upper == "QUALIFY":
            advice = (
                "Filter outside a subquery: SELECT * FROM (SELECT …, row_number() OVER (…) AS n"
                " FROM …) WHERE n = 1."
            )
            return reading.source.error_at("Spark has no QUALIFY.", at=token.start, next=advice)
    return None
