"""The columns of a subquery in Spark's SQL: which of them are columns as it read them, and whether
conditions on them may be asked before the subquery does its work.
"""

from collections.abc import Callable

from sqlglot import exp

from lakebed.query.spark_reads.column_tests import NameInQuery, has_only
from lakebed.query.spark_reads.query_names import may_be_same

# what a SELECT may do so that rows left out earlier affect no others; LIMIT and windows are not
# among it
_PARTS = (
    "cluster", "distinct", "distribute", "expressions", "from_", "group", "having", "hint", "joins",
    "kind", "laterals", "order", "sort", "where", "with_",
)  # fmt: skip
_GROUPED_SEVERAL_TIMES = (exp.Cube, exp.Rollup, exp.GroupingSets)


def keeps_rows_apart(select: exp.Select) -> bool:
    """Whether rows that are left out before could not have affected others with other values.

    With GROUP BY these are the values it groups by: Spark shows no other columns as they are.
    """
    group, distinct = select.args.get("group"), select.args.get("distinct")
    if not has_only(select, *_PARTS) or (distinct and not has_only(distinct)):
        return False
    if group and (not has_only(group, "expressions", "all") or _has(group, _GROUPED_SEVERAL_TIMES)):
        return False
    return not any(_has(one, exp.Window) for one in select.expressions)


def inner_names(select: exp.Select) -> Callable[[str], NameInQuery | None]:
    """Finds what a column of a subquery is called inside; None if it is not a column as it was
    read.

    Two columns of the same name cannot be asked for: Spark refuses that.
    """
    stars = [item for item in select.expressions if _star(item) is not None]
    named: dict[str, list[NameInQuery | None]] = {}
    for item in select.expressions:
        if item.output_name:
            named.setdefault(may_be_same(item.output_name), []).append(_column(item.unalias()))

    def find(name: str) -> NameInQuery | None:
        found = named.get(may_be_same(name))
        if found is not None:
            return found[0] if len(found) == 1 else None
        return (_star(stars[0]) or "", name) if len(stars) == 1 else None

    return find


def _star(item: exp.Expr) -> str | None:
    """The qualifier of a star that stands for all columns of one source or of all; None for
    anything else.
    """
    if isinstance(item, exp.Star) and has_only(item):
        return ""
    qualified = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    plain = qualified and has_only(item, "this", "table") and has_only(item.this)
    return item.text("table") if plain else None


def _column(item: exp.Expr) -> NameInQuery | None:
    plain = isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier)
    return (item.text("table"), item.name) if plain and has_only(item, "this", "table") else None


def _has(node: exp.Expr, kinds: type[exp.Expr] | tuple[type[exp.Expr], ...]) -> bool:
    return any(isinstance(part, kinds) for part in node.walk())
