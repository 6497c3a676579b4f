"""DuckDB's own parse tree of a query: which tables it reads, and what it asks of the rows of each.

The tree is the engine's, as JSON, so that nothing is read otherwise than the engine will read it. A condition counts for a
table only where a row of it that does not fit cannot change the answer; in doubt it does not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Json = Mapping[str, Any]

_ORDINARY = {"REGULAR", "CROSS", "NATURAL"}
_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}


@dataclass(frozen=True)
class Condition:
    """What rows must fulfil. `outer`: the table's columns may be NULL for want of a row, so NULL must not fit."""

    expression: Json
    outer: bool = False


@dataclass(frozen=True)
class Beside:
    """A source of a FROM as columns are qualified with it; `byte` is that of a table's name, None for what is no table."""

    qualifiers: tuple[tuple[str, ...], ...]
    byte: int | None = None


@dataclass(frozen=True)
class Read:
    """A table's name in a query: where it stands (in bytes), and what is known of the rows that matter."""

    parts: tuple[str, ...]
    byte: int
    alias: str = ""
    at: Json | None = None
    conditions: tuple[Condition, ...] = ()
    scope: tuple[Beside, ...] = ()
    whole: bool = False  # its rows are sampled, or its columns renamed: conditions do not count


@dataclass(frozen=True)
class Mentioned:
    """Column names that occur anywhere in a query; `all`: some of it means every column."""

    names: frozenset[str]
    all: bool = False


def reads_of(statement: Json) -> tuple[Read, ...]:
    """Every table that a statement reads, in the order of the text; names of WITH are none."""
    return tuple(sorted(_anywhere(statement, frozenset()), key=lambda read: read.byte))


def mentioned(statement: Json) -> Mentioned:
    """Which columns a statement may need."""
    names: set[str] = set()
    every = False
    for item in _dicts(statement):
        if item.get("class") == "COLUMN_REF":
            names.update(name.casefold() for name in item["column_names"])
        every |= item.get("class") == "STAR" or item.get("ref_type") == "NATURAL" or item.get("type") in ("PIVOT", "SHOW_REF")
        names.update(name.casefold() for name in item.get("using_columns") or ())
    return Mentioned(frozenset(names), every)


def _dicts(tree: Any) -> Iterator[Json]:
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _dicts(part)


def _anywhere(tree: Any, ctes: frozenset[str]) -> Iterator[Read]:
    """The reads below any part of a tree."""
    if isinstance(tree, list):
        for part in tree:
            yield from _anywhere(part, ctes)
    elif isinstance(tree, dict):
        kind = tree.get("type")  # a value's type is no text
        if isinstance(kind, str) and kind in _NODES:
            yield from _node(tree, ctes)
        elif kind == "BASE_TABLE" and "table_name" in tree:
            yield from _table(tree, ctes, (), ())
        else:
            for part in tree.values():
                yield from _anywhere(part, ctes)


def _node(node: Json, ctes: frozenset[str]) -> Iterator[Read]:
    for cte in (node.get("cte_map") or {}).get("map") or ():
        name = cte["key"].casefold()
        body = cte["value"]["query"]
        own = {name} if _recursive(body) else set()
        yield from _anywhere(body, ctes | own)
        ctes = ctes | {name}
    if "from_table" in node:
        yield from _from(node, ctes)
    for key, part in node.items():
        if key not in ("cte_map", "from_table"):
            yield from _anywhere(part, ctes)


def _recursive(body: Json) -> bool:
    return any(item.get("type") == "RECURSIVE_CTE_NODE" for item in _dicts(body))


def _from(node: Json, ctes: frozenset[str]) -> Iterator[Read]:
    source = node["from_table"]
    known = tuple(_conjuncts(node.get("where_clause"))) if not node.get("sample") else ()
    scope = tuple(_scope(source, ctes))
    yield from _source(source, ctes, known, scope)


def _conjuncts(expression: Json | None) -> Iterator[Condition]:
    if not expression:
        return
    if expression["type"] == "CONJUNCTION_AND":
        for child in expression["children"]:
            yield from _conjuncts(child)
    else:
        yield Condition(expression)


def _scope(source: Json, ctes: frozenset[str]) -> Iterator[Beside]:
    """Every source that a FROM brings."""
    if source["type"] == "JOIN":
        yield from _scope(source["left"], ctes)
        yield from _scope(source["right"], ctes)
    elif source["type"] == "BASE_TABLE" and not _is_cte(source, ctes):
        yield Beside(_qualifiers(source), source["query_location"])
    elif source["type"] != "EMPTY":
        yield Beside(_qualifiers(source))


def _source(source: Json, ctes: frozenset[str], known: Sequence[Condition], scope: tuple[Beside, ...]) -> Iterator[Read]:
    if source["type"] == "JOIN":
        left, right = _sides(source, tuple(known))
        yield from _source(source["left"], ctes, left, scope)
        yield from _source(source["right"], ctes, right, scope)
        yield from _anywhere(source.get("condition"), ctes)
    elif source["type"] == "BASE_TABLE":
        yield from _table(source, ctes, tuple(known), scope)
    else:
        yield from _anywhere(source, ctes)


def _sides(join: Json, known: tuple[Condition, ...]) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """What counts for the left and for the right of a join."""
    if join.get("ref_type") not in _ORDINARY:  # ASOF takes the nearest row, POSITIONAL the one at the same place
        return (), ()
    on = tuple(_conjuncts(join.get("condition")))
    padded = tuple(replace(condition, outer=True) for condition in known)
    return {
        "INNER": ((*known, *on), (*known, *on)),
        "LEFT": (known, (*padded, *on)),
        "RIGHT": ((*padded, *on), known),
        "OUTER": (padded, padded),
        "SEMI": ((*known, *on), on),
        "ANTI": (known, on),
    }.get(join.get("join_type", ""), ((), ()))


def _table(table: Json, ctes: frozenset[str], known: tuple[Condition, ...], scope: tuple[Beside, ...]) -> Iterator[Read]:
    if _is_cte(table, ctes):
        return
    whole = bool(table.get("sample") or table.get("column_name_alias"))
    at = table.get("at_clause") or None
    yield Read(_parts(table), table["query_location"], table.get("alias") or "", at, known, scope, whole)


def _is_cte(table: Json, ctes: frozenset[str]) -> bool:
    return len(_parts(table)) == 1 and table["table_name"].casefold() in ctes


def _parts(table: Json) -> tuple[str, ...]:
    return tuple(part for key in ("catalog_name", "schema_name", "table_name") if (part := table.get(key)))


def _qualifiers(source: Json) -> tuple[tuple[str, ...], ...]:
    if alias := source.get("alias"):
        return ((alias.casefold(),),)
    parts = tuple(part.casefold() for part in _parts(source))
    return tuple(parts[first:] for first in range(len(parts)))
