"""Whether the answer of a query may depend on the order of rows, by DuckDB's parse tree.

Whatever is not known to be the same in any order counts as dependent. The order of the answer's own
rows does not count.
"""

from collections.abc import Collection
from typing import Any

from lakebed.query.ordering.order_functions import (
    DUCKDB_ORDER_BOUND,
    DUCKDB_ORDER_FREE,
    DUCKDB_PLACES,
    SETTLED_BY_ORDER,
)
from lakebed.query.parsing.functions import ALLOWED, FILE_READERS, OPERATORS, TABLE_FUNCTIONS
from lakebed.query.parsing.parse_nodes import Json, dicts

_KNOWN_FUNCTIONS = (ALLOWED | OPERATORS | {"count_star"}) - DUCKDB_ORDER_BOUND
_EXPRESSIONS = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "DEFAULT", "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "PARAMETER", "POSITIONAL_REFERENCE",
    "STAR", "SUBQUERY", "WINDOW",
}  # fmt: skip
_JOINS = {"REGULAR", "CROSS", "NATURAL", "DEPENDENT"}
_SOURCES = {
    "BASE_TABLE", "CTE", "EMPTY", "EXPRESSION_LIST", "JOIN", "PIVOT", "SHOW_REF", "SUBQUERY",
    "TABLE_FUNCTION",
}  # fmt: skip
_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_SORTS = {"array_reverse_sort", "array_sort", "list_reverse_sort", "list_sort"}
_MODIFIERS = {"ORDER_MODIFIER", "DISTINCT_MODIFIER"}


def order_sensitive(tree: Json, *, columns: Collection[str] = ()) -> str:
    """What may make the answer depend on the order of rows; empty if nothing does.

    `columns` are the names of columns that the tables really have: others of certain names tell
    where a row is stored.
    """
    places = DUCKDB_PLACES - {name.casefold() for name in columns}
    settled = {id(item["children"][0]) for item in dicts(tree) if _sorts_a_list(item)}
    found = {why for item in dicts(tree) if id(item) not in settled and (why := _why(item, places))}
    return min(found, default="")


def _sorts_a_list(item: Json) -> bool:
    """`list_sort(list(x))`, which DuckDB's parser makes of `list(x ORDER BY x)`."""
    if item.get("class") != "FUNCTION" or _name(item) not in _SORTS or not item["children"]:
        return False
    first = item["children"][0]
    return bool(first["class"] == "FUNCTION" and _name(first) in ("list", "array_agg"))


def _why(item: Json, places: Collection[str]) -> str:
    if item.get("sample"):
        return "a sample"
    if item.get("key_targets"):
        return "USING KEY"
    if "class" in item:
        return _of_expression(item, places)
    if "modifiers" in item:
        return next(filter(None, map(_of_modifier, item["modifiers"])), "") or _of_node(item)
    return _of_source(item) if "sample" in item else ""


def _of_node(node: Json) -> str:
    return "" if node["type"] in _NODES else _named(node["type"])


def _of_modifier(modifier: Json) -> str:
    kind = modifier["type"]
    if kind == "LIMIT_MODIFIER":
        return "" if _is_zero(modifier.get("limit")) else "LIMIT"
    if kind == "DISTINCT_MODIFIER" and modifier.get("distinct_on_targets"):
        return "DISTINCT ON"
    return "" if kind in _MODIFIERS else "LIMIT"


def _is_zero(limit: Json | None) -> bool:
    value = (limit or {}).get("value") or {}
    return bool(value) and not value.get("is_null") and value.get("value") == 0


def _of_source(source: Json) -> str:
    """A part of a FROM; all of them, and only they and SELECTs, may have a sample."""
    kind = source["type"]
    if kind == "JOIN" and source.get("ref_type") not in _JOINS:
        return f"{source.get('ref_type')} JOIN"
    if kind == "SHOW_REF" and source.get("show_type") == "SUMMARY":
        return "SUMMARIZE"
    if kind == "TABLE_FUNCTION":
        name = _name(source["function"])
        return "" if name in TABLE_FUNCTIONS | FILE_READERS else f"{name}()"
    return "" if kind in _SOURCES else _named(kind)


def _of_expression(item: Json, places: Collection[str]) -> str:
    match item["class"]:
        case "FUNCTION":
            return _of_function(item)
        case "WINDOW":
            return _of_window(item)
        case "COLUMN_REF":
            name = str(item["column_names"][-1]).casefold()
            return name if name in places else ""
    return "" if item["class"] in _EXPRESSIONS else _named(item["class"])


def _name(item: Json) -> str:
    return str(item["function_name"]).casefold()


def _of_function(item: Json) -> str:
    name = _name(item)
    known = name in _KNOWN_FUNCTIONS | FILE_READERS or _is_settled(name, item)
    return "" if known else f"{name}()"


def _is_settled(name: str, item: Json) -> bool:
    """Whether it collects values in the order of these values: `list(x ORDER BY x)`."""
    orders = (item.get("order_bys") or {}).get("orders") or ()
    if name not in SETTLED_BY_ORDER or not orders or not item["children"]:
        return False
    return bool(_bare(item["children"][0]) == _bare(orders[0]["expression"]))


def _of_window(item: Json) -> str:
    """Peers in a window are told apart by ROWS only, and by functions that number rows."""
    name = _name(item)
    if name not in DUCKDB_ORDER_FREE:
        return f"{name}()"
    by_rows = any(str(item.get(edge, "")).endswith("_ROWS") for edge in ("start", "end"))
    return "a window of ROWS" if by_rows else ""


def _bare(tree: Any) -> Any:
    """An expression without its place in the text and its alias."""
    if isinstance(tree, list):
        return [_bare(part) for part in tree]
    if isinstance(tree, dict):
        left_out = ("query_location", "alias")
        return {key: _bare(part) for key, part in tree.items() if key not in left_out}
    return tree


def _named(kind: Any) -> str:
    return str(kind).replace("_", " ").lower()
