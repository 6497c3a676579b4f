"""Views of Spark's SQL as SELECTs of DuckDB's, where every construct is known to mean the same; see `spark_expressions.py`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from lakebed.names import TableName, duckdb_identifier
from lakebed.ports import Column
from lakebed.query.views.spark_expressions import (
    DuckExpression,
    ExpressionTranslator,
    NotEquivalent,
    cast,
    column_value,
    is_groupable,
    is_same_type,
    node_name,
    require_only,
)

if TYPE_CHECKING:
    from sqlglot import exp

TypedColumn = tuple[str, str]  # a column's name and type
Find = Callable[[tuple[str, ...]], tuple[TableName, Sequence[Column]]]  # what a view's SQL names; `Different` if nothing
_DEEPEST = 30


@dataclass(frozen=True)
class DuckSelect:
    """A query in DuckDB's words, and its columns."""

    text: str
    columns: tuple[TypedColumn, ...]


@dataclass(frozen=True)
class _Source:
    """Something that a FROM brings; `alias` is what we call it, `qualifier` what the SQL does."""

    alias: str
    qualifier: str
    columns: tuple[TypedColumn, ...]


@dataclass(frozen=True)
class _Item:
    name: str  # nothing for an expression that was given none
    value: DuckExpression


def translate_view(sql: str, columns: Sequence[Column], find: Find) -> str:
    """The SELECT of a view that has these columns; `Different` with what stands in the way."""
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
        self, node: "exp.Expr", ctes: Mapping[str, "exp.Expr"], wanted: tuple[TypedColumn, ...] | None = None
    ) -> DuckSelect:
        """`wanted` are the columns that have to come out, by their places; others that come after them are left away."""
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

    def _union(self, node: "exp.Expr", ctes: "Mapping[str, exp.Expr]", wanted: tuple[TypedColumn, ...] | None) -> DuckSelect:
        require_only(node, "this", "expression", "distinct", "with_")
        if node.args.get("distinct") is not False:
            raise NotEquivalent("a union without ALL")
        left = self.query(node.this, ctes, wanted)
        right = self.query(node.expression, ctes, left.columns)
        return DuckSelect(f"({left.text}) UNION ALL ({right.text})", left.columns)

    def _select(self, node: "exp.Expr", ctes: "Mapping[str, exp.Expr]", wanted: tuple[TypedColumn, ...] | None) -> DuckSelect:
        require_only(node, "expressions", "from_", "joins", "where", "group", "having", "distinct", "order", "with_")
        sources, origin = self._from(node, ctes)
        values = ExpressionTranslator(lambda qualifier, name: _column(sources, qualifier, name))
        items = [item for one in node.expressions for item in _items(one, sources, values)]
        given = _named(items, wanted, distinct=bool(node.args.get("distinct")))
        clauses = [
            _distinct(node, given),
            ", ".join(f"{_typed(item.value)} AS {duckdb_identifier(item.name)}" for item in given),
            f"FROM {origin}",
            _where(node, values),
            _group(node, values, items),
            _having(node, values, items),
            _order(node, given),
        ]
        return DuckSelect(" ".join(filter(None, clauses)), tuple((item.name, item.value.type) for item in given))

    def _from(self, node: "exp.Expr", ctes: "Mapping[str, exp.Expr]") -> tuple[list[_Source], str]:
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
            text += f" {_kind(join)} {beside}{_on(join, sources)}"
        return sources, text

    def _source(self, node: "exp.Expr", ctes: "Mapping[str, exp.Expr]") -> tuple[_Source, str]:
        from sqlglot import exp

        alias = f"s{next(self._numbers)}"
        given = node.args.get("alias")
        if given is not None:
            require_only(given, "this")
        if isinstance(node, exp.Subquery):
            require_only(node, "this", "alias")
            rows = self.query(node.this, ctes)
            return _Source(alias, node.alias, rows.columns), f"({rows.text}) AS {alias}"
        if not isinstance(node, exp.Table) or not all(isinstance(part, exp.Identifier) for part in node.parts):
            raise NotEquivalent("something else than a table in FROM")
        require_only(node, "this", "db", "catalog", "alias")
        parts = tuple(part.name for part in node.parts)
        if len(parts) == 1 and parts[0].lower() in ctes:
            cte = ctes[parts[0].lower()]
            earlier = {name: one for name, one in ctes.items() if one is not cte}
            rows = self.query(cte, earlier)
            return _Source(alias, node.alias or parts[0], rows.columns), f"({rows.text}) AS {alias}"
        table, columns = self._find(parts)
        kept = tuple((column.name, column.type) for column in columns)
        return _Source(alias, node.alias or parts[-1], kept), f"{table.duckdb} AS {alias}"


def _ctes(node: "exp.Expr") -> "Iterator[tuple[str, exp.Expr]]":
    clause = node.args.get("with_")
    if clause is None:
        return
    require_only(clause, "expressions")
    for cte in clause.expressions:
        require_only(cte, "this", "alias")
        require_only(cte.args["alias"], "this")
        yield cte.alias.lower(), cte.this


def _column(sources: Sequence[_Source], qualifier: str, name: str) -> DuckExpression:
    """The one column that is meant; Spark knows no case in names."""
    found = [
        column_value(source.alias, *column)
        for source in sources
        if not qualifier or source.qualifier.lower() == qualifier.lower()
        for column in source.columns
        if column[0].lower() == name.lower()
    ]
    if len(found) != 1:
        raise NotEquivalent(f"the name {f'{qualifier}.' if qualifier else ''}{name}")
    return found[0]


def _items(node: "exp.Expr", sources: Sequence[_Source], values: ExpressionTranslator) -> Iterator[_Item]:
    from sqlglot import exp

    star = node if isinstance(node, exp.Star) else node.this if isinstance(node, exp.Column) else None
    if isinstance(star, exp.Star):
        require_only(star)
        require_only(node, "this", "table")
        meant = [one for one in sources if isinstance(node, exp.Star) or one.qualifier.lower() == node.text("table").lower()]
        if not meant or (isinstance(node, exp.Column) and len(meant) > 1):
            raise NotEquivalent("a star")
        yield from (_Item(name, column_value(one.alias, name, type_)) for one in meant for name, type_ in one.columns)
    elif isinstance(node, exp.Alias):
        require_only(node, "this", "alias")
        yield _Item(node.alias, values.of(node.this))
    else:
        yield _Item(node.name if isinstance(node, exp.Column) else "", values.of(node))


def _named(items: Sequence[_Item], wanted: tuple[TypedColumn, ...] | None, *, distinct: bool) -> list[_Item]:
    if wanted is None:
        names = [item.name.lower() for item in items]
        if not all(names) or len({*names}) < len(names):
            raise NotEquivalent("columns of an inner query without names of their own")
        found = list(items)
    else:
        if len(items) < len(wanted) or (distinct and len(items) > len(wanted)):
            raise NotEquivalent("other columns than when the view was made")
        found = [replace(item, name=name) for item, (name, _) in zip(items, wanted, strict=False)]
        for item, (name, type_) in zip(found, wanted, strict=True):
            if item.value.type != type_:
                raise NotEquivalent(f"{name}, which is {item.value.type} and was {type_} when the view was made")
    if odd := next(
        (item for item in found if not is_same_type(item.value.type) or item.value.type.startswith(("a ", "null"))), None
    ):
        raise NotEquivalent(f"a column of {odd.value.type}")
    return found


def _typed(value: DuckExpression) -> str:
    return cast(value) if value.aggregates or not value.text.endswith('"') else value.text


def _distinct(node: "exp.Expr", items: Sequence[_Item]) -> str:
    clause = node.args.get("distinct")
    if clause is None:
        return "SELECT"
    require_only(clause)
    if not all(is_groupable(item.value.type) for item in items):
        raise NotEquivalent("DISTINCT of floats or of nested values")
    return "SELECT DISTINCT"


def _kind(join: "exp.Expr") -> str:
    side, kind, conditional = join.text("side"), join.text("kind"), join.args.get("on") is not None
    if side == "" and kind in ("", "INNER", "CROSS") and (kind != "CROSS" or not conditional):
        return "JOIN" if conditional else "CROSS JOIN"
    if side == "LEFT" and kind in ("", "OUTER") and conditional:
        return "LEFT JOIN"
    raise NotEquivalent(" ".join(filter(None, ("a", side, kind, "join"))).lower())


def _on(join: "exp.Expr", sources: Sequence[_Source]) -> str:
    clause = join.args.get("on")
    if clause is None:
        return ""
    found = ExpressionTranslator(lambda qualifier, name: _column(sources, qualifier, name)).condition(clause)
    if found.aggregates:
        raise NotEquivalent("an aggregate in a join")
    return f" ON {found.text}"


def _where(node: "exp.Expr", values: ExpressionTranslator) -> str:
    clause = node.args.get("where")
    if clause is None:
        return ""
    require_only(clause, "this")
    found = values.condition(clause.this)
    if found.aggregates:
        raise NotEquivalent("an aggregate in WHERE")
    return f"WHERE {found.text}"


def _group(node: "exp.Expr", values: ExpressionTranslator, items: Sequence[_Item]) -> str:
    from sqlglot import exp

    clause = node.args.get("group")
    if clause is None:
        return ""
    require_only(clause, "expressions")
    found = []
    for one in clause.expressions:
        if isinstance(one, exp.Literal) and not one.is_string:
            found.append(_at(one, items).value)
        elif isinstance(one, exp.Column):
            found.append(values.of(one))
        else:
            raise NotEquivalent(f"GROUP BY {node_name(one)}")
    if any(value.aggregates or not is_groupable(value.type) for value in found):
        raise NotEquivalent("GROUP BY of floats or of nested values")
    return f"GROUP BY {', '.join(map(_typed, found))}"


def _at(literal: "exp.Expr", items: Sequence[_Item]) -> _Item:
    place = int(literal.this) if str(literal.this).isdigit() else 0
    if not 1 <= place <= len(items):
        raise NotEquivalent(f"the column {literal.this}")
    return items[place - 1]


def _having(node: "exp.Expr", values: ExpressionTranslator, items: Sequence[_Item]) -> str:
    from sqlglot import exp

    clause = node.args.get("having")
    if clause is None:
        return ""
    require_only(clause, "this")
    names = {item.name.lower() for item in items}
    if any(column.name.lower() in names for column in clause.find_all(exp.Column)):
        raise NotEquivalent("HAVING of a name in the SELECT")
    return f"HAVING {values.condition(clause.this).text}"


def _order(node: "exp.Expr", items: Sequence[_Item]) -> str:
    """NULLs go where Spark puts them: before all others, going down after them."""
    from sqlglot import exp

    clause = node.args.get("order")
    if clause is None:
        return ""
    require_only(clause, "expressions")
    found = []
    for one in clause.expressions:
        require_only(one, "this", "desc", "nulls_first")
        names = [number for number, item in enumerate(items, 1) if item.name.lower() == one.this.name.lower()]
        plain = isinstance(one.this, exp.Column) and not one.this.text("table") and len(names) == 1
        if not plain or not is_groupable(items[names[0] - 1].value.type):
            raise NotEquivalent("ORDER BY of something else than a column of the SELECT")
        first = "FIRST" if one.args.get("nulls_first") else "LAST"
        found.append(f"{names[0]} {'DESC' if one.args.get('desc') else 'ASC'} NULLS {first}")
    return f"ORDER BY {', '.join(found)}"
