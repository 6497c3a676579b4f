"""Untrusted queries: each in a process of its own that can open the files of its plan and nothing
else.
"""

from lakebed.engines.duckdb.engine import settings_for
from lakebed.engines.duckdb.s3_secret import NO_BUCKETS, BucketAccess
from lakebed.engines.duckdb.sql.types import text
from lakebed.engines.duckdb.sql.views import files_of, setup_parts
from lakebed.engines.duckdb.untrusted.child_pool import ChildPool
from lakebed.engines.duckdb.untrusted.confined import ConfinedQuery, SandboxInputs, UntrustedLimits
from lakebed.engines.duckdb.untrusted.rows import ConfinedRows
from lakebed.ports import Scans
from lakebed.query.planning.plan import QueryPlan, all_tables
from lakebed.query.request import QueryOptions


class ConfinedEngine:
    """Runs untrusted queries; `ready` processes are kept waiting for the next one."""

    def __init__(
        self,
        scans: Scans,
        *,
        timezone: str,
        buckets: BucketAccess = NO_BUCKETS,
        limits: UntrustedLimits | None = None,
        ready: int = 0,
    ) -> None:
        self._scans, self._timezone, self._buckets = scans, timezone, buckets
        self._limits = limits
        self.children = ChildPool(ready=ready)

    def run(self, plan: QueryPlan, options: QueryOptions) -> ConfinedRows:
        """Start the query: the child sees the tables of the plan and can open their files."""
        query = ConfinedQuery(plan.text, self._inputs(plan), self._limits, children=self.children)
        if options.stop:
            options.stop.on_cancel(query.cancel)
        return ConfinedRows(query)

    def _inputs(self, plan: QueryPlan) -> SandboxInputs:
        setup = (
            f"SET GLOBAL TimeZone = {text(self._timezone)}",
            *settings_for(plan),
            *self._buckets.statements,
            *(part.statement for part in self._buckets.parts(plan.tables)),
            *(part.statement for part in setup_parts(plan.tables)),
        )
        names = tuple(table.name for table in plan.tables)
        folders = tuple(f"{folder}/" for folder in self._iceberg_folders(plan))
        return SandboxInputs(setup, names, files_of(plan.tables), folders)

    def _iceberg_folders(self, plan: QueryPlan) -> frozenset[str]:
        """Where DuckDB's Iceberg reader looks for manifests and files, for the tables that it
        reads.
        """
        found: set[str] = set()
        for pinned, scan in (read for table in all_tables(plan.tables) for read in table.reads):
            if scan.snapshot is not None and scan.files and not scan.plain:
                found |= self._scans.folders(pinned.pointer, snapshot=scan.snapshot)
        return frozenset(found)

    def close(self) -> None:
        """End the processes that wait for a query."""
        self.children.close()
