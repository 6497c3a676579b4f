"""Whose the tables of a PostgreSQL database are, and what the present role may do with them."""

from collections.abc import Mapping

from sqlalchemy import Connection, text

from lakebed.engines.database.schema import leases, tables, versions

_OWNERS = text(
    "select relname, pg_get_userbyid(relowner) as owner from pg_class"
    " where relname = any(:names) and relkind = 'r' and pg_table_is_visible(oid) order by relname"
)
_IS_MEMBER = text("select pg_has_role(cast(:role as name), 'member')")
_BECOME = text("select set_config('role', :role, true)")
_MAY_WRITE = text("select has_table_privilege(cast(:table as text), 'INSERT')")


def owners(connection: Connection) -> Mapping[str, str]:
    """The owner of each of the lake's tables; empty before the first."""
    rows = connection.execute(_OWNERS, {"names": [table.name for table in tables()]})
    return {row.relname: row.owner for row in rows}


def owner_of(connection: Connection) -> str | None:
    """The role that owns the lake's tables; None before the first."""
    return owners(connection).get(versions.name)


def may_act_as(connection: Connection, role: str) -> bool:
    """Whether the present role is a member of that one."""
    return bool(connection.execute(_IS_MEMBER, {"role": role}).scalar())


def act_as(connection: Connection, role: str) -> None:
    """Be that role until the transaction ends."""
    connection.execute(_BECOME, {"role": role})


def may_write(connection: Connection) -> bool:
    """Whether the present role may change the lake."""
    return bool(connection.execute(_MAY_WRITE, {"table": leases.name}).scalar())
