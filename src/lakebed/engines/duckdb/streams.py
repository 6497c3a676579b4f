"""One pinned table read by DuckDB: as a stream of batches, or as a relation on a connection of its
own.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lakebed.engines.arrow import arrow_schema, cast_batches, combine_batches, is_narrow
from lakebed.engines.duckdb.engine import DuckEngine
from lakebed.engines.duckdb.s3_secret import BucketAccess
from lakebed.engines.duckdb.session import DuckSession
from lakebed.engines.duckdb.sql.conditions import condition
from lakebed.engines.duckdb.sql.views import SetupPart, extension_parts, select
from lakebed.ports import ScanColumn
from lakebed.query.engine import ReadRequest
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.planning.plan import PlannedTable, QueryPlan

if TYPE_CHECKING:
    import pyarrow as pa

# the rows of a vector in DuckDB: rows with text or lists may be large, so they are taken in few
_FEW = 2_048


def stream_batches(
    engine: DuckEngine,
    selection: TableSelection,
    table: PlannedTable,
    request: ReadRequest,
    *,
    memory: str | None,
) -> Iterator[Any]:
    """Arrow batches with the table's own types; only what is being read is in memory."""
    by_name = {column.name: column for column in _columns(table)}
    schema = arrow_schema(by_name[name] for name in request.columns)
    session = _session(engine, table, memory)
    try:
        source = _Source(selection, table, engine.buckets)
        rows = session.run(source.plan(source.select(request)), parts=source.parts)
        if is_narrow(schema):
            yield from cast_batches(rows.reader(request.rows), schema)
        else:
            yield from cast_batches(
                combine_batches(rows.reader(min(_FEW, request.rows)), rows=request.rows), schema
            )
    finally:
        session.close()


def count_rows(
    engine: DuckEngine, selection: TableSelection, table: PlannedTable, *, memory: str | None
) -> int:
    """How many rows fulfil the condition."""
    session = _session(engine, table, memory)
    try:
        source = _Source(selection, table, engine.buckets)
        counting = source.plan(f"SELECT count(*) FROM ({source.select(ReadRequest(()))})")
        return int(session.run(counting, parts=source.parts).fetch(1)[0][0])
    finally:
        session.close()


def private_relation(
    engine: DuckEngine,
    selection: TableSelection,
    table: PlannedTable,
    request: ReadRequest,
    *,
    memory: str | None,
    on_end: Callable[[], None],
) -> Any:
    """A `duckdb.DuckDBPyRelation`; its connection lasts as long as it does, and as every relation
    made from it.
    """
    session = engine.private_session(memory=memory)
    try:
        source = _Source(selection, table, engine.buckets)
        found = session.hand_on(source.parts).sql(source.select(request))
    except BaseException:
        session.close()
        raise
    session.on_close(on_end)
    return found


def arrow_relation(engine: DuckEngine, table: "pa.Table") -> Any:
    """A relation over an Arrow table; its connection lasts as long, as that of a table's."""
    session = engine.private_session()
    try:
        return session.hand_on().from_arrow(table)
    except BaseException:
        session.close()
        raise


def _columns(table: PlannedTable) -> tuple[ScanColumn, ...]:
    """The columns that are read."""
    return table.scan.columns if table.scan else ()


def _session(engine: DuckEngine, table: PlannedTable, memory: str | None) -> DuckSession:
    """A session for a table; only lossless ones return UUIDs as UUIDs."""
    if memory:
        return engine.private_session(memory=memory)
    return engine.session(lossless=any("uuid" in column.type for column in _columns(table)))


class _Source:
    """The rows of a table as a source in SQL.

    It is not a view, because DuckDB would bind that twice.
    """

    def __init__(
        self, selection: TableSelection, table: PlannedTable, buckets: BucketAccess
    ) -> None:
        self._selection, self._view, self._buckets = selection, table, buckets

    @property
    def parts(self) -> tuple[SetupPart, ...]:
        return (*self._buckets.parts([self._view]), *extension_parts([self._view]))

    def select(self, request: ReadRequest) -> str:
        more = condition(request.predicate) if request.predicate is not None else None
        return self._selection.select(
            f"({select(self._view)})", request.columns, more=more, limit=request.limit
        )

    def plan(self, sql: str) -> QueryPlan:
        return QueryPlan(
            sql, sql, (), tree={}
        )  # an empty tree: one table has no LIMIT below a join
