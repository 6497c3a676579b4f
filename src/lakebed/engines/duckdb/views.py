"""Tables as DuckDB sees them: statements that give a planned table its name. Pure text; nothing is read here."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakebed.engines.duckdb.extensions import loading
from lakebed.engines.duckdb.types import as_text, duckdb_type, literal, text
from lakebed.errors import BadQuery
from lakebed.names import duckdb_identifier
from lakebed.ports import Column, Scan, ScanColumn, ScanFile, Stored
from lakebed.query.plan import Own, Pinned, Plan, View, Viewed, read_by
from lakebed.query.text import replaced
from lakebed.settings import one_spelling

_SPECIAL = str.maketrans({"[": "[[]", "*": "[*]", "?": "[?]"})  # DuckDB would look for files that fit

_MARKED = re.compile(r"\b(uuid|time|unknown|variant|geo\w+)\b|_ns")  # types that writers mark in Parquet in several ways
INSPECTED = ("files", "partitions")  # read from manifests, not from the metadata file
COPIED = "lakebed_copied"  # the name of rows that are copied
_SNAPSHOTS = "committed_at TIMESTAMPTZ, snapshot_id BIGINT, parent_id BIGINT, operation VARCHAR, summary MAP(VARCHAR, VARCHAR)"
_REFS = "name VARCHAR, type VARCHAR, snapshot_id BIGINT"


@dataclass(frozen=True)
class Part:
    """Something that a query needs in its DuckDB: an extension, a database, a schema, a view, or a table that is a copy.

    Equal parts are the same thing; `copied` says what of, for the statement does not tell. `drop` takes it away again.
    """

    name: tuple[str, ...]
    statement: str
    drop: str = ""
    copied: View | None = None


def parts(views: Iterable[View]) -> tuple[Part, ...]:
    """What the views need, in the order in which it can be made."""
    views = tuple(views)
    found = {part.name: part for part in extension_parts(views)}
    for view in views:
        catalog, schema, _ = view.name
        database = duckdb_identifier(catalog)
        found.setdefault((catalog,), Part((catalog,), f"ATTACH IF NOT EXISTS ':memory:' AS {database}"))
        inside = Part((catalog, schema), f"CREATE SCHEMA IF NOT EXISTS {database}.{duckdb_identifier(schema)}")
        found.setdefault(inside.name, inside)
        found[view.name] = _copy(view) if view.target.about in INSPECTED else _view(view)
    return tuple(found.values())


def extension_parts(views: Iterable[View]) -> tuple[Part, ...]:
    """What reading the views' files takes."""
    names = ("avro", "iceberg") if needs_iceberg(views) else ()
    return tuple(Part(("extension", "", "", name), loading(name)) for name in names)


def _view(view: View) -> Part:
    return Part(view.name, f"CREATE OR REPLACE VIEW {view.quoted} AS {select(view)}", f"DROP VIEW IF EXISTS {view.quoted}")


def _copy(view: View) -> Part:
    statement = f"CREATE OR REPLACE TABLE {view.quoted} AS SELECT * FROM {COPIED}"
    return Part(view.name, statement, f"DROP TABLE IF EXISTS {view.quoted}", view)


def select(view: View) -> str:
    """The rows of a view."""
    what = view.target.what
    if isinstance(what, Own):
        return what.select
    if isinstance(what, Viewed):
        return _expanded(what.plan) if what.plan else _written(what)
    if view.scan is not None:
        return rows_of(view.scan, what)
    return {"snapshots": _snapshots, "refs": _refs}[view.target.about](what)


def _expanded(plan: Plan) -> str:
    """The query of a view, with the rows of its tables in their places."""
    read = {view.quoted: view for view in plan.views}
    return replaced(plan.sql, [replace(piece, text=f"({select(read[piece.text])})") for piece in plan.pieces])


def _written(what: Viewed) -> str:
    """The rows of a view as Spark wrote them."""
    files = ", ".join(text(one_spelling(file).translate(_SPECIAL)) for file in what.files)
    return f"SELECT * FROM read_parquet([{files}], hive_partitioning = false)"


def needs_iceberg(views: Iterable[View]) -> bool:
    """Whether one of them cannot be read as plain files."""
    return any(view.scan is not None and view.scan.files and not view.scan.plain for view in read_by(views))


def files_of(views: Iterable[View]) -> tuple[str, ...]:
    """Every file that the views read."""
    scans = [view.scan for view in read_by(views) if view.scan is not None]
    found = [file.location for scan in scans for file in scan.files]
    return tuple(dict.fromkeys((*found, *(scan.metadata_location for scan in scans if not scan.plain))))


def rows_of(scan: Scan, what: Pinned) -> str:
    """The rows of a table's files, under the names and types that readers see."""
    if not scan.files:
        columns = ", ".join(f"CAST(NULL AS {_type(column, scan)}) AS {duckdb_identifier(column.name)}" for column in scan.columns)
        return f"SELECT {columns or 'NULL'} WHERE false"
    if not scan.plain:
        return f"SELECT {_shown(scan)} FROM {_through_iceberg(scan, what)}"
    if not scan.columns:
        return f"SELECT NULL FROM read_parquet([{_listed(scan.files)}], hive_partitioning = false)"
    if scan.stored and not any(_MARKED.search(column.type) for column in scan.columns):
        # Without a schema of ours DuckDB knows bounds and counts of the columns, and joins in a better order.
        return " UNION ALL ".join(_by_name(stored, scan) for stored in scan.stored)
    schema = ", ".join(_mapped(column, scan) for column in scan.columns)
    source = f"read_parquet([{_listed(scan.files)}], schema = MAP {{{schema}}}, hive_partitioning = false)"
    return f"SELECT *{_unbounded(scan)} FROM {source}"


def _listed(files: Iterable[ScanFile]) -> str:
    return ", ".join(text(file.location.translate(_SPECIAL)) for file in files)


def _by_name(stored: Stored, scan: Scan) -> str:
    """Files that hold the columns under these names. A cast to the type that a column has there costs nothing."""
    shown = ", ".join(_found(name, column, scan) for name, column in zip(stored.names, scan.columns, strict=True))
    return f"SELECT {shown} FROM read_parquet([{_listed(stored.files)}], hive_partitioning = false)"


def _found(name: str | None, column: ScanColumn, scan: Scan) -> str:
    default = "NULL" if column.default is None else text(as_text(column.default))
    value = f"CAST({default if name is None else duckdb_identifier(name)} AS {_type(column, scan)})"
    return f"{f'TRY({value})' if _may_hold_nan(column) else value} AS {duckdb_identifier(column.name)}"


def _shown(scan: Scan) -> str:
    """The columns; something where none is wanted, for rows can be counted without."""
    return ", ".join(f"{_unbound(column)} AS {duckdb_identifier(column.name)}" for column in scan.columns) or "NULL"


def _unbounded(scan: Scan) -> str:
    """Columns with NaN as expressions: DuckDB would judge them by bounds that NaN is not in (its issue 25521)."""
    shown = ", ".join(
        f"{_unbound(column)} AS {duckdb_identifier(column.name)}" for column in scan.columns if _may_hold_nan(column)
    )
    return f" REPLACE ({shown})" if shown else ""


def _unbound(column: ScanColumn) -> str:
    """TRY is the value itself, and nothing is known of its bounds; that holds inside of structs and lists too."""
    name = duckdb_identifier(column.name)
    return f"TRY({name})" if _may_hold_nan(column) else name


def _may_hold_nan(column: ScanColumn) -> bool:
    """Of values inside of others no file says whether they are numbers."""
    return column.nans or (column.type.startswith("{") and ('"float"' in column.type or '"double"' in column.type))


def _mapped(column: ScanColumn, scan: Scan) -> str:
    default = "NULL::VARCHAR" if column.default is None else text(as_text(column.default))
    return f"{column.id}: {{name: {text(column.name)}, type: {text(_type(column, scan))}, default_value: {default}}}"


def _through_iceberg(scan: Scan, what: Pinned) -> str:
    """DuckDB's own reader, which applies deletes and knows nested fields by their ids.

    To it a snapshot that is named has the columns it was written with, and the table as it is the present ones.
    """
    place, metadata = text(one_spelling(scan.metadata_location)), what.metadata
    if what.snapshot is None or (what.snapshot == metadata.head() and what.schema == metadata.schema):
        return f"iceberg_scan({place})"
    source = f"iceberg_scan({place}, snapshot_from_id = {scan.snapshot})"
    if what.schema == metadata.schema_at(what.snapshot):
        return source
    former = {column.id: column for column in metadata.columns_at(what.snapshot)}
    types = {column.id: column.type for column in what.columns}
    shown = (_of_former(column, former.get(column.id), types[column.id], scan) for column in scan.columns)
    return f"(SELECT {', '.join(shown) or 'NULL'} FROM {source})"


def _of_former(column: ScanColumn, former: Column | None, type_: str, scan: Scan) -> str:
    """A column of a branch that was written with other columns: under its present name and type."""
    name = duckdb_identifier(column.name)
    if former is None:
        default = "NULL" if column.default is None else text(as_text(column.default))
        return f"CAST({default} AS {_type(column, scan)}) AS {name}"
    if former.type == type_:
        return f"{duckdb_identifier(former.name)} AS {name}"
    if column.type.startswith("{"):
        what = f"fields inside of {column.name} of {scan.table} have changed since this state was written."
        raise BadQuery(what, next="Ask for it by the id of its snapshot, or with --engine spark.")
    return f"CAST({duckdb_identifier(former.name)} AS {_type(column, scan)}) AS {name}"


def _type(column: ScanColumn, scan: Scan) -> str:
    found = duckdb_type(column.type)
    if found is None:
        raise BadQuery(
            f"DuckDB has no type for {column.type}, which {column.name} of {scan.table} is.", next="Ask with --engine spark."
        )
    return found


def _snapshots(what: Pinned) -> str:
    found = what.metadata.snapshots.values()
    rows = [(one.at, one.id, one.parent, one.operation, dict(one.summary)) for one in sorted(found, key=lambda one: one.at)]
    return table(_SNAPSHOTS, rows)


def _refs(what: Pinned) -> str:
    return table(_REFS, [(ref.name, ref.kind, ref.snapshot) for ref in what.metadata.refs.values()])


def table(columns: str, rows: Iterable[tuple[object, ...]]) -> str:
    """A few rows as a SELECT; `columns` are names and types, by commas."""
    pairs = [pair.split(" ", 1) for pair in columns.replace("MAP(VARCHAR, VARCHAR)", "MAP(VARCHAR,VARCHAR)").split(", ")]
    shown = ", ".join(f"CAST(c{number} AS {type_}) AS {duckdb_identifier(name)}" for number, (name, type_) in enumerate(pairs))
    names = ", ".join(f"c{number}" for number in range(len(pairs)))
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    if not values:
        return f"SELECT {shown} FROM (SELECT {', '.join(f'NULL AS c{number}' for number in range(len(pairs)))}) WHERE false"
    return f"SELECT {shown} FROM (VALUES {values}) AS t({names})"
