"""What the columns of zones are taken for, as rows."""

from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from lakebed.engines.database.schema import zone_types
from lakebed.errors import FilesChanged
from lakebed.names import ZoneName
from lakebed.ports import ColumnTypeChange, ZoneTypes
from lakebed.types import join_types, parse_type


def types_of(connection: Connection, zone: ZoneName) -> dict[str, dict[str, str]]:
    """Column and type, by the pattern of the files."""
    query = select(zone_types).where(zone_types.c.zone == str(zone)).order_by(zone_types.c.pattern, zone_types.c.place)
    found: dict[str, dict[str, str]] = {}
    for row in connection.execute(query):
        found.setdefault(row.pattern, {})[row.column_name] = row.type
    return found


def put_types(connection: Connection, learned: ZoneTypes, *, run_id: str) -> None:
    """Write what a run learned; refused where another run has taken a column for something else since it looked."""
    for place, column in enumerate(learned.columns):
        found = _put(connection, learned, column, run_id=run_id, place=place)
        if found != column.type and not (column.before and _is_wider(found, column.type)):
            raise FilesChanged(
                f"another run has taken the column {column.column} for {found} meanwhile, this one for {column.type}.",
                where=str(learned.zone),
                safe="Nothing was published.",
                next="Run it again: the files will be read as the zone is by then.",
            )


def _is_wider(found: str, wanted: str) -> bool:
    """Whether another run has widened the column further still."""
    return bool(found) and join_types(parse_type(found), parse_type(wanted)) == parse_type(found)


def _put(connection: Connection, learned: ZoneTypes, column: ColumnTypeChange, *, run_id: str, place: int) -> str:
    """Written if it is as it was; what the column is taken for after that."""
    key = {"zone": str(learned.zone), "pattern": learned.pattern, "folded": column.column.casefold()}
    same = [zone_types.c[name] == value for name, value in key.items()]
    values: dict[str, Any] = {"column_name": column.column, "type": column.type, "run_id": run_id}
    if column.before:
        connection.execute(update(zone_types).where(*same, zone_types.c.type == column.before).values(values))
    else:
        insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        connection.execute(insert(zone_types).values(**key, **values, place=place).on_conflict_do_nothing())
    return connection.execute(select(zone_types.c.type).where(*same)).scalar() or ""
