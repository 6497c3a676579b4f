"""One pinned table through DuckDB: its rows as a stream, or as a relation of a connection of its own."""

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lakebed.engines.arrow import arrow_schema, as_schema, gathered, is_narrow
from lakebed.engines.duckdb.conditions import condition
from lakebed.engines.duckdb.queries import DuckSession, DuckSessions
from lakebed.engines.duckdb.types import text
from lakebed.ports import Predicate, Scan
from lakebed.query.frames import Chosen
from lakebed.query.plan import Plan, Target, View

_FEW = 2_048  # rows that DuckDB works on at a time: with texts and lists nobody knows how large they are
_NAME = ("lake", "read", "rows")


@dataclass(frozen=True)
class Wanted:
    """What is read of a chosen table this time."""

    columns: tuple[str, ...]
    predicate: Predicate | None = None
    limit: int | None = None
    rows: int = 65_536  # of a batch


def stream(sessions: DuckSessions, chosen: Chosen, scan: Scan, wanted: Wanted, *, memory: str | None) -> Iterator[Any]:
    """Arrow batches with the table's own types; what is not read yet is not in memory."""
    by_name = {column.name: column for column in scan.columns}
    schema = arrow_schema(by_name[name] for name in wanted.columns)
    session = _opened(sessions, scan, memory)
    try:
        view = View(_NAME, Target(chosen.pinned), scan=scan)
        rows = session.run(_plan(chosen, view, wanted))
        if is_narrow(schema):
            yield from as_schema(rows.reader(wanted.rows), schema)
        else:
            yield from as_schema(gathered(rows.reader(min(_FEW, wanted.rows)), rows=wanted.rows), schema)
    finally:
        session.close()


def counted(sessions: DuckSessions, chosen: Chosen, scan: Scan, *, memory: str | None) -> int:
    """How many rows fulfil the condition."""
    session = _opened(sessions, scan, memory)
    try:
        view = View(_NAME, Target(chosen.pinned), scan=scan)
        select = chosen.select(view.quoted, ())
        counting = f"SELECT count(*) FROM ({select})"
        return int(session.run(Plan(counting, counting, (view,))).fetch(1)[0][0])
    finally:
        session.close()


def relation(
    sessions: DuckSessions, chosen: Chosen, scan: Scan, wanted: Wanted, *, memory: str | None, on_end: Callable[[], None]
) -> Any:
    """A `duckdb.DuckDBPyRelation`; its connection lasts as long as the relation does."""
    session = _opened(sessions, scan, memory)
    try:
        view = View(_NAME, Target(chosen.pinned), scan=scan)
        session.show(view)
        found = session.connection.sql(_plan(chosen, view, wanted).text)
    except BaseException:
        session.close()
        raise
    weakref.finalize(found, _end, session, on_end)
    return found


def _end(session: DuckSession, on_end: Callable[[], None]) -> None:
    session.close()
    on_end()


def _opened(sessions: DuckSessions, scan: Scan, memory: str | None) -> DuckSession:
    """A session. One with settings of its own is not used again; others remember what they saw of files."""
    session = sessions.take()
    if any("uuid" in column.type for column in scan.columns):
        session.connection.execute("SET GLOBAL arrow_lossless_conversion = true")  # UUIDs as such, not as texts
    if memory:
        session.connection.execute(f"SET GLOBAL memory_limit = {text(memory)}")
    return session


def _plan(chosen: Chosen, view: View, wanted: Wanted) -> Plan:
    more = condition(wanted.predicate) if wanted.predicate is not None else None
    select = chosen.select(view.quoted, wanted.columns, more=more, limit=wanted.limit)
    return Plan(select, select, (view,))
