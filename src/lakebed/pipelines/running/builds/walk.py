"""Walking a graph: tables that are ready start, several at a time; those that read a failed one are
skipped.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from graphlib import TopologicalSorter

from lakebed.names import TableName
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.ports import RunRecord

Dependencies = Mapping[TableName, frozenset[TableName]]
Records = dict[TableName, RunRecord]
_AGAIN = 1.0  # seconds


def walk(
    tables: Sequence[TableName],
    dependencies: Dependencies,
    run: Callable[[TableName], RunRecord],
    skip: Callable[[TableName, TableName], RunRecord],
    *,
    threads: int = 1,
    fail_fast: bool = False,
    interrupt: Callable[[], None] = lambda: None,
) -> tuple[RunRecord, ...]:
    """Run every table once everything it depends on is done; returns the records in the order of
    `tables`.

    Ctrl+C calls `interrupt`, which asks active runs to end, until they have ended.
    """
    graph = TopologicalSorter(dependencies)
    graph.prepare()
    done: Records = {}
    ready: list[TableName] = []
    running: dict[Future[RunRecord], TableName] = {}
    with ThreadPoolExecutor(max_workers=max(threads, 1), thread_name_prefix="lakebed-run") as pool:
        while graph.is_active():
            ready = sorted((*ready, *graph.get_ready()), key=tables.index)
            while ready and len(running) < max(threads, 1):
                table = ready.pop(0)
                if failed := _obstacle(table, dependencies, done, fail_fast=fail_fast):
                    done[table] = skip(table, failed)
                    graph.done(table)
                else:
                    running[pool.submit(run, table)] = table
            with _on_interrupt(interrupt, running):
                finished = wait(running, return_when=FIRST_COMPLETED).done if running else set()
            for future in finished:
                table = running.pop(future)
                done[table] = future.result()
                graph.done(table)
    return tuple(done[table] for table in tables)


def dependencies(
    specs: Specs, tables: Sequence[TableName]
) -> dict[TableName, frozenset[TableName]]:
    """For each table, those of the others that it reads."""
    return {table: frozenset(specs[table].inputs) & frozenset(tables) for table in tables}


@contextmanager
def _on_interrupt(
    interrupt: Callable[[], None], running: Collection[Future[RunRecord]]
) -> Iterator[None]:
    """Ask again as long as runs go on: one may just have begun to compute something else."""
    try:
        yield
    except KeyboardInterrupt:
        interrupt()
        while wait(running, timeout=_AGAIN).not_done:
            interrupt()
        raise


def _obstacle(
    table: TableName, dependencies: Dependencies, done: Records, *, fail_fast: bool
) -> TableName | None:
    """The failed table that makes a table be skipped."""
    failed = (other for other, record in done.items() if record.state == "failed")
    if fail_fast and (first := next(failed, None)):
        return first
    not_done = (
        other for other in sorted(dependencies[table]) if done[other].state in ("failed", "skipped")
    )
    return next(not_done, None)
