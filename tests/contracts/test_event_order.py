"""Events are numbered in the order of their commits: a follower that has read one has read all
before it.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from lakebed.engines.database import Database, DatabaseEvents
from lakebed.engines.database.state.events import put_events
from lakebed.names import TableName
from lakebed.ports import Event, RecordedEvent
from tests.servers.postgres import Database as PostgresDatabase
from tests.support.scale import SCALE

ORDERS = TableName("shop", "silver", "orders")
Opening = Callable[[], Database]


@pytest.fixture(params=["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.postgres)])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opening]:
    """Opens the same database again, as another process would."""
    with ExitStack() as stack:

        def opened() -> Database:
            if request.param == "SQLite":
                database = Database.sqlite(tmp_path / "lake.db")
            else:
                server: PostgresDatabase = request.getfixturevalue("database")
                database = Database.postgres(server.url, user=server.user, password=server.password)
            stack.callback(database.close)
            database.prepare()
            return database

        yield opened


def test_an_event_whose_transaction_commits_late_is_not_missed(opening: Opening) -> None:
    first, second, watching = opening(), opening(), opening()
    events = DatabaseEvents(watching)
    start = events.follow("mirror")
    with ThreadPoolExecutor(1) as pool:
        with first.writing() as connection:
            put_events(connection, first, [Event("published", ORDERS, 1)])
            other = pool.submit(DatabaseEvents(second).append, Event("published", ORDERS, 2))
            while not (other.done() or _is_waiting(watching)):
                time.sleep(0.01)
            seen = events.since(start)
        other.result()
    later = events.since(seen[-1].number if seen else start)
    assert [recorded.event.snapshot for recorded in (*seen, *later)] == [1, 2]


def _is_waiting(database: Database) -> bool:
    """Whether a writer waits for another; in SQLite every writer does."""
    if database.is_sqlite:
        return True
    with database.reading() as connection:
        found = connection.exec_driver_sql(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
            " and datname = current_database()"
        )
        return bool(found.scalar())


def test_a_follower_sees_each_event_once_and_in_order_while_others_write(opening: Opening) -> None:
    writers, each = 3, 20 * SCALE
    reader = DatabaseEvents(opening())
    number = reader.follow("mirror")
    stores = [DatabaseEvents(opening()) for _ in range(writers)]
    start = threading.Barrier(writers + 1)

    def write(writer: int) -> None:
        start.wait()
        for number in range(each):
            pair = (1000 * writer + number) * 2
            stores[writer].append(
                Event("published", ORDERS, pair), Event("published", ORDERS, pair + 1)
            )

    seen: list[RecordedEvent] = []
    with ThreadPoolExecutor(writers) as pool:
        work = [pool.submit(write, writer) for writer in range(writers)]
        start.wait()
        while not all(one.done() for one in work):
            seen += reader.since(seen[-1].number if seen else number)
        for one in work:
            one.result()
    while more := reader.since(seen[-1].number if seen else number):
        seen += more
    assert tuple(seen) == reader.since(limit=len(seen) + 1)
    assert len({recorded.event.snapshot for recorded in seen}) == len(seen) == writers * each * 2
