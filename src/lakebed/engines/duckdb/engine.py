"""DuckDB for the queries of one lake: it stores no table, and reads files where they are."""

import re
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any

import duckdb
from cachetools import LRUCache

from lakebed.engines.duckdb.instance_pool import InstancePool
from lakebed.engines.duckdb.rows import DuckRows
from lakebed.engines.duckdb.s3_secret import NO_BUCKETS, BucketAccess
from lakebed.engines.duckdb.session import DuckSession, Inspect
from lakebed.engines.duckdb.spill import spill_setting
from lakebed.engines.duckdb.sql.scans import may_store_other_types
from lakebed.engines.duckdb.sql.types import text
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.parsing.tree import shortened_inside
from lakebed.query.planning.plan import QueryPlan, all_tables
from lakebed.query.request import QueryOptions

OPENING: dict[str, Any] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_LOSSLESS = (
    "SET GLOBAL arrow_lossless_conversion = true"  # UUIDs stay UUIDs instead of becoming text
)
# DuckDB 1.5 filters the rows below a LIMIT by what they are joined with, so other rows are taken
# (its issue 22924). And it cannot apply such a filter to a file that stores the column as another
# type ("Can't convert TableFilterType").
CAREFUL = "SET GLOBAL disabled_optimizers = 'join_filter_pushdown'"
# Files of tables never change, so what was read of them is trusted; files that a query names may
# have been rewritten.
_TRUSTING = (
    "SET GLOBAL parquet_metadata_cache = true",
    "SET GLOBAL validate_external_file_cache = 'NO_VALIDATION'",
)
_FRESH = (
    "SET GLOBAL parquet_metadata_cache = false",
    "SET GLOBAL enable_external_file_cache = false",
)
_REMEMBERED = 1_000_000  # characters of all statements whose parse trees are kept
_SHORTENS = re.compile(r"\b(limit|offset|fetch|distinct)\b", re.IGNORECASE)


class DuckEngine:
    """Parses and runs queries in this process.

    `buckets` gives access to the lake's files.

    `memory` limits what all queries of the process use together, `cache` what is kept of files for
    the next query; what does not fit is written to a folder below `spill`.
    """

    def __init__(
        self,
        *,
        timezone: str,
        inspect: Inspect,
        buckets: BucketAccess = NO_BUCKETS,
        memory: int | None = None,
        cache: int,
        spill: str = "",
    ) -> None:
        self.buckets = buckets
        self._timezone, self._inspect = timezone, inspect
        self._memory, self._cache, self._spill = memory, cache, spill
        self._pools: dict[tuple[str, ...], InstancePool] = {}
        self._lock = Lock()
        self._parsed: LRUCache[str, tuple[str, Json]] = LRUCache(_REMEMBERED, getsizeof=_weight)

    def parse(self, sql: str) -> tuple[str, Json]:
        """The statement, and DuckDB's parse tree of it, which is nobody's to change: the next query
        of the same text gets it, too.
        """
        with self._lock:
            if known := self._parsed.get(sql):
                return known
        session = self.session()
        try:
            parsed = session.parse(sql)
        finally:
            session.close()
        with self._lock, suppress(ValueError):  # longer than all that are kept
            self._parsed[sql] = parsed
        return parsed

    def run(
        self, plan: QueryPlan, options: QueryOptions, *, on_close: Callable[[], None] | None = None
    ) -> DuckRows:
        """Start a query in a session that is closed with its rows."""
        session = self.session()
        if on_close:
            session.on_close(on_close)
        try:
            if options.stop:
                options.stop.on_cancel(session.cancel)
            request = options.request
            return session.run(plan, request.parameters, profile=request.profile)
        except BaseException:
            session.close()
            raise

    def session(self, *, lossless: bool = False) -> DuckSession:
        """A session for one query; `lossless` keeps every type that Arrow has."""
        more = (_LOSSLESS,) if lossless else ()
        return DuckSession(lambda plan: self._pool_for(plan, more), self._inspect, self.buckets)

    def private_session(self, *, memory: str | None = None) -> DuckSession:
        """A lossless session in a DuckDB of its own, which can be handed on or have its own memory
        limit.
        """
        limit = [f"SET GLOBAL memory_limit = {text(memory)}"] if memory else []
        alone = InstancePool(lambda: self._connect(_LOSSLESS, CAREFUL, *_FRESH, *limit), most=0)
        return DuckSession(lambda _: alone, self._inspect, self.buckets, on_close=alone.close)

    def _pool_for(self, plan: QueryPlan | None, more: tuple[str, ...]) -> InstancePool:
        if (
            plan is not None and plan.listed is not None
        ):  # a shared DuckDB would also list what others have read
            return InstancePool(lambda: self._connect(*more, *_FRESH), most=0, spare=0)
        return self._pool((*more, *settings_for(plan)))

    def _pool(self, more: tuple[str, ...]) -> InstancePool:
        """The DuckDBs with these settings: a setting holds for a whole DuckDB."""
        with self._lock:
            if more not in self._pools:
                self._pools[more] = InstancePool(lambda: self._connect(*more), most=self._cache)
            return self._pools[more]

    def _connect(self, *more: str) -> Any:
        connection = duckdb.connect(":memory:", config=OPENING)
        connection.execute(f"SET GLOBAL TimeZone = {text(self._timezone)}")
        connection.execute("SET GLOBAL errors_as_json = true")
        connection.execute(spill_setting(self._spill))
        if self._memory:
            connection.execute(f"SET GLOBAL memory_limit = '{self._memory}B'")
        for statement in (*self.buckets.statements, *_TRUSTING, *more):
            connection.execute(statement)
        return connection

    def close(self) -> None:
        """Close what is not in use."""
        for pool in self._pools.values():
            pool.close()


def _weight(parsed: tuple[str, Json]) -> int:
    """What a statement counts for among those that are kept; there are never more than 500."""
    return max(len(parsed[0]), _REMEMBERED // 500)


def settings_for(plan: QueryPlan | None) -> tuple[str, ...]:
    """The settings that a plan needs.

    If there is no parse tree, the words of the statement decide.
    """
    if plan is None:
        return ()
    has_word = bool(_SHORTENS.search(plan.sql))
    shortens = has_word and (plan.tree is None or shortened_inside(plan.tree))
    reads = (read for table in all_tables(plan.tables) for read in table.reads)
    is_careful = shortens or any(may_store_other_types(scan, source) for source, scan in reads)
    return (*((CAREFUL,) if is_careful else ()), *(_FRESH if plan.reads_more else ()))
