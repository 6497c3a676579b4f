"""The servers as fixtures: started when first asked for, stopped at the end.

A missing server fails, it never skips.
"""

from collections.abc import Iterator

import pytest

from tests.servers.azurite import AzuriteServer, azurite
from tests.servers.postgres import Database, PostgresServer, postgres
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer, seaweedfs


@pytest.fixture(scope="session")
def seaweed() -> Iterator[SeaweedServer]:
    """One SeaweedFS for all tests."""
    with seaweedfs() as server:
        yield server


@pytest.fixture(scope="session")
def azure() -> Iterator[AzuriteServer]:
    """One Azurite for all tests."""
    with azurite() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One PostgreSQL for all tests; a test that kills its server starts its own with
    `postgres()`.
    """
    with postgres() as server:
        yield server


@pytest.fixture
def bucket(seaweed: SeaweedServer) -> Bucket:
    """A prefix of the test's own in SeaweedFS's bucket."""
    return seaweed.fresh_prefix()


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[Database]:
    """An empty database of the test's own."""
    fresh = postgres_server.fresh_database()
    yield fresh
    postgres_server.drop(fresh)
