"""A PIVOT whose values are in the data: DuckDB turns it into several statements and gives a tree of
none of them.

The same text with values in it is one SELECT that reads the same tables, so its tree is used
instead. Queries for the values (`ON column IN (SELECT …)`) are parsed separately, as DuckDB does;
names of WITH are not visible in them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.query.parsing.query_text import Piece, position_before

_PIVOTS = {"PIVOT", "PIVOT_WIDER"}
_OPENING, _CLOSING = {"(", "[", "{", "CASE"}, {")", "]", "}", "END"}
_AFTER = {"USING", "GROUP"}  # what may follow the columns
_BEYOND = {
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    ";",
}  # what no longer belongs to the PIVOT
_QUERIES = {"SELECT", "FROM", "WITH", "TABLE", "VALUES", "DESCRIBE", "SUMMARIZE", "SHOW", *_PIVOTS}


@dataclass(frozen=True)
class Word:
    """A keyword or symbol in upper case, and where it begins.

    Names and literals have an empty text.
    """

    text: str
    start: int


@dataclass(frozen=True)
class NamedPivots:
    """The changes that give every PIVOT values, and where the removed queries are."""

    pieces: tuple[Piece, ...]
    queries: tuple[tuple[int, int], ...]


def with_values(words: Sequence[Word]) -> NamedPivots:
    """Gives values to every PIVOT that has none.

    The last word must be empty, at the end of the text.
    """
    pieces: list[Piece] = []
    queries: list[tuple[int, int]] = []
    for index, word in enumerate(words):
        taken_out = bool(queries) and word.start < queries[-1][1]
        if word.text in _PIVOTS and not taken_out and not _is_clause(words, index):
            for first, end in _columns(words, index):
                query = _query(words, first, end)
                header, until = (
                    (words[query[0]].start, words[end].start) if query else (words[end].start,) * 2
                )
                pieces += [
                    Piece(words[first].start, words[first].start, "("),
                    Piece(header, until, "\n) IN (0) "),
                ]
                queries += [(words[query[1]].start + 1, words[query[2]].start)] if query else []
    return NamedPivots(tuple(pieces), tuple(queries))


def with_former_places(tree: Any, text: str, pieces: Sequence[Piece]) -> Any:
    """A tree of the changed text, with positions in the original text."""
    if isinstance(tree, list):
        return [with_former_places(part, text, pieces) for part in tree]
    if not isinstance(tree, dict):
        return tree
    found = {key: with_former_places(part, text, pieces) for key, part in tree.items()}
    at = tree.get("query_location")
    if isinstance(at, int) and at < 1 << 62:  # a very large number means no position
        found["query_location"] = position_before(text, pieces, at)
    return found


def _is_clause(words: Sequence[Word], index: int) -> bool:
    """Whether it is the PIVOT clause of a FROM, which always has values, or a name after AS."""
    if index and words[index - 1].text in ("AS", "."):
        return True
    return words[index + 1].text == "(" and any(
        words[at].text == "FOR" for at in _same_level(words, index + 2)
    )


def _columns(words: Sequence[Word], index: int) -> Iterator[tuple[int, int]]:
    """The columns after ON that have no values, as ranges of words.

    The ON of a join comes earlier.
    """
    level = []
    for at in _same_level(words, index + 1):
        level.append(at)
        if words[at].text in _BEYOND:
            break
    ons = [place for place, at in enumerate(level) if words[at].text == "ON"]
    if not ons:
        return
    first = level[ons[-1]] + 1
    for at in level[ons[-1] + 1 :]:
        ends = words[at].text in _AFTER | _BEYOND or at == level[-1]
        if ends or words[at].text == ",":
            if first < at and not _has_values(words, first, at):
                yield first, at
            first = at + 1
        if ends:
            return


def _same_level(words: Sequence[Word], first: int) -> Iterator[int]:
    """The words on the same bracket level, up to the closing bracket or the last word."""
    depth = 0
    for at in range(first, len(words)):
        depth -= words[at].text in _CLOSING
        if depth <= 0:
            yield at
        if depth < 0:
            return
        depth += words[at].text in _OPENING


def _in(words: Sequence[Word], first: int, end: int) -> int | None:
    """The position of a column's IN."""
    return next(
        (at for at in _same_level(words, first) if at < end and words[at].text == "IN"), None
    )


def _has_values(words: Sequence[Word], first: int, end: int) -> bool:
    return _in(words, first, end) is not None and _query(words, first, end) is None


def _query(words: Sequence[Word], first: int, end: int) -> tuple[int, int, int] | None:
    """The positions of the IN before a query for values and of the brackets around it."""
    at = _in(words, first, end)
    if at is None or words[at + 1].text != "(" or words[at + 2].text not in _QUERIES:
        return None
    *_, closing = _same_level(words, at + 2)
    return at, at + 1, closing
