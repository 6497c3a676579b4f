"""What a parse tree holds: conditions, sources of a FROM, and tables that are read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

Json = Mapping[str, Any]
_FOLDED = str.maketrans(ascii_uppercase, ascii_lowercase)


@dataclass(frozen=True)
class Condition:
    """What rows must fulfil.

    `outer`: an outer join may fill the columns with NULLs, so NULLs must not fulfil it.
    """

    expression: Json
    outer: bool = False


@dataclass(frozen=True)
class FromSource:
    """A source of a FROM, by the qualifiers of its columns.

    `byte` is where a table's name begins, None for other sources.
    """

    qualifiers: tuple[tuple[str, ...], ...]
    byte: int | None = None


@dataclass(frozen=True)
class TableRead:
    """A table in a query: where its name begins (in bytes), and the conditions on its rows."""

    parts: tuple[str, ...]
    byte: int
    alias: str = ""
    at: Json | None = None
    conditions: tuple[Condition, ...] = ()
    scope: tuple[FromSource, ...] = ()
    whole: bool = False  # its rows are sampled or its columns renamed, so conditions do not count
    text: bool = False  # its name is a text argument of a function


def folded(name: str) -> str:
    """A name as DuckDB compares it: only the letters A to Z are folded."""
    return name.translate(_FOLDED)


def dicts(tree: Any) -> Iterator[Json]:
    """Every object of a tree, in no particular order."""
    left = [tree]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield one
            left += [part for part in one.values() if isinstance(part, (dict, list))]
        elif isinstance(one, list):
            left += one


def conjuncts(expression: Json | None) -> Iterator[Condition]:
    """The parts of a condition that are joined by AND."""
    if not expression:
        return
    if expression["type"] == "CONJUNCTION_AND":
        for child in expression["children"]:
            yield from conjuncts(child)
    else:
        yield Condition(expression)


def table_parts(table: Json) -> tuple[str, ...]:
    """The parts of a source's name; empty if it is no table."""
    return tuple(
        part for key in ("catalog_name", "schema_name", "table_name") if (part := table.get(key))
    )


def qualifiers(source: Json) -> tuple[tuple[str, ...], ...]:
    """The qualifiers that columns of a source may have."""
    if alias := source.get("alias"):
        return ((folded(alias),),)
    parts = tuple(folded(part) for part in table_parts(source))
    return tuple(parts[first:] for first in range(len(parts)))
