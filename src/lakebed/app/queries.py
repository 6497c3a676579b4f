"""From settings to the queries of a lake and the engines that answer them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakebed.derived.look import LayoutLooks
from lakebed.names import new_run_id
from lakebed.ports import LakePorts
from lakebed.query.layouts.choosing import LayoutChooser
from lakebed.query.planning.layout_plan import LayoutPlanning
from lakebed.query.planning.plan import PinnedTable, QueryPlan
from lakebed.query.planning.planner import QueryContext
from lakebed.query.queries import Queries
from lakebed.query.results.log import QueryLog
from lakebed.query.views.catalog_views import sql_changing_setting
from lakebed.settings import RestCatalog, Settings

if TYPE_CHECKING:
    from lakebed.engines.duckdb import BucketAccess, DuckEngine
    from lakebed.engines.duckdb.untrusted.engine import ConfinedEngine
    from lakebed.engines.frames import EngineFrames
    from lakebed.engines.spark.queries import SparkRows
    from lakebed.engines.types import SparkSession
    from lakebed.ports import Compute


def open_queries(ports: LakePorts, log: QueryLog, engines: "LakeEngines") -> Queries:
    """The queries of a lake."""
    settings = ports.settings
    context = QueryContext(
        ports,
        system_tables={("system", "query_log"): log.select},
        spark_setting=sql_changing_setting(settings.spark.conf),
    )
    if settings.layouts.use:
        chooser = LayoutChooser(LayoutLooks(ports), context.plan, context.metadata)
        context = replace(context, layouts=LayoutPlanning(chooser, settings.layouts))
    return Queries(context, log, engines)


class LakeEngines:
    """The `QueryEngines` of a lake; each is opened when a query first needs it."""

    def __init__(
        self,
        ports: LakePorts,
        environment: Mapping[str, str],
        *,
        spark: "Callable[[], SparkSession]",
    ) -> None:
        self._ports, self._environment, self._spark = ports, environment, spark

    @property
    def _settings(self) -> Settings:
        return self._ports.settings

    @cached_property
    def duckdb(self) -> "DuckEngine":
        """DuckDB in this process."""
        from lakebed.engines.duckdb import DuckEngine

        limits = self._settings.query
        return DuckEngine(
            timezone=self._settings.timezone,
            inspect=self._inspect,
            buckets=self._buckets(),
            memory=limits.memory,
            cache=limits.cache_memory,
            spill=self._settings.places.spill,
        )

    @cached_property
    def untrusted(self) -> "ConfinedEngine":
        """DuckDB in processes of their own, for untrusted queries."""
        from lakebed.engines.duckdb.untrusted.confined import UntrustedLimits
        from lakebed.engines.duckdb.untrusted.engine import ConfinedEngine

        limits = self._settings.query
        return ConfinedEngine(
            self._ports.scans,
            timezone=self._settings.timezone,
            buckets=self._buckets(),
            limits=UntrustedLimits(
                rows=limits.untrusted_rows,
                bytes=limits.untrusted_bytes,
                seconds=limits.untrusted_seconds,
                memory=limits.untrusted_memory,
                threads=limits.untrusted_threads,
            ),
            ready=limits.untrusted_ready,
        )

    @cached_property
    def frames(self) -> "EngineFrames":
        """Frames of every library."""
        from lakebed.engines.frames import EngineFrames

        return EngineFrames(self.duckdb, self._spark)

    def run_by_spark(self, plan: QueryPlan) -> "SparkRows":
        """Start a query in Spark's SQL, in a session of its own."""
        from lakebed.engines.spark.queries import SparkRows

        return SparkRows(self.compute(), plan)

    def compute(self) -> "Compute":
        """Spark, in a session of its own; the caller closes it."""
        return self._ports.sessions.open(new_run_id())

    def _buckets(self) -> "BucketAccess":
        from lakebed.engines.duckdb import BucketAccess

        is_rest = isinstance(self._settings.catalog, RestCatalog)
        return BucketAccess(
            self._ports.root, self._settings.files, self._environment, any_bucket=is_rest
        )

    def _inspect(self, pinned: PinnedTable, part: str) -> Any:
        """A metadata table as Arrow."""
        if part == "batches":
            from lakebed.engines.arrow.batches import batch_rows

            return batch_rows(self._ports, pinned.pointer, pinned.metadata, pinned.snapshot_id)
        from lakebed.engines.iceberg import file_properties
        from lakebed.engines.iceberg.scan.metadata_tables import metadata_rows

        return metadata_rows(
            pinned.pointer, pinned.snapshot_id, part, file_properties(self._settings.files)
        )

    def close(self) -> None:
        """Close the engines that were opened."""
        for name in ("duckdb", "untrusted"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()
