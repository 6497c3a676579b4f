"""Opening a lake's database: one SQLite file, or one PostgreSQL database."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from time import time
from typing import Any

import sqlalchemy
from sqlalchemy import Connection, Engine, event, text
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError
from sqlalchemy.sql.expression import ColumnElement

from lakebed.engines.catalog_answers import as_catalog_error, as_sqlite_error
from lakebed.engines.database.pooler import suit_to_pooler
from lakebed.engines.database.roles import act_as, may_act_as, may_write, owner_of, owners
from lakebed.engines.database.schema import NEWEST, migrate, version_of
from lakebed.engines.limits import libpq_limits, silence_limit
from lakebed.errors import (
    CatalogFull,
    CatalogRefused,
    DamagedDatabase,
    LakebedError,
    MissingExtra,
    UpgradeNeeded,
)
from lakebed.settings import masked

BUSY_SECONDS = 30
_MIGRATION_LOCK = 0x6C616B65626564  # PostgreSQL's advisory lock while migrating: any fixed number
_WRITES = {"lakebed_writes": True}
_DISK_FULL = "53100"  # PostgreSQL's disk_full
_MEANS_OURS = {
    "25006",  # PostgreSQL's read_only_sql_transaction
    "26000",  # invalid_sql_statement_name: another connection prepared it
    "42P05",  # duplicate_prepared_statement
}
_NO_RIGHT = "42501"  # PostgreSQL's insufficient_privilege
_DAMAGED = ("malformed", "not a database")  # as SQLite puts it


class Database:
    """Catalog and state. `reading` sees one consistent state; `writing` is one transaction."""

    def __init__(
        self,
        url: sqlalchemy.URL,
        *,
        where: str,
        timeout: float = BUSY_SECONDS,
        pooler: bool = False,
    ) -> None:
        self.where = where
        self._url, self._timeout, self._pooler = url, timeout, pooler
        self._turn = Lock()
        # raises unless this process may write; set by whoever opens the lake
        self.before_writing: Callable[[], None] = lambda: None

    @classmethod
    def sqlite(cls, file: Path) -> "Database":
        """The SQLite file of an embedded lake."""
        return cls(sqlalchemy.URL.create("sqlite", database=str(file)), where=str(file))

    @classmethod
    def postgres(
        cls,
        url: str,
        *,
        user: str,
        password: str | None,
        timeout: float = BUSY_SECONDS,
        pooler: bool = False,
    ) -> "Database":
        """A PostgreSQL database such as `postgresql://host:port/name`, or a `pooler` before it.

        A statement may take `timeout` seconds.
        """
        address = sqlalchemy.make_url(url).set(
            drivername="postgresql+psycopg", username=user, password=password
        )
        return cls(address, where=masked(url), timeout=timeout, pooler=pooler)

    @property
    def is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    @cached_property
    def engine(self) -> Engine:
        """SQLAlchemy's engine, created at first use."""
        try:
            engine = sqlalchemy.create_engine(
                self._url, connect_args=self._connect_args(), pool_pre_ping=not self.is_sqlite
            )
        except ModuleNotFoundError:
            raise MissingExtra("postgres", "A PostgreSQL catalog") from None
        if self.is_sqlite:
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        if self._pooler:
            suit_to_pooler(engine, timeout=self._timeout)
        event.listen(engine, "do_connect", self._connect_postgres)
        return engine

    def _connect_args(self) -> dict[str, Any]:
        if self.is_sqlite:
            return {"timeout": BUSY_SECONDS, "check_same_thread": False}
        return {"application_name": "lakebed", **libpq_limits(self._timeout, pooler=self._pooler)}

    def _connect_postgres(
        self, _dialect: Any, _record: Any, _given: Any, parameters: dict[str, Any]
    ) -> Any:
        from lakebed.engines.database.postgres import connected

        return connected(parameters, silence=silence_limit(self._timeout))

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self._answering(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, *, guarded: bool = True) -> Iterator[Connection]:
        """A transaction that writes; it commits at the end of the block, or changes nothing.

        One that is not `guarded` concerns this database alone, not the lake's files: it is made
        by a database that does not own the lake, too.
        """
        if guarded:
            self.before_writing()
        with (
            self._one_at_a_time(),
            self._answering(),
            self.engine.connect().execution_options(**_WRITES) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        """Writers of this process take turns on SQLite. Left to itself, it lets each of them sleep
        for up to 0.1 s before it looks again, however short the transaction before it was.
        """
        taken = self.is_sqlite and self._turn.acquire(timeout=BUSY_SECONDS)
        try:
            yield  # whose turn did not come is told by SQLite that the database is locked
        finally:
            if taken:
                self._turn.release()

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except OperationalError as error:
            raise self._as_ours(error) from error
        except DatabaseError as error:
            if self.is_sqlite and any(sign in _short(error) for sign in _DAMAGED):
                raise DamagedDatabase(self.where, _short(error)) from error
            if getattr(error.orig, "sqlstate", None) == _NO_RIGHT:
                raise self._refused(error) from error
            if getattr(error.orig, "sqlstate", None) in _MEANS_OURS:
                raise self._as_ours(error) from error
            raise

    def _refused(self, error: DBAPIError) -> CatalogRefused:
        statement, owner = error.statement or "do this", None
        right = "UPDATE" if "FOR UPDATE" in statement else statement.split()[0]
        with suppress(DBAPIError), self.engine.connect() as connection:
            owner = owner_of(connection)
        return CatalogRefused(
            self.where, _short(error), role=self._role, right=right, owner=owner or ""
        )

    @property
    def _role(self) -> str:
        return self._url.username or ""

    def _as_ours(self, error: DBAPIError) -> LakebedError:
        """What a database means that cannot do what it should."""
        if self.is_sqlite:
            return as_sqlite_error(Path(self.where), _short(error))
        if getattr(error.orig, "sqlstate", None) == _DISK_FULL:
            return CatalogFull(self.where, _short(error))
        return as_catalog_error(self.where, _short(error))

    def now(self) -> ColumnElement[float]:
        """The database's own clock as an expression, in seconds since 1970."""
        if self.is_sqlite:
            return sqlalchemy.literal_column(
                "(julianday('now') - 2440587.5) * 86400.0", sqlalchemy.Float(53)
            )
        return sqlalchemy.literal_column(
            "extract(epoch from clock_timestamp())::float8", sqlalchemy.Float(53)
        )

    def time(self) -> float:
        """The store's clock, in seconds since 1970; an SQLite file has that of this machine."""
        if self.is_sqlite:
            return time()
        with self.reading() as connection:
            return float(connection.execute(sqlalchemy.select(self.now())).scalar_one())

    def version(self) -> int:
        """The version of the database; 0 if Lakebed has not used it yet. Creates no file."""
        if self.is_sqlite and not Path(self._url.database or "").exists():
            return 0
        with self.reading() as connection:
            return version_of(connection)

    def prepare(self, *, before_first: Callable[[], None] = lambda: None) -> None:
        """Migrate the database to the newest version; several processes may try at once.

        `before_first` is called before the first tables are made, and may refuse them. Later ones
        belong to the owner of the first, whoever makes them.
        """
        version = self.version()
        if version == NEWEST:
            return
        if version == 0:
            before_first()
        with self.writing(guarded=False) as connection, self._unhurried(connection):
            self._act_as_owner(connection)
            migrate(connection)

    def _act_as_owner(self, connection: Connection) -> None:
        """What the rest of the transaction makes belongs to whoever owns the tables."""
        owner = None if self.is_sqlite else owner_of(connection)
        if owner is None or owner == self._role:
            return
        if not may_act_as(connection, owner):
            version = version_of(connection)
            raise UpgradeNeeded(self.where, version, NEWEST, role=self._role, owner=owner)
        act_as(connection, owner)

    @contextmanager
    def _unhurried(self, connection: Connection) -> Iterator[None]:
        """One process at a time migrates, without a timeout; all other statements are short."""
        if self.is_sqlite:
            yield
            return
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        connection.execute(text("set local statement_timeout = 0"))
        driver: Any = connection.connection.dbapi_connection
        usual, driver.silence = driver.silence, None
        try:
            yield
        finally:
            driver.silence = usual

    def server_version(self) -> str:
        """The name and version of the database."""
        with self.reading() as connection:
            if self.is_sqlite:
                return f"SQLite {connection.execute(text('select sqlite_version()')).scalar()}"
            return f"PostgreSQL {connection.execute(text('show server_version')).scalar()}"

    def owners(self) -> Mapping[str, str]:
        """The role that owns each of the lake's tables; a file has no roles."""
        if self.is_sqlite:
            return {}
        with self.reading() as connection:
            return owners(connection)

    def may_write(self) -> bool:
        """Whether this role may change the lake, as far as the database is asked."""
        if self.is_sqlite:
            return True
        with self.reading() as connection:
            return may_write(connection)

    def close(self) -> None:
        """Close all connections."""
        if "engine" in self.__dict__:
            self.engine.dispose()


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # BEGIN is sent by _begin_sqlite
    connection.execute(f"pragma busy_timeout={BUSY_SECONDS * 1000}")
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=full")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("lakebed_writes")
    # A transaction that starts reading cannot wait for a writer: it would fail at its first write.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _short(error: DBAPIError) -> str:
    return masked(str(error.orig).strip().splitlines()[0]) if error.orig else "no answer"
