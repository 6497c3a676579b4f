"""Many pipelines at once on PostgreSQL: none stands in another's way, and the server's connections
are bounded.
"""

import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

import lakebed
from lakebed.engines.files import open_files
from lakebed.engines.spark import SparkCompute, Staging
from lakebed.errors import CatalogUnreachable
from lakebed.settings import FilesSettings, PostgresCatalog, Root, Settings
from tests.servers.pgbouncer import pgbouncer
from tests.servers.postgres import Database, PostgresServer
from tests.support.scale import SCALE
from tests.support.spark_sessions import OpenSpark
from tests.support.workers import until

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

THREADS = 4
OURS, A_SESSION = 15, 1  # as docs/how-it-works.md and docs/production.md say


def connections(database: Database, *, of: str = "lakebed%") -> int:
    """How many connections of Lakebed the server has for this database."""
    with database.connect() as connection:
        asked = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND application_name LIKE %s"
        )
        return int(str(connection.execute(asked, [database.database, of]).fetchall()[0][0]))


class Counting:
    """The most connections seen while the block lasts."""

    def __init__(self, database: Database) -> None:
        self.database, self.most, self._over = database, 0, threading.Event()

    def __enter__(self) -> "Counting":
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._over.wait(0.1):
            self.most = max(self.most, connections(self.database))


def new_lake(folder: Path, catalog: PostgresCatalog) -> lakebed.Lake:
    """A lake of ten pipelines, four of which read others."""
    for number in range(10):
        pipeline = (
            folder / "shop" / "pipelines" / ("bronze" if number < 6 else "silver") / f"t{number}"
        )
        pipeline.mkdir(parents=True)
        source = (
            f"SELECT {number} AS id"
            if number < 6
            else f"SELECT id FROM {{{{ ref('bronze.t{number - 6}') }}}}"
        )
        (pipeline / "pipeline.sql").write_text(source)
    return lakebed.Lake(Root.parse(folder), Settings(catalog=catalog), environment={})


@pytest.mark.usefixtures("spark_home")
def test_ten_pipelines_of_a_new_lake_run_in_four_threads_without_one_failing_or_piling_connections_up(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    for number in range(2 * SCALE):
        database = postgres_server.fresh_database()
        with (
            new_lake(tmp_path / str(number), database.catalog) as lake,
            Counting(database) as counted,
        ):
            result = lake.run(threads=THREADS)
            assert {
                str(record.table): record.error
                for record in result.records
                if record.state != "success"
            } == {}
            assert len(result.records) == 10
            # The sessions of ten runs are closed, and their connections with them; the server takes
            # a moment.
            until(
                lambda database=database: connections(database, of="lakebed spark") <= A_SESSION,
                seconds=30,
            )
        assert 0 < counted.most <= OURS + A_SESSION * (THREADS + 1)
        until(lambda database=database: connections(database) == 0, seconds=30)
        postgres_server.drop(database)


@pytest.mark.usefixtures("spark_home")
def test_pipelines_run_behind_a_pooler_that_gives_each_transaction_another_connection(
    database: Database, tmp_path: Path
) -> None:
    with pgbouncer(database) as pooled:
        catalog = pooled.catalog.model_copy(update={"pooler": True})
        with new_lake(tmp_path, catalog) as lake:
            result = lake.run(threads=2)
            assert [record.state for record in result.records] == ["success"] * 10
            assert lake.query("SELECT id FROM shop.silver.t9").fetchall() == [(3,)]


def test_a_server_without_connections_left_is_told_as_that_when_spark_meets_it(
    database: Database, open_spark: OpenSpark, tmp_path: Path
) -> None:
    with database.connect() as admin:
        admin.execute("CREATE ROLE spark_crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0")
    catalog = PostgresCatalog(
        kind="postgres", url=database.url, user="spark_crowded", password=SecretStr("crowded")
    )
    root = Root.parse(tmp_path)
    staging = Staging(open_files(root, FilesSettings()), root, "r")
    compute = SparkCompute(open_spark(Settings(catalog=catalog), root), staging, run_id="r")
    with pytest.raises(CatalogUnreachable, match="too many connections for role") as raised:
        compute.execute("SHOW NAMESPACES IN lake")
    assert "max_connections" in raised.value.next
    with database.connect() as admin:
        admin.execute("DROP ROLE spark_crowded")
