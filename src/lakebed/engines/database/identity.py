"""The identity of the lake that a database belongs to, as a row."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property

from sqlalchemy import Connection, delete, insert, select, text
from sqlalchemy.exc import IntegrityError

from lakebed.engines.database.backup import counted
from lakebed.engines.database.connect import Database
from lakebed.engines.database.schema import identity as rows
from lakebed.engines.database.schema.migrations.v10_lake_identity import MIGRATION
from lakebed.ports import LakeIdentity

_ONLY_ROW = 1
_IN_ROOT = "sqlite"  # the file lies in the root: the root's address tells copies apart
_SYSTEM = "pg_catalog.pg_control_system()"
_MAY_ASK = text(f"select has_function_privilege(to_regprocedure('{_SYSTEM}'), 'execute')")
_ASK = text(f"select system_identifier from {_SYSTEM}")
_DATABASE = text("select oid from pg_database where datname = current_database()")


class DatabaseIdentity:
    """The port `IdentityRow` over either kind of database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_row = False  # whether the database is known to have the table of this row

    @property
    def where(self) -> str:
        return self._database.where

    @property
    def is_in_root(self) -> bool:
        return self._database.is_sqlite

    def is_blank(self) -> bool:
        return self._database.version() == 0 or not counted(self._database)

    def prepare(self, *, before_first: Callable[[], None]) -> None:
        self._database.prepare(before_first=before_first)
        self._has_row = True

    def fingerprint(self) -> str:
        """Asked for each time: behind one address there may be another database than before."""
        if self._database.is_sqlite:
            return _IN_ROOT
        with self._database.reading() as connection:
            system = connection.execute(_ASK).scalar_one() if self._may_ask else "unknown"
            return f"{system}/{connection.execute(_DATABASE).scalar_one()}"

    @cached_property
    def _may_ask(self) -> bool:
        """Everybody may by default; a service that forbids it forbids it to all its roles."""
        with self._database.reading() as connection:
            return bool(connection.execute(_MAY_ASK).scalar())

    def read(self) -> LakeIdentity | None:
        self._has_row = self._has_row or self._database.version() >= MIGRATION.version
        if not self._has_row:
            return None
        with self._database.reading() as connection:
            return _stored(connection)

    def store(self, identity: LakeIdentity, *, instead_of: LakeIdentity | None) -> bool:
        try:
            with self._database.writing(guarded=False) as connection:
                if _stored(connection, locked=True) != instead_of:
                    return False
                connection.execute(delete(rows))
                connection.execute(insert(rows).values(number=_ONLY_ROW, **asdict(identity)))
        except IntegrityError:  # another process stored the first one meanwhile
            return False
        return True


def _stored(connection: Connection, *, locked: bool = False) -> LakeIdentity | None:
    columns = (rows.c.id, rows.c.address, rows.c.generation, rows.c.fingerprint)
    query = select(*columns).where(rows.c.number == _ONLY_ROW)
    row = connection.execute(query.with_for_update() if locked else query).first()
    return LakeIdentity(**row._mapping) if row else None
