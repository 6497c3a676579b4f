"""What goes with a request for a query, and which table of the lake a name in it means."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import BadQuery, UnknownName, near, suggestion
from lakebed.names import TableName
from lakebed.query.cancellation import Cancellation
from lakebed.query.planning.listings import is_engines_own
from lakebed.requests import QueryRequest

TablePart = Literal["rows", "snapshots", "files", "partitions", "refs", "batches"]
METADATA_TABLES: tuple[TablePart, ...] = ("snapshots", "files", "partitions", "refs", "batches")


@dataclass(frozen=True)
class QueryOptions:
    """A request for a query, and what the program that answers it adds."""

    request: QueryRequest
    untrusted: bool = False  # check, confine and limit it
    principal: str = ""  # who asks, for the query log
    route: str = "api"  # how the query reached Lakebed, for the query log
    stop: Cancellation | None = None


@dataclass(frozen=True)
class TableReference:
    """A table, and what of it is read: its rows, or one of its metadata tables."""

    table: TableName
    part: TablePart = "rows"


def resolve_table(
    parts: Sequence[str], known: Collection[TableName], *, namespace: str | None = None
) -> TableReference | None:
    """The table that a name means: its full name, or an end that only one table has;
    `table$snapshots` is a metadata table.

    None for names of the engine's own tables and of files; `UnknownName` and `BadQuery` for unknown
    and ambiguous names.
    """
    *front, last = parts
    base, sign, about = last.rpartition("$")
    if sign and about in METADATA_TABLES:
        found = _table((*front, base), known, namespace)
        return TableReference(found, _metadata_table(about)) if found else None
    if sign and base:
        raise UnknownName("metadata table", about, METADATA_TABLES)
    found = _table(parts, known, namespace)
    return TableReference(found) if found else None


def _metadata_table(text: str) -> TablePart:
    return next(about for about in METADATA_TABLES if about == text)


def _table(
    parts: Sequence[str], known: Collection[TableName], namespace: str | None
) -> TableName | None:
    found = [
        table for table in known if table.ends_with(parts) and (len(parts) == 3 or not table.hidden)
    ]
    if namespace and len(found) > 1:
        found = [table for table in found if table.namespace == namespace] or found
    if len(found) > 1:
        candidates = " or ".join(sorted(map(str, found))[:3])
        raise BadQuery(
            f"{'.'.join(parts)} is ambiguous: it may be {candidates}.", next="Write the full name."
        )
    if not found and not _is_engines_or_file(parts):
        raise unknown_table(parts, known)
    return found[0] if found else None


def _is_engines_or_file(parts: Sequence[str]) -> bool:
    """Whether it may be a table of the engine or a file: `information_schema.tables`,
    `'orders.csv'`.
    """
    return is_engines_own(parts) or (len(parts) == 1 and ("." in parts[0] or "/" in parts[0]))


def unknown_table(parts: Sequence[str], known: Iterable[TableName]) -> UnknownName:
    """The error for a name that no table has, with similar ones."""
    shown = [table for table in known if not table.hidden]
    ends = [_last_parts(table, len(parts)) for table in shown]
    error = UnknownName("table", ".".join(parts), ends)
    if not error.near and (whole := near(".".join(parts), map(str, shown))):
        error.next = suggestion(whole)
    error.next = error.next or "List the tables: lakebed ls"
    return error


def _last_parts(table: TableName, count: int) -> str:
    """The last parts of a name, as many as `count`.

    The full name is quoted where SQL needs that.
    """
    whole = count >= len(table.levels)
    return str(table) if whole else ".".join(table.levels[-count:])
