"""A disk that is full, and a server that takes no more connections: told as what they are."""

from pathlib import Path

import pytest
from sqlalchemy import text

from lakebed.engines.database import Database
from lakebed.errors import CatalogFull, CatalogUnreachable
from tests.servers.postgres import Database as Server


def test_a_full_disk_is_called_that_and_not_a_catalog_that_does_not_answer(tmp_path: Path) -> None:
    database = Database.sqlite(tmp_path / "lake.db")
    with database.writing() as connection:
        connection.execute(text("create table t (x text)"))
        connection.execute(text("pragma max_page_count = 4"))  # as SQLite sees a disk without room
    with pytest.raises(CatalogFull, match="is full") as raised, database.writing() as connection:
        connection.execute(
            text("insert into t values (:x)"), [{"x": "x" * 4000} for _ in range(20)]
        )
    assert "Free space" in raised.value.next
    database.close()


@pytest.mark.postgres
def test_a_full_disk_of_postgresql_is_called_that_too(database: Server) -> None:
    ours = Database.postgres(database.url, user=database.user, password=database.password)
    raising = (
        "DO $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE ="
        " '53100'; END $$"
    )
    with pytest.raises(CatalogFull, match="No space left"), ours.writing() as connection:
        connection.execute(text(raising))
    ours.close()


@pytest.mark.postgres
def test_a_role_without_connections_left_is_told_so(database: Server) -> None:
    with database.connect() as admin:
        admin.execute("DROP ROLE IF EXISTS crowded")
        admin.execute("CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0")
    ours = Database.postgres(database.url, user="crowded", password="crowded")
    with pytest.raises(CatalogUnreachable, match="too many connections") as raised, ours.reading():
        pass
    assert "max_connections" in raised.value.next
    ours.close()
    with database.connect() as admin:
        admin.execute("DROP ROLE crowded")
