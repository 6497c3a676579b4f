"""What follows a table when it is renamed, dropped or restored: the ledger, pins, protections."""

from sqlalchemy import Connection, Table, and_, delete, select, update

from lakebed.engines.database.schema import holds, pins
from lakebed.engines.database.state.ledger import rename_in_ledger
from lakebed.names import TableName


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
