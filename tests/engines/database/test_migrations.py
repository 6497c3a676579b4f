"""A lake's database: versions, several processes at once, and what is said when it cannot be
reached.
"""

import multiprocessing
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import inspect

from lakebed.engines.database import Database, DatabaseEvents, DatabaseLeases
from lakebed.engines.database.schema import MIGRATIONS, NEWEST, pending, version_of
from lakebed.engines.database.state.records import DatabaseRecords
from lakebed.errors import CatalogRefused, CatalogUnreachable, NewerLake, UpgradeNeeded
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, Event, RegisteredFollower
from tests.servers.postgres import Database as PostgresDatabase
from tests.support.database_roles import owner_of, reader_of, role


def test_versions_follow_each_other_without_a_gap() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, NEWEST + 1))


def test_what_is_pending_is_what_comes_after() -> None:
    assert pending(0) == MIGRATIONS
    assert pending(NEWEST) == ()
    with pytest.raises(NewerLake, match="Upgrade"):
        pending(NEWEST + 1)


def test_preparing_twice_changes_nothing(tmp_path: Path) -> None:
    database = Database.sqlite(tmp_path / "lake.db")
    database.prepare()
    database.prepare()
    with database.reading() as connection:
        assert version_of(connection) == NEWEST
        assert "iceberg_tables" in inspect(connection).get_table_names()
    database.close()


def test_a_database_of_a_newer_lakebed_is_refused(tmp_path: Path) -> None:
    database = Database.sqlite(tmp_path / "lake.db")
    database.prepare()
    with sqlite3.connect(tmp_path / "lake.db") as plain:
        plain.execute("update lakebed_schema set version = 99")
    plain.close()
    with pytest.raises(NewerLake, match="99"):
        database.prepare()
    database.close()


_LEDGER_3 = """create table lakebed_ledger (table_name varchar(600) not null, path varchar(1024) not null,
    etag varchar(255) not null, run_id varchar(255) not null, zone varchar(600) not null, size bigint not null,
    publication varchar(255) not null, state varchar(16) not null, primary key (table_name, path, etag, run_id))"""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        database = Database.sqlite(tmp_path / "lake.db")
    else:
        server: PostgresDatabase = request.getfixturevalue("database")
        database = Database.postgres(server.url, user=server.user, password=server.password)
    database.prepare()
    yield database
    database.close()


def _downgrade(database: Database, *statements: str) -> None:
    with database.writing() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_files_that_an_older_lakebed_took_are_still_taken(either: Database) -> None:
    _downgrade(
        either,
        "drop table lakebed_ledger",
        _LEDGER_3,
        (
            "insert into lakebed_ledger values ('shop.silver.orders', 'a.csv', '3-1f-2a', 'r1',"
            " 'shop.orders', 3, 'r1', 'taken')"
        ),
        "insert into lakebed_publications values ('r1', 'published', '[]', '[]', 1.0)",
        *_BEFORE_6,
        "update lakebed_schema set version = 3",
    )
    either.prepare()
    table, zone = TableName("shop", "silver", "orders"), ZoneName("shop", "orders")
    records = DatabaseRecords(either)
    (row,) = records.consumed(zone)
    assert row == ConsumedFile(table, zone, "a.csv", "3-1f-2a", 3, "r1")
    assert records.appends_replaced(zone)  # as it was until then
    assert not records.appends_replaced(ZoneName("shop", "later"))


_BEFORE_6 = ("drop table lakebed_counters", "alter table lakebed_followers drop column at")


@pytest.mark.parametrize(("event", "follower"), [(7, 5), (7, 50)])
def test_events_of_an_older_lake_are_counted_on_and_no_follower_misses_one(
    either: Database, event: int, follower: int
) -> None:
    _downgrade(
        either,
        *_BEFORE_6,
        (
            "insert into lakebed_events (number, at, kind, table_name, detail)"
            f" values ({event}, 1.0, 'tagged', 'shop.silver.orders', '{{}}')"
        ),
        f"insert into lakebed_followers (name, number) values ('mirror', {follower})",
        "update lakebed_schema set version = 5",
    )
    either.prepare()
    events = DatabaseEvents(either)
    assert events.followers() == (RegisteredFollower("mirror", follower, None),)
    events.append(Event("untagged", TableName("shop", "silver", "orders")))
    new = events.since(events.follow("mirror"))
    assert new[-1].event.kind == "untagged"
    assert events.follow("late") == new[-1].number == max(event, follower) + 1


def _prepare_sqlite(file: str) -> None:
    database = Database.sqlite(Path(file))
    database.prepare()
    database.close()


def _prepare_postgres(url: str, user: str, password: str) -> None:
    database = Database.postgres(url, user=user, password=password)
    database.prepare()
    database.close()


def _at_once(target: object, *arguments: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=target, args=arguments) for _ in range(4)]  # type: ignore[arg-type]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4


def test_several_processes_may_prepare_one_sqlite_file_at_once(tmp_path: Path) -> None:
    _at_once(_prepare_sqlite, str(tmp_path / "lake.db"))


@pytest.mark.postgres
def test_several_processes_may_prepare_one_postgres_database_at_once(
    database: PostgresDatabase,
) -> None:
    _at_once(_prepare_postgres, database.url, database.user, database.password)


def test_a_missing_folder_is_an_unreachable_catalog(tmp_path: Path) -> None:
    with pytest.raises(CatalogUnreachable, match=r"nowhere/lake\.db"):
        Database.sqlite(tmp_path / "nowhere" / "lake.db").prepare()


def test_an_unreachable_server_is_told_without_its_password() -> None:
    database = Database.postgres("postgresql://127.0.0.1:1/lake", user="me", password="hunter2")
    with pytest.raises(CatalogUnreachable, match=r"127\.0\.0\.1:1/lake") as refused:
        database.prepare()
    assert "hunter2" not in str(refused.value)
    assert refused.value.retryable


def _grant(admin: "psycopg.Connection[tuple[object, ...]]", refused: CatalogRefused) -> None:
    for grant in re.findall(r"GRANT [^;]*;", refused.next):
        admin.execute(grant.encode())


@pytest.mark.postgres
def test_a_role_without_rights_is_told_which_and_how_to_grant_them(
    database: PostgresDatabase,
) -> None:
    name = f"role_{database.database}"
    ours = _seen_by(database)
    theirs = Database.postgres(database.url, user=name, password="hunter2")
    with database.connect() as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'hunter2'".encode())
        try:
            with pytest.raises(
                CatalogRefused,
                match=f"the role {name} may not CREATE: permission denied for schema",
            ) as refused:
                theirs.prepare()
            ours.prepare()
            with pytest.raises(
                CatalogRefused, match="may not SELECT: permission denied"
            ) as refused:
                theirs.prepare()
            _grant(admin, refused.value)
            theirs.prepare()
            with pytest.raises(CatalogRefused, match="may not") as refused:
                DatabaseLeases(theirs).acquire("orders", holder="me", limit=60)
            assert "ON ALL TABLES" not in refused.value.next
            _grant(admin, refused.value)
            lease = DatabaseLeases(theirs).acquire("orders", holder="me", limit=60)
            DatabaseLeases(theirs).release(lease)
            with theirs.writing() as connection:  # numbered rows need more than the right to insert
                connection.exec_driver_sql(
                    "SELECT nextval(pg_get_serial_sequence('lakebed_care', 'number'))"
                )
        finally:
            theirs.close()
            ours.close()
            admin.execute(f"DROP OWNED BY {name}".encode())
            admin.execute(f"DROP ROLE {name}".encode())
    assert "hunter2" not in str(refused.value)
    assert not refused.value.retryable


def _seen_by(role: PostgresDatabase) -> Database:
    return Database.postgres(role.url, user=role.user, password=role.password)


def _make_old(database: Database) -> None:
    """As a Lakebed left it whose newest version was 10."""
    with database.writing() as connection:
        connection.exec_driver_sql("drop table lakebed_appending_zones")
        connection.exec_driver_sql("update lakebed_schema set version = 10")


@pytest.mark.postgres
def test_what_a_member_of_the_owner_upgrades_belongs_to_the_owner(
    database: PostgresDatabase,
) -> None:
    with owner_of(database) as owner, role(database, member_of=owner) as member:
        ours, theirs = _seen_by(owner), _seen_by(member)
        ours.prepare()
        _make_old(ours)
        theirs.prepare()
        assert set(theirs.owners().values()) == {owner.user}
        with theirs.reading() as connection:
            assert version_of(connection) == NEWEST
            now = connection.exec_driver_sql("select current_user").scalar()
        assert now == member.user  # the owner for the upgrade alone
        ours.close()
        theirs.close()


@pytest.mark.postgres
def test_who_may_only_read_is_told_who_can_upgrade_the_database(database: PostgresDatabase) -> None:
    with owner_of(database) as owner:
        ours = _seen_by(owner)
        ours.prepare()
        with reader_of(owner, database) as reader:
            _make_old(ours)
            theirs = _seen_by(reader)
            with pytest.raises(
                UpgradeNeeded, match=f"schema version 10.*As {owner.user}, .*upgrade"
            ):
                theirs.prepare()
            ours.prepare()
            theirs.prepare()
            theirs.close()
        ours.close()
