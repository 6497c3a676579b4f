"""Parsing queries, with proof that the parser read the same tokens as Spark."""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects import Databricks, Spark
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token as ParserToken
from sqlglot.tokenizer_core import TokenType

from lakebed.errors import BadPipeline
from lakebed.errors.source_text import SourceText
from lakebed.sql.checking.forbidden_words import (
    end_of_options,
    has_harmless_options,
    is_values_as_name,
    reads_table,
)
from lakebed.sql.parsing.lexer import LexedText, Token, TokenKind
from lakebed.sql.parsing.syntax import grammar
from lakebed.sql.parsing.tokens import spark_tokens

_QUOTES = {TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING, TokenType.IDENTIFIER}
_FITS = {
    TokenKind.STRING: {TokenType.STRING, TokenType.RAW_STRING},
    TokenKind.QUOTED: {TokenType.IDENTIFIER},
}

_ABOUT_ARGUMENTS = re.compile("Required keyword|The number of provided arguments")
_SPARK_WOULD = (
    "Spark may accept it, but what it reads cannot be checked: write it in a simpler way."
)

_silenced: ContextVar[bool] = ContextVar("silenced", default=False)
logging.getLogger("sqlglot").addFilter(lambda _: not _silenced.get())


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the parser from logging: what it does not understand becomes an error."""
    token = _silenced.set(True)
    try:
        yield
    finally:
        _silenced.reset(token)


def parse(reading: LexedText, wrong: BadPipeline | None = None) -> exp.Expr:
    """The query as a tree; refused where it cannot be understood, or with `wrong`, what Spark would
    reject.
    """
    source, text = reading.source, reading.bare[: reading.end]
    try:
        with quiet():
            tokens = Spark().tokenize(text)
            at = disagreement(reading.plain, tokens)
            trees = _trees(_respelt(tokens, reading), text) if at is None else []
    except RecursionError:
        raise source.error_at(
            "the query is nested too deeply to be checked.",
            next="Move parts of it to WITH … AS (…).",
        ) from None
    except ParseError as error:
        raise wrong or _not_understood(source, error) from None
    except Exception:  # whatever the parser fails on is not understood
        raise wrong or source.error_at("the query is not understood.", next=_SPARK_WOULD) from None
    if at is not None:
        what = "Spark and Lakebed's parser read this differently, so it cannot be checked."
        raise source.error_at(what, at=at, next="Write it in a simpler way.")
    if len(trees) != 1 or trees[0] is None:
        raise source.error_at("this is not exactly one query.", next="Write one SELECT.")
    return trees[0]


class _AnyArguments(SparkParser):
    """Accepts any number of arguments: Spark checks them."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}


def _trees(tokens: list[ParserToken], text: str) -> list[exp.Expr | None]:
    """The parser knows `v:a.b`, a field of a VARIANT, only in the dialect of Databricks."""
    trees: list[exp.Expr | None]
    try:
        trees = Spark().parser().parse(tokens, text)
    except ParseError as error:
        if any(token.token_type == TokenType.COLON for token in tokens):
            trees = Databricks().parser().parse(tokens, text)
        elif _ABOUT_ARGUMENTS.match(
            str(error.errors[0].get("description") if error.errors else "")
        ):
            trees = _AnyArguments(dialect=Spark()).parse(tokens, text)
        else:
            raise
    return trees


def disagreement(ours: Sequence[Token], theirs: Sequence[ParserToken]) -> int | None:
    """The first offset where the parser's tokens do not consist of whole Spark tokens of the same
    kind; None if all do.
    """
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
            if (
                ours[index].kind is not TokenKind.STRING
                or their.token_type not in _QUOTES
                or span[1] > ours[index].end
            ):
                return their.start
            inside = span[1]
            continue
        if not (inside >= 0 or _same_nature(ours[index : last + 1], their.token_type)):
            return their.start
        index, inside = last + 1, -1
    return None if index == len(ours) else ours[index].start


def _whole(ours: Sequence[Token], index: int, end: int) -> int | None:
    """The index of the token, from this one on, that ends at this offset."""
    while index < len(ours) and ours[index].end < end:
        index += 1
    return index if index < len(ours) and ours[index].end == end else None


def _same_nature(ours: Sequence[Token], theirs: TokenType) -> bool:
    kinds = [token.kind for token in ours]
    if kinds == [TokenKind.WORD, TokenKind.STRING]:
        return theirs == TokenType.HEX_STRING and ours[0].upper == "X"
    if len(kinds) > 1:
        return set(kinds) in ({TokenKind.WORD}, {TokenKind.SYMBOL}) and theirs not in _QUOTES
    return theirs in _FITS[kinds[0]] if kinds[0] in _FITS else theirs not in _QUOTES


def _respelt(tokens: list[ParserToken], reading: LexedText) -> list[ParserToken]:
    """The tokens as the parser expects them.

    QUALIFY is a plain name to Spark, and so is `window` in `GROUP BY window(at, '1 hour')`. `>>>`
    is read as `>>`, and `X '1F'` as the text in it: no name depends on either. `TABLE t` is `SELECT
    * FROM t`; options of a table are left out.
    """
    plain = reading.plain
    unread = {
        start + 2 for number, start, _ in spark_tokens(reading) if number == grammar().signs[">>>"]
    } | _options(plain)
    columns = {token.start for at, token in enumerate(plain) if is_values_as_name(plain, at)}
    tables = {token.start for at, token in enumerate(plain) if reads_table(plain, at)}
    found: list[ParserToken] = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1].token_type if index + 1 < len(tokens) else None
        window = token.token_type == TokenType.WINDOW and after == TokenType.L_PAREN
        if token.token_type == TokenType.QUALIFY or window or token.start in columns:
            token.token_type = TokenType.VAR
        if token.start in unread or (token.text.upper() == "X" and after == TokenType.STRING):
            continue
        found += _select_from(token) if token.start in tables else [token]
    return found


def _options(plain: Sequence[Token]) -> set[int]:
    """The indexes of tokens that are options of tables."""
    spans = [
        (at, end_of_options(plain, at))
        for at in range(len(plain))
        if has_harmless_options(plain, at)
    ]
    return {token.start for first, last in spans for token in plain[first : last + 1]}


def _select_from(table: ParserToken) -> list[ParserToken]:
    written = ((TokenType.SELECT, "SELECT"), (TokenType.STAR, "*"), (TokenType.FROM, "FROM"))
    return [
        ParserToken(kind, text, table.line, table.col, table.start, table.end)
        for kind, text in written
    ]


def _not_understood(source: SourceText, error: ParseError) -> BadPipeline:
    first = error.errors[0] if error.errors else {}
    lines = source.text.split("\n")
    line = min(max(int(first.get("line") or 1), 1), len(lines))
    near = str(first.get("highlight") or "").strip()
    start = sum(len(text) + 1 for text in lines[: line - 1])
    at = start + min(max(int(first.get("col") or 1) - len(near), 0), len(lines[line - 1]))
    what = f"{near!r} is not understood here." if near else "this is not understood."
    return source.error_at(what, at=at, next=_SPARK_WOULD)
