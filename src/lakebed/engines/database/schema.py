"""The tables of a lake's database, and how each version of them comes from the one before."""

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Migration:
    """One step from a version to the next. Never edited once released: a change is a further step."""

    version: int
    creates: tuple[Table, ...]


MIGRATIONS = (
    Migration(1, (iceberg_tables, iceberg_namespaces, versions, leases, publications)),
    Migration(2, (runs, consumed, pins)),
)
NEWEST = MIGRATIONS[-1].version


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
        connection.execute(versions.delete())
        connection.execute(versions.insert().values(version=step.version))
