"""Conditions on the rows of a subquery, translated to the columns that the subquery itself reads.

They are pushed down only where filtering earlier changes nothing, and where a name certainly means
a column as it was read. DuckDB names the columns of a subquery in order; the second of a name gets
another (`id_1`), which may collide with a later one. So names are trusted up to the first for which
that is not certain.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lakebed.query.parsing.functions import ALLOWED, OPERATORS
from lakebed.query.parsing.parse_nodes import Condition, Json, folded

Find = Callable[[str], Json | None]  # what a column of the subquery is inside it

_BEFORE = (
    "from_table",
    "cte_map",
)  # parts of a SELECT that come before its rows are filtered, grouped and named
_OWN_SCOPES = {"SUBQUERY", "LAMBDA", "WINDOW", "STAR"}  # names inside these may mean something else
# Expressions that give one value for each row. Others may give several columns or rows, or look at
# other rows.
_KNOWN = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "PARAMETER", "SUBQUERY",
}  # fmt: skip
_KNOWN_OPERATORS = {
    "ARRAY_CONSTRUCTOR", "ARRAY_EXTRACT", "ARRAY_SLICE", "COMPARE_IN", "COMPARE_NOT_IN",
    "OPERATOR_COALESCE", "OPERATOR_IS_NOT_NULL", "OPERATOR_IS_NULL", "OPERATOR_NOT",
    "OPERATOR_NULLIF", "OPERATOR_TRY", "STRUCT_EXTRACT",
}  # fmt: skip
_KNOWN_FUNCTIONS = (ALLOWED | OPERATORS | {"count_star"}) - {"columns", "unnest"}
_CHECKED = ("select_list", "where_clause", "group_expressions", "having")
_KNOWN_PARTS = {*_BEFORE, *_CHECKED, "type", "modifiers", "group_sets", "aggregate_handling"}


def push_down(
    node: Json, known: Sequence[Condition], *, names: Collection[tuple[str, ...]], alone: bool
) -> tuple[Condition, ...]:
    """Conditions on a subquery's rows as its own WHERE would have them; what cannot be translated
    is dropped.

    `names` are the subquery's qualifiers outside; `alone` says that it is the only source, so
    unqualified names are its own.
    """
    if not known or not _keeps_rows_apart(node):
        return ()
    find = _finder(node)

    def inner(parts: Sequence[str]) -> Json | None:
        *qualifier, name = map(folded, parts)
        own = tuple(qualifier) in names if qualifier else alone
        return find(name) if own else None

    translated = [(_translate(condition.expression, inner), condition) for condition in known]
    return tuple(
        replace(condition, expression=expression)
        for expression, condition in translated
        if expression
    )


def _keeps_rows_apart(node: Json) -> bool:
    """Whether rows filtered out earlier could not have affected others: no LIMIT, no window, no
    grouping sets.
    """
    if node["type"] != "SELECT_NODE" or len(node.get("group_sets") or ()) > 1:
        return False
    if any(
        part for key, part in node.items() if key not in _KNOWN_PARTS
    ):  # QUALIFY, samples, and whatever a newer DuckDB adds
        return False
    if not all(_is_harmless(modifier) for modifier in node.get("modifiers") or ()):
        return False
    return all(_is_known(node.get(part)) for part in _CHECKED)


def _is_known(tree: Any) -> bool:
    """Whether everything in it gives one value for each row, or every column as it is."""
    if isinstance(tree, list):
        return all(map(_is_known, tree))
    if not isinstance(tree, dict):
        return True
    if tree.get("class") == "SUBQUERY" or _is_every_column(tree):
        return True
    return ("class" not in tree or _is_listed(tree)) and all(map(_is_known, tree.values()))


def _is_listed(expression: Json) -> bool:
    match expression["class"]:
        case "FUNCTION":
            return str(expression["function_name"]).casefold() in _KNOWN_FUNCTIONS
        case "OPERATOR":
            return expression["type"] in _KNOWN_OPERATORS
    return expression["class"] in _KNOWN


def _is_harmless(modifier: Json) -> bool:
    kind = modifier["type"]
    return bool(
        kind == "ORDER_MODIFIER"
        or (kind == "DISTINCT_MODIFIER" and not modifier.get("distinct_on_targets"))
    )


def _finder(node: Json) -> Find:
    """Maps the names of a subquery's columns to the columns it reads.

    With GROUP BY these are grouped by.
    """
    items = node["select_list"]
    if items and _is_every_column(items[0]):
        others = {name for item in items[1:] if (name := _name(item))}
        single = node["from_table"]["type"] in (
            "BASE_TABLE",
            "SUBQUERY",
        )  # two columns of a join may have the same name
        sure = single and all(map(_name, items[1:]))
        return lambda name: _column(name) if sure and name not in others else None
    named = dict(_named(items))
    return named.get


def _named(items: Sequence[Json]) -> Iterator[tuple[str, Json]]:
    seen: set[str] = set()
    for item in items:
        name = _name(item)
        if name is None or name in seen:
            return
        seen.add(name)
        if item["class"] == "COLUMN_REF":
            yield name, item


def _name(item: Json) -> str | None:
    """The name of a column; None if DuckDB makes one up."""
    if alias := item.get("alias"):
        return folded(str(alias))
    return folded(str(item["column_names"][-1])) if item["class"] == "COLUMN_REF" else None


def _is_every_column(item: Json) -> bool:
    changed = (
        "relation_name",
        "exclude_list",
        "replace_list",
        "rename_list",
        "qualified_exclude_list",
        "columns",
        "expr",
    )
    return item.get("class") == "STAR" and not any(item.get(key) for key in changed)


def _column(name: str) -> Json:
    return {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": [name]}


def _translate(expression: Json, inner: Callable[[Sequence[str]], Json | None]) -> Json | None:
    """The expression or something weaker with inner names.

    None if no part of it can be translated.
    """
    match expression["type"]:
        case "CONJUNCTION_AND":
            children = [
                part for child in expression["children"] if (part := _translate(child, inner))
            ]
            return {**expression, "children": children} if children else None
        case "CONJUNCTION_OR":
            either = [_translate(child, inner) for child in expression["children"]]
            return {**expression, "children": either} if all(either) else None
    try:
        whole: Json = _with_inner_names(expression, inner)
    except LookupError:
        return None
    return whole


def _with_inner_names(tree: Any, inner: Callable[[Sequence[str]], Json | None]) -> Any:
    """A tree with the inner names of its columns; `LookupError` if one has none."""
    if isinstance(tree, list):
        return [_with_inner_names(part, inner) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if tree.get("class") in _OWN_SCOPES:
        raise LookupError
    if tree.get("class") != "COLUMN_REF":
        return {key: _with_inner_names(part, inner) for key, part in tree.items()}
    found = inner(tree["column_names"])
    if found is None:
        raise LookupError
    return found
