"""A query carried out: tables pinned in one look, files planned, rows handed over."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from lakebed.errors import BadQuery, DamagedTable, UnknownName
from lakebed.names import TableName
from lakebed.ports import Catalog, Pointer, Scan, Scans, TableMetadata
from lakebed.query.parsing.parse_nodes import Json, TableRead
from lakebed.query.parsing.query_text import deep_name, with_deep_names, with_hyphens_quoted
from lakebed.query.parsing.tree import table_reads
from lakebed.query.planning.listings import in_search_order, listing_of, require_no_tables
from lakebed.query.planning.pin import snapshot_and_schema
from lakebed.query.planning.plan import (
    CatalogView,
    PinnedTable,
    PlannedTable,
    QueryPlan,
    ReadTarget,
    SystemTable,
    plan_tables,
    point_of,
)
from lakebed.query.planning.plan_cache import PlanCache
from lakebed.query.planning.resolve import CatalogNames, all_names, tables_named, with_views_and_foreign
from lakebed.query.request import QueryRequest, TableReference, unknown_table
from lakebed.query.views.catalog_views import listed_tables, name_of, plan_view, require_present

_LOOKS = 3


@dataclass(frozen=True)
class OperatorProfile:
    """A step of the engine: what it did, how long that took, and how many rows came out."""

    name: str
    detail: str
    ms: float
    rows: int


class QueryRows(Protocol):
    """An answer on its way: handed over once, from the first row to the last."""

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and type of each column, in the engine's words."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether rows were left out because the answer reached its bound; known at its end."""
        ...

    def fetch(self, count: int) -> list[tuple[Any, ...]]:
        """The next rows, none at the end."""
        ...

    def reader(self, rows: int) -> Any:
        """The rest as a `pyarrow.RecordBatchReader`, in batches of about so many rows."""
        ...

    def operators(self) -> tuple[OperatorProfile, ...]:
        """What each step took, slowest first, once the last row was read; none unless that was asked for."""
        ...

    def close(self) -> None:
        """Stop; what it used is free again."""
        ...


class QuerySession(Protocol):
    """An engine's connection, for one query."""

    def parse(self, sql: str) -> tuple[str, Json]:
        """The one statement, and its tree as the engine reads it, or the tree of what it explains.

        `BadQuery` for what does not only read.
        """
        ...

    def run(
        self, plan: QueryPlan, parameters: Sequence[Any] | Mapping[str, Any] | None = None, *, profile: bool = False
    ) -> QueryRows:
        """Begin; errors in the query are `BadQuery`, at the place where they stand in the text that was asked."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


@dataclass(frozen=True)
class QueryContext:
    """What queries stand on."""

    catalog: Catalog
    scans: Scans
    timezone: str
    system_tables: Mapping[tuple[str, ...], str] = field(default_factory=dict)  # tables of our own: the SELECT behind each name
    cache: PlanCache | None = None
    spark_setting: str = ""  # one that may change what SQL means to Spark, where the lake has such
    expanding: frozenset[TableName] = frozenset()  # the views whose tables are being looked for

    def metadata(self, pointers: Collection[Pointer]) -> dict[TableName, TableMetadata]:
        """What the pointers point at."""
        return self.cache.metadata(self.catalog, pointers) if self.cache else self.catalog.metadata(pointers)


def plan_query(ask: QueryRequest, session: QuerySession, ground: QueryContext) -> QueryPlan:
    """The plan of a query. A table that is changed while we look is looked at again."""
    for _ in range(_LOOKS - 1):
        try:
            return _attempt(ask, session, ground)
        except DamagedTable:
            continue
    return _attempt(ask, session, ground)


def _attempt(ask: QueryRequest, session: QuerySession, ground: QueryContext) -> QueryPlan:
    sql, tree = _parse(ask, session, ground)
    reads = table_reads(tree)
    targets = _targets(reads, ask, session, ground)
    if listing := listing_of(tree, [read.parts for read in reads if read.byte not in targets]):
        return _listed(sql, tree, targets, ask, ground, columns=listing.columns)
    found = plan_tables(sql, reads, targets, timezone=ground.timezone, tree=tree, parameters=ask.named_parameters)
    return found.with_scans({view.name: _scan(view, ground) for view in found.tables if _is_rows(view)})


def _listed(
    sql: str, tree: Json, targets: Mapping[int, ReadTarget], ask: QueryRequest, ground: QueryContext, *, columns: bool
) -> QueryPlan:
    """A statement that lists what there is: of every table its columns, or only its name."""
    require_no_tables(name for target in targets.values() if (name := name_of(target)))
    listed = listed_tables(all_names(ground.catalog), ground.catalog, ground.metadata, columns=columns)
    return QueryPlan(sql, sql, (), tree=tree, reads_more=True, listed=in_search_order(tree, listed, namespace=ask.namespace))


def _parse(ask: QueryRequest, session: QuerySession, ground: QueryContext) -> tuple[str, Json]:
    try:
        return session.parse(ask.sql)
    except BadQuery:
        known = all_names(ground.catalog)
        names = {*known.pointers, *known.others}
        quoted = with_deep_names(with_hyphens_quoted(ask.sql, names), names)
        if deep := deep_name(quoted):
            raise unknown_table(deep, names) from None
        if quoted == ask.sql:
            raise
        return session.parse(quoted)


def _is_rows(view: PlannedTable) -> bool:
    return isinstance(view.target.source, PinnedTable) and view.target.part == "rows"


def _scan(view: PlannedTable, ground: QueryContext) -> Scan:
    what = view.target.source
    assert isinstance(what, PinnedTable)  # noqa: S101 - for the type checker
    snapshot = what.snapshot.id if what.snapshot else None
    if ground.cache:
        return ground.cache.scan(ground.scans, what.pointer, snapshot, what.schema, view.predicate)
    return ground.scans.plan(what.pointer, snapshot=snapshot, schema=what.schema, predicate=view.predicate)


def _targets(reads: Sequence[TableRead], ask: QueryRequest, session: QuerySession, ground: QueryContext) -> dict[int, ReadTarget]:
    own = {
        read.byte: SystemTable(name, ground.system_tables[name])
        for read in reads
        if (name := _folded(read)) in ground.system_tables
    }
    known, meant = _resolve([read for read in reads if read.byte not in own], ask, ground.catalog)
    pointers = known.tables
    metadata = ground.metadata({pointers[one.table] for one in meant.values() if one.table in pointers})
    targets: dict[int, ReadTarget] = {byte: ReadTarget(what) for byte, what in own.items()}
    for read in reads:
        if one := meant.get(read.byte):
            at = point_of(read.at) if read.at else ask.at
            if known.is_view(one.table):
                targets[read.byte] = ReadTarget(_view(one, at, session, ground))
                continue
            point, schema = snapshot_and_schema(one.table, metadata[one.table], at, ground.timezone)
            pinned = PinnedTable(pointers[one.table], metadata[one.table], point, schema)
            targets[read.byte] = ReadTarget(pinned, one.part)
    return targets


def _view(one: TableReference, at: str | None, session: QuerySession, ground: QueryContext) -> CatalogView:
    require_present(one, at)
    if one.table in ground.expanding:
        raise BadQuery(f"the view {one.table} reads itself.", next="Make it anew, over tables.")
    inside = replace(ground, expanding=ground.expanding | {one.table})
    return plan_view(
        one.table,
        ground.catalog,
        metadata=ground.metadata,
        planning=lambda sql: plan_query(QueryRequest(sql), session, inside),
        settings=ground.spark_setting,
    )


def _resolve(reads: Sequence[TableRead], ask: QueryRequest, catalog: Catalog) -> tuple[CatalogNames, dict[int, TableReference]]:
    """What each name means, by where it stands; more than the lake's own tables is looked at for unknown names only."""

    def among(known: CatalogNames) -> tuple[CatalogNames, dict[int, TableReference]]:
        found = ((read.byte, known.resolve(read.parts, ask.namespace)) for read in reads)
        return known, {byte: one for byte, one in found if one}

    names = {read.parts[-1].split("$")[0] for read in reads}
    known = tables_named(catalog, names)
    with suppress(UnknownName):
        return among(known)
    with suppress(UnknownName):
        return among(with_views_and_foreign(catalog, known, names))
    return among(all_names(catalog))


def _folded(read: TableRead) -> tuple[str, ...]:
    return tuple(part.casefold() for part in read.parts)
