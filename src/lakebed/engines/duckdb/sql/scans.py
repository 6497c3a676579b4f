"""The SELECT over a table's files: by the names in the files, by field id, or through DuckDB's
Iceberg reader. Pure text.
"""

import re
from collections.abc import Iterable

from lakebed.engines.duckdb.sql.types import as_text, duckdb_type, text
from lakebed.errors import BadQuery
from lakebed.names import duckdb_identifier
from lakebed.ports import Column, ColumnGroup, Scan, ScanColumn, ScanFile
from lakebed.query.planning.plan import PinnedTable
from lakebed.settings import normalized_location
from lakebed.types import read_iceberg_type

_SPECIAL = str.maketrans(
    {"[": "[[]", "*": "[*]", "?": "[?]"}
)  # DuckDB would take them for patterns
_MARKED = re.compile(
    r"\b(uuid|time|unknown|variant|geo\w+)\b|_ns"
)  # types that writers annotate in Parquet in several ways


def rows_of(scan: Scan, what: PinnedTable) -> str:
    """The rows of a table's files, under the names and types that readers see."""
    if not scan.files:
        columns = ", ".join(
            f"CAST(NULL AS {_type(column, scan)}) AS {duckdb_identifier(column.name)}"
            for column in scan.columns
        )
        return f"SELECT {columns or 'NULL'} WHERE false"
    if not scan.plain:
        return f"SELECT {_shown(scan)} FROM {_through_iceberg(scan, what)}"
    if not scan.columns:
        return f"SELECT NULL FROM read_parquet([{_listed(scan.files)}], hive_partitioning = false)"
    if _is_by_name(scan):
        # Without a schema given here, DuckDB knows bounds and counts of the columns, and joins in a
        # better order.
        return " UNION ALL ".join(_by_name(stored, scan) for stored in scan.groups)
    schema = ", ".join(_mapped(column, scan) for column in scan.columns)
    source = (
        f"read_parquet([{_listed(scan.files)}], schema = MAP {{{schema}}}, hive_partitioning ="
        " false)"
    )
    return f"SELECT *{_unbounded(scan)} FROM {source}"


def _is_by_name(scan: Scan) -> bool:
    marked = any(_MARKED.search(column.type) for column in scan.columns)
    return scan.plain and bool(scan.groups) and not marked


def may_store_other_types(scan: Scan, what: PinnedTable) -> bool:
    """Whether DuckDB itself converts what files store to the type of a column: its columns were
    widened since, or the files come from elsewhere.
    """
    if _is_by_name(scan):
        return False  # casts here do it
    types = {column.id: column.type for column in what.columns}
    ever = (column for columns in what.metadata.schemas.values() for column in columns)
    return bool(what.metadata.adopted_from) or any(
        column.type != types.get(column.id, column.type) for column in ever
    )


def listed(locations: Iterable[str]) -> str:
    """Files as elements of a list, without patterns."""
    return ", ".join(text(location.translate(_SPECIAL)) for location in locations)


def _listed(files: Iterable[ScanFile]) -> str:
    return listed(file.location for file in files)


def _by_name(stored: ColumnGroup, scan: Scan) -> str:
    """Files that hold the columns under these names.

    A cast to the type that a column has already costs nothing.
    """
    shown = ", ".join(
        _found(name, column, scan) for name, column in zip(stored.names, scan.columns, strict=True)
    )
    return f"SELECT {shown} FROM read_parquet([{_listed(stored.files)}], hive_partitioning = false)"


def _found(name: str | None, column: ScanColumn, scan: Scan) -> str:
    default = "NULL" if column.default is None else text(as_text(column.default))
    value = f"CAST({default if name is None else duckdb_identifier(name)} AS {_type(column, scan)})"
    return (
        f"{f'TRY({value})' if _may_hold_nan(column) else value} AS {duckdb_identifier(column.name)}"
    )


def _shown(scan: Scan) -> str:
    """The columns, or NULL if there are none, so that rows can be counted."""
    return (
        ", ".join(
            f"{_unbound(column)} AS {duckdb_identifier(column.name)}" for column in scan.columns
        )
        or "NULL"
    )


def _unbounded(scan: Scan) -> str:
    """Columns with NaN as expressions: DuckDB would prune by bounds that do not include NaN (its
    issue 25521).
    """
    shown = ", ".join(
        f"{_unbound(column)} AS {duckdb_identifier(column.name)}"
        for column in scan.columns
        if _may_hold_nan(column)
    )
    return f" REPLACE ({shown})" if shown else ""


def _unbound(column: ScanColumn) -> str:
    """TRY gives the value itself but hides its bounds, inside structs and lists too."""
    name = duckdb_identifier(column.name)
    return f"TRY({name})" if _may_hold_nan(column) else name


def _may_hold_nan(column: ScanColumn) -> bool:
    """Whether NaN is possible; for nested values files do not say."""
    return column.nans or (
        column.type.startswith("{") and ('"float"' in column.type or '"double"' in column.type)
    )


def _mapped(column: ScanColumn, scan: Scan) -> str:
    default = "NULL::VARCHAR" if column.default is None else text(as_text(column.default))
    return (
        f"{column.id}: {{name: {text(column.name)}, type: {text(_type(column, scan))},"
        f" default_value: {default}}}"
    )


def _through_iceberg(scan: Scan, what: PinnedTable) -> str:
    """DuckDB's own reader, which applies deletes and finds nested fields by their ids.

    It reads a given snapshot with the columns it was written with, and the present table with the
    present ones.
    """
    place, metadata = text(normalized_location(scan.metadata_location)), what.metadata
    if what.snapshot is None or (
        what.snapshot == metadata.head() and what.schema == metadata.schema
    ):
        return f"iceberg_scan({place})"
    source = f"iceberg_scan({place}, snapshot_from_id = {scan.snapshot})"
    if what.schema == metadata.schema_at(what.snapshot):
        return source
    former = {column.id: column for column in metadata.columns_at(what.snapshot)}
    types = {column.id: column.type for column in what.columns}
    shown = (
        _of_former(column, former.get(column.id), types[column.id], scan) for column in scan.columns
    )
    return f"(SELECT {', '.join(shown) or 'NULL'} FROM {source})"


def _of_former(column: ScanColumn, former: Column | None, type_: str, scan: Scan) -> str:
    """A column of a branch that was written with other columns, under its present name and type."""
    name = duckdb_identifier(column.name)
    if former is None:
        default = "NULL" if column.default is None else text(as_text(column.default))
        return f"CAST({default} AS {_type(column, scan)}) AS {name}"
    if former.type == type_:
        return f"{duckdb_identifier(former.name)} AS {name}"
    if column.type.startswith("{"):
        what = (
            f"fields inside {column.name} of {scan.table} have changed since this snapshot was"
            " written."
        )
        raise BadQuery(what, next="Read it by the id of its snapshot, or with --engine spark.")
    return f"CAST({duckdb_identifier(former.name)} AS {_type(column, scan)}) AS {name}"


def _type(column: ScanColumn, scan: Scan) -> str:
    found = duckdb_type(read_iceberg_type(column.type))
    if found is None:
        raise BadQuery(
            f"DuckDB has no type for {column.type}, the type of {column.name} of {scan.table}.",
            next="Use --engine spark.",
        )
    return found
