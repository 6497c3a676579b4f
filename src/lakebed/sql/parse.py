"""The parser at work, and the proof that it read the same tokens as Spark."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects import Databricks, Spark
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token as ParserToken
from sqlglot.tokenizer_core import TokenType

from lakebed.errors import BadPipeline
from lakebed.sql.lexer import Kind, Reading, Token
from lakebed.sql.source import Source

_QUOTES = {TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING, TokenType.IDENTIFIER}
_FITS = {Kind.STRING: {TokenType.STRING, TokenType.RAW_STRING}, Kind.QUOTED: {TokenType.IDENTIFIER}}

_silenced: ContextVar[bool] = ContextVar("silenced", default=False)
logging.getLogger("sqlglot").addFilter(lambda _: not _silenced.get())


@contextmanager
def quiet() -> Iterator[None]:
    """While we ask the parser it logs nothing: what it does not understand becomes an error of ours."""
    token = _silenced.set(True)
    try:
        yield
    finally:
        _silenced.reset(token)


def parse(reading: Reading) -> exp.Expr:
    """The one query as a tree; refused with the place where it cannot be understood."""
    source, text = reading.source, reading.bare[: reading.end]
    try:
        with quiet():
            tokens = Spark().tokenize(text)
            at = disagreement(reading.plain, tokens)
            trees = _trees(_renamed(tokens), text) if at is None else []
    except RecursionError:
        raise source.bad("the query is nested too deeply to be checked.", next="Take parts out as WITH … AS (…).") from None
    except ParseError as error:
        raise _qualify(reading, error) or _not_understood(source, error) from None
    except Exception:  # the parser is not ours: whatever it stumbles over is not understood
        raise source.bad("the query is not understood.", next="Check it against Spark SQL's grammar.") from None
    if at is not None:
        what = "Spark and Lakebed's parser read this differently, so it cannot be checked."
        raise source.bad(what, at=at, next="Write it more plainly.")
    if len(trees) != 1 or trees[0] is None:
        raise source.bad("there is not one query.", next="Write one SELECT.")
    return trees[0]


def _trees(tokens: list[ParserToken], text: str) -> list[exp.Expr | None]:
    """`v:a.b`, which reads a field of a VARIANT, is known to the parser only as Databricks' dialect."""
    trees: list[exp.Expr | None]
    try:
        trees = Spark().parser().parse(tokens, text)
    except ParseError:
        if not any(token.token_type == TokenType.COLON for token in tokens):
            raise
        trees = Databricks().parser().parse(tokens, text)
    return trees


def disagreement(ours: Sequence[Token], theirs: Sequence[ParserToken]) -> int | None:
    """The first place where the parser's tokens are not made of whole tokens of Spark's, of the same nature; mostly none."""
    index, inside, former = 0, -1, (-1, -1)
    for their in theirs:
        span = (their.start, their.end + 1)
        if span == former:  # 1L is a number, a cast and a type to the parser
            continue
        former = span
        if index >= len(ours) or their.start != (inside if inside >= 0 else ours[index].start):
            return their.start
        last = _whole(ours, index, span[1])
        if last is None:  # 'it''s' is two strings to the parser
            if ours[index].kind is not Kind.STRING or their.token_type not in _QUOTES or span[1] > ours[index].end:
                return their.start
            inside = span[1]
            continue
        if not (inside >= 0 or _same_nature(ours[index : last + 1], their.token_type)):
            return their.start
        index, inside = last + 1, -1
    return None if index == len(ours) else ours[index].start


def _whole(ours: Sequence[Token], index: int, end: int) -> int | None:
    """The index of the token, from this one on, that ends exactly there."""
    while index < len(ours) and ours[index].end < end:
        index += 1
    return index if index < len(ours) and ours[index].end == end else None


def _same_nature(ours: Sequence[Token], theirs: TokenType) -> bool:
    kinds = [token.kind for token in ours]
    if kinds == [Kind.WORD, Kind.STRING]:
        return theirs == TokenType.HEX_STRING and ours[0].upper == "X"
    if len(kinds) > 1:
        return set(kinds) in ({Kind.WORD}, {Kind.SYMBOL}) and theirs not in _QUOTES
    return theirs in _FITS[kinds[0]] if kinds[0] in _FITS else theirs not in _QUOTES


def _renamed(tokens: list[ParserToken]) -> list[ParserToken]:
    """What is a plain name to Spark and a clause to the parser: QUALIFY, and `window` in `GROUP BY window(at, '1 hour')`."""
    for token in tokens:
        if token.token_type == TokenType.QUALIFY:
            token.token_type = TokenType.VAR
    for token, after in pairwise(tokens):
        if token.token_type == TokenType.WINDOW and after.token_type == TokenType.L_PAREN:
            token.token_type = TokenType.VAR
    return tokens


def _qualify(reading: Reading, error: ParseError) -> BadPipeline | None:
    """The error for a QUALIFY clause: the parser stops at the word, or just after it where it could name a table."""
    stopped = str(error.errors[0].get("highlight") or "") if error.errors else ""
    for token, after in pairwise(reading.plain):
        if token.kind is Kind.WORD and token.upper == "QUALIFY" and stopped in (token.text, after.text):
            advice = "Filter outside a subquery: SELECT * FROM (SELECT …, row_number() OVER (…) AS n FROM …) WHERE n = 1."
            return reading.source.bad("Spark has no QUALIFY.", at=token.start, next=advice)
    return None


def _not_understood(source: Source, error: ParseError) -> BadPipeline:
    first = error.errors[0] if error.errors else {}
    lines = source.text.split("\n")
    line = min(max(int(first.get("line") or 1), 1), len(lines))
    at = sum(len(text) + 1 for text in lines[: line - 1])
    near = str(first.get("highlight") or "").strip()
    what = f"{near!r} is not understood here." if near else "this is not understood."
    return source.bad(what, at=at, next="Check it against Spark SQL's grammar.")
