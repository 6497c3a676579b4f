"""Statements that change one table: what they do, to which table, and how they read on a branch."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.errors.source_text import SourceText
from lakebed.sql.parsing.lexer import LexedText, Token, lex

ChangeKind = Literal["insert", "update", "delete", "merge", "alter"]

_BEGINNINGS: tuple[tuple[tuple[str, ...], ChangeKind], ...] = (
    (("INSERT", "INTO", "TABLE"), "insert"),
    (("INSERT", "INTO"), "insert"),
    (("INSERT", "OVERWRITE", "TABLE"), "insert"),
    (("INSERT", "OVERWRITE"), "insert"),
    (("UPDATE",), "update"),
    (("DELETE", "FROM"), "delete"),
    (("MERGE", "INTO"), "merge"),
    (("ALTER", "TABLE"), "alter"),
)
_POSITION = re.compile(r"\bline (\d+)(,? pos(?:ition)? )(\d+)")
_AFTER_TARGET = {"SET", "WHERE", "USING", "ON"}  # what follows a target that has no alias
_ELSEWHERE = {
    "RENAME": ("TO", "lakebed table rename"),
    "CREATE": (None, "lakebed table tag, or clone --branch"),
    "REPLACE": ("BRANCH TAG", "lakebed table tag --replace"),
    "DROP": ("BRANCH TAG", "lakebed table untag"),
}


@dataclass(frozen=True)
class ChangeStatement:
    """One statement. `target` are the parts of the table's name as written."""

    kind: ChangeKind
    target: tuple[str, ...]
    _before: str
    _named: str  # the target as it was written
    _after: str
    _aliased: bool

    def on(self, place: str, *, alias: str) -> str:
        """The statement with another target, such as a branch, under an alias with the table's
        name.
        """
        return f"{self._before}{self._standing_in(place, alias)}{self._after}"

    def _standing_in(self, place: str, alias: str) -> str:
        """The text in place of the target."""
        return (
            f"{place} AS {alias}"
            if self.kind in {"update", "delete", "merge"} and not self._aliased
            else place
        )

    def with_own_positions(self, said: str, place: str, *, alias: str) -> str:
        """An engine's message about the statement `on` another target, with positions in the
        original statement.
        """
        there, own = self.on(place, alias=alias), f"{self._before}{self._named}{self._after}"
        longer = len(self._standing_in(place, alias)) - len(self._named)

        def moved(found: re.Match[str]) -> str:
            at = _offset(there, int(found[1]), int(found[3]))
            target = len(self._before)
            at = at if at < target else max(target, at - longer)
            line, column = _place(own, at)
            return f"line {line}{found[2]}{column}"

        return _POSITION.sub(moved, said)


def read_change(text: str) -> ChangeStatement:
    """Read one INSERT, UPDATE, DELETE, MERGE or ALTER TABLE; anything else is refused."""
    reading = lex(SourceText(text, "the statement"))
    tokens = reading.plain
    _refuse_several(reading, tokens)
    words = [token.upper for token in tokens[:3]]
    for beginning, kind in _BEGINNINGS:
        if tuple(words[: len(beginning)]) == beginning:
            return _taken_apart(reading, tokens, kind, at=len(beginning))
    raise reading.source.error_at(
        "this is not a statement that changes one table.",
        next="Write one INSERT, UPDATE, DELETE, MERGE or ALTER TABLE.",
    )


def _refuse_several(reading: LexedText, tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.upper == ";":
            raise reading.source.error_at(
                "there is more than one statement.", at=token.start, next="Run them one by one."
            )


def _taken_apart(
    reading: LexedText, tokens: Sequence[Token], kind: ChangeKind, *, at: int
) -> ChangeStatement:
    names = reading.chain(tokens[at].start) if at < len(tokens) else ()
    if not names:
        raise reading.source.error_at(
            "no table is named.", at=reading.end, next="Name one: namespace.layer.name"
        )
    rest = tokens[at + 2 * len(names) - 1 :]
    if kind == "alter":
        _refuse_elsewhere(reading, rest)
    aliased = bool(rest) and rest[0].is_name and rest[0].upper not in _AFTER_TARGET
    text = reading.text[: reading.end]
    start, end = names[0].start, names[-1].end
    return ChangeStatement(
        kind, tuple(name.name for name in names), text[:start], text[start:end], text[end:], aliased
    )


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at) - 1


def _refuse_elsewhere(reading: LexedText, rest: Sequence[Token]) -> None:
    """Refuse changes that Lakebed makes itself, with a lease and records."""
    first, second = [*(token.upper for token in rest[:2]), "", ""][:2]
    if first in _ELSEWHERE:
        words, command = _ELSEWHERE[first]
        if words is None or second in words.split():
            raise reading.source.error_at(
                "a table's name, tags and branches are changed elsewhere.", next=f"Use {command}."
            )
