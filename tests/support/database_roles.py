"""Roles of a PostgreSQL server: the owner of a lake's database, its members, and who only reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

from psycopg import sql

from tests.servers.postgres import Database
from tests.support.production_site import PAGE

_PASSWORD = "hunter2"


@contextmanager
def role(database: Database, *, member_of: Database | None = None) -> Iterator[Database]:
    """The same database, seen by a new role that is removed with all that it owns."""
    name = f"role_{uuid4().hex[:12]}"
    identifier = sql.Identifier(name)
    with database.connect() as admin:
        admin.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(identifier, sql.Literal(_PASSWORD))
        )
        if member_of:
            admin.execute(
                sql.SQL("GRANT {} TO {}").format(sql.Identifier(member_of.user), identifier)
            )
    try:
        yield replace(database, user=name, password=_PASSWORD)
    finally:
        with database.connect() as admin:
            own = (identifier, sql.Identifier(database.user))
            admin.execute(sql.SQL("REASSIGN OWNED BY {} TO {}").format(*own))
            admin.execute(sql.SQL("DROP OWNED BY {}").format(identifier))
            admin.execute(sql.SQL("DROP ROLE {}").format(identifier))


@contextmanager
def owner_of(database: Database) -> Iterator[Database]:
    """The database as its owner, who is no superuser, sees it."""
    with role(database) as owner:
        with database.connect() as admin:
            admin.execute(
                sql.SQL("ALTER DATABASE {} OWNER TO {}").format(
                    sql.Identifier(database.database), sql.Identifier(owner.user)
                )
            )
        yield owner


@contextmanager
def reader_of(owner: Database, admin: Database) -> Iterator[Database]:
    """The database as the read-only role of docs/production.md sees it."""
    statements = PAGE.partition("## A read-only role")[2].partition("```sql\n")[2]
    with role(admin) as reader, owner.connect() as connection:
        for statement in statements.partition("```")[0].split(";"):
            if statement.strip():
                text = statement.replace("lake_reader", reader.user)
                connection.execute(sql.SQL(text))
        yield reader
