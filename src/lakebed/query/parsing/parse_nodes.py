"""What is found in a parse tree: conditions, sources and reads of tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

Json = Mapping[str, Any]
_FOLDED = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True)
class Condition:
    """What rows must fulfil. `outer`: the table's columns may be NULL for want of a row, so NULL must not fit."""

    expression: Json
    outer: bool = False


@dataclass(frozen=True)
class FromSource:
    """A source of a FROM as columns are qualified with it; `byte` is that of a table's name, None for what is no table."""

    qualifiers: tuple[tuple[str, ...], ...]
    byte: int | None = None


@dataclass(frozen=True)
class TableRead:
    """A table's name in a query: where it stands (in bytes), and what is known of the rows that matter."""

    parts: tuple[str, ...]
    byte: int
    alias: str = ""
    at: Json | None = None
    conditions: tuple[Condition, ...] = ()
    scope: tuple[FromSource, ...] = ()
    whole: bool = False  # its rows are sampled, or its columns renamed: conditions do not count
    text: bool = False  # a function is given its name as a text


def folded(name: str) -> str:
    """A name as DuckDB compares it: letters from A to Z have no case, all others keep theirs."""
    return name.translate(_FOLDED)


def dicts(tree: Any) -> Iterator[Json]:
    """Every object of a tree, in no order."""
    left = [tree]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield one
            left += [part for part in one.values() if isinstance(part, (dict, list))]
        elif isinstance(one, list):
            left += one


def conjuncts(expression: Json | None) -> Iterator[Condition]:
    """What a condition asks for, one by one."""
    if not expression:
        return
    if expression["type"] == "CONJUNCTION_AND":
        for child in expression["children"]:
            yield from conjuncts(child)
    else:
        yield Condition(expression)


def table_parts(table: Json) -> tuple[str, ...]:
    """The name of a source; nothing for one that is no table."""
    return tuple(part for key in ("catalog_name", "schema_name", "table_name") if (part := table.get(key)))


def qualifiers(source: Json) -> tuple[tuple[str, ...], ...]:
    """What columns of a source may be qualified with."""
    if alias := source.get("alias"):
        return ((folded(alias),),)
    parts = tuple(folded(part) for part in table_parts(source))
    return tuple(parts[first:] for first in range(len(parts)))
