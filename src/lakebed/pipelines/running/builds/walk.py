"""Working through a graph: what is ready goes, several at a time; what a failure is in the way of, is skipped."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from lakebed.names import TableName
from lakebed.ports import RunRecord

Depends = Mapping[TableName, frozenset[TableName]]


class _Walk:
    def __init__(self, tables: Sequence[TableName], depends: Depends, *, fail_fast: bool) -> None:
        self.waiting, self.depends, self.fail_fast = list(tables), depends, fail_fast
        self.done: dict[TableName, RunRecord] = {}

    def ready(self, running: int, threads: int) -> list[TableName]:
        """What may start now, in the order it was given."""
        free = [table for table in self.waiting if self.depends[table] <= self.done.keys()]
        return free[: max(threads - running, 0)]

    def obstacle(self, table: TableName) -> TableName | None:
        """The failed table that stands in a table's way."""
        if self.fail_fast and (failed := self.failed()):
            return failed
        return next((upstream for upstream in sorted(self.depends[table]) if self.done[upstream].state in _NOT_DONE), None)

    def failed(self) -> TableName | None:
        return next((table for table, record in self.done.items() if record.state == "failed"), None)


_NOT_DONE = ("failed", "skipped")


def walk(
    tables: Sequence[TableName],
    depends: Depends,
    work: Callable[[TableName], RunRecord],
    skip: Callable[[TableName, TableName], RunRecord],
    *,
    threads: int = 1,
    fail_fast: bool = False,
    interrupt: Callable[[], None] = lambda: None,
) -> tuple[RunRecord, ...]:
    """Do the work for every table once all it depends on is done; records in the order of `tables`.

    Ctrl+C calls `interrupt`, which asks the work that is under way to end, and waits for that.
    """
    state = _Walk(tables, depends, fail_fast=fail_fast)
    running: dict[Future[RunRecord], TableName] = {}
    with ThreadPoolExecutor(max_workers=max(threads, 1), thread_name_prefix="lakebed-run") as pool:
        while state.waiting or running:
            for table in state.ready(len(running), threads):
                state.waiting.remove(table)
                if obstacle := state.obstacle(table):
                    state.done[table] = skip(table, obstacle)
                else:
                    running[pool.submit(work, table)] = table
            if running:
                try:
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                except KeyboardInterrupt:
                    interrupt()
                    raise
                for future in finished:
                    state.done[running.pop(future)] = future.result()
    return tuple(state.done[table] for table in tables)
