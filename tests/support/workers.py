"""What other processes do in the fault tests.

They start from a server that has the libraries loaded already.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from typing import Any

from pyiceberg.exceptions import CommitFailedException, RESTError

from lakebed.errors import Diverged, LakebedError
from lakebed.names import TableName
from lakebed.ports import RUN_ID, Lease
from lakebed.tables import PublishRequest, hold_lease, publish
from tests.support.benches import RealBench, ids


def context() -> ForkServerContext:
    """A clean child each time, without paying for imports each time."""
    chosen = multiprocessing.get_context("forkserver")
    chosen.set_forkserver_preload(
        [
            "tests.support.workers",
            "lakebed.engines.iceberg.metadata.staging",
            "pyiceberg.catalog.sql",
            "pyarrow.parquet",
        ]
    )
    return chosen


def started(work: Any, *arguments: Any, **options: Any) -> tuple[BaseProcess, Connection]:
    """Start `work` in another process, with a pipe as its first argument; wait until it says it is
    ready.
    """
    here, there = context().Pipe()
    process = context().Process(target=work, args=(there, *arguments), kwargs=options, daemon=True)
    process.start()
    there.close()
    assert here.recv() == "ready"
    return process, here


def killed(process: BaseProcess) -> None:
    """kill -9, and wait for the end."""
    assert process.pid is not None
    with suppress(ProcessLookupError):  # it may have ended by itself
        os.kill(process.pid, signal.SIGKILL)
    process.join()


def publisher(pipe: Connection, bench: RealBench) -> None:
    """Builds branches and publishes them as it is told; answers how it went."""
    bench.catalog.pointers()
    pipe.send("ready")
    while order := pipe.recv():
        what, run_id, tables, row = order
        try:
            if what == "build":
                build_branches(bench, tables, run_id, row)
                pipe.send("built")
            else:
                publish(
                    bench.catalog,
                    [PublishRequest(table, run_id) for table in tables],
                    run_id=run_id,
                )
                pipe.send("won")
        except Diverged:
            pipe.send("lost")
        except LakebedError as error:
            pipe.send(f"{type(error).__name__}: {error}")


def build_branches(bench: RealBench, tables: list[TableName], run_id: str, row: int) -> None:
    """A branch of each table at its present state, with one row, stamped with its run as every
    run's snapshots are.
    """
    for table in tables:
        while not _built(bench, table, run_id, row):
            time.sleep(0.01)


def _built(bench: RealBench, table: TableName, run_id: str, row: int) -> bool:
    """Whether it went through: PyIceberg does not take up a branch commit that lost a race, so the
    caller begins anew.
    """
    try:
        loaded = bench.iceberg.load_table(table.parts)
        head = loaded.current_snapshot()
        assert head is not None
        if run_id in loaded.metadata.refs:
            loaded.manage_snapshots().remove_branch(run_id).commit()
        loaded.manage_snapshots().create_branch(head.snapshot_id, run_id).commit()
        loaded.append(ids([row]), branch=run_id, snapshot_properties={RUN_ID: run_id})
    except (CommitFailedException, RESTError, ValueError):
        return False
    return True


def one_publication(
    pipe: Connection, bench: RealBench, run_id: str, tables: list[TableName], branch: str
) -> None:
    """Publishes once, when told to; the parent kills it meanwhile."""
    bench.catalog.pointers()
    pipe.send("ready")
    pipe.recv()
    publish(bench.catalog, [PublishRequest(table, branch) for table in tables], run_id=run_id)
    pipe.send("done")


def appender(pipe: Connection, bench: RealBench, table: TableName, rows: list[int]) -> None:
    """Appends rows one commit each, through PyIceberg, as a user would."""
    loaded = bench.iceberg.load_table(table.parts)
    pipe.send("ready")
    pipe.recv()
    try:
        for row in rows:
            loaded.append(ids([row]))
        pipe.send("done")
    except Exception as error:  # the test shows it
        pipe.send(f"{type(error).__name__}: {error}")


def holder(pipe: Connection, bench: RealBench, table: TableName, limit: float) -> None:
    """Holds the lease on a table; when told, tries to publish with it."""
    with hold_lease(bench.leases, str(table), holder=f"process {os.getpid()}", limit=limit) as held:
        pipe.send("ready")
        run_id, branch = pipe.recv()
        try:
            publish(
                bench.catalog, [PublishRequest(table, branch)], run_id=run_id, leases=[held.lease]
            )
            pipe.send("won")
        except LakebedError as error:
            pipe.send(type(error).__name__)


def dying_rest_publisher(
    pipe: Connection,
    bench: RealBench,
    tables: list[TableName],
    *,
    after: int,
    leases: Sequence[Lease] = (),
) -> None:
    """Publishes branch run_1 as run r1 on a REST catalog, and dies by SIGKILL after so many tables
    have moved.
    """
    catalog: Any = bench.catalog
    move = catalog._move
    moved: list[Any] = []

    def moving(one: Any) -> None:
        if len(moved) == after:
            os.kill(os.getpid(), signal.SIGKILL)
        move(one)
        moved.append(one)

    catalog._move = moving
    pipe.send("ready")
    pipe.recv()
    publish(
        catalog, [PublishRequest(table, "run_1") for table in tables], run_id="r1", leases=leases
    )


def answer(pipe: Connection, *, seconds: float = 60) -> Any:
    """What the other process says next."""
    assert pipe.poll(seconds), f"no answer within {seconds} s"
    return pipe.recv()


def until(condition: Any, *, seconds: float) -> float:
    """How long it took for the condition to hold."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        time.sleep(0.05)
    return time.monotonic() - began
