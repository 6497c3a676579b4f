"""Which conditions of a query in Spark's SQL hold for the rows that it uses of each source.

A condition counts for a source only if a row that does not fulfil it cannot change the answer; in
doubt it does not count.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlglot import exp

from lakebed.query.spark_reads.column_tests import (
    AllOf,
    AnyOf,
    ColumnTest,
    NameInQuery,
    RowTest,
    has_only,
    leaves,
    row_tests,
    weakened,
)
from lakebed.query.spark_reads.inner_columns import inner_names, keeps_rows_apart
from lakebed.query.spark_reads.query_names import (
    is_alone,
    may_be_same,
    merges_columns,
    select_over,
    sources_of,
)

RowTests: TypeAlias = tuple[RowTest, ...]  # all of these together

_PARTS = (
    "cluster", "distinct", "distribute", "expressions", "from_", "group", "having", "hint", "joins",
    "kind", "laterals", "limit", "offset", "order", "sort", "where", "windows", "with_",
)  # fmt: skip
_MOST_TESTS = 500  # queries of WITH that use each other several times would multiply them


class ConditionFlow:
    """Conditions of one query, followed from where they are written to the sources they are about.

    `through`: they may pass into subqueries, because all functions of the query are known.
    """

    def __init__(self, tree: exp.Expr, *, through: bool) -> None:
        self._through = through
        self._uses: dict[int, list[exp.Table]] = {}
        for table in tree.find_all(exp.Table):
            if (cte := cte_of(table)) is not None:
                self._uses.setdefault(id(cte), []).append(table)
        self._known: dict[int, dict[int, RowTests]] = {}

    def at(self, source: exp.Expr) -> RowTests:
        """What the rows fulfil that the query uses of a source of a FROM."""
        select = select_over(source)
        if select is None:
            return ()
        if id(select) not in self._known:
            self._known[id(select)] = self._flow(select)
        return self._known[id(select)].get(id(source), ())

    def _flow(self, select: exp.Select) -> dict[int, RowTests]:
        """The conditions for each source of a SELECT, which joins pass on from right to left."""
        sources = sources_of(select)
        if not has_only(select, *_PARTS) or any(one.args.get("pivots") for one in sources):
            return {}
        where = select.args.get("where")
        known = (*self._outside(select), *row_tests(where.this if where else None))
        found: dict[int, RowTests] = {}
        for join in reversed(select.args.get("joins") or ()):
            known, found[id(join.this)] = _sides(join, known)
        return found | {id(source): known for source in sources[:1]}

    def _outside(self, select: exp.Select) -> RowTests:
        """Conditions on the rows of a subquery, as its own WHERE would have them."""
        around = select.parent
        if not self._through or not keeps_rows_apart(select):
            return ()
        if isinstance(around, exp.Subquery):
            return self._inside(around, select)
        if not isinstance(around, exp.CTE) or not _is_plain(around):
            return ()
        uses = [self._inside(use, select) for use in self._uses.get(id(around), ())]
        if not all(uses) or sum(len([*leaves(test)]) for use in uses for test in use) > _MOST_TESTS:
            return ()
        if len(uses) < 2:
            return uses[0] if uses else ()
        return (AnyOf(tuple(AllOf(use) if len(use) > 1 else use[0] for use in uses)),)

    def _inside(self, source: exp.Expr, query: exp.Select) -> RowTests:
        """The conditions on a subquery or a query of WITH, with the names that it has for its
        columns.
        """
        select = select_over(source)
        if select is None or not _is_plain(source):
            return ()
        qualifier, inner = may_be_same(source.alias_or_name), inner_names(query)
        alone, merged = is_alone(source, select), merges_columns(select)

        def renamed(name: NameInQuery) -> NameInQuery | None:
            own = alone and may_be_same(name[0]) == qualifier if name[0] else not merged
            return inner(name[1]) if own else None

        return _with_names(self.at(source), renamed)


def _with_names(tests: RowTests, renamed: Callable[[NameInQuery], NameInQuery | None]) -> RowTests:
    def leaf(test: ColumnTest) -> RowTest | None:
        name = renamed(test.name)
        return ColumnTest(name, test.kind, test.values) if name else None

    found = (weakened(test, leaf) for test in tests)
    return tuple(test for test in found if test)


def _sides(join: exp.Join, known: RowTests) -> tuple[RowTests, RowTests]:
    """The conditions that count for what is before a join, and for what it adds."""
    if not has_only(join, "this", "side", "kind", "on", "using", "method"):
        return (), ()
    if join.args.get("method") not in (None, "NATURAL"):
        return (), ()
    on = row_tests(join.args.get("on"))
    matched = tuple(test for test in known if _needs_values(test))
    side, kind = join.text("side"), join.text("kind")
    if kind in ("SEMI", "ANTI"):
        left = (*known, *on) if kind == "SEMI" else known
        return (left, on) if side in ("", "LEFT") else ((), ())
    return {
        ("", ""): ((*known, *on), (*known, *on)),
        ("", "INNER"): ((*known, *on), (*known, *on)),
        ("", "CROSS"): ((*known, *on), (*known, *on)),
        ("LEFT", "OUTER"): (known, (*matched, *on)),
        ("RIGHT", "OUTER"): ((*matched, *on), known),
        ("FULL", "OUTER"): (matched, matched),
    }.get((side, kind or "OUTER" if side else kind), ((), ()))


def _needs_values(test: RowTest) -> bool:
    """Whether a row of NULLs, as an outer join fills in, certainly does not fulfil a test."""
    return all(leaf.kind != "is null" for leaf in leaves(test))


def _is_plain(source: exp.Expr) -> bool:
    """Whether a subquery, a query of WITH or its use has its rows and columns as they are."""
    alias = source.args.get("alias")
    return has_only(source, "this", "alias") and (alias is None or has_only(alias, "this"))


def cte_of(table: exp.Table) -> exp.CTE | None:
    """The query of WITH that a table names, as Spark finds it; None for a real table, and for what
    may read itself.
    """
    node: exp.Expr = table
    while len(table.parts) == 1 and (parent := node.parent) is not None:
        ctes = _visible(parent, node)
        named = [one for one in ctes if one.alias.casefold() == table.name.casefold()]
        if named:
            clause = named[0].parent
            recursive = clause is None or clause.args.get("recursive")
            return None if recursive or len(named) > 1 else named[0]
        node = parent
    return None


def _visible(parent: exp.Expr, node: exp.Expr) -> Sequence[exp.CTE]:
    """The queries of WITH that can be named from a part of what has them."""
    if isinstance(parent, exp.With):
        listed = parent.expressions
        return listed[: listed.index(node) + bool(parent.args.get("recursive"))]
    ctes = parent.args.get("with_")
    return ctes.expressions if ctes and node is not ctes else ()
