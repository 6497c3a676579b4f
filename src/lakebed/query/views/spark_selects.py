"""Views in Spark's SQL as SELECTs in DuckDB's, where every construct is known to mean the same in
both.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from lakebed.names import TableName, duckdb_identifier
from lakebed.ports import Column
from lakebed.query.views.duck_expression import NotEquivalent, node_name, require_only
from lakebed.query.views.spark_clauses import (
    FromItem,
    TypedColumn,
    find_column,
    group_clause,
    having_clause,
    join_keyword,
    named_items,
    on_clause,
    order_clause,
    select_items,
    select_keyword,
    typed,
    where_clause,
)
from lakebed.query.views.spark_expressions import ExpressionTranslator

if TYPE_CHECKING:
    from sqlglot import exp

Find = Callable[
    [tuple[str, ...]], tuple[TableName, Sequence[Column]]
]  # what a view's SQL names; `NotEquivalent` if nothing
_DEEPEST = 30


@dataclass(frozen=True)
class DuckSelect:
    """A query in DuckDB's SQL, and its columns."""

    text: str
    columns: tuple[TypedColumn, ...]


def translate_view(sql: str, columns: Sequence[Column], find: Find) -> str:
    """The SELECT in DuckDB's SQL of a view that has these columns.

    `NotEquivalent` says why there is none.
    """
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    try:
        trees = parse(sql, dialect="spark")
    except (SqlglotError, RecursionError) as error:
        raise NotEquivalent("SQL that cannot be read") from error
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Query) or "\\" in sql:
        raise NotEquivalent("something else than one query, or a backslash")
    wanted = tuple((column.name, column.type) for column in columns)
    return _SelectTranslator(find).query(tree, {}, wanted).text


class _SelectTranslator:
    def __init__(self, find: Find) -> None:
        self._find, self._numbers, self._deep = find, count(), 0

    def query(
        self,
        node: "exp.Expr",
        ctes: Mapping[str, "exp.Expr"],
        wanted: tuple[TypedColumn, ...] | None = None,
    ) -> DuckSelect:
        """`wanted` are the columns that must come out, by position; further ones are dropped."""
        from sqlglot import exp

        self._deep += 1
        if self._deep > _DEEPEST:
            raise NotEquivalent("many queries inside of others")
        if isinstance(node, exp.Subquery):
            require_only(node, "this")
            return self.query(node.this, ctes, wanted)
        ctes = {**ctes, **dict(_ctes(node))}
        if isinstance(node, exp.Union):
            return self._union(node, ctes, wanted)
        if not isinstance(node, exp.Select):
            raise NotEquivalent(node_name(node))
        return self._select(node, ctes, wanted)

    def _union(
        self,
        node: "exp.Expr",
        ctes: "Mapping[str, exp.Expr]",
        wanted: tuple[TypedColumn, ...] | None,
    ) -> DuckSelect:
        require_only(node, "this", "expression", "distinct", "with_")
        if node.args.get("distinct") is not False:
            raise NotEquivalent("a union without ALL")
        left = self.query(node.this, ctes, wanted)
        right = self.query(node.expression, ctes, left.columns)
        return DuckSelect(f"({left.text}) UNION ALL ({right.text})", left.columns)

    def _select(
        self,
        node: "exp.Expr",
        ctes: "Mapping[str, exp.Expr]",
        wanted: tuple[TypedColumn, ...] | None,
    ) -> DuckSelect:
        require_only(
            node,
            "expressions",
            "from_",
            "joins",
            "where",
            "group",
            "having",
            "distinct",
            "order",
            "with_",
        )
        sources, origin = self._from(node, ctes)
        values = ExpressionTranslator(lambda qualifier, name: find_column(sources, qualifier, name))
        items = [item for one in node.expressions for item in select_items(one, sources, values)]
        named = named_items(items, wanted, distinct=bool(node.args.get("distinct")))
        clauses = [
            select_keyword(node, named),
            ", ".join(f"{typed(item.value)} AS {duckdb_identifier(item.name)}" for item in named),
            f"FROM {origin}",
            where_clause(node, values),
            group_clause(node, values, items),
            having_clause(node, values, items),
            order_clause(node, named),
        ]
        return DuckSelect(
            " ".join(filter(None, clauses)), tuple((item.name, item.value.type) for item in named)
        )

    def _from(self, node: "exp.Expr", ctes: "Mapping[str, exp.Expr]") -> tuple[list[FromItem], str]:
        origin = node.args.get("from_")
        if origin is None:
            raise NotEquivalent("a query without FROM")
        require_only(origin, "this")
        first, text = self._source(origin.this, ctes)
        sources = [first]
        for join in node.args.get("joins") or ():
            require_only(join, "this", "side", "kind", "on")
            source, beside = self._source(join.this, ctes)
            sources.append(source)
            text += f" {join_keyword(join)} {beside}{on_clause(join, sources)}"
        return sources, text

    def _source(self, node: "exp.Expr", ctes: "Mapping[str, exp.Expr]") -> tuple[FromItem, str]:
        from sqlglot import exp

        alias = f"s{next(self._numbers)}"
        alias_node = node.args.get("alias")
        if alias_node is not None:
            require_only(alias_node, "this")
        if isinstance(node, exp.Subquery):
            require_only(node, "this", "alias")
            rows = self.query(node.this, ctes)
            return FromItem(alias, node.alias, rows.columns), f"({rows.text}) AS {alias}"
        if not isinstance(node, exp.Table) or not all(
            isinstance(part, exp.Identifier) for part in node.parts
        ):
            raise NotEquivalent("something else than a table in FROM")
        require_only(node, "this", "db", "catalog", "alias")
        parts = tuple(part.name for part in node.parts)
        if len(parts) == 1 and parts[0].lower() in ctes:
            cte = ctes[parts[0].lower()]
            earlier = {name: one for name, one in ctes.items() if one is not cte}
            rows = self.query(cte, earlier)
            return FromItem(
                alias, node.alias or parts[0], rows.columns
            ), f"({rows.text}) AS {alias}"
        table, columns = self._find(parts)
        kept = tuple((column.name, column.type) for column in columns)
        return FromItem(alias, node.alias or parts[-1], kept), f"{table.duckdb} AS {alias}"


def _ctes(node: "exp.Expr") -> "Iterator[tuple[str, exp.Expr]]":
    clause = node.args.get("with_")
    if clause is None:
        return
    require_only(clause, "expressions")
    for cte in clause.expressions:
        require_only(cte, "this", "alias")
        require_only(cte.args["alias"], "this")
        yield cte.alias.lower(), cte.this
