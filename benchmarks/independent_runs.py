"""Do runs of different tables wait for each other? 8 pipelines with `--threads 4`, beside the same
8 one after the other.

python benchmarks/independent_runs.py [--quick]

On SQLite and on a PostgreSQL of its own (null where there is none). Every writing transaction of
Lakebed is timed. What it waits for others is on SQLite the time until its BEGIN IMMEDIATE is done,
and on PostgreSQL the longest time that the server reports a statement waiting for a lock, asked
every few milliseconds. A commit is the time from there until the transaction has ended. The last
line is one JSON object.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import event

from lakebed.app import Lake, create_lake, open_lake
from lakebed.engines.database import Database
from lakebed.pipelines.planning.steps import Publish

sys.path.insert(0, str(Path(__file__).parent.parent))  # the tests know how to start PostgreSQL

PIPELINES, THREADS = 8, 4
SOURCE = "SELECT id, id % 100 AS v FROM range({first}, {last})"
CONFIG = "merge_strategy: incremental\nunique_key: id\n"
_LOCKED = (
    "SELECT max(extract(epoch FROM clock_timestamp() - query_start)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name LIKE 'lakebed%'"
    " AND wait_event_type = 'Lock'"
)


class Timings:
    """How long each writing transaction waited to begin, and how long it then took."""

    def __init__(self, database: Database) -> None:
        self.waits: list[float] = []
        self.commits: list[float] = []
        self._begun, self._own = dict[int, float](), threading.local()
        engine = database.engine
        database._turn = _TimedLock(self._own)  # type: ignore[assignment]
        event.listen(engine, "before_cursor_execute", self._before)
        event.listen(engine, "after_cursor_execute", self._after)
        event.listen(engine, "checkin", self._ended)

    def _before(self, connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if connection.get_execution_options().get("lakebed_writes"):
            self._begun.setdefault(_key(connection), time.perf_counter())

    def _after(self, connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement == "BEGIN IMMEDIATE":
            now = time.perf_counter()
            self.waits.append(self._own.turn + now - self._begun[_key(connection)])
            self._begun[_key(connection)] = now

    def _ended(self, connection: Any, _record: Any) -> None:
        if begun := self._begun.pop(id(connection), None):
            self.commits.append(time.perf_counter() - begun)

    @contextmanager
    def from_zero(self) -> Iterator[None]:
        self.waits.clear()
        self.commits.clear()
        yield


class _TimedLock:
    """The lock by which writers of a process take turns; remembers how long a thread waited."""

    def __init__(self, own: threading.local) -> None:
        self._lock, self._own = threading.Lock(), own

    def acquire(self, *, timeout: float) -> bool:
        began = time.perf_counter()
        taken = self._lock.acquire(timeout=timeout)
        self._own.turn = time.perf_counter() - began
        return taken

    def release(self) -> None:
        self._lock.release()


def _key(connection: Any) -> int:
    return id(connection.connection.dbapi_connection)


@contextmanager
def lock_waits(connect: Callable[[], Any] | None, found: list[float]) -> Iterator[None]:
    """The longest waits for locks that PostgreSQL reports while the block lasts."""
    if connect is None:
        yield
        return
    over = threading.Event()

    def ask() -> None:
        with connect() as connection:
            while not over.wait(0.003):
                (longest,) = connection.execute(_LOCKED).fetchone()
                if longest is not None:
                    found.append(float(longest))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def write_pipelines(folder: Path, *, rows: int, batch: int) -> None:
    for number in range(PIPELINES):
        place = folder / "shop" / "pipelines" / "bronze" / f"t{number}"
        place.mkdir(parents=True, exist_ok=True)
        source = SOURCE.format(first=batch * rows // 2, last=batch * rows // 2 + rows)
        (place / "pipeline.sql").write_text(source)
        (place / "config.yaml").write_text(CONFIG)


def build(lake: Lake, *, threads: int) -> tuple[float, float]:
    """Seconds of the whole build, and of its longest publication."""
    began = time.perf_counter()
    result = lake.run(threads=threads)
    seconds = time.perf_counter() - began
    if not result.ok:
        raise SystemExit(f"a run failed: {[dict(record.error) for record in result.records]}")
    phases = [phase for record in result.records for phase in record.phases]
    return seconds, max(phase.seconds for phase in phases if phase.name == Publish.kind)


def measured(
    folder: Path,
    settings: dict[str, Any],
    environment: dict[str, str],
    connect: Callable[[], Any] | None,
    *,
    rows: int,
    samples: int,
) -> dict[str, Any]:
    create_lake(folder, settings=settings, environment=environment)
    found: dict[int, list[dict[str, float]]] = {1: [], THREADS: []}
    with open_lake(folder, environment=environment) as lake:
        timings = Timings(lake.stores.database)
        write_pipelines(folder, rows=rows, batch=0)
        build(lake, threads=THREADS)  # creates the tables and warms up
        for batch in range(1, samples + 1):
            for threads in found:
                write_pipelines(folder, rows=rows, batch=2 * batch + (threads > 1))
                locks: list[float] = []
                with timings.from_zero(), lock_waits(connect, locks):
                    wall, publication = build(lake, threads=threads)
                sample = {
                    "wall_s": round(wall, 3),
                    "publication_s": publication,
                    "longest_wait_s": round(max((*timings.waits, *locks, 0.0)), 4),
                    "longest_commit_s": round(max(timings.commits), 4),
                    "waits_s": round(sum(timings.waits), 4),
                    "transactions": len(timings.commits),
                }
                print(folder.name, threads, "threads", sample, flush=True)
                found[threads].append(sample)
    return {
        f"{name}_{threads}_threads": round(median(sample[name] for sample in samples_), 4)
        for threads, samples_ in found.items()
        for name in samples_[0]
    }


@contextmanager
def on_postgres() -> Iterator[tuple[dict[str, Any], dict[str, str], Callable[[], Any]] | None]:
    """Settings, environment and a way to ask a PostgreSQL of our own; None where it is missing."""
    try:
        from tests.servers.postgres import postgres
        from tests.servers.processes import ServerMissing
    except ImportError:
        yield None
        return
    try:
        with postgres() as server:
            database = server.fresh_database()
            catalog = {"kind": "postgres", "url": database.url, "user": database.user}
            secret = {**os.environ, "LAKEBED_CATALOG_PASSWORD": database.password}
            yield {"catalog": catalog}, secret, database.connect
    except ServerMissing as missing:
        print(f"without PostgreSQL: {missing}", flush=True)
        yield None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="1,000 rows a table, one sample")
    quick = parser.parse_args().quick
    size = {"rows": 1_000, "samples": 1} if quick else {"rows": 100_000, "samples": 3}
    result: dict[str, Any] = {"postgres": None}
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name)
        result["sqlite"] = measured(folder / "sqlite", {}, dict(os.environ), None, **size)
        with on_postgres() as server:
            if server:
                settings, environment, connect = server
                result["postgres"] = measured(
                    folder / "postgres", settings, environment, connect, **size
                )
    machine = {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }
    print(json.dumps(result | {"machine": machine}))


if __name__ == "__main__":
    main()
