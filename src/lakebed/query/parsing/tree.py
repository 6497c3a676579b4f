"""DuckDB's own parse tree of a query: which tables it reads, and which conditions hold for the rows
of each.

The tree is the engine's, as JSON, so nothing is understood differently here. A condition counts for
a table only if a row that does not fulfil it cannot change the answer; in doubt it does not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.query.parsing.parse_nodes import (
    Condition,
    FromSource,
    Json,
    TableRead,
    conjuncts,
    dicts,
    folded,
    qualifiers,
    table_parts,
)
from lakebed.query.parsing.pushdown import push_down
from lakebed.query.parsing.table_functions import hides_reads, reads_by_text

_ORDINARY = {"REGULAR", "CROSS", "NATURAL"}
_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}


@dataclass(frozen=True)
class MentionedColumns:
    """Column names that occur anywhere in a query; `all` if a part of it means every column."""

    names: frozenset[str]
    all: bool = False


@dataclass
class _NamedQuery:
    """A query of WITH, and the conditions on its rows at each use.

    Its tables come last, when all uses are known.
    """

    body: Json
    ctes: "_Ctes"  # the queries of WITH that it can use
    conditions_by_use: list[tuple[Condition, ...]] = field(default_factory=list)

    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that every row must fulfil to matter to at least one use."""
        if len(self.conditions_by_use) == 1:
            return self.conditions_by_use[0]
        uses = [_fixed(conditions) for conditions in self.conditions_by_use]
        if not uses or not all(uses):
            return ()
        return (Condition(_joined("OR", [_joined("AND", expressions) for expressions in uses])),)


def _fixed(conditions: tuple[Condition, ...]) -> list[Json]:
    """The conditions that count whether or not an outer join fills in NULLs.

    Once joined with others, one that NULLs fulfil could no longer be told.
    """
    return [
        one.expression
        for one in conditions
        if not one.outer or not any(map(_accepts_null, dicts(one.expression)))
    ]


def _accepts_null(item: Json) -> bool:
    return item.get("type") == "OPERATOR_IS_NULL"


def _joined(word: str, expressions: list[Json]) -> Json:
    return {"class": "CONJUNCTION", "type": f"CONJUNCTION_{word}", "children": expressions}


_Ctes = Mapping[str, _NamedQuery]


def table_reads(statement: Json) -> tuple[TableRead, ...]:
    """Every table that a statement reads, in the order of the text, except names of WITH.

    If a function may read tables without naming them, no condition counts.
    """
    found = sorted(
        [*_reads_below(statement, {}), *reads_by_text(statement)], key=lambda read: read.byte
    )
    return (
        tuple(replace(read, conditions=()) for read in found)
        if hides_reads(statement)
        else tuple(found)
    )


def mentioned_columns(statement: Json) -> MentionedColumns:
    """The columns that a statement may need."""
    names: set[str] = set()
    every = False
    for item in dicts(statement):
        if item.get("class") == "COLUMN_REF":
            names.update(name.casefold() for name in item["column_names"])
        every |= (
            item.get("class") == "STAR"
            or item.get("ref_type") == "NATURAL"
            or item.get("type") in ("PIVOT", "SHOW_REF")
        )
        names.update(name.casefold() for name in item.get("using_columns") or ())
    return MentionedColumns(frozenset(names), every)


def shortened_inside(statement: Json) -> bool:
    """Whether an inner part of the statement takes some rows of many, by LIMIT, OFFSET or DISTINCT
    ON.
    """
    top = statement.get("node") or {}
    below = [*(part for key, part in top.items() if key != "modifiers"), statement.get("values")]
    return any(_shortens(item) for item in dicts(below))


def _shortens(item: Json) -> bool:
    kind = item.get("type")
    return kind in ("LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER") or bool(
        item.get("distinct_on_targets")
    )


def _reads_below(tree: Any, ctes: _Ctes) -> Iterator[TableRead]:
    """The tables read anywhere below a part of the tree."""
    if isinstance(tree, list):
        for part in tree:
            yield from _reads_below(part, ctes)
    elif isinstance(tree, dict):
        kind = tree.get("type")  # of a value it is an object
        if isinstance(kind, str) and kind in _NODES:
            yield from _node(tree, ctes, ())
        elif kind == "BASE_TABLE" and "table_name" in tree:
            yield from _table(tree, ctes, (), ())
        else:
            for part in tree.values():
                yield from _reads_below(part, ctes)


def _node(node: Json, ctes: _Ctes, known: Sequence[Condition]) -> Iterator[TableRead]:
    """`known` are conditions from outside, as if they were in its WHERE."""
    own: list[_NamedQuery] = []
    for cte in (node.get("cte_map") or {}).get("map") or ():
        named = _named_query(cte, ctes)
        own.append(named)
        ctes = {**ctes, folded(cte["key"]): named}
    if "from_table" in node:
        yield from _from(node, ctes, known)
    for key, part in node.items():
        if key not in ("cte_map", "from_table"):
            yield from _reads_below(part, ctes)
    for named in reversed(own):  # later ones may use earlier ones
        yield from _node(named.body["node"], named.ctes, named.conditions())


def _from(node: Json, ctes: _Ctes, known: Sequence[Condition]) -> Iterator[TableRead]:
    source = node["from_table"]
    known = (*known, *conjuncts(node.get("where_clause"))) if not node.get("sample") else ()
    yield from _source(source, ctes, known, tuple(_scope(source, ctes)))


def _source(
    source: Json, ctes: _Ctes, known: Sequence[Condition], scope: tuple[FromSource, ...]
) -> Iterator[TableRead]:
    if source["type"] == "JOIN":
        left, right = _sides(source, tuple(known))
        yield from _source(source["left"], ctes, left, scope)
        yield from _source(source["right"], ctes, right, scope)
        yield from _reads_below(source.get("condition"), ctes)
    elif source["type"] == "BASE_TABLE":
        yield from _table(source, ctes, tuple(known), scope)
    elif source["type"] == "SUBQUERY":
        query = source["subquery"]["node"]
        yield from _node(query, ctes, _conditions_inside(source, query, known, scope))
    else:
        yield from _reads_below(source, ctes)


def _table(
    table: Json, ctes: _Ctes, known: tuple[Condition, ...], scope: tuple[FromSource, ...]
) -> Iterator[TableRead]:
    named = _cte(table, ctes)
    if named is None:
        whole = bool(table.get("sample") or table.get("column_name_alias"))
        at = table.get("at_clause") or None
        yield TableRead(
            table_parts(table),
            table["query_location"],
            table.get("alias") or "",
            at,
            known,
            scope,
            whole,
        )
    elif named.body:
        named.conditions_by_use.append(_conditions_inside(table, named.body["node"], known, scope))


def _named_query(cte: Json, ctes: _Ctes) -> _NamedQuery:
    name, body = folded(cte["key"]), cte["value"]["query"]
    if any(item.get("type") == "RECURSIVE_CTE_NODE" for item in dicts(body)):
        return _NamedQuery(body, {**ctes, name: _NamedQuery({}, {})}, [()])
    return _NamedQuery(
        body, ctes, [()] if cte["value"].get("aliases") else []
    )  # its columns have other names outside


def _conditions_inside(
    source: Json, query: Json, known: Sequence[Condition], scope: tuple[FromSource, ...]
) -> tuple[Condition, ...]:
    if source.get("sample") or source.get("column_name_alias"):
        return ()
    names = qualifiers(source)
    same = sum(not set(one.qualifiers).isdisjoint(names) for one in scope)
    return push_down(query, known, names=names if same == 1 else (), alone=len(scope) == 1)


def _cte(table: Json, ctes: _Ctes) -> _NamedQuery | None:
    parts = table_parts(table)
    return ctes.get(folded(parts[0])) if len(parts) == 1 else None


def _scope(source: Json, ctes: _Ctes) -> Iterator[FromSource]:
    """Every source of a FROM."""
    if source["type"] == "JOIN":
        yield from _scope(source["left"], ctes)
        yield from _scope(source["right"], ctes)
    elif source["type"] == "BASE_TABLE" and _cte(source, ctes) is None:
        yield FromSource(qualifiers(source), source["query_location"])
    elif source["type"] != "EMPTY":
        yield FromSource(qualifiers(source))


def _sides(
    join: Json, known: tuple[Condition, ...]
) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """The conditions that count for the left and for the right of a join."""
    if (
        join.get("ref_type") not in _ORDINARY
    ):  # ASOF takes the nearest row, POSITIONAL the one at the same position
        return (), ()
    on = tuple(conjuncts(join.get("condition")))
    padded = tuple(replace(condition, outer=True) for condition in known)
    return {
        "INNER": ((*known, *on), (*known, *on)),
        "LEFT": (known, (*padded, *on)),
        "RIGHT": ((*padded, *on), known),
        "OUTER": (padded, padded),
        "SEMI": ((*known, *on), on),
        "ANTI": (known, on),
    }.get(join.get("join_type", ""), ((), ()))
