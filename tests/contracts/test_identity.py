"""What every database promises about the identity of its lake."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from lakebed.engines.database import Database, DatabaseIdentity
from lakebed.ports import IdentityRow, LakeIdentity
from lakebed.testing import MemoryIdentity
from tests.servers.postgres import Database as PostgresDatabase
from tests.servers.postgres import PostgresServer

FIRST = LakeIdentity(id="a" * 32, address="s3://lake/prod", generation=1, fingerprint="7/16384")


@pytest.fixture(
    params=["memory", "SQLite", pytest.param("PostgreSQL", marks=[pytest.mark.postgres])]
)
def row(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IdentityRow]:
    if request.param == "memory":
        yield MemoryIdentity()
        return
    if request.param == "SQLite":
        database = Database.sqlite(tmp_path / "lake.db")
    else:
        server: PostgresDatabase = request.getfixturevalue("database")
        database = Database.postgres(server.url, user=server.user, password=server.password)
    yield DatabaseIdentity(database)
    database.close()


def allow() -> None:
    """Nothing speaks against it."""


def test_a_database_that_was_never_used_is_prepared_only_if_that_is_allowed(
    row: IdentityRow,
) -> None:
    def refuse() -> None:
        raise PermissionError

    for _ in range(2):
        with pytest.raises(PermissionError):
            row.prepare(before_first=refuse)
        assert row.read() is None
        assert row.is_blank()
    row.prepare(before_first=allow)
    row.prepare(before_first=refuse)
    assert row.is_blank()


def test_an_identity_is_stored_only_in_place_of_the_one_that_was_read(row: IdentityRow) -> None:
    row.prepare(before_first=allow)
    later = replace(FIRST, generation=2)
    assert row.read() is None
    assert not row.store(later, instead_of=FIRST)
    assert row.store(FIRST, instead_of=None)
    assert not row.store(later, instead_of=None)
    assert row.read() == FIRST
    assert row.store(later, instead_of=FIRST)
    assert row.read() == later
    assert row.is_blank(), "an identity alone is no lake"


def test_of_several_first_writers_one_stores_its_identity(row: IdentityRow) -> None:
    row.prepare(before_first=allow)
    wanted = [replace(FIRST, id=str(number) * 32) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        stored = list(pool.map(lambda identity: row.store(identity, instead_of=None), wanted))
    winner = wanted[stored.index(True)]
    assert stored.count(True) == 1
    assert row.read() == winner


def test_a_fingerprint_stays_the_same(row: IdentityRow) -> None:
    row.prepare(before_first=allow)
    assert row.fingerprint() == row.fingerprint() != ""


@pytest.mark.postgres
def test_every_role_sees_one_fingerprint_and_every_database_has_its_own(
    postgres_server: PostgresServer, database: PostgresDatabase
) -> None:
    with database.connect() as connection:
        role = f"reader_{database.database}"
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{database.password}'")
    other = postgres_server.fresh_database()
    fingerprints = []
    for where, user in ((database, database.user), (database, role), (other, other.user)):
        opened = Database.postgres(where.url, user=user, password=where.password)
        fingerprints.append(DatabaseIdentity(opened).fingerprint())
        opened.close()
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
    assert "unknown" not in fingerprints[1]
    postgres_server.drop(other)
