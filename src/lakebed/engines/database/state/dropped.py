"""Dropped tables, as rows."""

from datetime import UTC, datetime

from sqlalchemy import Connection, delete, insert, select

from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import dropped
from lakebed.errors import PointerMoved
from lakebed.names import TableName
from lakebed.ports import DroppedTable


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
