"""The lake: settings, stores and engines joined. What `lakebed.open()` returns."""

import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakebed.app.reads import Reads
from lakebed.app.stores import Stores, open_stores
from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.settings import (
    DATA,
    IN_BUCKET,
    Root,
    Settings,
    cache_folder,
    logs_folder,
    staging_place,
)
from lakebed.tables import TablePlacement
from lakebed.tables.operations.naming import full_name

if TYPE_CHECKING:
    from lakebed.app.care import Care
    from lakebed.app.pipelines import BuildResult, Pipelines
    from lakebed.care import CareListener, CareResult
    from lakebed.engines.types import IcebergCatalog, SparkSession
    from lakebed.pipelines import RunPlan, RunServices
    from lakebed.ports import Compute, ConsumedFile, LocalSession, RunRecord
    from lakebed.tables import Tables

Report = Callable[[str], None]


def quiet(_: str) -> None:
    """Says nothing."""


class Lake(Reads):
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
        from lakebed.tables import Tables, TableServices

        stores = self.stores
        services = TableServices(
            self._placement,
            stores.leases,
            stores.records,
            stores.events,
            holder=process_name(),
            compute=self._compute,
            requeue=self._requeue,
            keys_of=lambda table: self.pipelines.keys_of(table),
        )
        return Tables(services)

    def _requeue(self, files: "Sequence[ConsumedFile]") -> None:
        from lakebed.landing import bring_back_files
        from lakebed.pipelines.planning.ledger import record_sightings

        record_sightings(bring_back_files(self.stores.files, files), self.stores.records)

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

    # -- pipelines

    @cached_property
    def pipelines(self) -> "Pipelines":
        """The lake's pipelines: to be planned, run and looked at."""
        from lakebed.app.pipelines import Pipelines

        return Pipelines(self._tools)

    def plan(self, *selectors: str, exclude: Sequence[str] = (), **options: Any) -> "tuple[RunPlan, ...]":
        """What runs of the selected pipelines would do now; touches nothing. Options are those of `Request`."""
        from lakebed.app.pipelines import BuildRequest

        return self.pipelines.plan(BuildRequest(selectors, tuple(exclude), **options))

    def run(
        self,
        *selectors: str,
        exclude: Sequence[str] = (),
        together: bool = False,
        threads: int = 1,
        fail_fast: bool = False,
        wait: float = 0.0,
        **options: Any,
    ) -> "BuildResult":
        """Run the selected pipelines, all without a selector. Further options are those of `Request`.

        A table that another run has is waited for, `wait` seconds at most.
        """
        from lakebed.app.pipelines import BuildRequest

        request = BuildRequest(selectors, tuple(exclude), **options)
        return self.pipelines.run(request, together=together, threads=threads, fail_fast=fail_fast, wait=wait)

    def _tools(self) -> "RunServices":
        from lakebed.pipelines import RunServices

        logs = logs_folder(self.settings, self.root, self._environment)
        return RunServices(
            self._placement,
            self.stores.leases,
            self.stores.records,
            compute=self._compute,
            workbench=self._workbench,
            scratch=self._scratch,
            log=lambda run_id: logs / "runs" / f"{run_id}.log",
            holder=process_name(),
            releases=self.stores.releases,
            own_spark=self._given_session is None and self.settings.spark.has_own_functions_only,
        )

    def _compute(self, run_id: str) -> "Compute":
        from lakebed.engines.spark import SparkCompute, Staging, another_session, close_session

        if "spark" not in self.__dict__:  # while the JVM starts, this process has nothing to do but to load what publishing needs
            threading.Thread(target=import_module, args=("lakebed.engines.iceberg.metadata.staging",), daemon=True).start()
        session = another_session(self.spark, self.settings, self.root, environment=self._environment)
        staging = Staging(self.stores.files, self.root, run_id)
        return SparkCompute(session, staging, run_id=run_id, close=lambda: close_session(session))

    def _workbench(self) -> "LocalSession":
        from lakebed.engines.duckdb import DuckWorkbench
        from lakebed.engines.iceberg import file_properties

        return DuckWorkbench(
            self.stores.catalog,
            timezone=self.settings.timezone,
            properties=file_properties(self.settings.files),
            spill=self.settings.places.spill,
        )

    def _scratch(self, run_id: str) -> Path:
        """On this machine, and on the lake's own disk where it has one: links do not cross disks."""
        if self.root.is_bucket:
            return cache_folder(self._environment) / "staging" / run_id
        return self.root.folder / DATA / "staging" / run_id

    # -- care

    @cached_property
    def caring(self) -> "Care":
        """What keeps the lake small and healthy."""
        from lakebed.app.care import Care

        logs = logs_folder(self.settings, self.root, self._environment)
        staging = [str(self._scratch("any").parent), staging_place(self.settings, self.root, self._environment)]
        if self.root.is_bucket:  # frames go through the bucket, wherever payloads wait
            staging.append(self.root.at(f"{DATA}/staging"))
        return Care(self.root, self.settings, self.stores, tools=self._tools, logs=logs, staging=staging, watch=self.watch)

    def care(
        self,
        *tables: str,
        dry_run: bool = False,
        only: Sequence[str] = (),
        orphans: bool = False,
        now: datetime | None = None,
        listener: "CareListener | None" = None,
    ) -> "CareResult":
        """Do what is due: expire, rewrite, remove, purge; for these tables or patterns, or for the whole lake.

        `orphans` removes orphans, which are only reported otherwise; `now` is the time to judge ages by.
        """
        return self.caring.take(tables, dry_run=dry_run, only=only, orphans=orphans, now=now, listener=listener)

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
            from lakebed.engines.spark import close_session

            session = self.__dict__.pop("spark")
            if self._given_session is None:  # whoever gave one goes on using it, and it may be that of another lake object
                close_session(session)
            if self.settings.places.logs == IN_BUCKET:
                self._keep_logs()
        if "queries" in self.__dict__:
            self.__dict__.pop("queries").close()
        if "iceberg" in self.__dict__:
            self.__dict__.pop("iceberg").close()
        if "stores" in self.__dict__:
            self.__dict__.pop("stores").database.close()

    def _keep_logs(self) -> None:
        """Bring this machine's logs to the bucket; a failure leaves them where they are."""
        folder = logs_folder(self.settings, self.root, self._environment)
        with suppress(LakebedError):
            for log in sorted(folder.rglob("*.log")):
                self.stores.files.write(f"{DATA}/logs/{log.relative_to(folder).as_posix()}", log.read_bytes())

    def __enter__(self) -> "Lake":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Lake({str(self.root)!r})"


def process_name() -> str:
    """Who holds a lease, in words that lead to the process."""
    return f"process {os.getpid()} on {socket.gethostname()}"
