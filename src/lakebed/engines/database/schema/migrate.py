"""Brings a database to the newest version, one migration after the other."""

from typing import Any

from sqlalchemy import Column, Connection, inspect, select
from sqlalchemy.schema import CreateTable

from lakebed.engines.database.schema.migration import Migration
from lakebed.engines.database.schema.migrations import (
    v1_catalog_and_leases,
    v2_runs,
    v3_ledger_events_and_care,
    v4_file_digests,
    v5_zone_types,
    v6_counters,
    v7_purged_publications,
    v8_runs_that_go_on,
    v9_descents,
    v10_lake_identity,
    v11_appending_zones,
)
from lakebed.engines.database.schema.tables import versions
from lakebed.errors import NewerLake

MIGRATIONS = (
    v1_catalog_and_leases.MIGRATION,
    v2_runs.MIGRATION,
    v3_ledger_events_and_care.MIGRATION,
    v4_file_digests.MIGRATION,
    v5_zone_types.MIGRATION,
    v6_counters.MIGRATION,
    v7_purged_publications.MIGRATION,
    v8_runs_that_go_on.MIGRATION,
    v9_descents.MIGRATION,
    v10_lake_identity.MIGRATION,
    v11_appending_zones.MIGRATION,
)
NEWEST = MIGRATIONS[-1].version


def pending(version: int) -> tuple[Migration, ...]:
    """The migrations that a database of this version still needs; `NewerLake` if a newer Lakebed
    made it.
    """
    if version > NEWEST:
        raise NewerLake(version, NEWEST)
    return tuple(step for step in MIGRATIONS if step.version > version)


def version_of(connection: Connection) -> int:
    """The version of this database; 0 if Lakebed has not used it yet."""
    if not inspect(connection).has_table(versions.name):
        return 0
    return connection.execute(select(versions.c.version)).scalar() or 0


def migrate(connection: Connection) -> None:
    """Bring the database to the newest version.

    The caller holds the lock that keeps other processes out.
    """
    for step in pending(version_of(connection)):
        _apply(connection, step)
        connection.execute(versions.delete())
        connection.execute(versions.insert().values(version=step.version))


def _apply(connection: Connection, step: Migration) -> None:
    for table in step.creates:
        # IF NOT EXISTS: Spark or PyIceberg may have made Iceberg's two tables before us.
        connection.execute(CreateTable(table, if_not_exists=True))
    for column in step.adds:
        _add(connection, column)
    for statement in step.then:
        connection.exec_driver_sql(statement)


def _add(connection: Connection, column: Column[Any]) -> None:
    table = column.table.description
    if column.name not in {known["name"] for known in inspect(connection).get_columns(table)}:
        connection.exec_driver_sql(
            f"ALTER TABLE {table} ADD COLUMN {column.name}"
            f" {column.type.compile(connection.dialect)}"
        )
