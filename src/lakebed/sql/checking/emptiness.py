"""Whether a query can return no rows."""

from sqlglot import exp

_DROP_AFTERWARDS = ("having", "offset")
_DROP_OR_ADD = ("where", "joins", "laterals", "pivots", "sample", "group")


def always_returns(node: exp.Expr) -> bool:
    """Whether it always returns a row, whatever the tables contain, as a count of everything or a
    constant does.
    """
    match node:
        case exp.Subquery():
            return not _has(node, *_DROP_AFTERWARDS, *_DROP_OR_ADD) and always_returns(node.this)
        case exp.Union():
            return not _has(node, "offset") and (
                always_returns(node.this) or always_returns(node.expression)
            )
        case exp.Values():
            return bool(node.expressions)
        case exp.Select() if not _has(node, *_DROP_AFTERWARDS):
            return _is_one_aggregate(node) or (not _has(node, *_DROP_OR_ADD) and _reads_one(node))
        case _:
            return False


def _has(node: exp.Expr, *clauses: str) -> bool:
    return any(node.args.get(clause) for clause in clauses)


def _is_one_aggregate(select: exp.Select) -> bool:
    """Whether it aggregates all rows to one; with GROUP BY ALL, only if it returns nothing but
    aggregates.
    """
    group = select.args.get("group")
    aggregates = [_aggregates(projection) for projection in select.expressions]
    if not group:
        return any(aggregates)
    return bool(group.args.get("all")) and not group.expressions and all(aggregates)


def _aggregates(node: exp.Expr) -> bool:
    """Whether it is an aggregate; count(*) OVER () is not, nor is one inside a subquery."""
    if isinstance(node, exp.Query | exp.Window):
        return False
    return isinstance(node, exp.AggFunc) or any(
        _aggregates(child) for child in node.iter_expressions()
    )


def _reads_one(select: exp.Select) -> bool:
    """Whether everything it reads always returns a row: nothing, a subquery, or a CTE."""
    clause = select.args.get("from_")
    if not clause:
        return True
    table = clause.this
    if isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier) and not table.db:
        query = {cte.alias.casefold(): cte.this for cte in _visible(select)}.get(
            table.name.casefold()
        )
        return query is not None and not _has(table, *_DROP_OR_ADD) and always_returns(query)
    return isinstance(table, exp.Subquery | exp.Values) and always_returns(table)


def _visible(node: exp.Expr | None) -> list[exp.Expr]:
    """The CTEs in scope, outermost first: of the same name, the nearest wins."""
    if node is None:
        return []
    ctes = node.args.get("with_")
    return [*_visible(node.parent), *(ctes.expressions if ctes else ())]
