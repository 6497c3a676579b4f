"""Splitting text into tokens exactly as Spark does.

The parser was made for many dialects and splits some text differently from Spark: nested comments,
`--` lines that end in a backslash, `ſelect`. An attacker could use such a difference to show the
parser one query and Spark another. So the text is split here first, by Spark's rules; what Spark
reads in a surprising way is refused; comments are blanked out.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from lakebed.errors import BadPipeline
from lakebed.errors.source_text import SourceText


class TokenKind(Enum):
    WORD = auto()  # a keyword or a bare name: Spark accepts nearly any keyword as a name
    QUOTED = auto()  # a name in backticks
    STRING = auto()  # raw and double-quoted ones too
    NUMBER = auto()
    SYMBOL = auto()  # one character; `<=>` is three of them


@dataclass(frozen=True)
class Token:
    """A piece of the text, from `start` up to `end`."""

    kind: TokenKind
    start: int
    end: int
    text: str

    @property
    def is_name(self) -> bool:
        return self.kind in (TokenKind.WORD, TokenKind.QUOTED)

    @property
    def name(self) -> str:
        """The name, without backticks."""
        return self.text[1:-1].replace("``", "`") if self.kind is TokenKind.QUOTED else self.text

    @property
    def upper(self) -> str:
        """A bare word in upper case, or a symbol; empty for quoted text."""
        return self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SYMBOL) else ""


@dataclass(frozen=True)
class LexedText:
    """Text split into tokens. Both texts keep every character at its offset."""

    source: SourceText
    tokens: tuple[Token, ...]  # including those of hints
    text: str  # comments blanked out
    bare: str  # comments and hints blanked out
    hints: tuple[tuple[int, int], ...]

    @cached_property
    def plain(self) -> tuple[Token, ...]:
        """The tokens of the query, without hints and final semicolon."""
        kept = [
            token
            for token in self.tokens
            if not any(start < token.start < end for start, end in self.hints)
        ]
        while kept and kept[-1].upper == ";":
            kept.pop()
        return tuple(kept)

    @property
    def end(self) -> int:
        """The end of the query: only space, comments and semicolons follow."""
        return self.plain[-1].end if self.plain else 0

    @cached_property
    def index_at(self) -> dict[int, int]:
        """The index of the plain token that starts at an offset."""
        return {token.start: index for index, token in enumerate(self.plain)}

    def chain(self, start: int) -> tuple[Token, ...]:
        """The names of the `a.b.c` that starts at this offset; empty where no name starts."""
        index = self.index_at.get(start, len(self.plain))
        parts = self.plain[index : index + 1]
        while [token.upper for token in self.plain[index + 1 : index + 2]] == ["."]:
            index += 2
            parts += self.plain[index : index + 1]
        return parts if all(part.is_name for part in parts) else ()


_SPACE = "[ \t\n\f\r\v\u00a0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]+"
_PATTERN = re.compile(
    rf"""
    (?P<space>{_SPACE})
  | (?P<line>--(?:\\\n|[^\r\n])*)
  | (?P<hint>/\*\+)
  | (?P<comment>/\*.*?(?:\*/|\Z))
  | (?P<end>\*/)
  | (?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|[rR]'[^']*'|[rR]"[^"]*")
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<number>[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?(?:BD|[LSYFD])?(?![A-Z0-9_.]))
  | (?P<word>[A-Z_][A-Z0-9_]*)
  | (?P<symbol>[;(),.\[\]!=<>+\-*/%~&|^:?])
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)
_KINDS = {
    "string": TokenKind.STRING,
    "quoted": TokenKind.QUOTED,
    "number": TokenKind.NUMBER,
    "word": TokenKind.WORD,
    "symbol": TokenKind.SYMBOL,
}
_LETTERS_AFTER_DIGITS = re.compile(r"[0-9]+\.?[0-9]*[A-Z_]", re.IGNORECASE | re.ASCII)


def lex(source: SourceText) -> LexedText:
    """Split the text as Spark does; refused where another reader could split it differently."""
    tokens: list[Token] = []
    comments: list[tuple[int, int]] = []
    hints: list[tuple[int, int]] = []
    at, hint = 0, -1
    while at < len(source.text):
        found = _PATTERN.match(source.text, at)
        if not found:
            raise _unreadable(source, at)
        kind, start, at = found.lastgroup or "", at, found.end()
        if kind == "comment":
            at = _end_of_comment(source, start)
        if kind in _KINDS:
            _refuse_strange(source, kind, found[0], start)
            tokens.append(Token(_KINDS[kind], start, at, found[0]))
        elif kind in ("line", "comment"):
            _refuse_odd_comment(source, source.text[start:at], start)
            comments.append((start, at))
        elif kind == "hint":
            if hint >= 0:
                raise source.error_at(
                    "a hint is inside another hint.", at=start, next="Close the first with */."
                )
            hint = start
        elif kind == "end":
            hints.append(_hint(source, hint, at))
            hint = -1
    if hint >= 0:
        raise source.error_at("the hint /*+ has no end.", at=hint, next="Close it with */.")
    text = _blanked(source.text, comments)
    return LexedText(source, tuple(tokens), text, _blanked(text, hints), tuple(hints))


def _hint(source: SourceText, start: int, end: int) -> tuple[int, int]:
    if start < 0:
        raise source.error_at(
            "there is a */ that closes nothing.",
            at=end - 2,
            next="Remove it, or put a space between * and /.",
        )
    return start, end


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with these spans blanked out; line breaks stay, so that lines keep their numbers."""
    for start, end in spans:
        text = text[:start] + re.sub(r"[^\r\n]", " ", text[start:end]) + text[end:]
    return text


def _end_of_comment(source: SourceText, start: int) -> int:
    """The offset after the */ that closes a comment; comments nest."""
    depth = 0
    for found in re.finditer(r"/\*|\*/", source.text[start:]):
        depth += 1 if found[0] == "/*" else -1
        if not depth:
            return start + found.end()
    raise source.error_at(
        "the comment /* has no end.", at=start, next="Close it with */, and each /* inside it."
    )


def _refuse_odd_comment(source: SourceText, comment: str, start: int) -> None:
    if comment.startswith("--"):
        if "\\\n" in comment:
            what = (
                "Spark reads on after a -- comment that ends in a backslash: the next line belongs"
                " to the comment."
            )
            raise source.error_at(what, at=start, next="Remove the backslash.")
        return
    inside = comment.find("/*+", 2)
    if inside >= 0:
        raise source.error_at(
            "a hint is inside a comment.", at=start + inside, next="Remove the inner /*+."
        )


def _refuse_strange(source: SourceText, kind: str, text: str, start: int) -> None:
    if kind == "word" and source.text.startswith("://", start + len(text)):
        raise source.error_at(
            "there is an address in the SQL.", at=start, next="If it is a text, quote it."
        )
    if kind == "number" and "." in text and text[-1] in "LSYlsy":
        raise source.error_at(
            f"{text} is not a number.", at=start, next="L, S and Y go with whole numbers."
        )


def _unreadable(source: SourceText, at: int) -> BadPipeline:
    char = source.text[at]
    if char in "'\"`":
        return source.error_at(
            f"the quote {char} is not closed.", at=at, next=f"Close it with {char}."
        )
    if _LETTERS_AFTER_DIGITS.match(source.text, at):
        return source.error_at(
            "a name begins with a digit.", at=at, next="Put backticks around it."
        )
    if char.isalpha():
        return source.error_at(
            f"a name without quotes contains the letter {char!r}.",
            at=at,
            next="Put backticks around the name.",
        )
    return source.error_at(
        f"the character {char!r} means nothing in Spark SQL.", at=at, next="Remove or quote it."
    )
