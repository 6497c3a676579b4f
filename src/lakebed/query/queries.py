"""The queries of a lake: planned, checked, answered by an engine, and logged."""

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from lakebed.errors import BadQuery, LakebedError, RunFailed
from lakebed.names import TableName
from lakebed.ports import QueryRows
from lakebed.query.engine import QueryEngines
from lakebed.query.parsing.hints import layout_hints
from lakebed.query.parsing.query_text import require_utf8
from lakebed.query.planning.explain import TableExplanation, explain_plan
from lakebed.query.planning.layout_plan import require_known_layout
from lakebed.query.planning.plan import QueryPlan, all_tables
from lakebed.query.planning.planner import QueryContext, plan_query
from lakebed.query.planning.resolve import all_names
from lakebed.query.request import QueryOptions
from lakebed.query.results.log import QueryLog
from lakebed.query.results.log_recorder import LogRecorder
from lakebed.query.results.protected_rows import ProtectedRows
from lakebed.query.results.result import QueryResult
from lakebed.requests import QueryRequest
from lakebed.tables import SnapshotGuard, SnapshotRead, protect_reads

if TYPE_CHECKING:
    from lakebed.query.lazy.table import LazyTableServices

_DUCKDB_ONLY = "Untrusted queries run on DuckDB only."


class Queries:
    """Plans queries and runs them."""

    def __init__(
        self,
        context: QueryContext,
        log: QueryLog,
        engines: QueryEngines,
    ) -> None:
        self.context, self.log, self.engines = context, log, engines
        self._guards: dict[tuple[TableName, int], SnapshotGuard] = {}
        self._lock = threading.Lock()

    @property
    def lazy_tables(self) -> "LazyTableServices":
        """What lazy tables are read through."""
        from lakebed.query.lazy.table import LazyTableServices

        return LazyTableServices(
            ports=self.context.ports,
            reader=self.engines.frames,
            protection=self,
            layouts=self.context.layouts,
        )

    def plan(self, request: QueryRequest) -> QueryPlan:
        """What a query would read; reads no row.

        Raises `UnknownName` for a hint that names a layout which no table of the query has.
        """
        require_utf8(request.sql, *request.named_parameters.values())
        is_spark = request.engine == "spark"
        plan = self._plan_by_spark(request) if is_spark else self._plan_by_duckdb(request)
        if layouts := self.context.layouts:
            require_known_layout(plan, layout_hints(request.sql, spark=is_spark), layouts)
        return plan

    def _plan_by_spark(self, request: QueryRequest) -> QueryPlan:
        from lakebed.query.planning.spark_sql import plan_spark_query

        return plan_spark_query(request, self.context)

    def _plan_by_duckdb(self, request: QueryRequest) -> QueryPlan:
        return plan_query(request, self.engines.duckdb.parse, self.context)

    def explain(self, request: QueryRequest) -> tuple[TableExplanation, ...]:
        """What a query would read of each table, and why; reads no row."""
        return explain_plan(self.plan(request))

    def query(self, options: QueryOptions) -> QueryResult:
        """The answer. Every query is logged when its last row was read, or when it failed."""
        recorder, began = LogRecorder(self.log, options), time.perf_counter()
        request = options.request
        with recorder.failures():
            self._require_allowed(options)
            plan = self.plan(request)
            run = partial(self._run_protected, plan, self._runner(plan, options))
            plan_ms = (time.perf_counter() - began) * 1000
        on_end = partial(recorder.finish, plan)
        try:
            rows = run()
        except LakebedError as error:
            on_end(0, error)
            raise
        return QueryResult(
            plan,
            rows,
            run,
            request=request,
            frames=self.engines.frames,
            on_end=on_end,
            plan_ms=plan_ms,
        )

    def _runner(self, plan: QueryPlan, options: QueryOptions) -> Callable[[], QueryRows]:
        if options.request.engine == "spark":
            return partial(self.engines.run_by_spark, plan)
        if options.untrusted:
            _require_no_spark_view(plan)
            return partial(self.engines.untrusted.run, plan, options)
        if plan.spark_views:
            return partial(self._run_over_spark_views, plan, options)
        return partial(self.engines.duckdb.run, plan, options)

    def _run_over_spark_views(self, plan: QueryPlan, options: QueryOptions) -> QueryRows:
        """Run a query over views that only Spark can answer: their rows are in files until the
        result is closed.
        """
        compute = self.engines.compute()
        try:
            frames = {
                view.name: compute.query(f"SELECT * FROM {view.name.spark}")
                for view in plan.spark_views
            }
            files = {name: compute.materialize(frame) for name, frame in frames.items()}
        except BaseException as error:
            compute.close()
            if isinstance(error, RunFailed):
                raise BadQuery(error.what, next=error.next) from error
            raise
        return self.engines.duckdb.run(plan.with_view_files(files), options, on_close=compute.close)

    def _require_allowed(self, options: QueryOptions) -> None:
        """Check an untrusted query before anything of it is planned."""
        request = options.request
        if not options.untrusted:
            return
        from lakebed.query.guard.statement_guard import check_untrusted

        if request.engine == "spark":
            raise BadQuery("untrusted queries run on DuckDB only.", next="Omit the engine.")
        if request.parameters:
            raise BadQuery(
                "an untrusted query takes no parameters.", next="Write the values themselves."
            )
        catalog = self.context.ports.catalog
        try:
            check_untrusted(
                request.sql, [table.parts for table in catalog.pointers() if not table.hidden]
            )
        except (
            BadQuery
        ):  # views and foreign tables are looked up only now, because that takes longer
            known = all_names(catalog)
            names = [table.levels for table in (*known.pointers, *known.others) if not table.hidden]
            check_untrusted(request.sql, names)

    def _run_protected(self, plan: QueryPlan, run: Callable[[], QueryRows]) -> QueryRows:
        """Run a query; what it reads is protected until its rows are closed."""
        pinned = (source for table in all_tables(plan.tables) for source in table.pinned)
        guard = self.protect([read for source in pinned for read in source.reads])
        try:
            return ProtectedRows(run(), guard)
        except BaseException:
            guard.release()
            raise

    def protect(self, reads: Iterable[SnapshotRead]) -> SnapshotGuard:
        """Protect snapshots from expiry until the guard is released."""
        ports = self.context.ports
        return protect_reads(ports.catalog, ports.events, reads)

    def protect_until_closed(self, reads: Iterable[SnapshotRead]) -> None:
        """Protect what a frame reads that does not say when it is done."""
        with self._lock:
            for read in reads:
                if (read.table, read.snapshot) not in self._guards:
                    self._guards[read.table, read.snapshot] = self.protect([read])

    def close(self) -> None:
        """Close the engines; what is still being read ends with its last row."""
        while self._guards:
            self._guards.popitem()[1].release()
        self.engines.close()


def _require_no_spark_view(plan: QueryPlan) -> None:
    if plan.spark_views:
        view = plan.spark_views[0]
        raise BadQuery(f"{view.name} is a view that takes Spark ({view.why}).", next=_DUCKDB_ONLY)
