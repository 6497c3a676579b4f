"""Text cut as Spark cuts it, and what the parser makes of the same text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot.dialects import Spark

from lakebed.errors import BadPipeline
from lakebed.errors.source_text import SourceText
from lakebed.sql.parsing.lexer import TokenKind, lex
from lakebed.sql.parsing.parse import disagreement

PIECES = [
    "a",
    "select",
    "`a``b`",
    "'it''s'",
    "'\\''",
    'r"\\"',
    '"x"',
    "--",
    "\n",
    "/*",
    "*/",
    "/*+",
    " ",
    "1.5",
    "é",
    ".",
    "'",
    "`",
    "\\",
]


def cut(text: str) -> list[str]:
    return [token.text for token in lex(SourceText(text, "a")).tokens]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("SELECT a.b,c", ["SELECT", "a", ".", "b", ",", "c"]),
        ("a--b\nc", ["a", "c"]),
        ("a--b\rc", ["a", "c"]),
        ("a/*b*/c", ["a", "c"]),
        ("a/**/c", ["a", "c"]),
        ("a\u00a0b\u3000c", ["a", "b", "c"]),
        (r"'a\'b' 'c'", [r"'a\'b'", "'c'"]),
        ("'a''b'", ["'a''b'"]),
        ('"a""b"\'c"d\'', ['"a""b"', "'c\"d'"]),
        (r"r'a\' b", [r"r'a\'", "b"]),
        (r"xr'a\'b'", ["xr", r"'a\'b'"]),
        ("`a``b`.`c`", ["`a``b`", ".", "`c`"]),
        ("'-- a' `/* b` \"*/\"", ["'-- a'", "`/* b`", '"*/"']),
        ("1 1.5 1e3 1.5E-3 2L 3.5BD 1.", ["1", "1.5", "1e3", "1.5E-3", "2L", "3.5BD", "1."]),
        ("a<=>b::c", ["a", "<", "=", ">", "b", ":", ":", "c"]),
        ("/*+ h(a) */ b", ["h", "(", "a", ")", "b"]),
    ],
)
def test_text_is_cut_into_tokens(text: str, pieces: list[str]) -> None:
    assert cut(text) == pieces


def test_a_quoted_name_says_what_it_names() -> None:
    (token,) = lex(SourceText("`a``b`", "a")).tokens
    assert (token.kind, token.name, token.upper) == (TokenKind.QUOTED, "a`b", "")


def test_comments_and_hints_are_blanked_and_everything_stays_in_its_place() -> None:
    text = "SELECT /*+ h */ a -- b\n/* c\r\nd */ , '--e'"
    reading = lex(SourceText(text, "a"))
    assert reading.text == "SELECT /*+ h */ a     \n    \r\n     , '--e'"
    assert reading.bare == "SELECT          a     \n    \r\n     , '--e'"
    assert [token.text for token in reading.plain] == ["SELECT", "a", ",", "'--e'"]


def test_a_dotted_name_is_found_by_where_it_starts() -> None:
    reading = lex(SourceText("SELECT a . `b`.c FROM d", "a"))
    assert [token.name for token in reading.chain(7)] == ["a", "b", "c"]
    assert [token.name for token in reading.chain(22)] == ["d"]
    assert reading.chain(8) == ()
    assert lex(SourceText("a.*", "a")).chain(0) == ()


@pytest.mark.parametrize(
    "text",
    ["'it''s'", "SELECT 1L, x'1F', `a` <=> 'b', ORDER BY c", "a || b -> c :: d", "1.5BD .5 1e-3"],
)
def test_the_parser_agrees_on_plain_text(text: str) -> None:
    assert disagreement(lex(SourceText(text, "a")).plain, Spark().tokenize(text)) is None


@pytest.mark.parametrize(
    ("seen_by_spark", "seen_by_parser"),
    [
        ("SELECT 'a'  , b", "SELECT 'a , b' "),
        ("SELECT a     b", "SELECT a --  b"),
        ("SELECT `a`", "SELECT 'a'"),
        ("SELECT ab", "SELECT a "),
        ("SELECT a", "SELECT a, b"),
        ("SELECT a, b", "SELECT a"),
        ("SELECT 'abc'", "SELECT  'bc'"),
        ("SELECT 'a' b", "SELECT 'a'  "),
    ],
)
def test_a_difference_between_the_two_readings_is_found(
    seen_by_spark: str, seen_by_parser: str
) -> None:
    assert (
        disagreement(lex(SourceText(seen_by_spark, "a")).plain, Spark().tokenize(seen_by_parser))
        is not None
    )


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_whatever_is_not_refused_is_cut_without_a_rest(text: str) -> None:
    try:
        reading = lex(SourceText(text, "a"))
    except BadPipeline:
        return
    assert len(reading.text) == len(reading.bare) == len(text)
    for token in reading.tokens:
        assert text[token.start : token.end] == token.text
    left = list(reading.bare)
    for token in reading.plain:
        left[token.start : token.end] = " " * (token.end - token.start)
    assert "".join(left).strip() == ""
