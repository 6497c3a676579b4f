"""The clauses of a view's SELECT, each in DuckDB's SQL or refused with `NotEquivalent`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakebed.query.views.duck_expression import (
    DuckExpression,
    NotEquivalent,
    cast,
    column_value,
    is_groupable,
    is_same_type,
    node_name,
    require_only,
)
from lakebed.query.views.spark_expressions import ExpressionTranslator

if TYPE_CHECKING:
    from sqlglot import exp

TypedColumn = tuple[str, str]  # a column's name and type


@dataclass(frozen=True)
class FromItem:
    """A source of a FROM.

    `alias` is its name in the translation, `qualifier` its name in the view's SQL.
    """

    alias: str
    qualifier: str
    columns: tuple[TypedColumn, ...]


@dataclass(frozen=True)
class SelectItem:
    """A column of a SELECT."""

    name: str  # empty for an expression without an alias
    value: DuckExpression


def find_column(sources: Sequence[FromItem], qualifier: str, name: str) -> DuckExpression:
    """The one column of this name; Spark ignores case in names."""
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


def select_items(
    node: "exp.Expr", sources: Sequence[FromItem], values: ExpressionTranslator
) -> Iterator[SelectItem]:
    """The columns that one item of the SELECT gives: one, or for a star all of its sources."""
    from sqlglot import exp

    if isinstance(node, exp.Star) or isinstance(node.this, exp.Star):
        yield from _star_items(node, sources)
    elif isinstance(node, exp.Alias):
        require_only(node, "this", "alias")
        yield SelectItem(node.alias, values.of(node.this))
    else:
        yield SelectItem(node.name if isinstance(node, exp.Column) else "", values.of(node))


def _star_items(node: "exp.Expr", sources: Sequence[FromItem]) -> Iterator[SelectItem]:
    """All columns of all sources, or of the one that a qualifier names."""
    from sqlglot import exp

    require_only(node if isinstance(node, exp.Star) else node.this)
    require_only(node, "this", "table")
    qualifier = node.text("table").lower()
    starred = [
        one for one in sources if isinstance(node, exp.Star) or one.qualifier.lower() == qualifier
    ]
    if not starred or (isinstance(node, exp.Column) and len(starred) > 1):
        raise NotEquivalent("a star")
    for source in starred:
        for name, type_ in source.columns:
            yield SelectItem(name, column_value(source.alias, name, type_))


def named_items(
    items: Sequence[SelectItem], wanted: tuple[TypedColumn, ...] | None, *, distinct: bool
) -> list[SelectItem]:
    """The columns of a SELECT under the names that must come out."""
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
                raise NotEquivalent(
                    f"{name}, which is {item.value.type} and was {type_} when the view was made"
                )
    for item in found:
        type_ = item.value.type
        if not is_same_type(type_) or type_.startswith(("a ", "null")):
            raise NotEquivalent(f"a column of {type_}")
    return found


def typed(value: DuckExpression) -> str:
    """A value as exactly its type; plain columns have it already."""
    return cast(value) if value.aggregates or not value.text.endswith('"') else value.text


def select_keyword(node: "exp.Expr", items: Sequence[SelectItem]) -> str:
    """SELECT or SELECT DISTINCT."""
    clause = node.args.get("distinct")
    if clause is None:
        return "SELECT"
    require_only(clause)
    if not all(is_groupable(item.value.type) for item in items):
        raise NotEquivalent("DISTINCT of floats or of nested values")
    return "SELECT DISTINCT"


def join_keyword(join: "exp.Expr") -> str:
    """The kind of a join."""
    side, kind, conditional = join.text("side"), join.text("kind"), join.args.get("on") is not None
    if side == "" and kind in ("", "INNER", "CROSS") and (kind != "CROSS" or not conditional):
        return "JOIN" if conditional else "CROSS JOIN"
    if side == "LEFT" and kind in ("", "OUTER") and conditional:
        return "LEFT JOIN"
    raise NotEquivalent(" ".join(filter(None, ("a", side, kind, "join"))).lower())


def on_clause(join: "exp.Expr", sources: Sequence[FromItem]) -> str:
    """The condition of a join; empty without one."""
    clause = join.args.get("on")
    if clause is None:
        return ""
    found = ExpressionTranslator(
        lambda qualifier, name: find_column(sources, qualifier, name)
    ).condition(clause)
    if found.aggregates:
        raise NotEquivalent("an aggregate in a join")
    return f" ON {found.text}"


def where_clause(node: "exp.Expr", values: ExpressionTranslator) -> str:
    """WHERE, or nothing."""
    clause = node.args.get("where")
    if clause is None:
        return ""
    require_only(clause, "this")
    found = values.condition(clause.this)
    if found.aggregates:
        raise NotEquivalent("an aggregate in WHERE")
    return f"WHERE {found.text}"


def group_clause(
    node: "exp.Expr", values: ExpressionTranslator, items: Sequence[SelectItem]
) -> str:
    """GROUP BY, or nothing; items may be named by position."""
    from sqlglot import exp

    clause = node.args.get("group")
    if clause is None:
        return ""
    require_only(clause, "expressions")
    found = []
    for one in clause.expressions:
        if isinstance(one, exp.Literal) and not one.is_string:
            found.append(_at_position(one, items).value)
        elif isinstance(one, exp.Column):
            found.append(values.of(one))
        else:
            raise NotEquivalent(f"GROUP BY {node_name(one)}")
    if any(value.aggregates or not is_groupable(value.type) for value in found):
        raise NotEquivalent("GROUP BY of floats or of nested values")
    return f"GROUP BY {', '.join(map(typed, found))}"


def _at_position(literal: "exp.Expr", items: Sequence[SelectItem]) -> SelectItem:
    place = int(literal.this) if str(literal.this).isdigit() else 0
    if not 1 <= place <= len(items):
        raise NotEquivalent(f"the column {literal.this}")
    return items[place - 1]


def having_clause(
    node: "exp.Expr", values: ExpressionTranslator, items: Sequence[SelectItem]
) -> str:
    """HAVING, or nothing."""
    from sqlglot import exp

    clause = node.args.get("having")
    if clause is None:
        return ""
    require_only(clause, "this")
    names = {item.name.lower() for item in items}
    if any(column.name.lower() in names for column in clause.find_all(exp.Column)):
        raise NotEquivalent("HAVING of a name in the SELECT")
    return f"HAVING {values.condition(clause.this).text}"


def order_clause(node: "exp.Expr", items: Sequence[SelectItem]) -> str:
    """NULLs go where Spark puts them: first when ascending, last when descending."""
    from sqlglot import exp

    clause = node.args.get("order")
    if clause is None:
        return ""
    require_only(clause, "expressions")
    found = []
    for one in clause.expressions:
        require_only(one, "this", "desc", "nulls_first")
        names = [
            number
            for number, item in enumerate(items, 1)
            if item.name.lower() == one.this.name.lower()
        ]
        plain = isinstance(one.this, exp.Column) and not one.this.text("table") and len(names) == 1
        if not plain or not is_groupable(items[names[0] - 1].value.type):
            raise NotEquivalent("ORDER BY of something else than a column of the SELECT")
        first = "FIRST" if one.args.get("nulls_first") else "LAST"
        found.append(f"{names[0]} {'DESC' if one.args.get('desc') else 'ASC'} NULLS {first}")
    return f"ORDER BY {', '.join(found)}"
