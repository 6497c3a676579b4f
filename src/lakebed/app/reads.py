"""The reading side of a lake: SQL, and tables for frame libraries."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakebed.names import TableName
from lakebed.ports import ForeignTable
from lakebed.settings import Root, Settings, logs_folder
from lakebed.tables.lookup.entries import find_readable, foreign_matching, foreign_metadata, views_matching

if TYPE_CHECKING:
    from lakebed.app.lazy import LazyTable
    from lakebed.app.queries import Queries
    from lakebed.app.stores import Stores
    from lakebed.app.tables import Tables
    from lakebed.engines.types import SparkSession
    from lakebed.ports import Column, Compute, TableMetadata, ViewMetadata
    from lakebed.query.cancellation import Cancellation
    from lakebed.query.planning.explain import TableExplanation
    from lakebed.query.request import Engine
    from lakebed.query.results.log import QueryLog
    from lakebed.query.results.result import QueryResult as QueryResult


class Reads:
    """What `Lake` does for those who read."""

    root: Root
    settings: Settings
    _environment: Mapping[str, str]

    if TYPE_CHECKING:  # what `Lake` has besides

        @property
        def stores(self) -> Stores: ...
        @property
        def table_work(self) -> Tables: ...
        @property
        def spark(self) -> SparkSession: ...
        def describe(self, name: str | TableName) -> TableMetadata: ...
        def _compute(self, run_id: str) -> Compute: ...

    # -- what can be read

    def find_anything(self, name: str) -> "tuple[TableName, ViewMetadata | None]":
        """A table or view of this name or end of a name, whoever made it; of a view, what it is."""
        found = find_readable(name, self.stores.catalog)
        table = found.name if isinstance(found, ForeignTable) and found.name else found
        assert isinstance(table, TableName)  # noqa: S101 - what has no name is not found by one
        is_view = (isinstance(found, ForeignTable) and found.kind == "view") or table in self.stores.catalog.views()
        return table, self.stores.catalog.view(table) if is_view else None

    def readable(self) -> list[TableName]:
        """Everything that a query can name: tables and views, those that somebody else made too."""
        catalog = self.stores.catalog
        others = [one.name for one in catalog.foreign() if one.name]
        return [table for table in sorted((*catalog.pointers(), *catalog.views(), *others), key=str) if not table.hidden]

    def columns_of(self, name: str) -> "tuple[Column, ...]":
        """The columns of a table or view, whoever made it."""
        _, view = self.find_anything(name)
        return view.columns if view else self.describe(name).columns

    def views(self, pattern: str | None = None) -> "dict[TableName, ViewMetadata]":
        """The views that fit: columns, SQL, and when each was made."""
        return views_matching(self.stores.catalog, pattern)

    def foreign(self, pattern: str | None = None) -> tuple[ForeignTable, ...]:
        """Tables and views that somebody else made in the catalog, under names that Lakebed would not give."""
        return foreign_matching(self.stores.catalog, pattern)

    def foreign_metadata(self, one: ForeignTable) -> "TableMetadata | None":
        """What such a table is; None for a view, and for one that cannot be read."""
        return foreign_metadata(self.stores.catalog, one)

    # -- reading it

    @cached_property
    def queries(self) -> "Queries":
        """SQL over the lake's tables, and what was asked so far."""
        from lakebed.app.queries import Queries

        logs = logs_folder(self.settings, self.root, self._environment)
        return Queries(self.stores, self.root, self.settings, environment=self._environment, logs=logs, compute=self._compute)

    @property
    def query_log(self) -> "QueryLog":
        """What was asked so far; plain files, so it can be read while catalog and state are down."""
        from lakebed.query.results.log import QueryLog

        return QueryLog(logs_folder(self.settings, self.root, self._environment))

    def query(
        self,
        sql: str,
        *,
        at: str | int | None = None,
        engine: "Engine" = "duckdb",
        limit: int | None = None,
        namespace: str | None = None,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        profile: bool = False,
        untrusted: bool = False,
        principal: str = "",
        route: str = "api",
        stop: "Cancellation | None" = None,
    ) -> "QueryResult":
        """The answer to a query in DuckDB's SQL (or Spark's), all tables as of one moment; no JVM starts for DuckDB.

        `at` reads all tables as of a snapshot, tag, branch or time. `untrusted` SQL is judged, confined and limited.
        `stop` ends it from another thread.
        """
        from lakebed.query.request import QueryRequest
        from lakebed.query.results.log_recorder import Caller

        ask = QueryRequest(sql, None if at is None else str(at), engine, limit, namespace, parameters, profile, stop)
        return self.queries.query(ask, untrusted=untrusted, asker=Caller(principal, route))

    def table(
        self,
        name: str | TableName,
        *,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        at: str | int | None = None,
        memory: str | None = None,
    ) -> "LazyTable":
        """A table to be read later by Polars, Arrow, DuckDB, pandas or Spark, pinned to one snapshot from now on.

        `where` is a condition in DuckDB's SQL. `memory` is what DuckDB may use while it reads, such as `512MB`.
        """
        from lakebed.app.choosing import choose
        from lakebed.app.lazy import TableReaders

        stores, moment = self.stores, None if at is None else str(at)
        _, pointer, metadata = self.table_work.look_up(name)
        reading = TableReaders(stores.catalog, stores.scans, stores.events, lambda: self.queries.sessions, lambda: self.spark)
        zone = self.settings.timezone
        return choose(pointer, metadata, reading, columns=columns, where=where, at=moment, memory=memory, timezone=zone)

    def explain(self, sql: str, *, at: str | int | None = None, namespace: str | None = None) -> "tuple[TableExplanation, ...]":
        """Of each table of a query: the files considered, those that would be read, and why; reads no row."""
        from lakebed.query.planning.explain import explain_plan
        from lakebed.query.request import QueryRequest

        return explain_plan(self.queries.plan(QueryRequest(sql, None if at is None else str(at), namespace=namespace)))
