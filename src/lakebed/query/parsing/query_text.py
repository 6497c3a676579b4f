"""The text of a query: names and clauses in it, found by the positions that the engine gives."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lakebed.errors import BadQuery
from lakebed.names import CATALOG, ForeignName, TableName, duckdb_identifier

BLANK = (
    r"(?:\s|--[^\n]*+|/\*.*?\*/)*+"  # possessive, or a long run of blanks would be backtracked into
)
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
_SURROGATE = re.compile("[\ud800-\udfff]")


def require_utf8(*values: object) -> None:
    """`BadQuery` for a text that cannot be written in UTF-8, in lists and structs too."""
    for value in values:
        if isinstance(value, Mapping):
            require_utf8(*value.keys(), *value.values())
        elif isinstance(value, list | tuple | set | frozenset):
            require_utf8(*value)
        elif isinstance(value, str) and (half := _SURROGATE.search(value)):
            raise BadQuery(
                f"{half[0]!r} is half a character: a surrogate without its other half.",
                next="Write the whole character; read texts with the encoding that they have.",
            )


@dataclass(frozen=True)
class Piece:
    """A piece of a text, and its replacement."""

    start: int
    end: int
    text: str


def replaced(text: str, pieces: Iterable[Piece]) -> str:
    """The text with these pieces replaced."""
    for piece in sorted(pieces, key=lambda piece: piece.start, reverse=True):
        text = text[: piece.start] + piece.text + text[piece.end :]
    return text


def position_before(text: str, pieces: Iterable[Piece], position: int) -> int:
    """A position of the replaced text in the original text."""
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if position <= piece.start:
            break
        length = piece.end - piece.start
        position = (
            piece.start
            if position < piece.start + len(piece.text)
            else position + length - len(piece.text)
        )
    return min(position, len(text))


def characters(text: str, byte: int) -> int:
    """The position in characters for one in bytes, which the engine counts."""
    return len(text.encode()[:byte].decode(errors="ignore"))


def name_end(text: str, start: int, parts: Iterable[str]) -> int | None:
    """Where the dotted name that begins at `start` ends; None if another name is there."""
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
    """The `AT (…)` after a table's name or its alias, as start and end."""
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
    """The text with hyphenated table names quoted; only for text that does not parse otherwise."""
    hyphened = [table for table in tables if "-" in "".join(table.parts)]
    spellings = {
        ".".join(table.parts[first:]).casefold(): table.parts[first:]
        for table in hyphened
        for first in (0, 1, 2)
    }
    if not spellings:
        return text
    names = "|".join(
        re.escape(name) for name in sorted(spellings, key=len, reverse=True) if "-" in name
    )
    pattern = re.compile(
        rf"{_SKIPPED}|(?<![\w.$-])(?P<name>{names})(?![\w$-]|\.\w)", re.DOTALL | re.IGNORECASE
    )

    def quoted(match: re.Match[str]) -> str:
        if not match["name"] or not _BEFORE_TABLE.search(text[: match.start()]):
            return match[0]
        return ".".join(map(duckdb_identifier, spellings[match["name"].casefold()]))

    return pattern.sub(quoted, text)


def named_parts(text: str) -> tuple[str, ...]:
    """The parts of a dotted name, quoted or not; empty if it is no name."""
    found = _DOTTED.fullmatch(text)
    return tuple(_unquoted(part) for part in _PART_OF_TEXT.findall(text)) if found else ()


def with_deep_names(text: str, tables: Collection[TableName]) -> str:
    """The text with table names of more than three parts written in three, as DuckDB needs.

    The catalog may come first.
    """

    def shortened(match: re.Match[str]) -> str:
        parts = _parts(match["deep"]) if match["deep"] else ()
        has_catalog = len(parts) == 4 and parts[0].casefold() == CATALOG
        name = parts[1:] if has_catalog else parts
        found = [
            table for table in tables if name and (table.ends_with(parts) or table.ends_with(name))
        ]
        found = [table for table in found if not isinstance(table, ForeignName)] or found
        return found[0].duckdb if len(found) == 1 else match[0]

    return _DEEP.sub(shortened, text)


def deep_name(text: str) -> tuple[str, ...]:
    """The first name after FROM or JOIN that has more than three parts."""
    for match in _DEEP.finditer(text):
        if match["deep"] and re.search(
            r"\b(?:from|join)\s*$", text[: match.start()], re.IGNORECASE
        ):
            return _parts(match["deep"])
    return ()


def _parts(name: str) -> tuple[str, ...]:
    return tuple(
        _unquoted(found["part"]) for found in _PART_OR_COMMENT.finditer(name) if found["part"]
    )


def text_end(text: str, start: int) -> int | None:
    """Where the text literal that begins at `start` ends; None if there is none."""
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
