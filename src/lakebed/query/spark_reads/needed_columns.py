"""The columns that a query in Spark's SQL may need of a table."""

from collections.abc import Iterator

from sqlglot import exp

from lakebed.query.parsing.tree import MentionedColumns
from lakebed.query.spark_reads.column_tests import has_only
from lakebed.query.spark_reads.query_names import may_be_same, select_over, sources_of

EVERY_COLUMN = MentionedColumns(frozenset(), all=True)
_NO_COLUMN = (exp.Table, exp.TableAlias, exp.Alias)  # a name in these is given, not used


def mentioned_names(tree: exp.Expr) -> frozenset[str]:
    """Every name in a query that may be that of a column, whoever has it."""
    return frozenset(
        name.name.casefold()
        for name in tree.find_all(exp.Identifier)
        if not isinstance(name.parent, _NO_COLUMN)
    )


def needed_columns(table: exp.Table, names: frozenset[str]) -> MentionedColumns:
    """The columns that a query may need of a table: all, or those among these names."""
    select, alias = select_over(table), table.args.get("alias")
    if select is None or (alias is not None and not has_only(alias, "this")):
        return EVERY_COLUMN
    joined = select.args.get("joins") or ()
    widens = any(one.args.get("pivots") for one in sources_of(select)) or any(
        join.args.get("method") for join in joined
    )
    others = {may_be_same(one.alias_or_name) for one in sources_of(select) if one is not table}
    starred = any(qualifier not in others for qualifier in _star_qualifiers(select))
    return EVERY_COLUMN if widens or starred else MentionedColumns(names)


def _star_qualifiers(select: exp.Select) -> Iterator[str]:
    """The qualifiers of stars in a SELECT itself; empty for a star over all sources."""
    sources = {id(one) for one in sources_of(select)}
    for node in select.walk(prune=lambda part: id(part) in sources or _is_inner(part, select)):
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            column = node.parent if isinstance(node.parent, exp.Column) else None
            yield may_be_same(column.text("table")) if column else ""


def _is_inner(part: exp.Expr, select: exp.Select) -> bool:
    return isinstance(part, exp.Query) and part is not select
