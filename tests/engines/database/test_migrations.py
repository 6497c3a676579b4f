"""A lake's database: versions, several processes at once, and what is said when it cannot be reached."""

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import inspect

from lakebed.engines.database import Database
from lakebed.engines.database.schema import MIGRATIONS, NEWEST, pending, version_of
from lakebed.errors import CatalogUnreachable, NewerLake
from tests.servers.postgres import Database as PostgresDatabase


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
def test_several_processes_may_prepare_one_postgres_database_at_once(database: PostgresDatabase) -> None:
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
