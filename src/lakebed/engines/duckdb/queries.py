"""DuckDB sessions for queries: no table is kept in one, files are read where they lie."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import Any

import duckdb

from lakebed.engines.duckdb.extensions import load
from lakebed.engines.duckdb.instance_pool import InstancePool, PooledConnection
from lakebed.engines.duckdb.rows import DuckRows, translated_errors
from lakebed.engines.duckdb.spill import spill_setting
from lakebed.engines.duckdb.sql.listing import listing_part
from lakebed.engines.duckdb.sql.parse import parse_query
from lakebed.engines.duckdb.sql.types import text
from lakebed.engines.duckdb.sql.views import COPIED, SetupPart, setup_parts
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.parsing.tree import shortened_inside
from lakebed.query.planning.plan import PinnedTable, QueryPlan

OPENING: dict[str, Any] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_LOSSLESS = "SET GLOBAL arrow_lossless_conversion = true"  # UUIDs as such, not as texts
# DuckDB 1.5 filters the rows below a LIMIT by what they are joined with, so other rows are taken (its issue 22924).
CAREFUL = "SET GLOBAL disabled_optimizers = 'join_filter_pushdown'"
# Files of tables never change, so what was read of them is trusted; files that a query names may have been written anew.
_TRUSTING = ("SET GLOBAL parquet_metadata_cache = true", "SET GLOBAL validate_external_file_cache = 'NO_VALIDATION'")
_FRESH = ("SET GLOBAL parquet_metadata_cache = false", "SET GLOBAL enable_external_file_cache = false")
_SHORTENS = re.compile(r"\b(limit|offset|fetch|distinct)\b", re.IGNORECASE)
Inspect = Callable[[PinnedTable, str], Any]  # a metadata table as Arrow


class DuckSessions:
    """The sessions of one lake. `reaching` are statements that let a session reach the lake's files.

    `memory` bounds what all queries of the process use together, `cache` what is remembered of files for the next query;
    what does not fit is written to a folder below `spill`.
    """

    def __init__(
        self,
        *,
        timezone: str,
        inspect: Inspect,
        reaching: Sequence[str] = (),
        memory: int | None = None,
        cache: int,
        spill: str = "",
    ) -> None:
        self._timezone, self._inspect, self._reaching = timezone, inspect, tuple(reaching)
        self._memory, self._cache, self._spill = memory, cache, spill
        self._pools: dict[tuple[str, ...], InstancePool] = {}
        self._lock = Lock()

    def take(self, *, lossless: bool = False) -> "DuckSession":
        """A session for one query; `lossless` hands over types as they are, where Arrow has them."""
        more = (_LOSSLESS,) if lossless else ()
        return DuckSession(lambda plan: self._instances(plan, more), self._inspect)

    def _instances(self, plan: QueryPlan | None, more: tuple[str, ...]) -> InstancePool:
        if plan is not None and plan.listed is not None:  # what others have read would be listed too
            return InstancePool(lambda: self._connected(*more, *_FRESH), most=0, spare=0)
        return self._pool((*more, *settings_for(plan)))

    def _pool(self, more: tuple[str, ...]) -> InstancePool:
        """What is set holds for a whole DuckDB, so queries that need other settings share other ones."""
        with self._lock:
            if more not in self._pools:
                self._pools[more] = InstancePool(lambda: self._connected(*more), most=self._cache)
            return self._pools[more]

    def take_private(self, *, memory: str | None = None) -> "DuckSession":
        """A lossless session in a DuckDB of its own, so that it may be handed on, or bounded by itself."""
        bound = [f"SET GLOBAL memory_limit = {text(memory)}"] if memory else []
        alone = InstancePool(lambda: self._connected(_LOSSLESS, CAREFUL, *_FRESH, *bound), most=0)
        return DuckSession(lambda _: alone, self._inspect, on_close=alone.close)

    def _connected(self, *more: str) -> Any:
        connection = duckdb.connect(":memory:", config=OPENING)
        connection.execute(f"SET GLOBAL TimeZone = {text(self._timezone)}")
        connection.execute("SET GLOBAL errors_as_json = true")
        connection.execute(spill_setting(self._spill))
        if self._memory:
            connection.execute(f"SET GLOBAL memory_limit = '{self._memory}B'")
        if self._reaching:
            load(connection, "httpfs")
        for statement in (*self._reaching, *_TRUSTING, *more):
            connection.execute(statement)
        return connection

    def close(self) -> None:
        """Close what is not in use."""
        for pool in self._pools.values():
            pool.close()


def settings_for(plan: QueryPlan | None) -> tuple[str, ...]:
    """What has to be set for a plan. Of a statement without a tree the words are all that is known."""
    if plan is None:
        return ()
    shortens = bool(_SHORTENS.search(plan.sql)) and (plan.tree is None or shortened_inside(plan.tree))
    return (*((CAREFUL,) if shortens else ()), *(_FRESH if plan.reads_more else ()))


def _plan_parts(plan: QueryPlan) -> Sequence[SetupPart]:
    return setup_parts(plan.tables) if plan.listed is None else (listing_part(plan.listed),)


class DuckSession:
    """One query's connection."""

    def __init__(
        self,
        instances: Callable[[QueryPlan | None], InstancePool],
        inspect: Inspect,
        *,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self._instances, self._inspect = instances, inspect
        self._on_close = [on_close] if on_close else []
        self._seat: PooledConnection | None = None
        self._closed = False

    def connection(self, seen: Sequence[SetupPart] = (), plan: QueryPlan | None = None) -> Any:
        """DuckDB's own, which sees these parts, for a plan."""
        self._leave()
        self._seat = self._instances(plan).connect(seen, self._make)
        return self._seat.connection

    def _make(self, connection: Any, part: SetupPart) -> None:
        if part.copied is None:
            connection.execute(part.statement)
            return
        what = part.copied.target.source
        assert isinstance(what, PinnedTable)  # noqa: S101 - nothing else is copied
        connection.register(COPIED, self._inspect(what, part.copied.target.part))
        connection.execute(part.statement)
        connection.unregister(COPIED)

    def parse(self, sql: str) -> tuple[str, Json]:
        """The statement, and its tree as DuckDB reads it."""
        connection = self.connection()
        with translated_errors(sql):
            return parse_query(connection, sql)

    def run(
        self,
        plan: QueryPlan,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        profile: bool = False,
        seen: Sequence[SetupPart] | None = None,
    ) -> DuckRows:
        """Begin; `seen` is what the text needs, if that is not the plan's views."""
        with translated_errors(plan.sql, plan):
            connection = self.connection(_plan_parts(plan) if seen is None else seen, plan)
            if profile:
                connection.execute("SET enable_profiling = 'no_output'")
            connection.execute(plan.text, parameters)
        return DuckRows(connection, plan, self.close)

    def on_close(self, do: Callable[[], None]) -> None:
        """What has to be done when it is given back."""
        self._on_close.append(do)

    def cancel(self) -> None:
        """End what runs; from any thread. DuckDB forgets what it is told between two statements, so it is told again."""
        Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        while not self._closed:
            if seat := self._seat:
                with suppress(duckdb.Error):
                    seat.connection.interrupt()
            time.sleep(0.05)

    def _leave(self) -> None:
        seat, self._seat = self._seat, None
        if seat is not None:
            seat.release()

    def close(self) -> None:
        """Give it back; what is not read to its end is ended."""
        self._closed = True
        self._leave()
        while self._on_close:
            self._on_close.pop()()
