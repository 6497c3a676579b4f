"""The reading side of a lake: SQL, and tables for frame libraries."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakebed.names import TableName
from lakebed.settings import Root, Settings, logs_folder

if TYPE_CHECKING:
    from lakebed.app.stores import Stores
    from lakebed.engines.types import SparkSession
    from lakebed.ports import Compute, TableMetadata
    from lakebed.query.cancellation import Cancellation
    from lakebed.query.lazy.table import LazyTable
    from lakebed.query.planning.explain import TableExplanation
    from lakebed.query.queries import Queries
    from lakebed.query.request import Engine
    from lakebed.query.results.log import QueryLog
    from lakebed.query.results.result import QueryResult
    from lakebed.tables import Tables


class Reads:
    """What `Lake` does for those who read."""

    root: Root
    settings: Settings
    _environment: Mapping[str, str]

    if TYPE_CHECKING:  # what `Lake` has besides

        @property
        def stores(self) -> Stores: ...
        @property
        def tables(self) -> Tables: ...
        @property
        def spark(self) -> SparkSession: ...
        def describe(self, name: str | TableName) -> TableMetadata: ...
        def _compute(self, run_id: str) -> Compute: ...

    # -- reading

    @cached_property
    def queries(self) -> "Queries":
        """Plans and runs SQL over the lake's tables."""
        from lakebed.app.queries import LakeEngines, open_queries

        engines = LakeEngines(
            self.stores,
            self.root,
            self.settings,
            environment=self._environment,
            compute=self._compute,
            spark=lambda: self.spark,
        )
        return open_queries(self.stores, self.settings, self.query_log, engines)

    @cached_property
    def query_log(self) -> "QueryLog":
        """The queries so far; plain files, so it can be read while catalog and state are down."""
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
        """Run a query in DuckDB's SQL (or Spark's), with all tables as of one moment; DuckDB needs no JVM.

        `at` reads all tables at a point: a snapshot, tag, branch, run or time. `untrusted` SQL is checked, confined and
        limited. `stop` cancels the query from another thread. `principal` and `route` go into the query log.
        """
        from lakebed.query.request import QueryRequest

        return self.queries.query(
            QueryRequest(
                sql,
                at=None if at is None else str(at),
                engine=engine,
                limit=limit,
                namespace=namespace,
                parameters=parameters,
                profile=profile,
                stop=stop,
                untrusted=untrusted,
                principal=principal,
                route=route,
            )
        )

    def explain(self, sql: str, *, at: str | int | None = None, namespace: str | None = None) -> "tuple[TableExplanation, ...]":
        """For each table of a query: the files considered, those that would be read, and why; reads no row."""
        from lakebed.query.planning.explain import explain_plan
        from lakebed.query.request import QueryRequest

        return explain_plan(self.queries.plan(QueryRequest(sql, None if at is None else str(at), namespace=namespace)))

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

        `where` is a condition in DuckDB's SQL. `memory` limits what DuckDB may use while it reads, such as `512MB`.
        """
        from lakebed.query.lazy.select import select_table
        from lakebed.query.lazy.table import LazyTableServices

        _, pointer, metadata = self.tables.look_up(name)
        services = LazyTableServices(self.stores.scans, self.queries.engines.frames, self.queries.protect)
        return select_table(
            pointer,
            metadata,
            services,
            columns=columns,
            where=where,
            at=None if at is None else str(at),
            memory=memory,
            timezone=self.settings.timezone,
        )
