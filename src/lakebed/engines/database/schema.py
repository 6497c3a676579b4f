"""The tables of a lake's database, and how each version of them comes from the one before."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Float, Integer, MetaData, String, Table, Text, inspect, select
from sqlalchemy.schema import CreateTable

from lakebed.errors import NewerLake

_METADATA = MetaData()

# Iceberg's JDBC catalog, schema V1: names and widths are Iceberg's, shared with Spark and PyIceberg.
iceberg_tables = Table(
    "iceberg_tables",
    _METADATA,
    Column("catalog_name", String(255), primary_key=True),
    Column("table_namespace", String(255), primary_key=True),
    Column("table_name", String(255), primary_key=True),
    Column("metadata_location", String(1000)),
    Column("previous_metadata_location", String(1000)),
    Column("iceberg_type", String(5)),
)
iceberg_namespaces = Table(
    "iceberg_namespace_properties",
    _METADATA,
    Column("catalog_name", String(255), primary_key=True),
    Column("namespace", String(255), primary_key=True),
    Column("property_key", String(255), primary_key=True),
    Column("property_value", String(1000)),
)
versions = Table("lakebed_schema", _METADATA, Column("version", Integer, primary_key=True, autoincrement=False))
leases = Table(
    "lakebed_leases",
    _METADATA,
    Column("name", String(600), primary_key=True),
    Column("holder", String(600)),  # NULL: free. The row stays, for its token only ever grows
    Column("token", BigInteger, nullable=False),
    Column("limit_seconds", Float(53), nullable=False),
    Column("heartbeat", Float(53), nullable=False),  # seconds since 1970 by the database's own clock
)
publications = Table(
    "lakebed_publications",
    _METADATA,
    Column("run_id", String(255), primary_key=True),
    Column("state", String(16), nullable=False),  # intended or published
    Column("moves", Text, nullable=False),
    Column("leases", Text, nullable=False),  # under which it was begun: while one is held, its run is alive
    Column("at", Float(53), nullable=False),
)
runs = Table(
    "lakebed_runs",
    _METADATA,
    Column("run_id", String(255), primary_key=True),
    Column("invocation", String(255), nullable=False),
    Column("table_name", String(600), nullable=False),
    Column("state", String(16), nullable=False),
    Column("started", Float(53), nullable=False),
    Column("publication", String(255)),  # the publication that makes it a success
    Column("document", Text, nullable=False),
)
consumed = Table(
    "lakebed_consumed",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("etag", String(255), primary_key=True),
    Column("zone", String(600), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("run_id", String(255), nullable=False),
    Column("publication", String(255), nullable=False),
)
pins = Table(
    "lakebed_pins",
    _METADATA,
    Column("run_id", String(255), primary_key=True),
    Column("table_name", String(600), primary_key=True),
    Column("snapshot", BigInteger, primary_key=True, autoincrement=False),
)
holds = Table(  # snapshots that readers and followers keep from expiry
    "lakebed_holds",
    _METADATA,
    Column("holder", String(255), primary_key=True),
    Column("table_name", String(600), primary_key=True),
    Column("snapshot", BigInteger, primary_key=True, autoincrement=False),
    Column("until", Float(53)),  # NULL: until it is given back
)
ledger = Table(  # as `lakebed_consumed`, but of every run: a rollback may bring an earlier one back
    "lakebed_ledger",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("etag", String(255), primary_key=True),
    Column("run_id", String(255), primary_key=True),
    Column("zone", String(600), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("publication", String(255), nullable=False),
    Column("state", String(16), nullable=False),  # taken, held or waiting
    Column("digest", String(64)),  # SHA-256; NULL where the etag says as much, and in rows from before version 4
    Column("archived", String(1024)),  # NULL: not archived, or before version 4
    Column("archived_etag", String(255)),
)
events = Table(
    "lakebed_events",
    _METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("at", Float(53), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("table_name", String(600), nullable=False),
    Column("snapshot", BigInteger),
    Column("detail", Text, nullable=False),
)
followers = Table(
    "lakebed_followers",
    _METADATA,
    Column("name", String(255), primary_key=True),
    Column("number", BigInteger, nullable=False),  # of the last event it has dealt with
)
dropped = Table(
    "lakebed_dropped",
    _METADATA,
    Column("uuid", String(64), primary_key=True),
    Column("table_name", String(600), nullable=False),
    Column("metadata_location", String(1000), nullable=False),
    Column("at", Float(53), nullable=False),
)
releases = Table(
    "lakebed_releases",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),
    Column("at", Float(53), nullable=False),
    Column("who", String(255), nullable=False),
    Column("message", Text, nullable=False),
    Column("files", Text, nullable=False),  # path → SHA-256 of the content
)
drafts = Table(
    "lakebed_drafts",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("files", Text, nullable=False),
)
deleted_pipelines = Table(
    "lakebed_deleted_pipelines",
    _METADATA,
    Column("table_name", String(600), primary_key=True),
    Column("at", Float(53), nullable=False),
)
care = Table(
    "lakebed_care",
    _METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("at", Float(53), nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject", String(600), nullable=False),  # a table, a zone, or the lake
    Column("document", Text, nullable=False),  # counts, bytes, seconds
)

checksums = Table(  # of files that fsck has read whole: files of tables never change
    "lakebed_checksums",
    _METADATA,
    Column("path", String(1024), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("at", Float(53), nullable=False),
)
zone_types = Table(
    "lakebed_zone_types",
    _METADATA,
    Column("zone", String(600), primary_key=True),
    Column("pattern", Text, primary_key=True),  # of the files that are meant; empty: all
    Column("folded", Text, primary_key=True),  # the column's name without regard to case
    Column("column_name", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("run_id", String(255), nullable=False),  # which took it for that
    Column("place", Integer, nullable=False),  # among the columns of its files
)


@dataclass(frozen=True)
class Migration:
    """One step from a version to the next. Never edited once released: a change is a further step."""

    version: int
    creates: tuple[Table, ...] = ()
    then: tuple[str, ...] = ()  # statements, once the tables are there
    adds: tuple[Column[Any], ...] = ()  # columns; an earlier step that made the table just now has made them too


MIGRATIONS = (
    Migration(1, (iceberg_tables, iceberg_namespaces, versions, leases, publications)),
    Migration(2, (runs, consumed, pins)),
    Migration(
        3,
        (holds, ledger, events, followers, dropped, releases, drafts, deleted_pipelines, care, checksums),
        then=(
            "INSERT INTO lakebed_ledger (table_name, path, etag, run_id, zone, size, publication, state) "
            "SELECT table_name, path, etag, run_id, zone, size, publication, 'taken' FROM lakebed_consumed",
            "DROP TABLE lakebed_consumed",
        ),
    ),
    Migration(
        4,
        adds=(ledger.c.digest, ledger.c.archived, ledger.c.archived_etag),
        then=("CREATE INDEX lakebed_ledger_path ON lakebed_ledger (path)",),
    ),
    Migration(5, (zone_types,)),
)
NEWEST = MIGRATIONS[-1].version


def tables() -> tuple[Table, ...]:
    """All that a database of the newest version holds."""
    return tuple(table for table in _METADATA.sorted_tables if table is not consumed)


def pending(version: int) -> tuple[Migration, ...]:
    """What is still to be done to a database of this version; one from a newer Lakebed is refused."""
    if version > NEWEST:
        raise NewerLake(version, NEWEST)
    return tuple(step for step in MIGRATIONS if step.version > version)


def version_of(connection: Connection) -> int:
    """The version of this database; 0 for one that Lakebed never saw."""
    if not inspect(connection).has_table(versions.name):
        return 0
    return connection.execute(select(versions.c.version)).scalar() or 0


def migrate(connection: Connection) -> None:
    """Bring the database to the newest version. The caller holds the lock that keeps others out."""
    for step in pending(version_of(connection)):
        for table in step.creates:
            # IF NOT EXISTS: Spark or PyIceberg may have made Iceberg's two tables before us.
            connection.execute(CreateTable(table, if_not_exists=True))
        for column in step.adds:
            _add(connection, column)
        for statement in step.then:
            connection.exec_driver_sql(statement)
        connection.execute(versions.delete())
        connection.execute(versions.insert().values(version=step.version))


def _add(connection: Connection, column: Column[Any]) -> None:
    table = column.table.description
    if column.name not in {known["name"] for known in inspect(connection).get_columns(table)}:
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column.name} {column.type.compile(connection.dialect)}")
