"""Catalog and state in one archive that SQLite and PostgreSQL can both restore.

The archive is a zip file with `manifest.json` and each table's rows as lines of JSON. It is read
from one consistent state while others write: SQLite's online backup copies the file, PostgreSQL
provides a snapshot.
"""

import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Table, delete, func, insert, inspect, select, text

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import (
    NEWEST,
    identity,
    leases,
    tables,
    version_of,
    versions,
)
from lakebed.engines.database.schema.migrations import v11_appending_zones
from lakebed.engines.database.state.counters import EVENTS, last_event_number, set_counter
from lakebed.errors import NewerLake

_AT_ONCE = 500
_LATER = 1_000_000  # more than were issued between the backup and the loss
_STATE = {
    "lakebed_schema",
    "lakebed_leases",
    "lakebed_counters",
    "iceberg_namespace_properties",
    "lakebed_identity",
}  # filled in every lake, even an empty one


def write_archive(database: Database, archive: zipfile.ZipFile) -> dict[str, int]:
    """Write every table's rows to the archive, all as of one point in time; returns the count of
    each.
    """
    with _standing_still(database) as connection:
        return {
            table.name: _write_rows(connection, table, archive) for table in _archived(connection)
        }


@contextmanager
def _standing_still(database: Database) -> Iterator[Connection]:
    if not database.is_sqlite:
        still = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with database.engine.connect().execution_options(**still) as connection, connection.begin():
            yield connection
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Database.sqlite(Path(folder) / "copy.db")
        with database.engine.connect() as source, copy.engine.connect() as target:
            source.connection.driver_connection.backup(target.connection.driver_connection)  # type: ignore[union-attr]
        try:
            with copy.reading() as connection:
                yield connection
        finally:
            copy.close()


def _present(connection: Connection) -> list[Table]:
    names = set(inspect(connection).get_table_names())
    return [table for table in tables() if table.name in names]


def _archived(connection: Connection) -> list[Table]:
    """All tables but the identity, which tells this database from every other."""
    return [table for table in _present(connection) if table is not identity]


def _write_rows(connection: Connection, table: Table, archive: zipfile.ZipFile) -> int:
    count = 0
    with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as file:
        for row in connection.execution_options(yield_per=_AT_ONCE).execute(select(table)):
            file.write(json.dumps(dict(row._mapping), ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def held_leases(database: Database) -> list[str]:
    """The names of leases that are held now."""
    alive = leases.c.heartbeat + leases.c.limit_seconds >= database.now()
    with database.reading() as connection:
        return list(
            connection.execute(
                select(leases.c.name).where(leases.c.holder.is_not(None), alive)
            ).scalars()
        )


def counted(database: Database) -> dict[str, int]:
    """The number of rows of each table that has any, except for tables that every lake fills."""
    with database.reading() as connection:
        counts = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in _present(connection)
        }
    return {name: rows for name, rows in counts.items() if rows and name not in _STATE}


def read_archive(database: Database, archive: zipfile.ZipFile, *, version: int) -> None:
    """Replace everything in the database by the rows of the archive, in one transaction.

    The database is of the newest version already. Columns and tables newer than the archive keep
    their default or stay empty, except for zones: those that an older archive has are in use.
    """
    if version > NEWEST:
        raise NewerLake(version, NEWEST)
    with database.writing() as connection:
        if version_of(connection) != NEWEST:
            raise NewerLake(version_of(connection), NEWEST)
        before, issued = _tokens(connection), last_event_number(connection)
        for table in tables():
            if table in (versions, identity):
                continue
            connection.execute(delete(table))
            if f"{table.name}.jsonl" in archive.namelist():
                with archive.open(f"{table.name}.jsonl") as file:
                    _read_rows(connection, table, file)
            if not database.is_sqlite:
                _count_on(connection, table)
        if version < v11_appending_zones.MIGRATION.version:
            connection.exec_driver_sql(v11_appending_zones.ZONES_IN_USE)
        _free(connection, before)
        issued = max(issued, last_event_number(connection))
        set_counter(connection, EVENTS, issued + _LATER)


def _tokens(connection: Connection) -> dict[str, int]:
    return {
        row.name: row.token for row in connection.execute(select(leases.c.name, leases.c.token))
    }


def _free(connection: Connection, before: Mapping[str, int]) -> None:
    """No lease is held, and no earlier holder, from before the restore or the backup, still owns
    one.
    """
    then = _tokens(connection)
    connection.execute(delete(leases))
    tokens = {
        name: max(before.get(name, 0), then.get(name, 0)) + _LATER for name in {*before, *then}
    }
    if tokens:
        rows = [
            {"name": name, "token": token, "limit_seconds": 0.0, "heartbeat": 0.0}
            for name, token in tokens.items()
        ]
        connection.execute(insert(leases), rows)


def _read_rows(connection: Connection, table: Table, file: IO[bytes]) -> None:
    chunk: list[dict[str, Any]] = []
    for line in file:
        chunk.append(_known(table, json.loads(line)))
        if len(chunk) == _AT_ONCE:
            connection.execute(insert(table), chunk)
            chunk = []
    if chunk:
        connection.execute(insert(table), chunk)


def _known(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key in table.c}


def _count_on(connection: Connection, table: Table) -> None:
    """PostgreSQL counts in a sequence, which inserting explicit numbers does not advance."""
    column = table.autoincrement_column
    if column is None:
        return
    asked = {"table": table.name, "column": column.name}
    if name := connection.execute(
        text("select pg_get_serial_sequence(:table, :column)"), asked
    ).scalar():
        highest = connection.execute(select(func.max(column))).scalar()
        reached = {"name": name, "value": highest or 1, "used": highest is not None}
        connection.execute(text("select setval(:name, :value, :used)"), reached)


class LakeDatabaseArchive:
    """The port `DatabaseArchive` over either kind of database."""

    schema_version = NEWEST

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def where(self) -> str:
        return self._database.where

    @property
    def server_version(self) -> str:
        return self._database.server_version()

    def write(self, archive: zipfile.ZipFile) -> dict[str, int]:
        return write_archive(self._database, archive)

    def read(self, archive: zipfile.ZipFile, *, version: int) -> None:
        read_archive(self._database, archive, version=version)

    def held_leases(self) -> list[str]:
        return held_leases(self._database)

    def row_counts(self) -> dict[str, int]:
        return counted(self._database)
