"""Spark's grammar of queries without Spark: whether it accepts a text, and where it would stop
reading.

`syntax.json` is made from the parser of the pinned Spark (`scripts/spark_facts.py`): for each rule
an automaton whose steps are tokens, other rules, and guards for the precedence of operators. What
Spark checks after parsing, such as two ORDER BY in one query, is not in its grammar and not known
here.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

END = -1
_State = tuple[bool, dict[int, int], tuple[tuple[int, int, int], ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Grammar:
    """Spark's rules and the numbers of its tokens."""

    rules: tuple[tuple[_State, ...], ...]  # the first is that of a whole query
    words: dict[str, int]
    signs: dict[str, int]
    kinds: dict[str, int]

    @cached_property
    def shown(self) -> dict[int, str]:
        """Keywords and symbols by number."""
        return {number: text for text, number in (*self.words.items(), *self.signs.items())}

    @cached_property
    def guarded(self) -> tuple[bool, ...]:
        """Whether a rule depends on the precedence it is used with."""
        return tuple(any(state[3] for state in rule) for rule in self.rules)

    @cached_property
    def empty(self) -> frozenset[int]:
        """Rules that match empty text."""
        found: set[int] = set()
        while more := {
            number
            for number in range(len(self.rules))
            if number not in found and self._ends_at_once(number, found)
        }:
            found |= more
        return frozenset(found)

    def _ends_at_once(self, rule: int, empty: set[int]) -> bool:
        seen, waiting = {0}, [0]
        while waiting:
            ends, _, calls, guards = self.rules[rule][waiting.pop()]
            if ends:
                return True
            targets = [
                *(to for called, _, to in calls if called in empty),
                *(to for _, to in guards),
            ]
            waiting += [to for to in targets if to not in seen]
            seen |= set(targets)
        return False

    @cached_property
    def first(self) -> tuple[frozenset[int], ...]:
        """The tokens that a rule can begin with."""
        found: list[set[int]] = [set() for _ in self.rules]
        changed = True
        while changed:
            changed = False
            for number in range(len(self.rules)):
                tokens = self._beginnings(number, found)
                changed, found[number] = changed or tokens != found[number], tokens
        return tuple(map(frozenset, found))

    def _beginnings(self, rule: int, first: list[set[int]]) -> set[int]:
        tokens, seen, waiting = set(first[rule]), {0}, [0]
        while waiting:
            _, moves, calls, guards = self.rules[rule][waiting.pop()]
            tokens |= moves.keys()
            for called, _, _ in calls:
                tokens |= first[called]
            targets = [
                *(to for called, _, to in calls if called in self.empty),
                *(to for _, to in guards),
            ]
            waiting += [to for to in targets if to not in seen]
            seen |= set(targets)
        return tokens


@cache
def grammar() -> Grammar:
    """The grammar of the pinned Spark."""
    held = json.loads((files("lakebed.sql") / "syntax.json").read_text())
    sets = [_tokens(ranges) for ranges in held["sets"]]
    rules = tuple(tuple(_state(state, sets) for state in rule) for rule in held["rules"])
    return Grammar(rules, held["words"], held["signs"], held["kinds"])


def _tokens(ranges: Sequence[int]) -> list[int]:
    return [
        token
        for first, last in zip(ranges[::2], ranges[1::2], strict=True)
        for token in range(first, last + 1)
    ]


def _state(held: Sequence[Any], sets: Sequence[Sequence[int]]) -> _State:
    ends, by_set, calls, guards = held
    moves = {token: target for number, target in by_set for token in sets[number]}
    return bool(ends), moves, tuple(map(tuple, calls)), tuple(map(tuple, guards))


@dataclass
class _Recogniser:
    """Recognises one text.

    `far` is the last token that any reading reached; `wanted` collects the tokens that would be
    accepted at `asked`.
    """

    grammar: Grammar
    tokens: Sequence[int]
    far: int = 0
    asked: int | None = None
    wanted: set[int] = field(default_factory=set)
    known: dict[tuple[int, int, int], tuple[int, ...]] = field(default_factory=dict)

    def ends(self, rule: int, precedence: int, at: int) -> tuple[int, ...]:
        """All positions where a rule that begins at a token can end."""
        key = (rule, precedence if self.grammar.guarded[rule] else 0, at)
        if (answer := self.known.get(key)) is not None:
            return answer
        states = self.grammar.rules[rule]
        found: set[int] = set()
        waiting = [(0, at)]
        seen = {(0, at)}
        while waiting:
            number, here = waiting.pop()
            if states[number][0]:
                found.add(here)
            for one in self._reached(states[number], here, precedence):
                if one not in seen:
                    seen.add(one)
                    waiting.append(one)
        answer = self.known[key] = tuple(found)
        return answer

    def _reached(self, state: _State, here: int, precedence: int) -> list[tuple[int, int]]:
        """The states and tokens that can be next."""
        token, first, empty = self.tokens[here], self.grammar.first, self.grammar.empty
        _, moves, calls, guards = state
        self.far = max(self.far, here)
        if here == self.asked:
            self.wanted.update(moves, *(first[called] for called, _, _ in calls))
        reached = [(target, here) for level, target in guards if level >= precedence]
        if (target := moves.get(token)) is not None:
            reached.append((target, here + 1))
        for called, level, target in calls:
            if token in first[called] or called in empty:
                reached += [(target, end) for end in self.ends(called, level, here)]
        return reached


@dataclass(frozen=True)
class SyntaxStop:
    """Where Spark stops reading: the index of the token (past the last if the text ends too early),
    and what it expects.
    """

    at: int
    wanted: tuple[str, ...]


def find_stop(tokens: Sequence[int]) -> SyntaxStop | None:
    """Where Spark stops reading a query, given the numbers of its tokens; None if it
    accepts them.
    """
    found = grammar()
    following = _Recogniser(found, (*tokens, END))
    if len(tokens) in following.ends(0, 0, 0):
        return None
    following = _Recogniser(found, (*tokens, END), asked=following.far)
    following.ends(0, 0, 0)
    shown = sorted(found.shown[token] for token in following.wanted if token in found.shown)
    names = {found.kinds["IDENTIFIER"], found.kinds["INTEGER_VALUE"]} & following.wanted
    return SyntaxStop(following.far, () if names else tuple(shown))
