"""What follows a table when it is renamed, dropped or restored: the ledger, pins, protections.

A catalog outside the database renames the table itself. There a rename is recorded before the
catalog is asked, so that the next process can finish one that a crash divided from its table.
Drops and restores are renames too.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Row, Table, and_, delete, insert, select, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import holds, pins, publications
from lakebed.engines.database.state.commit_records import put_change_records
from lakebed.engines.database.state.dropped import delete_dropped_row
from lakebed.engines.database.state.leases import (
    DatabaseLeases,
    leases_as_text,
    leases_from_text,
)
from lakebed.engines.database.state.ledger import rename_in_ledger
from lakebed.names import TableName
from lakebed.ports import NO_CHANGE_RECORDS, ChangeRecords, Event, FileStateChange, Lease

RENAMING = "renaming"


def rename_in_state(connection: Connection, table: TableName, to: TableName) -> None:
    """All that Lakebed stores of a table belongs to its new name, in the caller's transaction.

    A dropped table keeps it under its hidden name, out of reach of a new table with the old name.
    """
    rename_in_ledger(connection, table, to)
    _rename(connection, pins, "run_id", table, to)
    _rename(connection, holds, "holder", table, to)


def _rename(
    connection: Connection, rows: Table, owner: str, table: TableName, to: TableName
) -> None:
    """A former table of the new name may have left the same row, if another tool dropped it."""
    other = rows.alias()
    same = and_(
        other.c.table_name == str(table),
        other.c[owner] == rows.c[owner],
        other.c.snapshot == rows.c.snapshot,
    )
    left = (rows.c.table_name == str(to), select(other.c.snapshot).where(same).exists())
    connection.execute(delete(rows).where(*left))
    connection.execute(
        update(rows).where(rows.c.table_name == str(table)).values(table_name=str(to))
    )


@dataclass(frozen=True)
class IntendedRename:
    """A rename that is about to be made, and what is recorded with it."""

    id: str
    table: TableName
    to: TableName
    uuid: str  # the table's: under which name it is found tells whether the rename happened
    drops: bool = False  # `to` is the hidden name of a dropped table
    records: ChangeRecords = NO_CHANGE_RECORDS


def put_rename(
    connection: Connection, database: Database, rename: IntendedRename, leases: Sequence[Lease]
) -> None:
    """Record a rename before it is made, by the holders of these leases."""
    values = {"run_id": rename.id, "state": RENAMING, "moves": _as_text(rename)}
    held = leases_as_text(leases)
    connection.execute(insert(publications).values(**values, leases=held, at=database.now()))


def finish_rename(connection: Connection, database: Database, rename: IntendedRename) -> None:
    """The table has its new name, and what is recorded of it follows.

    Can be repeated; its records are stored once.
    """
    rename_in_state(connection, rename.table, rename.to)
    if not rename.drops:
        delete_dropped_row(connection, rename.uuid)
    if _delete(connection, rename):
        put_change_records(connection, database, rename.records)


def forget_rename(connection: Connection, rename: IntendedRename) -> None:
    """The rename did not happen."""
    if rename.drops:
        delete_dropped_row(connection, rename.uuid)
    _delete(connection, rename)


def abandoned_renames(database: Database) -> tuple[IntendedRename, ...]:
    """Renames begun and not finished, oldest first, by processes that have lost a lease."""
    query = select(publications).where(publications.c.state == RENAMING).order_by(publications.c.at)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    store = DatabaseLeases(database)
    return tuple(_from_row(row) for row in rows if not store.are_held(leases_from_text(row.leases)))


def _delete(connection: Connection, rename: IntendedRename) -> bool:
    own = (publications.c.run_id == rename.id, publications.c.state == RENAMING)
    return connection.execute(delete(publications).where(*own)).rowcount == 1


def _as_text(rename: IntendedRename) -> str:
    names = {"table": str(rename.table), "to": str(rename.to)}
    told = {
        "events": [_named(event) for event in rename.records.events],
        "file_states": [_named(change) for change in rename.records.file_states],
    }
    return json.dumps({**names, "uuid": rename.uuid, "drops": rename.drops, **told})


def _named(record: Event | FileStateChange) -> dict[str, Any]:
    return asdict(record) | {"table": str(record.table)}


def _from_row(row: Row[Any]) -> IntendedRename:
    stored = json.loads(row.moves)
    table, to = TableName.parse(stored["table"]), TableName.parse(stored["to"])
    events = tuple(
        Event(**event | {"table": TableName.parse(event["table"])}) for event in stored["events"]
    )
    records = ChangeRecords(tuple(map(_file_state, stored["file_states"])), events)
    return IntendedRename(row.run_id, table, to, stored["uuid"], stored["drops"], records)


def _file_state(stored: dict[str, Any]) -> FileStateChange:
    files = tuple((path, run_id) for path, run_id in stored["files"])
    return FileStateChange(TableName.parse(stored["table"]), files, stored["state"])
