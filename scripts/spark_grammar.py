"""Spark's own grammar of queries, taken out of its parser: per rule a small automaton, as
`lakebed/sql/syntax.json` has it.

Spark's parser carries its grammar as a network of states (ANTLR's ATN). This keeps the rules that a
query can reach, takes small rules into those that use them, and makes each deterministic, so that
Python can follow them quickly.
"""

import re
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

ENTRY = "query"
EOF = -1
_EPSILON, _RANGE, _RULE, _PREDICATE, _ATOM, _ACTION, _SET, _WILDCARD, _PRECEDENCE = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    9,
    10,
)
_LOOP_END, _BLOCKS = 12, (3, 4, 5)
_SMALL = 60  # edges of a rule that is taken into its users

_SEVERAL_SPELLINGS = (
    "RLIKE",
    "TEMPORARY",
)  # words without a spelling of their own in the vocabulary

Label = tuple[Any, ...]  # ("token", 5), ("rule", 17, 0), ("guard", 3), or ("go",)
Edges = dict[int, list[tuple[Label, int]]]


@dataclass
class Rule:
    """One rule as a network: from `start` to `stop`."""

    start: int
    stop: int
    edges: Edges


def words_of(serialized: str) -> list[int]:
    """The numbers in the text that a generated parser carries: 16 bits each, larger ones in two."""
    halves = [
        half
        for (half,) in struct.iter_unpack(">H", serialized.encode("utf-16-be", "surrogatepass"))
    ]
    found, at = [], 0
    while at < len(halves):
        high, wide = halves[at], halves[at] & 0x8000
        if not wide:
            found.append(high)
        else:
            low = halves[at + 1]
            found.append(-1 if high == low == 0xFFFF else (high & 0x7FFF) << 16 | low)
        at += 2 if wide else 1
    return found


def read_network(numbers: list[int], holds: Callable[[int, int], bool]) -> list[Rule]:
    """Every rule of the grammar; `holds` says what a predicate (rule, number) answers in Spark as
    it is set.
    """
    take: Callable[[], int] = iter(numbers).__next__
    take(), take(), take()
    kinds = [_state(take) for _ in range(take())]
    for _ in range(2):
        [take() for _ in range(take())]
    starts = [take() for _ in range(take())]
    [take() for _ in range(take())]
    sets = [_set(take) for _ in range(take())]
    edges: Edges = {}
    for _ in range(take()):
        source, target, kind, one, two, three = (take() for _ in range(6))
        for label in _labels(kind, one, two, three, sets, holds):
            edges.setdefault(source, []).append((label, target))
    stops = {rule: at for at, (kind, rule) in enumerate(kinds) if kind == 7}
    owner = {at: rule for at, (_, rule) in enumerate(kinds)}
    return [
        Rule(
            start,
            stops[rule],
            {at: found for at, found in edges.items() if owner[at] == rule and at != stops[rule]},
        )
        for rule, start in enumerate(starts)
    ]


def _state(take: Callable[[], int]) -> tuple[int, int]:
    kind = take()
    if kind == 0:
        return 0, -1
    rule = take()
    if kind == _LOOP_END or kind in _BLOCKS:
        take()
    return kind, rule


def _set(take: Callable[[], int]) -> list[int]:
    count, with_end = take(), take()
    found = [token for _ in range(count) for token in range(take(), take() + 1)]
    return [EOF, *found] if with_end else found


def _labels(
    kind: int,
    one: int,
    two: int,
    three: int,
    sets: list[list[int]],
    holds: Callable[[int, int], bool],
) -> Iterator[Label]:
    match kind:
        case 3:  # _RULE
            yield ("rule", two, three)
        case 5:  # _ATOM
            yield ("token", EOF if three else one)
        case 2:  # _RANGE
            yield from (("token", token) for token in range(one, two + 1))
        case 7:  # _SET
            yield from (("token", token) for token in sets[one])
        case 10:  # _PRECEDENCE
            yield ("guard", one)
        case 4:  # _PREDICATE
            if holds(one, two):
                yield ("go",)
        case 1 | 6:
            yield ("go",)


def compact(
    rules: list[Rule], names: list[str], banned: Iterable[tuple[str, int]]
) -> dict[str, Any]:
    """The rules that the entry reaches, each deterministic, small ones taken into others; `banned`
    tokens are left out.
    """
    for name, token in banned:
        rule = rules[names.index(name)]
        rule.edges = {
            at: [edge for edge in found if edge[0] != ("token", token)]
            for at, found in rule.edges.items()
        }
    _take_in(rules)
    automata: dict[str, Any] = {}
    waiting = [names.index(ENTRY)]
    while waiting:
        number = waiting.pop()
        if names[number] not in automata:
            automata[names[number]] = states = _deterministic(rules[number])
            waiting += [label[1] for state in states for label in state["go"] if label[0] == "rule"]
    return _written(automata, names)


def _calls(rule: Rule) -> set[int]:
    return {label[1] for found in rule.edges.values() for label, _ in found if label[0] == "rule"}


def _take_in(rules: list[Rule]) -> None:
    """Put small rules that call no other in place of their calls, until nothing changes."""
    fresh = max(at for rule in rules for at in (*rule.edges, rule.stop)) + 1
    done: set[int] = set()
    while True:
        small = {
            number
            for number, rule in enumerate(rules)
            if number not in done
            and not _calls(rule)
            and not _guarded(rule)
            and _size(rule) <= _SMALL
        }
        if not small:
            return
        for rule in rules:
            for at in list(rule.edges):
                for index, (label, target) in enumerate(rule.edges[at]):
                    if label[0] == "rule" and label[1] in small:
                        start, fresh = _copied(rules[label[1]], rule, target, fresh)
                        rule.edges[at][index] = (("go",), start)
        done |= small


def _copied(inner: Rule, rule: Rule, after: int, fresh: int) -> tuple[int, int]:
    """Put a copy of a rule into another, to go on at `after`; where it starts, and the next number
    that is free.
    """
    moved = {
        old: fresh + index
        for index, old in enumerate(sorted({*inner.edges, *_targets(inner), inner.stop}))
    }
    for old, found in inner.edges.items():
        rule.edges[moved[old]] = [(one, moved[to]) for one, to in found]
    rule.edges[moved[inner.stop]] = [(("go",), after)]
    return moved[inner.start], fresh + len(moved)


def _targets(rule: Rule) -> set[int]:
    return {rule.start} | {target for found in rule.edges.values() for _, target in found}


def _guarded(rule: Rule) -> bool:
    return any(label[0] == "guard" for found in rule.edges.values() for label, _ in found)


def _size(rule: Rule) -> int:
    """Edges, where many tokens between two states count as one."""
    return sum(
        len({(label if label[0] != "token" else "token", target) for label, target in found})
        for found in rule.edges.values()
    )


def _closure(rule: Rule, states: Iterable[int]) -> frozenset[int]:
    found, waiting = set(states), list(states)
    while waiting:
        for label, target in rule.edges.get(waiting.pop(), ()):
            if label == ("go",) and target not in found:
                found.add(target)
                waiting.append(target)
    return frozenset(found)


def _deterministic(rule: Rule) -> list[dict[str, Any]]:
    first = _closure(rule, [rule.start])
    numbers, waiting, states = {first: 0}, [first], []
    while waiting:
        present = waiting.pop(0)
        moves: dict[Label, set[int]] = {}
        for at in present:
            for label, target in rule.edges.get(at, ()):
                if label != ("go",):
                    moves.setdefault(label, set()).add(target)
        go = {}
        for label in sorted(moves):
            reached = _closure(rule, moves[label])
            if reached not in numbers:
                numbers[reached] = len(numbers)
                waiting.append(reached)
            go[label] = numbers[reached]
        states.append({"ends": rule.stop in present, "go": go})
    return _merged(states)


def _merged(states: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same automaton without states that do the same."""
    group = [int(state["ends"]) for state in states]
    while True:
        keys = [
            (group[at], tuple(sorted((label, group[to]) for label, to in state["go"].items())))
            for at, state in enumerate(states)
        ]
        order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        found = [order[key] for key in keys]
        if found == group:
            break
        group = found
    kept = {number: states[at] for at, number in reversed(list(enumerate(group)))}
    return [
        {"ends": kept[n]["ends"], "go": {label: group[to] for label, to in kept[n]["go"].items()}}
        for n in sorted(kept)
    ]


def _written(automata: dict[str, list[dict[str, Any]]], names: list[str]) -> dict[str, Any]:
    """Plain lists: a state is [ends, [[set, state] …], [[rule, precedence, state] …], [[guard,
    state] …]].
    """
    order = {
        name: number
        for number, name in enumerate(sorted(automata, key=lambda name: (name != ENTRY, name)))
    }
    sets: dict[tuple[int, ...], int] = {}
    rules = []
    for name in order:
        states = []
        for state in automata[name]:
            tokens: dict[int, list[int]] = {}
            for label, target in state["go"].items():
                if label[0] == "token":
                    tokens.setdefault(target, []).append(label[1])
            by_set = [
                [sets.setdefault(tuple(sorted(found)), len(sets)), target]
                for target, found in sorted(tokens.items())
            ]
            calls = [
                [order[names[label[1]]], label[2], target]
                for label, target in state["go"].items()
                if label[0] == "rule"
            ]
            guards = [
                [label[1], target] for label, target in state["go"].items() if label[0] == "guard"
            ]
            states.append([int(state["ends"]), by_set, calls, guards])
        rules.append(states)
    return {"rules": rules, "names": list(order), "sets": [_ranges(found) for found in sets]}


def _ranges(tokens: Iterable[int]) -> list[int]:
    """5, 6, 7, 9 as 5, 7, 9, 9: first and last of each stretch."""
    found: list[int] = []
    for token in tokens:
        if found and found[-1] == token - 1:
            found[-1] = token
        else:
            found += [token, token]
    return found


def vocabulary(literals: list[str | None], symbols: list[str | None]) -> dict[str, dict[str, int]]:
    """Words and signs with the numbers of their tokens, and the kinds of tokens that are
    neither.
    """
    words, signs, kinds = {}, {}, {}
    for number, (literal, symbol) in enumerate(zip(literals, symbols, strict=True)):
        text = literal.strip("'") if literal else ""
        if re.fullmatch("[A-Z_]+", text) or symbol in _SEVERAL_SPELLINGS:
            words[text or str(symbol)] = number
        elif text:
            signs[text] = number
        elif symbol:
            kinds[symbol] = number
    return {"words": words, "signs": signs, "kinds": kinds}
