"""One pinned table through DuckDB: its rows as a stream, or as a relation of a connection of its own."""

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lakebed.engines.arrow import arrow_schema, cast_batches, combine_batches, is_narrow
from lakebed.engines.duckdb.queries import DuckSession, DuckSessions
from lakebed.engines.duckdb.sql.conditions import condition
from lakebed.engines.duckdb.sql.views import SetupPart, extension_parts, select
from lakebed.ports import Predicate, Scan
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.planning.plan import PlannedTable, QueryPlan, ReadTarget

_FEW = 2_048  # rows that DuckDB works on at a time: with texts and lists nobody knows how large they are


@dataclass(frozen=True)
class ReadRequest:
    """What is read of a chosen table this time."""

    columns: tuple[str, ...]
    predicate: Predicate | None = None
    limit: int | None = None
    rows: int = 65_536  # of a batch


def stream_batches(
    sessions: DuckSessions, chosen: TableSelection, scan: Scan, wanted: ReadRequest, *, memory: str | None
) -> Iterator[Any]:
    """Arrow batches with the table's own types; what is not read yet is not in memory."""
    by_name = {column.name: column for column in scan.columns}
    schema = arrow_schema(by_name[name] for name in wanted.columns)
    session = _taken(sessions, scan, memory)
    try:
        source = _Source(chosen, scan)
        rows = session.run(source.plan(source.select(wanted)), seen=source.needs)
        if is_narrow(schema):
            yield from cast_batches(rows.reader(wanted.rows), schema)
        else:
            yield from cast_batches(combine_batches(rows.reader(min(_FEW, wanted.rows)), rows=wanted.rows), schema)
    finally:
        session.close()


def count_rows(sessions: DuckSessions, chosen: TableSelection, scan: Scan, *, memory: str | None) -> int:
    """How many rows fulfil the condition."""
    session = _taken(sessions, scan, memory)
    try:
        source = _Source(chosen, scan)
        counting = source.plan(f"SELECT count(*) FROM ({source.select(ReadRequest(()))})")
        return int(session.run(counting, seen=source.needs).fetch(1)[0][0])
    finally:
        session.close()


def private_relation(
    sessions: DuckSessions,
    chosen: TableSelection,
    scan: Scan,
    wanted: ReadRequest,
    *,
    memory: str | None,
    on_end: Callable[[], None],
) -> Any:
    """A `duckdb.DuckDBPyRelation`; its connection lasts as long as the relation does."""
    session = sessions.take_private(memory=memory)
    try:
        source = _Source(chosen, scan)
        found = session.connection(source.needs).sql(source.select(wanted))
    except BaseException:
        session.close()
        raise
    weakref.finalize(found, _end, session, on_end)
    return found


def _end(session: DuckSession, on_end: Callable[[], None]) -> None:
    session.close()
    on_end()


def _taken(sessions: DuckSessions, scan: Scan, memory: str | None) -> DuckSession:
    """UUIDs come as such from lossless sessions only."""
    if memory:
        return sessions.take_private(memory=memory)
    return sessions.take(lossless=any("uuid" in column.type for column in scan.columns))


class _Source:
    """The rows of a scan as a source of SQL; a view would be bound twice."""

    def __init__(self, chosen: TableSelection, scan: Scan) -> None:
        self._chosen, self._view = chosen, PlannedTable(("", "", ""), ReadTarget(chosen.pinned), scan=scan)

    @property
    def needs(self) -> tuple[SetupPart, ...]:
        return extension_parts([self._view])

    def select(self, wanted: ReadRequest) -> str:
        more = condition(wanted.predicate) if wanted.predicate is not None else None
        return self._chosen.select(f"({select(self._view)})", wanted.columns, more=more, limit=wanted.limit)

    def plan(self, sql: str) -> QueryPlan:
        return QueryPlan(sql, sql, (), tree={})  # of one table: there is nothing to be careful about
