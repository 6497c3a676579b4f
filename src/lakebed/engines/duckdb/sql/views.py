"""Tables as DuckDB sees them: statements that give a planned table its name. Pure text; nothing is read here."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakebed.engines.duckdb.extensions import loading
from lakebed.engines.duckdb.sql.scans import listed, rows_of
from lakebed.engines.duckdb.sql.types import literal
from lakebed.names import duckdb_identifier
from lakebed.query.parsing.query_text import replaced
from lakebed.query.planning.plan import Own, Pinned, QueryPlan, View, Viewed, read_by
from lakebed.settings import normalized_location

INSPECTED = ("files", "partitions")  # read from manifests, not from the metadata file
COPIED = "lakebed_copied"  # the name of rows that are copied
_SNAPSHOTS = "committed_at TIMESTAMPTZ, snapshot_id BIGINT, parent_id BIGINT, operation VARCHAR, summary MAP(VARCHAR, VARCHAR)"
_REFS = "name VARCHAR, type VARCHAR, snapshot_id BIGINT"


@dataclass(frozen=True)
class ScanPart:
    """Something that a query needs in its DuckDB: an extension, a database, a schema, a view, or a table that is a copy.

    Equal parts are the same thing; `copied` says what of, for the statement does not tell. `drop` takes it away again.
    """

    name: tuple[str, ...]
    statement: str
    drop: str = ""
    copied: View | None = None


def parts(views: Iterable[View]) -> tuple[ScanPart, ...]:
    """What the views need, in the order in which it can be made."""
    views = tuple(views)
    found = {part.name: part for part in extension_parts(views)}
    for view in views:
        catalog, schema, _ = view.name
        database = duckdb_identifier(catalog)
        found.setdefault((catalog,), ScanPart((catalog,), f"ATTACH IF NOT EXISTS ':memory:' AS {database}"))
        inside = ScanPart((catalog, schema), f"CREATE SCHEMA IF NOT EXISTS {database}.{duckdb_identifier(schema)}")
        found.setdefault(inside.name, inside)
        found[view.name] = _copy(view) if view.target.about in INSPECTED else _view(view)
    return tuple(found.values())


def extension_parts(views: Iterable[View]) -> tuple[ScanPart, ...]:
    """What reading the views' files takes."""
    names = ("avro", "iceberg") if needs_iceberg(views) else ()
    return tuple(ScanPart(("extension", "", "", name), loading(name)) for name in names)


def _view(view: View) -> ScanPart:
    return ScanPart(view.name, f"CREATE OR REPLACE VIEW {view.quoted} AS {select(view)}", f"DROP VIEW IF EXISTS {view.quoted}")


def _copy(view: View) -> ScanPart:
    statement = f"CREATE OR REPLACE TABLE {view.quoted} AS SELECT * FROM {COPIED}"
    return ScanPart(view.name, statement, f"DROP TABLE IF EXISTS {view.quoted}", view)


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


def _expanded(plan: QueryPlan) -> str:
    """The query of a view, with the rows of its tables in their places."""
    read = {view.quoted: view for view in plan.views}
    return replaced(plan.sql, [replace(piece, text=f"({select(read[piece.text])})") for piece in plan.pieces])


def _written(what: Viewed) -> str:
    """The rows of a view as Spark wrote them."""
    return f"SELECT * FROM read_parquet([{listed(map(normalized_location, what.files))}], hive_partitioning = false)"


def needs_iceberg(views: Iterable[View]) -> bool:
    """Whether one of them cannot be read as plain files."""
    return any(view.scan is not None and view.scan.files and not view.scan.plain for view in read_by(views))


def files_of(views: Iterable[View]) -> tuple[str, ...]:
    """Every file that the views read."""
    scans = [view.scan for view in read_by(views) if view.scan is not None]
    found = [file.location for scan in scans for file in scan.files]
    return tuple(dict.fromkeys((*found, *(scan.metadata_location for scan in scans if not scan.plain))))


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
