"""The plan of a query: its tables resolved and pinned in one look at the catalog, and the files it
reads of each.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from lakebed.errors import BadQuery, DamagedTable, UnknownName
from lakebed.names import TableName
from lakebed.ports import Catalog, LakePorts, Pointer, Predicate, Scan, TableMetadata
from lakebed.query.layouts.wish import Wish
from lakebed.query.parsing.parse_nodes import Json, TableRead
from lakebed.query.parsing.query_text import deep_name, with_deep_names, with_hyphens_quoted
from lakebed.query.parsing.tree import table_reads
from lakebed.query.planning.layout_plan import (
    LayoutPlanning,
    plan_layouts,
    wish_of,
)
from lakebed.query.planning.listings import in_search_order, listing_of, require_no_tables
from lakebed.query.planning.pin import pin_table
from lakebed.query.planning.plan import (
    CatalogView,
    PinnedTable,
    PlannedTable,
    QueryPlan,
    ReadTarget,
    SystemTable,
)
from lakebed.query.planning.plan_cache import PlanCache
from lakebed.query.planning.plan_tables import plan_tables, point_of
from lakebed.query.planning.resolve import (
    CatalogNames,
    all_names,
    tables_named,
    with_views_and_foreign,
)
from lakebed.query.request import TableReference, unknown_table
from lakebed.query.views.catalog_views import listed_tables, name_of, plan_view, require_present
from lakebed.requests import QueryRequest

_LOOKS = 3

References = dict[int, TableReference]  # by where the name stands in the text


Parse = Callable[[str], tuple[str, Json]]  # see `QueryEngine.parse`


@dataclass(frozen=True)
class QueryContext:
    """What planning needs to know of a lake."""

    ports: LakePorts
    system_tables: Mapping[tuple[str, ...], Callable[[], str]] = field(
        default_factory=dict
    )  # the SELECT behind each name
    cache: PlanCache = field(default_factory=PlanCache)
    spark_setting: str = ""  # a setting of this lake that may change what SQL means to Spark
    layouts: LayoutPlanning | None = None  # None: queries read no layouts
    expanding: frozenset[TableName] = frozenset()  # the views whose tables are being resolved
    wish: Wish | None = None  # of the query that reads these views

    @property
    def timezone(self) -> str:
        """Of points and conditions without one."""
        return self.ports.settings.timezone

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """What the pointers point at."""
        return self.cache.metadata(self.ports.catalog, pointers)

    def plan(
        self,
        pointer: Pointer,
        snapshot: int | None,
        schema: int,
        predicate: Predicate | None,
        *,
        columns: tuple[str, ...] | None = None,
    ) -> Scan:
        """The files of a table that may have rows for which the predicate is true."""
        return self.cache.scan(
            self.ports.scans, pointer, snapshot, schema, predicate, columns=columns
        )


def plan_query(request: QueryRequest, parse: Parse, context: QueryContext) -> QueryPlan:
    """The plan of a query. A table that changes meanwhile is looked up again."""
    for _ in range(_LOOKS - 1):
        try:
            return _attempt(request, parse, context)
        except DamagedTable:
            continue
    return _attempt(request, parse, context)


def _attempt(request: QueryRequest, parse: Parse, context: QueryContext) -> QueryPlan:
    sql, tree = _parse(request, parse, context)
    reads = table_reads(tree)
    wish = wish_of(request, tree, context.layouts, outer=context.wish)
    targets = _targets(reads, request, parse, replace(context, wish=wish))
    if listing := listing_of(tree, [read.parts for read in reads if read.byte not in targets]):
        return _listed(sql, tree, targets, request, context, columns=listing.columns)
    found = plan_tables(
        sql,
        reads,
        targets,
        timezone=context.timezone,
        tree=tree,
        parameters=request.named_parameters,
    )
    planned = found.with_tables(
        replace(table, scan=_scan(table, context)) for table in found.tables
    )
    if context.layouts is None:
        return planned
    return plan_layouts(planned, context.layouts, wish)


def _listed(
    sql: str,
    tree: Json,
    targets: Mapping[int, ReadTarget],
    request: QueryRequest,
    context: QueryContext,
    *,
    columns: bool,
) -> QueryPlan:
    """The plan of a statement such as SHOW TABLES: every table with its columns, or only
    its name.
    """
    require_no_tables(name for target in targets.values() if (name := name_of(target)))
    listed = listed_tables(
        all_names(context.ports.catalog), context.ports.catalog, context.metadata, columns=columns
    )
    return QueryPlan(
        sql,
        sql,
        (),
        tree=tree,
        reads_more=True,
        listed=in_search_order(tree, listed, namespace=request.namespace),
    )


def _parse(request: QueryRequest, parse: Parse, context: QueryContext) -> tuple[str, Json]:
    try:
        return parse(request.sql)
    except BadQuery:
        known = all_names(context.ports.catalog)
        names = {*known.pointers, *known.others}
        quoted = with_deep_names(with_hyphens_quoted(request.sql, names), names)
        if deep := deep_name(quoted):
            raise unknown_table(deep, names) from None
        if quoted == request.sql:
            raise
        return parse(quoted)


def _scan(table: PlannedTable, context: QueryContext) -> Scan | None:
    """The files of a table; None for views, metadata tables and the like."""
    source = table.target.source
    if not isinstance(source, PinnedTable) or table.target.part != "rows":
        return None
    return context.plan(source.pointer, source.snapshot_id, source.schema, table.predicate)


def _targets(
    reads: Sequence[TableRead], request: QueryRequest, parse: Parse, context: QueryContext
) -> dict[int, ReadTarget]:
    """What each name in the text stands for, by its place.

    Names of the engine's own tables and of files are left out.
    """
    targets = {
        read.byte: ReadTarget(table) for read in reads if (table := _system_table(read, context))
    }
    others = [read for read in reads if read.byte not in targets]
    known, references = _resolve(others, request, context.ports.catalog)
    pointers = known.tables
    metadata = context.metadata(
        {pointers[one.table] for one in references.values() if one.table in pointers}
    )
    for read in others:
        reference = references.get(read.byte)
        if reference is None:
            continue
        name, at = reference.table, point_of(read.at) if read.at else request.at
        if known.is_view(name):
            targets[read.byte] = ReadTarget(_view(reference, at, parse, context))
        else:
            pinned = pin_table(pointers[name], metadata[name], at, timezone=context.timezone)
            targets[read.byte] = ReadTarget(pinned, reference.part)
    return targets


def _system_table(read: TableRead, context: QueryContext) -> SystemTable | None:
    name = tuple(part.casefold() for part in read.parts)
    return (
        SystemTable(name, context.system_tables[name]()) if name in context.system_tables else None
    )


def _view(
    reference: TableReference, at: str | None, parse: Parse, context: QueryContext
) -> CatalogView:
    require_present(reference, at)
    if reference.table in context.expanding:
        raise BadQuery(
            f"the view {reference.table} reads itself.", next="Create it again, over tables."
        )
    inside = replace(context, expanding=context.expanding | {reference.table})
    return plan_view(
        reference.table,
        context.ports.catalog,
        metadata=context.metadata,
        planning=lambda sql: plan_query(QueryRequest(sql), parse, inside),
        settings=context.spark_setting,
    )


def _resolve(
    reads: Sequence[TableRead], request: QueryRequest, catalog: Catalog
) -> tuple[CatalogNames, dict[int, TableReference]]:
    """What each name stands for.

    Views and foreign tables are looked up only if a name is no table of the lake.
    """

    def among(known: CatalogNames) -> tuple[CatalogNames, References]:
        found = ((read.byte, known.resolve(read.parts, request.namespace)) for read in reads)
        return known, {byte: one for byte, one in found if one}

    names = {read.parts[-1].split("$")[0] for read in reads}
    known = tables_named(catalog, names)
    with suppress(UnknownName):
        return among(known)
    with suppress(UnknownName):
        return among(with_views_and_foreign(catalog, known, names))
    return among(all_names(catalog))
