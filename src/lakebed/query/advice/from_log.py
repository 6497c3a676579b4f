"""From lines of the query log to what advice is founded on."""

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

from lakebed.errors import LakebedError
from lakebed.query.advice.workload import LoggedQuery, LoggedRead
from lakebed.query.parsing.parse_nodes import Json
from lakebed.query.parsing.tree import mentioned_columns
from lakebed.query.results.log import QueryLogEntry, sql_hash

_MOST = 20_000  # different texts whose columns are looked for

Columns = frozenset[str] | None  # that a query names; None: all


def logged_queries(
    entries: Iterable[QueryLogEntry], parse: Callable[[str], tuple[str, Json]]
) -> Iterator[LoggedQuery]:
    """The queries of the log. Columns are those of the text, as far as the log has it."""
    known: dict[str, Columns] = {}
    for entry in entries:
        if entry.sql_hash not in known and len(known) < _MOST:
            known[entry.sql_hash] = _columns(entry, parse)
        columns = known.get(entry.sql_hash)
        reads = tuple(_reads(entry, columns))
        yield LoggedQuery(entry.ts, entry.engine, reads, entry.status == "ok")


def _columns(entry: QueryLogEntry, parse: Callable[[str], tuple[str, Json]]) -> Columns:
    if entry.engine != "duckdb" or sql_hash(entry.sql) != entry.sql_hash:  # the text was cut
        return None
    try:
        named = mentioned_columns(parse(entry.sql)[1])
    except LakebedError:
        return None
    return None if named.all else named.names


def _reads(entry: QueryLogEntry, columns: Columns) -> Iterator[LoggedRead]:
    """The tables that were read; views and Lakebed's own tables have no snapshot."""
    known = zip_longest(entry.tables, entry.snapshot_ids, entry.conditions, entry.layouts)
    for table, snapshot, conditions, layout in known:
        if table and snapshot is not None and "$" not in table:
            told = None if conditions is None else [(one.column, one.op) for one in conditions]
            asked = None if told is None else tuple(told)
            yield LoggedRead(table, asked, layout or "", columns)
