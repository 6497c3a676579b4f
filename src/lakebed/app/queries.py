"""Queries of a lake: asked, planned, answered by an engine, and written down."""

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.app.holding import protect_past_snapshots
from lakebed.app.stores import Stores
from lakebed.errors import BadQuery, LakebedError, RunFailed
from lakebed.names import new_run_id
from lakebed.query.planning.plan import PinnedTable, QueryPlan, all_tables
from lakebed.query.planning.plan_cache import PlanCache
from lakebed.query.planning.planner import QueryContext, QueryRows, plan_query
from lakebed.query.planning.resolve import all_names
from lakebed.query.request import QueryRequest
from lakebed.query.results.log import QueryLog
from lakebed.query.results.log_recorder import Caller, LogRecorder
from lakebed.query.results.result import QueryResult
from lakebed.settings import Root, Settings

if TYPE_CHECKING:
    from lakebed.engines.duckdb import DuckSessions
    from lakebed.engines.duckdb.queries import DuckSession
    from lakebed.engines.duckdb.untrusted.child_pool import ChildPool
    from lakebed.engines.duckdb.untrusted.confined import UntrustedLimits
    from lakebed.ports import Compute

_MEANING = ("spark.sql.ansi", "spark.sql.caseSensitive", "spark.sql.legacy")  # settings that change what Spark's SQL means
_NO_PLAN = QueryPlan("", "", ())


class Queries:
    """The queries of one lake."""

    def __init__(
        self,
        stores: Stores,
        root: Root,
        settings: Settings,
        *,
        environment: Mapping[str, str],
        logs: Path,
        compute: "Callable[[str], Compute]",
    ) -> None:
        self._stores, self._root, self._settings = stores, root, settings
        self._environment, self._compute, self._seen = environment, compute, PlanCache()
        self.log = QueryLog(logs)

    @cached_property
    def sessions(self) -> "DuckSessions":
        """DuckDB's sessions; opened when first asked."""
        from lakebed.engines.duckdb import DuckSessions, s3_secret

        access = s3_secret(self._root, self._settings.files, self._environment)
        bounds = self._settings.query
        return DuckSessions(
            timezone=self._settings.timezone,
            inspect=self._inspect,
            reaching=access,
            memory=bounds.memory,
            cache=bounds.cache_memory,
            spill=self._settings.places.spill,
        )

    def _inspect(self, pinned: PinnedTable, about: str) -> Any:
        from lakebed.engines.iceberg import file_properties
        from lakebed.engines.iceberg.scan.metadata_tables import metadata_rows

        snapshot = pinned.snapshot.id if pinned.snapshot else None
        return metadata_rows(pinned.pointer, snapshot, about, file_properties(self._settings.files))

    @property
    def _ground(self) -> QueryContext:
        own: dict[tuple[str, ...], str] = {("system", "query_log"): self.log.select()}
        settings = [key for key in self._settings.spark.conf if key.startswith(_MEANING)]
        return QueryContext(
            self._stores.catalog, self._stores.scans, self._settings.timezone, own, self._seen, settings[0] if settings else ""
        )

    def plan(self, ask: QueryRequest) -> QueryPlan:
        """What a query would read; reads no row."""
        session = self.sessions.take()
        try:
            return plan_query(ask, session, self._ground)
        finally:
            session.close()

    def query(self, ask: QueryRequest, *, untrusted: bool = False, asker: Caller | None = None) -> QueryResult:
        """The answer. Every query is written to the log when its last row was read, or it failed."""
        entry = LogRecorder(self.log, ask, asker or Caller(), untrusted)
        try:
            if ask.engine == "spark":
                return self._by_spark(ask, entry, untrusted=untrusted)
            return self._by_duckdb(ask, entry, untrusted=untrusted)
        except LakebedError as error:
            entry.finish(_NO_PLAN, 0, error)
            raise

    def _by_duckdb(self, ask: QueryRequest, entry: LogRecorder, *, untrusted: bool) -> QueryResult:
        if untrusted:
            self._refuse(ask)
        began = time.perf_counter()
        plan = self.plan(ask)
        if untrusted and plan.spark_views:
            view = plan.spark_views[0]
            raise BadQuery(f"{view.name} is a view that takes Spark ({view.why}).", next="Untrusted queries run on DuckDB only.")
        took = (time.perf_counter() - began) * 1000
        release = protect_past_snapshots(self._stores, plan)
        begin: Callable[[], QueryRows] = (lambda: self._confined(plan, ask)) if untrusted else (lambda: self._begun(plan, ask))

        def ended(rows: int, error: LakebedError | None) -> None:
            release()
            entry.finish(plan, rows, error)

        return QueryResult(plan, begin, limit=ask.limit, on_end=ended, plan_ms=took, profile=ask.profile)

    def _begun(self, plan: QueryPlan, ask: QueryRequest) -> QueryRows:
        session = self.sessions.take()
        try:
            if ask.stop:
                ask.stop.on_cancel(session.cancel)
            if plan.spark_views:
                plan = self._answered(plan, session)
            return session.run(plan, ask.parameters, profile=ask.profile)
        except BaseException:
            session.close()
            raise

    def _answered(self, plan: QueryPlan, session: "DuckSession") -> QueryPlan:
        """The plan with the rows of those views that take Spark, in files that go with the session."""
        compute = self._compute(new_run_id())
        session.on_close(compute.close)
        try:
            saved = {
                view.name: compute.materialize(compute.query(f"SELECT * FROM {view.name.spark}")) for view in plan.spark_views
            }
        except RunFailed as error:
            raise BadQuery(error.what, next=error.next) from error
        return plan.with_view_files(saved)

    def _refuse(self, ask: QueryRequest) -> None:
        from lakebed.query.guard.statement_guard import check_untrusted

        if ask.parameters:
            raise BadQuery("an untrusted query takes no parameters.", next="Write the values themselves.")
        catalog = self._stores.catalog
        try:
            check_untrusted(ask.sql, [table.parts for table in catalog.pointers() if not table.hidden])
        except BadQuery:  # only then it is worth asking what else there is
            known = all_names(catalog)
            names = [table.levels for table in (*known.pointers, *known.others) if not table.hidden]
            check_untrusted(ask.sql, names)

    def _confined(self, plan: QueryPlan, ask: QueryRequest) -> QueryRows:
        from lakebed.engines.duckdb.s3_secret import s3_secret
        from lakebed.engines.duckdb.untrusted.rows import run_confined

        return run_confined(
            plan,
            timezone=self._settings.timezone,
            folders=self._opened_by_iceberg(plan),
            reaching=s3_secret(self._root, self._settings.files, self._environment),
            limits=_limits(self._settings),
            stop=ask.stop,
            children=self._children,
        )

    def _opened_by_iceberg(self, plan: QueryPlan) -> frozenset[str]:
        """Where DuckDB's own reader of Iceberg looks for manifests and files, of tables that it reads."""
        read = [
            (view.target.source, view.scan)
            for view in all_tables(plan.tables)
            if view.scan and view.scan.files and not view.scan.plain
        ]
        return frozenset(
            folder
            for what, scan in read
            if isinstance(what, PinnedTable) and scan.snapshot is not None
            for folder in self._stores.scans.folders(what.pointer, snapshot=scan.snapshot)
        )

    @cached_property
    def _children(self) -> "ChildPool":
        from lakebed.engines.duckdb.untrusted.child_pool import ChildPool

        return ChildPool(ready=self._settings.query.untrusted_ready)

    def _by_spark(self, ask: QueryRequest, entry: LogRecorder, *, untrusted: bool) -> QueryResult:
        from lakebed.engines.spark.queries import SparkRows
        from lakebed.query.planning.spark_sql import plan_spark_query

        if untrusted:
            raise BadQuery("untrusted queries run on DuckDB only.", next="Omit the engine.")
        plan = plan_spark_query(ask, self._stores.catalog, timezone=self._settings.timezone)
        return QueryResult(
            plan,
            lambda: SparkRows(self._compute(new_run_id()), plan),
            limit=ask.limit,
            on_end=lambda rows, error: entry.finish(plan, rows, error),
        )

    def close(self) -> None:
        """Close what is open."""
        for name in ("sessions", "_children"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()


def _limits(settings: Settings) -> "UntrustedLimits":
    from lakebed.engines.duckdb.untrusted.confined import UntrustedLimits

    most = settings.query
    return UntrustedLimits(
        rows=most.untrusted_rows,
        bytes=most.untrusted_bytes,
        seconds=most.untrusted_seconds,
        memory=most.untrusted_memory,
        threads=most.untrusted_threads,
    )
