"""The types of zones' columns, as rows."""

from typing import Any

from sqlalchemy import Connection, select, update

from lakebed.engines.database.schema import zone_types
from lakebed.names import ZoneName
from lakebed.ports import ColumnTypeChange, ZoneTypes


def types_of(connection: Connection, zone: ZoneName) -> dict[str, dict[str, str]]:
    """Column and type, by the pattern of the files."""
    query = (
        select(zone_types)
        .where(zone_types.c.zone == str(zone))
        .order_by(zone_types.c.pattern, zone_types.c.place)
    )
    found: dict[str, dict[str, str]] = {}
    for row in connection.execute(query):
        found.setdefault(row.pattern, {})[row.column_name] = row.type
    return found


def put_types(connection: Connection, learned: ZoneTypes, *, run_id: str) -> None:
    """Store the types that a run learned; `TypesChanged` if another run has changed one since this
    run began.
    """
    # here: every command imports this module, and hardly any needs the rules of landing
    from lakebed.landing.checking.type_conflicts import require_type

    for place, column in enumerate(learned.columns):
        stored = _put(connection, learned, column, run_id=run_id, place=place)
        require_type(learned.zone, column, stored=stored)


def _put(
    connection: Connection, learned: ZoneTypes, column: ColumnTypeChange, *, run_id: str, place: int
) -> str:
    """Store the type unless another run changed it; returns the type that is stored then."""
    key = {
        "zone": str(learned.zone),
        "pattern": learned.pattern,
        "folded": column.column.casefold(),
    }
    same = [zone_types.c[name] == value for name, value in key.items()]
    values: dict[str, Any] = {"column_name": column.column, "type": column.type, "run_id": run_id}
    if column.before:
        connection.execute(
            update(zone_types).where(*same, zone_types.c.type == column.before).values(values)
        )
    else:
        insert = _insert(connection)
        connection.execute(
            insert(zone_types).values(**key, **values, place=place).on_conflict_do_nothing()
        )
    return connection.execute(select(zone_types.c.type).where(*same)).scalar() or ""


def _insert(connection: Connection) -> Any:
    """The INSERT of this database's dialect; the other dialect takes time to import."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert
    from sqlalchemy.dialects import sqlite

    return sqlite.insert
