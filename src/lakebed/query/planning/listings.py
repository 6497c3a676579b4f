"""Statements that list tables, schemas and databases, such as SHOW TABLES.

They, `information_schema`, `duckdb_tables()` and the like run in a DuckDB of their own that holds
the lake's present tables, without rows, and nothing else.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lakebed.errors import BadQuery
from lakebed.names import TableName
from lakebed.ports import Column
from lakebed.query.parsing.functions import DESCRIBERS, STORAGE
from lakebed.query.parsing.parse_nodes import Json, dicts, folded
from lakebed.query.parsing.table_functions import table_function_names

SCHEMAS = ("information_schema", "pg_catalog", "main", "memory", "temp", "system")
PREFIXES = ("duckdb_", "pragma_", "pg_", "sqlite_")
_NAMES_ONLY = {
    '"databases"',
    '"schemas"',
    '"tables"',
    '"variables"',
    "",
}  # how the parse tree names what SHOW lists
_OF_DUCKDB = {
    "duckdb_databases",
    "duckdb_extensions",
    "duckdb_functions",
    "duckdb_keywords",
    "duckdb_memory",
    "duckdb_optimizers",
    "duckdb_schemas",
    "duckdb_secrets",
    "duckdb_settings",
    "pragma_version",
}


@dataclass(frozen=True)
class ListedTable:
    """A table for a listing; without columns if the statement needs only names."""

    name: TableName
    columns: tuple[Column, ...] = ()
    comment: str = ""
    is_view: bool = False


@dataclass(frozen=True)
class Listing:
    """What a statement lists: only names, or `columns` too."""

    columns: bool


def listing_of(statement: Json, unknown: Iterable[Sequence[str]]) -> Listing | None:
    """What a statement lists; None if it reads rows.

    `unknown` are the names that are no tables of the lake.
    """
    found = [
        *_show_statements_need_columns(statement),
        *_functions_need_columns(statement),
        *(_needs_columns(parts) for parts in unknown if is_engines_own(parts)),
    ]
    return Listing(columns=any(found)) if found else None


def is_engines_own(parts: Sequence[str]) -> bool:
    """Whether a name belongs to DuckDB itself, such as `information_schema.tables` or
    `duckdb_tables`.
    """
    if len(parts) == 1:
        return folded(parts[0]).startswith(PREFIXES) and "." not in parts[0]
    return folded(parts[0]) in SCHEMAS


def require_no_tables(tables: Iterable[TableName]) -> None:
    """Raise if a listing also reads tables: it runs where none has rows."""
    if found := sorted(set(tables), key=str):
        raise BadQuery(
            f"a listing cannot be combined with rows, here of {found[0]}.", next="Run two queries."
        )


def in_search_order(
    statement: Json, tables: Sequence[ListedTable], *, namespace: str | None
) -> tuple[ListedTable, ...]:
    """The tables, with the namespace first that SHOW TABLES FROM a layer means: DuckDB searches
    only the first one.
    """
    for layer in (
        folded(item["schema_name"])
        for item in _shows(statement)
        if item["schema_name"] and not item["catalog_name"]
    ):
        found = sorted(
            {table.name.namespace for table in tables if folded(table.name.layer) == layer}
        )
        if len(found) > 1 and namespace not in found:
            fits = " or ".join(f"{one}.{layer}" for one in found[:3])
            raise BadQuery(
                f"{layer} is ambiguous: it may be {fits}.", next="Write the namespace too."
            )
        first = namespace if namespace in found else found[0] if found else None
        tables = sorted(tables, key=lambda table: table.name.namespace != first)
    return tuple(tables)


def _shows(statement: Json) -> Iterator[Json]:
    return (
        item
        for item in dicts(statement)
        if item.get("type") == "SHOW_REF" and not item.get("query")
    )


def _show_statements_need_columns(statement: Json) -> Iterator[bool]:
    return (item["table_name"] not in _NAMES_ONLY for item in _shows(statement))


def _functions_need_columns(statement: Json) -> Iterator[bool]:
    for name in table_function_names(statement):
        if name in STORAGE:
            raise BadQuery(
                f"{name} inspects tables that DuckDB stores, but the lake's tables are files.",
                next="List them: FROM table$files",
            )
        if name.startswith(PREFIXES) and name not in DESCRIBERS:
            yield name not in _OF_DUCKDB


def _needs_columns(parts: Sequence[str]) -> bool:
    return folded(parts[-1]) not in _OF_DUCKDB
