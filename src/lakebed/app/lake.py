"""The lake: settings, stores and engines joined. What `lakebed.open()` returns."""

import os
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakebed.app.reads import Reads
from lakebed.app.stores import Stores, open_stores
from lakebed.errors import LakebedError, UnknownName
from lakebed.names import AssetKey, TableName, tables_of_assets
from lakebed.ports import MAIN, ForeignTable, Pointer, Publication, Snapshot, TableMetadata
from lakebed.settings import (
    DATA,
    IN_BUCKET,
    Root,
    Settings,
    cache_folder,
    logs_folder,
    staging_place,
)
from lakebed.tables import HeldLease, LeaseWait, PublishRequest, TablePlacement, hold_lease, publish
from lakebed.tables.lookup.entries import find_readable, find_table
from lakebed.tables.lookup.names import tables_matching

if TYPE_CHECKING:
    from lakebed.app.care import Care
    from lakebed.app.pipelines import BuildResult, Pipelines
    from lakebed.app.tables import Tables
    from lakebed.care import CareListener, CareResult
    from lakebed.engines.types import IcebergCatalog, SparkSession
    from lakebed.pipelines import LocalSession, RunPlan, RunServices
    from lakebed.ports import Compute, DroppedTable, RunRecord
    from lakebed.tables import Rollback, TableDiff

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

    def tables(self, pattern: str | None = None) -> dict[TableName, TableMetadata]:
        """The tables that fit, all as of one moment."""
        pointers = self.stores.catalog.pointers()
        return self.stores.catalog.metadata([pointers[table] for table in tables_matching(pattern, pointers)])

    def find(self, name: str | TableName) -> TableName:
        """The table of this name, or of this end of a name; near names are suggested where there is none."""
        return name if isinstance(name, TableName) else find_table(name, self.stores.catalog)

    def describe(self, name: str | TableName) -> TableMetadata:
        """Columns, layout, refs and snapshots of one table; for views there is `views`."""
        catalog = self.stores.catalog
        found = find_readable(name, catalog) if isinstance(name, str) else name
        if isinstance(found, ForeignTable) and found.kind == "table" and found.name:
            return catalog.metadata([Pointer(found.name, found.location)])[found.name]
        table = self.find(name)
        return catalog.metadata(catalog.pointers([table]).values())[table]

    def history(self, name: str | TableName, *, ref: str = MAIN) -> tuple[Snapshot, ...]:
        """The snapshots that led to a ref, newest first."""
        metadata = self.describe(name)
        if ref not in metadata.refs and ref != MAIN:
            raise UnknownName(f"ref of {self.find(name)}", ref, metadata.refs)
        head = metadata.head(ref)
        return tuple(metadata.ancestry(head.id)) if head else ()

    def reading(
        self, name: str | TableName, *, at: str | int | None = None, seconds: float = 3600.0
    ) -> AbstractContextManager[Snapshot]:
        """A state of a table that care leaves alone while the block lasts; should this process die, for so many seconds."""
        return self.table_work.reading(name, at=at, seconds=seconds)

    @cached_property
    def table_work(self) -> "Tables":
        """What can be done to a table as a whole: set back, tagged, cloned, renamed, dropped, compared."""
        from lakebed.app.tables import Tables

        stores = self.stores
        return Tables(self._ground, stores.records, stores.events, find=self.find, hold=self.hold, compute=self._compute)

    def rollback(
        self, name: str | TableName, to: str | int, *, requeue: bool = False, hold: bool = False, wait: float = 0.0
    ) -> "Rollback":
        """Make readers see the state of a snapshot, tag, time or run again, with its columns; see `Tables.rollback`."""
        return self.table_work.rollback(name, to, requeue_files=requeue, hold_files=hold, wait=wait)

    def tag(self, name: str | TableName, tag: str, *, at: str | int | None = None, replace: bool = False) -> Snapshot:
        """Give a state of a table a name that keeps it from expiry."""
        return self.table_work.tag(name, tag, at=at, replace=replace)

    def clone(self, name: str | TableName, to: str | TableName, *, at: str | int | None = None) -> TableName:
        """A table of its own that begins with a state of another; no file is copied."""
        return self.table_work.clone(name, to, at=at)

    def rename(self, name: str | TableName, to: str | TableName) -> TableName:
        """Give a table another name."""
        return self.table_work.rename(name, to)

    def drop(self, name: str | TableName) -> "DroppedTable":
        """Take a table out of sight; `restore` brings it back until care purges it."""
        return self.table_work.drop(name)

    def restore(self, name: str, *, to: str | TableName | None = None) -> TableName:
        """Bring a dropped table back, by its name or its uuid."""
        return self.table_work.restore(name, to=to)

    def diff(
        self,
        name: str | TableName,
        before: str | int,
        after: str | int | None = None,
        *,
        keys: Sequence[str] | None = None,
        examples: int = 5,
    ) -> "TableDiff":
        """What came, went and changed between two states of a table; rows by its pipeline's key unless `keys` are given."""
        chosen = self.pipelines.keys_of(self.find(name)) if keys is None else keys
        return self.table_work.diff(name, before, after, keys=chosen, examples=examples)

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

        table = _named(name) if isinstance(name, TableName) or name.count(".") == 2 else self.find(name)
        return write_rows(self.pipelines, table, frame, write_options(mode, key, order, on_schema_change), gates=gates)

    def execute(self, statement: str, *, gates: bool = True) -> "RunRecord":
        """Run one INSERT, UPDATE, DELETE, MERGE or ALTER TABLE by hand, published like a run once the table's gates passed."""
        from lakebed.app.hand import execute

        return execute(self.pipelines, statement, find=self.find, events=self.stores.events, gates=gates)

    # -- making and publishing

    def place_for(self, table: str | TableName) -> str | None:
        """The location a new table is made at; see `Ground.place_for`."""
        return self._ground.new_location(_named(table))

    def creation_of(self, table: str | TableName, columns: str, *, partition_by: Sequence[str] = ()) -> str:
        """The CREATE TABLE for a new table: at its place, with this lake's write settings."""
        return self._ground.create_statement(_named(table), columns, partition_by=partition_by)

    @cached_property
    def _ground(self) -> TablePlacement:
        return TablePlacement(self.root, self.settings, self.stores.catalog, self.stores.files)

    def assets(self, keys: Iterable[AssetKey]) -> dict[AssetKey, TableName]:
        """The tables these Dagster assets are; colliding keys are refused."""
        return tables_of_assets(keys, self.settings.assets.namespace, self.settings.assets.schema_mapping)

    def hold(self, table: str | TableName, *, holder: str | None = None, wait: float = 0.0) -> AbstractContextManager[HeldLease]:
        """The lease on a table, for the length of a `with` block: a `Held` whose `still()` is what `publish` takes.

        One that somebody else has is waited for as long as is said.
        """
        name, limit = _named(table), self.settings.lease.limit_seconds  # it need not exist yet
        return hold_lease(self.stores.leases, str(name), holder=holder or process_name(), limit=limit, wait=LeaseWait(wait))

    def publish(
        self, tables: Iterable[str | TableName], *, branch: str, run_id: str, held: Iterable[HeldLease] = ()
    ) -> Publication:
        """Move `main` of every table to its branch, all or none. A lease that is not in `held` is taken for the moment."""
        self._ground.require_relocated()
        names = sorted(self.find(table) for table in tables)
        with ExitStack() as stack:
            leases = [one.require() for one in held]
            covered = {lease.name for lease in leases}
            leases += [stack.enter_context(self.hold(name)).require() for name in names if str(name) not in covered]
            return publish(self.stores.catalog, [PublishRequest(name, branch) for name in names], run_id=run_id, leases=leases)

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
            self._ground,
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


def _named(table: str | TableName) -> TableName:
    """The table of this whole name, whether it exists or not."""
    return table if isinstance(table, TableName) else TableName.parse(table)


def process_name() -> str:
    """Who holds a lease, in words that lead to the process."""
    return f"process {os.getpid()} on {socket.gethostname()}"
