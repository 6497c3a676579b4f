"""The second check of an untrusted query, over DuckDB's own parse tree (`json_serialize_sql`).

A text that two parsers read differently could show the first check one query and DuckDB another.
Here the tree is DuckDB's. Only what is known to be harmless passes; a new kind of node in a newer
DuckDB does not, until it is listed here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from lakebed.errors import BadQuery
from lakebed.query.guard.statement_guard import KnownTables, Parts
from lakebed.query.parsing.functions import ALLOWED, OPERATORS, TABLE_FUNCTIONS
from lakebed.query.parsing.parse_nodes import folded

_WRITE = "Write one SELECT over the lake's tables."
_TABLES = {"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EMPTY", "EXPRESSION_LIST", "PIVOT"}
_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_EXPRESSIONS = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY",
    "WINDOW", "TYPE",
}  # fmt: skip


def check_duckdb_tree(serialized: Mapping[str, Any], tables: Iterable[Parts]) -> None:
    """Raise `BadQuery` for anything but one query over these tables."""
    if serialized.get("error"):
        raise BadQuery(f"the query cannot be read: {serialized.get('error_message')}.", next=_WRITE)
    statements = serialized.get("statements")
    if not isinstance(statements, list) or len(statements) != 1:
        raise BadQuery("there is not exactly one statement.", next=_WRITE)
    _TreeCheck(KnownTables(tables)).at(statements[0], frozenset())


class _TreeCheck:
    def __init__(self, known: KnownTables) -> None:
        self._known = known

    def at(self, value: Any, ctes: frozenset[str], key: str = "") -> None:
        """Check this part and all below it; `ctes` are the names of WITH that are visible here."""
        if isinstance(value, dict):
            self._node(value, self._within(value, ctes), key)
        elif isinstance(value, list):
            for part in value:
                self.at(part, ctes, key)

    def _within(self, node: dict[str, Any], ctes: frozenset[str]) -> frozenset[str]:
        entries = (node.get("cte_map") or {}).get("map") or ()
        own = {folded(str(entry["key"])) for entry in entries}
        if node.get("type") in ("RECURSIVE_CTE_NODE", "CTE_NODE"):
            own.add(folded(str(node.get("cte_name", ""))))
        return ctes | own

    def _node(self, node: dict[str, Any], ctes: frozenset[str], key: str) -> None:
        if "class" in node:
            self._expression(node)
        elif key in ("from_table", "source") or (
            key in ("left", "right") and node.get("type") not in _NODES
        ):
            self._table(node, ctes)
        elif (
            key in ("node", "query", "left", "right")
            and "type" in node
            and node["type"] not in _NODES
        ):
            raise BadQuery(f"{node['type']} is not allowed in a query.", next=_WRITE)
        for name, part in node.items():
            if name != "value" or node.get("class") != "CONSTANT":  # literals may hold anything
                self.at(part, ctes, name)

    def _expression(self, node: dict[str, Any]) -> None:
        kind = node["class"]
        if kind not in _EXPRESSIONS:
            raise BadQuery(f"{str(kind).lower()} is not allowed in a query.", next=_WRITE)
        if kind in ("FUNCTION", "WINDOW") and "function_name" in node:
            _require_allowed_function(node)

    def _table(self, node: dict[str, Any], ctes: frozenset[str]) -> None:
        kind = node.get("type")
        if kind not in _TABLES:
            raise BadQuery(f"{kind} may not be used as a table.", next=_WRITE)
        if (
            kind == "TABLE_FUNCTION"
            and node["function"].get("function_name", "").casefold() not in TABLE_FUNCTIONS
        ):
            raise BadQuery(
                f"{node['function'].get('function_name')} may not be used as a table.", next=_WRITE
            )
        if kind == "BASE_TABLE":
            self._named(node, ctes)

    def _named(self, node: dict[str, Any], ctes: frozenset[str]) -> None:
        if node.get("at_clause"):
            raise BadQuery(
                "AT (…) is not allowed here.", next="Read another point with the option `at`."
            )
        parts = tuple(
            str(node[part])
            for part in ("catalog_name", "schema_name", "table_name")
            if node.get(part)
        )
        if len(parts) != 1 or folded(parts[0]) not in ctes:
            self._known.require_known(parts)


def _require_allowed_function(node: dict[str, Any]) -> None:
    name = str(node["function_name"]).casefold()
    if node.get("catalog") not in ("", "system", None) or node.get("schema") not in (
        "",
        "main",
        None,
    ):
        raise BadQuery(
            f"the function {name} may not be called with a schema.",
            next="Call it by its name alone.",
        )
    if name not in (OPERATORS if node.get("is_operator") else ALLOWED) and name not in OPERATORS:
        raise BadQuery(f"the function {name} may not be called.", next=_WRITE)
