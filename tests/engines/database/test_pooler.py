"""A real PgBouncer in transaction mode: each transaction may have another connection."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from lakebed.engines.database import Database, DatabaseLeases
from lakebed.engines.iceberg import open_pyiceberg
from lakebed.errors import CatalogLoginRefused
from lakebed.settings import Root, Settings
from tests.servers.pgbouncer import pgbouncer
from tests.servers.postgres import Database as Server
from tests.support.benches import RealBench

pytestmark = pytest.mark.postgres


@pytest.fixture
def pooled(database: Server) -> Iterator[Server]:
    with pgbouncer(database) as pooler:
        yield pooler


def test_many_processes_share_the_few_connections_of_a_pooler(pooled: Server) -> None:
    def work(number: int) -> int:
        database = Database.postgres(
            pooled.url, user=pooled.user, password=pooled.password, pooler=True
        )
        database.prepare()
        leases = DatabaseLeases(database)
        for _ in range(12):  # psycopg prepares what it has sent five times
            leases.release(leases.acquire(f"table {number}", holder="me", limit=60))
        database.close()
        return number

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(6))) == list(range(6))


def test_a_statement_through_a_pooler_has_its_limit_and_none_outlives_its_transaction(
    pooled: Server, database: Server
) -> None:
    ours = Database.postgres(
        pooled.url, user=pooled.user, password=pooled.password, timeout=7, pooler=True
    )
    for _ in range(3):
        with ours.reading() as connection:
            assert connection.execute(text("show statement_timeout")).scalar() == "7s"
    ours.close()
    with Server.connect(pooled) as plain:
        assert plain.execute("show statement_timeout").fetchall() == [("0",)]


def test_tables_are_made_written_and_read_through_a_pooler(pooled: Server, tmp_path: Path) -> None:
    catalog = pooled.catalog.model_copy(update={"pooler": True})
    settings, root = Settings(catalog=catalog), Root.parse(tmp_path / "lake")
    bench = RealBench(settings, root, "shop")
    bench.stores.ownership.claim_new()
    bench.iceberg = open_pyiceberg(settings, root)
    table = bench.table("orders")
    for row in range(8):
        bench.write(table, [row])
    assert bench.rows(table) == list(range(8))
    assert bench.catalog.pointers([table])
    bench.close()


def test_a_pooler_that_no_setting_tells_of_is_named_and_not_retried(pooled: Server) -> None:
    database = Database.postgres(pooled.url, user=pooled.user, password=pooled.password)
    with pytest.raises(CatalogLoginRefused, match="startup parameter") as refused:
        database.prepare()
    assert ("catalog.pooler" in refused.value.next, refused.value.retryable) == (True, False)
