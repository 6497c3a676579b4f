"""A PIVOT whose values are in the data: DuckDB makes statements of it, and gives a tree of none of them.

The same text with values in it is one SELECT that reads the same tables, so its tree stands in. Queries for the values
(`ON column IN (SELECT …)`) are read by themselves: DuckDB does the same, and no name of WITH reaches into them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.query.parsing.query_text import Piece, position_before

_PIVOTS = {"PIVOT", "PIVOT_WIDER"}
_OPENING, _CLOSING = {"(", "[", "{", "CASE"}, {")", "]", "}", "END"}
_AFTER = {"USING", "GROUP"}  # what may come after the columns
_BEYOND = {"ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT", "INTERSECT", ";"}  # what is no part of the PIVOT any more
_QUERIES = {"SELECT", "FROM", "WITH", "TABLE", "VALUES", "DESCRIBE", "SUMMARIZE", "SHOW", *_PIVOTS}


@dataclass(frozen=True)
class Word:
    """A word or a sign of a text, in capitals, and where it begins; what is a name or a value says nothing here."""

    text: str
    start: int


@dataclass(frozen=True)
class NamedPivots:
    """What to change so that every PIVOT has values, and where the queries stand that were taken out."""

    pieces: tuple[Piece, ...]
    queries: tuple[tuple[int, int], ...]


def with_values(words: Sequence[Word]) -> NamedPivots:
    """Values for every PIVOT that has none. The last word is empty, at the end of the text."""
    pieces: list[Piece] = []
    queries: list[tuple[int, int]] = []
    for index, word in enumerate(words):
        taken_out = bool(queries) and word.start < queries[-1][1]
        if word.text in _PIVOTS and not taken_out and not _is_clause(words, index):
            for first, end in _columns(words, index):
                query = _query(words, first, end)
                header, until = (words[query[0]].start, words[end].start) if query else (words[end].start,) * 2
                pieces += [Piece(words[first].start, words[first].start, "("), Piece(header, until, "\n) IN (0) ")]
                queries += [(words[query[1]].start + 1, words[query[2]].start)] if query else []
    return NamedPivots(tuple(pieces), tuple(queries))


def with_former_places(tree: Any, text: str, pieces: Sequence[Piece]) -> Any:
    """A tree of the changed text with places of the text before."""
    if isinstance(tree, list):
        return [with_former_places(part, text, pieces) for part in tree]
    if not isinstance(tree, dict):
        return tree
    found = {key: with_former_places(part, text, pieces) for key, part in tree.items()}
    at = tree.get("query_location")
    if isinstance(at, int) and at < 1 << 62:  # no place is a very large number
        found["query_location"] = position_before(text, pieces, at)
    return found


def _is_clause(words: Sequence[Word], index: int) -> bool:
    """Whether it is the other PIVOT, of a FROM, which always has values; or a name after AS."""
    if index and words[index - 1].text in ("AS", "."):
        return True
    return words[index + 1].text == "(" and any(words[at].text == "FOR" for at in _same_level(words, index + 2))


def _columns(words: Sequence[Word], index: int) -> Iterator[tuple[int, int]]:
    """The columns after ON that have no values: from which word to which. A join's ON comes before."""
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
    """Words that are in no further brackets, with the one that closes these, or the last."""
    depth = 0
    for at in range(first, len(words)):
        depth -= words[at].text in _CLOSING
        if depth <= 0:
            yield at
        if depth < 0:
            return
        depth += words[at].text in _OPENING


def _in(words: Sequence[Word], first: int, end: int) -> int | None:
    """Where the IN of a column stands."""
    return next((at for at in _same_level(words, first) if at < end and words[at].text == "IN"), None)


def _has_values(words: Sequence[Word], first: int, end: int) -> bool:
    return _in(words, first, end) is not None and _query(words, first, end) is None


def _query(words: Sequence[Word], first: int, end: int) -> tuple[int, int, int] | None:
    """The IN before a query of values, and the brackets around it."""
    at = _in(words, first, end)
    if at is None or words[at + 1].text != "(" or words[at + 2].text not in _QUERIES:
        return None
    *_, closing = _same_level(words, at + 2)
    return at, at + 1, closing
