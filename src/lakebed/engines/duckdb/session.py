"""One query's connection to DuckDB."""

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any

import duckdb

from lakebed.engines.duckdb.instance_pool import InstancePool, PooledConnection
from lakebed.engines.duckdb.rows import DuckRows, translated_errors
from lakebed.engines.duckdb.s3_secret import BucketAccess
from lakebed.engines.duckdb.sql.listing import listing_part
from lakebed.engines.duckdb.sql.parse import parse_query
from lakebed.engines.duckdb.sql.views import COPIED, SetupPart, setup_parts
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.planning.plan import PinnedTable, QueryPlan

Inspect = Callable[[PinnedTable, str], Any]  # a metadata table as Arrow
_INTERRUPT_EVERY = 0.05  # seconds


class DuckSession:
    """Takes a connection from a pool for each statement, and gives the last one back when it is
    closed.
    """

    def __init__(
        self,
        pool_for: Callable[[QueryPlan | None], InstancePool],
        inspect: Inspect,
        buckets: BucketAccess,
        *,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self._pool_for, self._inspect, self._buckets = pool_for, inspect, buckets
        self._on_close = [on_close] if on_close else []
        self._pooled: PooledConnection | None = None
        self._closed = False

    def connection(self, parts: Sequence[SetupPart] = (), plan: QueryPlan | None = None) -> Any:
        """DuckDB's own connection, with these parts set up, for a plan."""
        self._release()
        self._pooled = self._pool_for(plan).connect(parts, self._make)
        return self._pooled.connection

    def hand_on(self, parts: Sequence[SetupPart] = ()) -> Any:
        """A further connection with these parts, for a caller to keep: the session is closed when
        the connection is gone. A relation holds its connection, and so do those made from it.
        """
        self.connection(parts)
        assert self._pooled  # noqa: S101 - just taken
        handed_on = self._pooled.instance.cursor()
        weakref.finalize(handed_on, self.close)
        return handed_on

    def _make(self, connection: Any, part: SetupPart) -> None:
        if part.copied is None:
            connection.execute(part.statement)
            return
        source = part.copied.target.source
        assert isinstance(source, PinnedTable)  # noqa: S101 - nothing else is copied
        connection.register(COPIED, self._inspect(source, part.copied.target.part))
        connection.execute(part.statement)
        connection.unregister(COPIED)

    def parse(self, sql: str) -> tuple[str, Json]:
        """The statement, and DuckDB's parse tree of it."""
        connection = self.connection()
        with translated_errors(sql):
            return parse_query(connection, sql)

    def run(
        self,
        plan: QueryPlan,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        profile: bool = False,
        parts: Sequence[SetupPart] | None = None,
    ) -> DuckRows:
        """Start the query.

        `parts` are what its text needs, unless that is the tables of the plan.
        """
        with translated_errors(plan.sql, plan):
            connection = self.connection(self._parts_of(plan) if parts is None else parts, plan)
            if profile:
                connection.execute("SET enable_profiling = 'no_output'")
            connection.execute(plan.text, parameters)
        return DuckRows(connection, plan, self.close)

    def _parts_of(self, plan: QueryPlan) -> Sequence[SetupPart]:
        if plan.listed is not None:
            return (listing_part(plan.listed),)
        return (*self._buckets.parts(plan.tables), *setup_parts(plan.tables))

    def on_close(self, do: Callable[[], None]) -> None:
        """What to do when the session is closed."""
        self._on_close.append(do)

    def cancel(self) -> None:
        """End the running query, from any thread.

        DuckDB forgets an interrupt that comes between two statements, so it is repeated until the
        session is closed.
        """
        Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        while not self._closed:
            if pooled := self._pooled:
                with suppress(duckdb.Error):
                    pooled.connection.interrupt()
            time.sleep(_INTERRUPT_EVERY)

    def _release(self) -> None:
        pooled, self._pooled = self._pooled, None
        if pooled is not None:
            pooled.release()

    def close(self) -> None:
        """Give the connection back; a query that is not read to its end is ended."""
        self._closed = True
        self._release()
        while self._on_close:
            self._on_close.pop()()
