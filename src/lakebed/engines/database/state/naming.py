"""Tables under new names, as rows: what follows a table when it is renamed, dropped or restored
(the ledger, pins, protections), and the tables that can be restored.
"""

from datetime import UTC, datetime

from sqlalchemy import Connection, Table, and_, delete, insert, select, update

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import dropped, holds, pins
from lakebed.engines.database.state.ledger import rename_in_ledger
from lakebed.errors import PointerMoved
from lakebed.names import TableName
from lakebed.ports import DroppedTable


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


def put_dropped(
    connection: Connection, database: Database, table: TableName, *, uuid: str, location: str
) -> DroppedTable:
    """Record a table that is being dropped."""
    values = {"uuid": uuid, "table_name": str(table), "metadata_location": location}
    at = connection.execute(
        insert(dropped).values(**values, at=database.now()).returning(dropped.c.at)
    ).scalar_one()
    return DroppedTable(uuid, table, location, datetime.fromtimestamp(at, UTC))


def take_dropped(connection: Connection, gone: DroppedTable) -> None:
    """Delete the row of a table that is restored or purged; `PointerMoved` if it is gone
    already.
    """
    if not delete_dropped_row(connection, gone.uuid):
        raise PointerMoved(str(gone.table))


def delete_dropped_row(connection: Connection, uuid: str) -> bool:
    """Delete a row; returns whether there was one."""
    return connection.execute(delete(dropped).where(dropped.c.uuid == uuid)).rowcount == 1


def list_dropped(database: Database) -> tuple[DroppedTable, ...]:
    """Every dropped table, last dropped first."""
    with database.reading() as connection:
        rows = connection.execute(select(dropped).order_by(dropped.c.at.desc())).all()
    return tuple(
        DroppedTable(
            row.uuid,
            TableName.parse(row.table_name),
            row.metadata_location,
            datetime.fromtimestamp(row.at, UTC),
        )
        for row in rows
    )
