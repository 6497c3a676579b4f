"""The layouts that the tables of a plan are read through."""

from dataclasses import dataclass, replace
from functools import cache

from lakebed.errors import UnknownName
from lakebed.query.layouts.choosing import LayoutChooser, SourceScan
from lakebed.query.layouts.wish import LayoutWish, Wish
from lakebed.query.ordering.duckdb_order import order_sensitive
from lakebed.query.parsing.hints import LayoutHints, layout_hints
from lakebed.query.parsing.parse_nodes import Json, dicts
from lakebed.query.parsing.tree import mentioned_columns
from lakebed.query.planning.plan import PinnedTable, PlannedTable, QueryPlan, all_tables
from lakebed.requests import QueryRequest
from lakebed.settings import LayoutSettings


@dataclass(frozen=True)
class LayoutPlanning:
    """How layouts are chosen for the queries of a lake."""

    chooser: LayoutChooser
    settings: LayoutSettings


def wish_of(
    request: QueryRequest, tree: Json, planning: LayoutPlanning | None, *, outer: Wish | None
) -> Wish:
    """What a query says about layouts; `outer` is the query that reads this one as a view."""
    settings = planning.settings if planning else LayoutSettings()

    @cache
    def decide(columns: frozenset[str]) -> LayoutWish:
        around = outer(frozenset()) if outer else LayoutWish()
        hints = layout_hints(request.sql)
        forced = around.forced or ((hints.use,) if hints.use else ())
        if around.refused or not request.layouts or hints.off:
            return LayoutWish(around.refused or "HINT_OFF", forced)
        sensitive = request.limit is not None or order_sensitive(tree, columns=columns)
        if sensitive and settings.order == "strict":
            return LayoutWish("ORDER_SENSITIVE", forced)
        return LayoutWish(forced=forced)

    return decide


def plan_layouts(plan: QueryPlan, planning: LayoutPlanning, wish: Wish) -> QueryPlan:
    """The plan with a layout for each table that is cheaper to read through one."""

    @cache
    def needed() -> frozenset[str] | None:
        named = mentioned_columns(plan.tree or {})
        return None if named.all else named.names

    def with_layout(table: PlannedTable) -> PlannedTable:
        source = table.target.source
        if not isinstance(source, PinnedTable) or table.scan is None:
            return table
        if not planning.chooser.may_have_layouts(source):
            return table
        scan = SourceScan(source, table.scan, table.predicate, needed())
        layout, choice = planning.chooser.choose(scan, wish(_columns(plan)))
        return replace(table, layout=layout, choice=choice)

    found = [with_layout(table) for table in plan.tables]
    if not any(table.layout for table in found):
        return replace(plan, tables=tuple(found))
    own_names = _qualifies_fully(plan.tree or {})
    return plan.with_tables(table if own_names else _named_by_content(table) for table in found)


def _columns(plan: QueryPlan) -> frozenset[str]:
    sources = (table.target.source for table in plan.tables)
    pinned = (source for source in sources if isinstance(source, PinnedTable))
    return frozenset(column.name for source in pinned for column in source.columns)


def _named_by_content(table: PlannedTable) -> PlannedTable:
    """A table that is read through a layout, in a database of its own: queries that read it in
    other ways at the same time can share a DuckDB.
    """
    return replace(table, name=table.content_name) if table.layout else table


def _qualifies_fully(tree: Json) -> bool:
    """Whether columns may be qualified with the database of their table."""
    return any(
        len(item.get("column_names") or ()) > 3 or (item.get("catalog") and "column" in item)
        for item in dicts(tree)
    )


def require_known_layout(plan: QueryPlan, hints: LayoutHints, planning: LayoutPlanning) -> None:
    """Raise for a layout that a query asks for although none of its tables has it.

    A table whose layouts cannot be looked at may have it.
    """
    name, known = hints.use, set[str]()
    if name is None or hints.off:
        return
    for table in all_tables(plan.tables):
        source = table.target.source
        if table.choice:
            known |= {verdict.layout for verdict in table.choice.verdicts}
        elif isinstance(source, PinnedTable) and planning.chooser.may_have_layouts(source):
            return
    if name.casefold() not in {one.casefold() for one in known}:
        raise UnknownName("layout", name, known)
