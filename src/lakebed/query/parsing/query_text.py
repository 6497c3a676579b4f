"""The text of a query: names and clauses in it, found from where the engine says that they begin."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from lakebed.names import CATALOG, ForeignName, TableName, duckdb_identifier

BLANK = r"(?:\s|--[^\n]*+|/\*.*?\*/)*+"  # never given back, or a long row of blanks would be tried in every way
_BLANK = re.compile(BLANK, re.DOTALL)
_PART = re.compile(r'"(?:[^"]|"")*"|[^\W\d][\w$]*')
_TABLE_FOLLOWS = r"from|join|(?:un)?pivot(?:_wider|_longer)?|describe|desc|summarize|show|table"
_BEFORE_TABLE = re.compile(rf"(?:\b(?:{_TABLE_FOLLOWS})|,)\s*$", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^']|'')*'")
_PART_OF_TEXT = re.compile(r'"(?:[^"]|"")*"|[^."]+')
_DOTTED = re.compile(rf"(?:{_PART_OF_TEXT.pattern})(?:\.(?:{_PART_OF_TEXT.pattern}))*")
_PART_OR_COMMENT = re.compile(rf"(?P<part>{_PART.pattern})|--[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[\w$.]+|.", re.DOTALL)
_DEEP = re.compile(
    rf"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$|(?P<deep>(?:{_PART.pattern})(?:{BLANK}\.{BLANK}(?:{_PART.pattern})){{3,}})|{_PART.pattern}",
    re.DOTALL,
)
_SKIPPED = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$"


@dataclass(frozen=True)
class Piece:
    """A piece of a text, and what stands in its place."""

    start: int
    end: int
    text: str


def replaced(text: str, pieces: Iterable[Piece]) -> str:
    """The text with other words in these places; the rest is as it was."""
    for piece in sorted(pieces, key=lambda piece: piece.start, reverse=True):
        text = text[: piece.start] + piece.text + text[piece.end :]
    return text


def position_before(text: str, pieces: Iterable[Piece], position: int) -> int:
    """Where a position of the replaced text was in the text before."""
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if position <= piece.start:
            break
        length = piece.end - piece.start
        position = piece.start if position < piece.start + len(piece.text) else position + length - len(piece.text)
    return min(position, len(text))


def characters(text: str, byte: int) -> int:
    """The engine counts bytes; we count characters."""
    return len(text.encode()[:byte].decode(errors="ignore"))


def name_end(text: str, start: int, parts: Iterable[str]) -> int | None:
    """Where the dotted name that begins there ends; None if it is not this name that stands there."""
    at = start
    for index, part in enumerate(parts):
        if index:
            at = _after_blank(text, at)
            if text[at : at + 1] != ".":
                return None
            at = _after_blank(text, at + 1)
        found = _PART.match(text, at)
        if found is None or _unquoted(found[0]) != part:
            return None
        at = found.end()
    return at


def at_clause(text: str, start: int) -> tuple[int, int] | None:
    """The next `AT (…)` from there on: it comes after a table's name, or after its alias."""
    at = _after_blank(text, start)
    for _ in range(3):  # AS, an alias, and the clause itself
        word = _PART.match(text, at)
        if word is None:
            return None
        after = _after_blank(text, word.end())
        if word[0].upper() == "AT" and text[after : after + 1] == "(":
            end = _closing(text, after)
            return (at, end) if end else None
        at = after
    return None


def _closing(text: str, opened: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, opened):
        depth += (token[0] == "(") - (token[0] == ")")
        if depth == 0:
            return token.end()
    return 0


def with_hyphens_quoted(text: str, tables: Iterable[TableName]) -> str:
    """The text with hyphenated names of tables quoted where tables stand; only for text that is no SQL otherwise."""
    hyphened = [table for table in tables if "-" in "".join(table.parts)]
    spellings = {".".join(table.parts[first:]).casefold(): table.parts[first:] for table in hyphened for first in (0, 1, 2)}
    if not spellings:
        return text
    names = "|".join(re.escape(name) for name in sorted(spellings, key=len, reverse=True) if "-" in name)
    pattern = re.compile(rf"{_SKIPPED}|(?<![\w.$-])(?P<name>{names})(?![\w$-]|\.\w)", re.DOTALL | re.IGNORECASE)

    def quoted(match: re.Match[str]) -> str:
        if not match["name"] or not _BEFORE_TABLE.search(text[: match.start()]):
            return match[0]
        return ".".join(map(duckdb_identifier, spellings[match["name"].casefold()]))

    return pattern.sub(quoted, text)


def named_parts(text: str) -> tuple[str, ...]:
    """The parts of a name that stands in a text, quoted or not; none if it is no name."""
    found = _DOTTED.fullmatch(text)
    return tuple(_unquoted(part) for part in _PART_OF_TEXT.findall(text)) if found else ()


def with_deep_names(text: str, tables: Collection[TableName]) -> str:
    """The text with names of tables that have more parts than DuckDB takes in three; the catalog may stand before them."""

    def shortened(match: re.Match[str]) -> str:
        parts = _parts(match["deep"]) if match["deep"] else ()
        meant = parts[1:] if len(parts) == 4 and parts[0].casefold() == CATALOG else parts
        found = [table for table in tables if meant and (table.ends_with(parts) or table.ends_with(meant))]
        found = [table for table in found if not isinstance(table, ForeignName)] or found
        return found[0].duckdb if len(found) == 1 else match[0]

    return _DEEP.sub(shortened, text)


def deep_name(text: str) -> tuple[str, ...]:
    """The first name after FROM or JOIN that has more than three parts."""
    for match in _DEEP.finditer(text):
        if match["deep"] and re.search(r"\b(?:from|join)\s*$", text[: match.start()], re.IGNORECASE):
            return _parts(match["deep"])
    return ()


def _parts(name: str) -> tuple[str, ...]:
    return tuple(_unquoted(found["part"]) for found in _PART_OR_COMMENT.finditer(name) if found["part"])


def text_end(text: str, start: int) -> int | None:
    """Where the text between single quotes that begins there ends; None if none stands there."""
    found = _TEXT.match(text, start)
    return found.end() if found else None


def line_at(text: str, position: int) -> tuple[int, str]:
    """The number of a line, from 1, and the line itself."""
    number = text.count("\n", 0, position) + 1
    return number, text.split("\n")[number - 1]


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part
