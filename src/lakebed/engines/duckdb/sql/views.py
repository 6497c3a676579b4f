"""Planned tables in DuckDB: the statements that create them under their names.

Pure text; nothing is read here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakebed.engines.duckdb.extensions import load_statement
from lakebed.engines.duckdb.sql.scans import listed, rows_of
from lakebed.engines.duckdb.sql.types import literal
from lakebed.names import duckdb_identifier
from lakebed.query.parsing.query_text import replaced
from lakebed.query.planning.plan import (
    CatalogView,
    PinnedTable,
    PlannedTable,
    QueryPlan,
    SystemTable,
    all_tables,
)
from lakebed.settings import normalized_location

# read from other files than the metadata file
MANIFEST_TABLES = ("files", "partitions", "batches")
COPIED = "lakebed_copied"  # the name of rows that are copied
_SNAPSHOTS = (
    "committed_at TIMESTAMPTZ, snapshot_id BIGINT, parent_id BIGINT, operation VARCHAR, summary"
    " MAP(VARCHAR, VARCHAR)"
)
_REFS = "name VARCHAR, type VARCHAR, snapshot_id BIGINT"


@dataclass(frozen=True)
class SetupPart:
    """Something that a query needs in its DuckDB: an extension, a database, a schema, a view, or a
    copied table.

    Equal parts are the same thing; `copied` is what a table is copied from, which the statement
    does not say. `drop` removes it again.
    """

    name: tuple[str, ...]
    statement: str
    drop: str = ""
    copied: PlannedTable | None = None


def setup_parts(views: Iterable[PlannedTable]) -> tuple[SetupPart, ...]:
    """What the tables of a plan need, in the order of creation."""
    views = tuple(views)
    found = {part.name: part for part in extension_parts(views)}
    for view in views:
        if view.layout and view.name == view.content_name:
            found[view.name] = _database(view)
            continue
        catalog, schema, _ = view.name
        database = duckdb_identifier(catalog)
        found.setdefault(
            (catalog,), SetupPart((catalog,), f"ATTACH IF NOT EXISTS ':memory:' AS {database}")
        )
        inside = SetupPart(
            (catalog, schema), f"CREATE SCHEMA IF NOT EXISTS {database}.{duckdb_identifier(schema)}"
        )
        found.setdefault(inside.name, inside)
        found[view.name] = _copy(view) if view.target.part in MANIFEST_TABLES else _view(view)
    return tuple(found.values())


def extension_parts(views: Iterable[PlannedTable]) -> tuple[SetupPart, ...]:
    """The extensions that reading the tables needs."""
    names = ("avro", "iceberg") if needs_iceberg(views) else ()
    return tuple(SetupPart(("extension", "", "", name), load_statement(name)) for name in names)


def _view(view: PlannedTable) -> SetupPart:
    return SetupPart(
        view.name,
        f"CREATE OR REPLACE VIEW {view.quoted} AS {select(view)}",
        f"DROP VIEW IF EXISTS {view.quoted}",
    )


def _database(view: PlannedTable) -> SetupPart:
    """A view in a database that is named by what it reads, and goes with it."""
    database, schema = map(duckdb_identifier, view.name[:2])
    statements = (
        f"ATTACH IF NOT EXISTS ':memory:' AS {database}",
        f"CREATE SCHEMA IF NOT EXISTS {database}.{schema}",
        _view(view).statement,
    )
    return SetupPart(view.name, "; ".join(statements), f"DETACH DATABASE IF EXISTS {database}")


def _copy(view: PlannedTable) -> SetupPart:
    statement = f"CREATE OR REPLACE TABLE {view.quoted} AS SELECT * FROM {COPIED}"
    return SetupPart(view.name, statement, f"DROP TABLE IF EXISTS {view.quoted}", view)


def select(view: PlannedTable) -> str:
    """The SELECT of a table's rows."""
    what = view.target.source
    if isinstance(what, SystemTable):
        return what.select
    if isinstance(what, CatalogView):
        return _expanded(what.plan) if what.plan else _written(what)
    if view.scan is not None:
        return " UNION ALL ".join(rows_of(scan, pinned) for pinned, scan in view.reads)
    return {"snapshots": _snapshots, "refs": _refs}[view.target.part](what)


def _expanded(plan: QueryPlan) -> str:
    """The query of a view, with the SELECTs of its tables in place of their names."""
    read = {view.quoted: view for view in plan.tables}
    return replaced(
        plan.sql, [replace(piece, text=f"({select(read[piece.text])})") for piece in plan.pieces]
    )


def _written(what: CatalogView) -> str:
    """The rows of a view from the files that Spark wrote."""
    return (
        f"SELECT * FROM read_parquet([{listed(map(normalized_location, what.files))}],"
        " hive_partitioning = false)"
    )


def needs_iceberg(views: Iterable[PlannedTable]) -> bool:
    """Whether one of them cannot be read as plain Parquet files."""
    reads = (read for view in all_tables(views) for read in view.reads)
    return any(scan.files and not scan.plain for _, scan in reads)


def files_of(views: Iterable[PlannedTable]) -> tuple[str, ...]:
    """Every file that the tables read."""
    scans = [scan for view in all_tables(views) for _, scan in view.reads]
    found = [file.location for scan in scans for file in scan.files]
    return tuple(
        dict.fromkeys((*found, *(scan.metadata_location for scan in scans if not scan.plain)))
    )


def _snapshots(what: PinnedTable) -> str:
    found = what.metadata.snapshots.values()
    rows = [
        (one.at, one.id, one.parent, one.operation, dict(one.summary))
        for one in sorted(found, key=lambda one: one.at)
    ]
    return table(_SNAPSHOTS, rows)


def _refs(what: PinnedTable) -> str:
    return table(_REFS, [(ref.name, ref.kind, ref.snapshot) for ref in what.metadata.refs.values()])


def table(columns: str, rows: Iterable[tuple[object, ...]]) -> str:
    """A SELECT of a few rows; `columns` are names and types, separated by commas."""
    pairs = [
        pair.split(" ", 1)
        for pair in columns.replace("MAP(VARCHAR, VARCHAR)", "MAP(VARCHAR,VARCHAR)").split(", ")
    ]
    shown = ", ".join(
        f"CAST(c{number} AS {type_}) AS {duckdb_identifier(name)}"
        for number, (name, type_) in enumerate(pairs)
    )
    names = ", ".join(f"c{number}" for number in range(len(pairs)))
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    if not values:
        return (
            f"SELECT {shown} FROM (SELECT"
            f" {', '.join(f'NULL AS c{number}' for number in range(len(pairs)))}) WHERE false"
        )
    return f"SELECT {shown} FROM (VALUES {values}) AS t({names})"
