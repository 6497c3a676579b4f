"""Tokens with the numbers of Spark's lexer."""

import re
from collections.abc import Iterator, Sequence

from lakebed.sql.parsing.lexer import LexedText, Token, TokenKind
from lakebed.sql.parsing.syntax import Grammar, grammar

_SAME_WORD = {"REGEXP": "RLIKE", "TEMP": "TEMPORARY"}
_SAME_SIGN = {"=": "EQ", "==": "EQ", "<=": "LTE", "!>": "LTE", ">=": "GTE", "!<": "GTE"}
_LONGEST_SIGN = 3
_NUMBERS = (
    ("BIGDECIMAL_LITERAL", re.compile(r".*BD", re.IGNORECASE)),
    ("BIGINT_LITERAL", re.compile(r"\d+L", re.IGNORECASE)),
    ("SMALLINT_LITERAL", re.compile(r"\d+S", re.IGNORECASE)),
    ("TINYINT_LITERAL", re.compile(r"\d+Y", re.IGNORECASE)),
    ("FLOAT_LITERAL", re.compile(r".*F", re.IGNORECASE)),
    ("DOUBLE_LITERAL", re.compile(r".*D", re.IGNORECASE)),
    ("EXPONENT_VALUE", re.compile(r".*E[+-]?\d+", re.IGNORECASE)),
    ("DECIMAL_VALUE", re.compile(r".*\..*")),
    ("INTEGER_VALUE", re.compile(r"\d+")),
)
_OPENS_TYPE = {"ARRAY", "MAP", "STRUCT"}  # while one is open, >> closes two


Numbered = tuple[int, int, int]  # the number, start and end


def spark_tokens(reading: LexedText) -> list[Numbered]:
    """The tokens of a query and its hints, as Spark's parser gets them."""
    found = grammar()
    marks = {start: "/*+" for start, _ in reading.hints} | {
        end - 2: "*/" for _, end in reading.hints
    }
    placed = [(found.signs[text], at, at + len(text)) for at, text in marks.items()]
    placed += _numbered([token for token in reading.tokens if token.start < reading.end], found)
    return sorted(placed, key=lambda one: one[1])


def _numbered(tokens: Sequence[Token], found: Grammar) -> Iterator[Numbered]:
    index, opened = 0, 0
    while index < len(tokens):
        token, length = tokens[index], 1
        if token.kind is TokenKind.SYMBOL:
            number, length = _sign(tokens, index, found, in_type=opened > 0)
        else:
            number = _number(token, found)
        last = tokens[index + length - 1]
        opened += token.upper in _OPENS_TYPE
        opened -= opened > 0 and number == found.signs[">"]
        yield number, token.start, last.end
        index += length


def _number(token: Token, found: Grammar) -> int:
    match token.kind:
        case TokenKind.WORD:
            word = _SAME_WORD.get(token.upper, token.upper)
            return found.words.get(word, found.kinds["IDENTIFIER"])
        case TokenKind.QUOTED:
            return found.kinds["BACKQUOTED_IDENTIFIER"]
        case TokenKind.NUMBER:
            return found.kinds[_number_kind(token.text)]
        case _:
            return found.kinds[
                "DOUBLEQUOTED_STRING" if token.text.endswith('"') else "STRING_LITERAL"
            ]


def _number_kind(text: str) -> str:
    return next(kind for kind, pattern in _NUMBERS if pattern.fullmatch(text))


def _sign(tokens: Sequence[Token], index: int, found: Grammar, *, in_type: bool) -> tuple[int, int]:
    """The longest symbol that begins here, and its length; `.5` is a number."""
    text = "".join(token.text for token in _touching(tokens, index))
    if text == "." and index + 1 < len(tokens) and _is_fraction(tokens[index], tokens[index + 1]):
        return found.kinds[_number_kind(f".{tokens[index + 1].text}")], 2
    for length in range(len(text), 0, -1):
        sign = text[:length]
        if in_type and sign in (">>", ">>>"):
            continue
        number = found.kinds[_SAME_SIGN[sign]] if sign in _SAME_SIGN else found.signs.get(sign)
        if number is not None:
            return number, length
    return found.kinds["UNRECOGNIZED"], 1


def _touching(tokens: Sequence[Token], index: int) -> Iterator[Token]:
    """The adjacent symbols from here on."""
    for at in range(index, min(index + _LONGEST_SIGN, len(tokens))):
        if tokens[at].kind is not TokenKind.SYMBOL or (
            at > index and tokens[at].start != tokens[at - 1].end
        ):
            return
        yield tokens[at]


def _is_fraction(dot: Token, after: Token) -> bool:
    return after.kind is TokenKind.NUMBER and after.start == dot.end and "." not in after.text
