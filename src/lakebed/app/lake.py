"""The lake: settings, stores and engines joined. What `lakebed.open()` returns."""

import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakebed.app.stores import Stores, open_stores
from lakebed.app.upkeep import LakeUpkeep
from lakebed.names import TableName
from lakebed.settings import (
    IN_BUCKET,
    Root,
    Settings,
    cache_folder,
    logs_folder,
)
from lakebed.tables import TablePlacement
from lakebed.tables.operations.naming import full_name

if TYPE_CHECKING:
    from lakebed.app.care import Care
    from lakebed.engines.types import IcebergCatalog, SparkSession
    from lakebed.landing import Zones
    from lakebed.pipelines import BuildResult, Pipelines, RunListener, RunPlan, Runs, RunServices
    from lakebed.ports import Compute, RunRecord
    from lakebed.query.cancellation import Cancellation
    from lakebed.query.lazy.table import LazyTable
    from lakebed.query.planning.explain import TableExplanation
    from lakebed.query.queries import Queries
    from lakebed.query.request import Engine
    from lakebed.query.results.log import QueryLog
    from lakebed.query.results.result import QueryResult
    from lakebed.tables import Tables

Report = Callable[[str], None]


def quiet(_: str) -> None:
    """Says nothing."""


class Lake(LakeUpkeep):
    """An opened lake. Nothing connects and no JVM starts before it is needed."""

    def __init__(
        self,
        root: Root,
        settings: Settings,
        *,
        environment: Mapping[str, str],
        spark: "SparkSession | None" = None,
        report: Report = quiet,
    ) -> None:
        self.root, self.settings = root, settings
        self._environment, self._report = environment, report
        self._given_session = spark

    # -- what there is

    @cached_property
    def stores(self) -> Stores:
        """Files, catalog, state."""
        stores = open_stores(self.settings, self.root, cache=cache_folder(self._environment))
        stores.database.prepare()
        return stores

    @cached_property
    def tables(self) -> "Tables":
        """The lake's tables: to be found, described, compared and changed as a whole."""
        from lakebed.landing import requeue_files
        from lakebed.tables import Tables, TableServices

        stores = self.stores
        services = TableServices(
            self._placement,
            stores.leases,
            stores.records,
            stores.events,
            holder=process_name(),
            compute=self._compute,
            requeue=lambda files: requeue_files(files, stores.files, stores.records),
            keys_of=lambda table: self.pipelines.keys_of(table),
        )
        return Tables(services)

    def write(
        self,
        name: str | TableName,
        frame: Any,
        *,
        mode: str = "append",
        key: str | Sequence[str] = (),
        order: str | None = None,
        on_schema_change: str = "fail",
        gates: bool = True,
    ) -> "RunRecord":
        """Bring rows into a table by hand: under its lease, on a branch, judged by its pipeline's gates, then published.

        `mode` is a strategy: append, overwrite, merge (with `key`, and `order` to tell the newer of two rows) … A table that is
        not there is made. Raises what stood in the way; then the table is as it was.
        """
        from lakebed.app.hand import write_options, write_rows

        table = full_name(name) if isinstance(name, TableName) or name.count(".") == 2 else self.tables.find(name)
        return write_rows(self.pipelines, table, frame, write_options(mode, key, order, on_schema_change), gates=gates)

    def execute(self, statement: str, *, gates: bool = True) -> "RunRecord":
        """Run one INSERT, UPDATE, DELETE, MERGE or ALTER TABLE by hand, published like a run once the table's gates passed."""
        from lakebed.app.hand import execute

        return execute(self.pipelines, statement, find=self.tables.find, events=self.stores.events, gates=gates)

    @cached_property
    def _placement(self) -> TablePlacement:
        return TablePlacement(self.root, self.settings, self.stores.catalog, self.stores.files)

    # -- reading

    @cached_property
    def queries(self) -> "Queries":
        """Plans and runs SQL over the lake's tables."""
        from lakebed.app.queries import LakeEngines, open_queries

        places = (self.stores, self.root, self.settings, self._environment)
        engines = LakeEngines(*places, compute=self._compute, spark=lambda: self.spark)
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
                at=_point(at),
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

        return explain_plan(self.queries.plan(QueryRequest(sql, _point(at), namespace=namespace)))

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

        _, pointer, metadata = self.tables.look_up(name)
        lazy = self.queries.lazy_tables
        return select_table(pointer, metadata, lazy, columns=columns, where=where, at=_point(at), memory=memory)

    # -- pipelines

    @cached_property
    def pipelines(self) -> "Pipelines":
        """The lake's pipelines: their drafts and releases, and what they would do."""
        from lakebed.pipelines import Pipelines

        return Pipelines(self._run_services)

    @cached_property
    def zones(self) -> "Zones":
        """The lake's landing zones and their files."""
        from lakebed.landing import Zones
        from lakebed.pipelines.zone_readers import zone_readers

        services = self._run_services
        return Zones(self.stores.files, self.stores.records, readers=lambda: zone_readers(services))

    @cached_property
    def runs(self) -> "Runs":
        """What ran."""
        from lakebed.pipelines import Runs

        return Runs(self._run_services)

    def plan(
        self,
        *selectors: str,
        exclude: Sequence[str] = (),
        full_refresh: bool = False,
        vars: Mapping[str, Any] | None = None,
        released: bool = False,
    ) -> "tuple[RunPlan, ...]":
        """What runs of the selected pipelines would do now. Changes nothing, starts no JVM. See `run` for the options."""
        from lakebed.pipelines.options import RunOptions
        from lakebed.pipelines.preview.selected import plan_selected

        given = vars or {}
        options = RunOptions(select=selectors, exclude=tuple(exclude), full_refresh=full_refresh, vars=given, released=released)
        return plan_selected(options, self._run_services)

    def run(
        self,
        *selectors: str,
        exclude: Sequence[str] = (),
        full_refresh: bool = False,
        vars: Mapping[str, Any] | None = None,
        released: bool = False,
        together: bool = False,
        threads: int = 1,
        fail_fast: bool = False,
        wait: float = 0.0,
        listener: "RunListener | None" = None,
    ) -> "BuildResult":
        """Run the selected pipelines, all without a selector. Each table is published as its gates pass.

        `full_refresh` rebuilds tables from all files, archived ones too; `vars` are for templates; `released` runs the
        newest releases instead of the drafts; `together` publishes all tables in one step, or none; `fail_fast` starts
        nothing after the first failure; `wait` is how many seconds to wait for a table that another run has.
        """
        from lakebed.pipelines.options import RunListener, RunOptions
        from lakebed.pipelines.running.builds.run_selected import run_selected

        options = RunOptions(
            select=selectors,
            exclude=tuple(exclude),
            full_refresh=full_refresh,
            vars=vars or {},
            released=released,
            together=together,
            threads=threads,
            fail_fast=fail_fast,
            wait=wait,
            listener=listener or RunListener(),
        )
        return run_selected(options, self._run_services)

    @cached_property
    def _run_services(self) -> "RunServices":
        from lakebed.app.run_services import open_run_services

        return open_run_services(
            self._placement,
            self.stores,
            compute=self._compute,
            holder=process_name(),
            own_spark=self._given_session is None and self.settings.spark.has_own_functions_only,
            environment=self._environment,
        )

    def _compute(self, run_id: str) -> "Compute":
        from lakebed.engines.spark import SparkCompute, Staging, another_session, close_session

        if "spark" not in self.__dict__:  # while the JVM starts, this process has nothing to do but to load what publishing needs
            threading.Thread(target=import_module, args=("lakebed.engines.iceberg.metadata.staging",), daemon=True).start()
        session = another_session(self.spark, self.settings, self.root, environment=self._environment)
        staging = Staging(self.stores.files, self.root, run_id)
        return SparkCompute(session, staging, run_id=run_id, close=lambda: close_session(session))

    def _open_care(self) -> "Care":
        from lakebed.app.care import open_care

        services = self._run_services
        return open_care(self.root, self.settings, self.stores, services, self._environment, watch=self.watch)

    # -- engines

    @cached_property
    def spark(self) -> "SparkSession":
        """The session that computes and writes; started at first use, or the one that was given."""
        from lakebed.engines.spark import adopt, open_session

        _ = self.stores  # the catalog's tables are there before Spark looks for them
        if self._given_session is not None:
            return adopt(self._given_session, self.settings, self.root)
        logs = logs_folder(self.settings, self.root, self._environment)
        return open_session(self.settings, self.root, environment=self._environment, logs=logs, report=self._report)

    def watch(self, on_progress: Callable[[int, int], None]) -> AbstractContextManager[None]:
        """While inside, `on_progress` is told how many tasks of how many Spark has done."""
        from lakebed.engines.spark import watch

        return watch(self.spark, on_progress)

    @cached_property
    def iceberg(self) -> "IcebergCatalog":
        """The same tables through PyIceberg."""
        from lakebed.engines.iceberg import open_pyiceberg

        return open_pyiceberg(self.settings, self.root)

    def close(self) -> None:
        """Stop what was started here."""
        if "spark" in self.__dict__:
            from lakebed.app.run_services import keep_logs
            from lakebed.engines.spark import close_session

            session = self.__dict__.pop("spark")
            if self._given_session is None:  # whoever gave one goes on using it, and it may be that of another lake object
                close_session(session)
            if self.settings.places.logs == IN_BUCKET:
                keep_logs(self.stores.files, logs_folder(self.settings, self.root, self._environment))
        if "queries" in self.__dict__:
            self.__dict__.pop("queries").close()
        if "iceberg" in self.__dict__:
            self.__dict__.pop("iceberg").close()
        if "stores" in self.__dict__:
            self.__dict__.pop("stores").database.close()
        for made in ("pipelines", "zones", "runs", "tables", "_run_services", "_placement", "_care"):  # of the stores just closed
            self.__dict__.pop(made, None)

    def __enter__(self) -> "Lake":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Lake({str(self.root)!r})"


def process_name() -> str:
    """Who holds a lease, in words that lead to the process."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def _point(at: str | int | None) -> str | None:
    return None if at is None else str(at)
