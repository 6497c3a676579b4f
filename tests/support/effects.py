"""Processes that die between two effects: kill -9 before the nth thing that they would change."""

import os
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

import requests
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

from lakebed import Lake
from lakebed.engines.database import Database
from tests.support.benches import RealBench

_READS = ("SELECT", "BEGIN", "PRAGMA", "SHOW")


class Effects:
    """Counts what this thread changes: statements that write, commits, requests that are no GET.

    Before number `last` the process kills itself; without one it lives on.
    """

    def __init__(self, last: int | None = None) -> None:
        self.count, self._last, self._thread = 0, last, threading.get_ident()

    def watch(self) -> None:
        """From now on, whoever makes the changes."""
        event.listen(Engine, "before_cursor_execute", self._statement)
        event.listen(Engine, "commit", lambda _: self._next())
        send = requests.adapters.HTTPAdapter.send

        def sending(adapter: Any, request: Any, *given: Any, **options: Any) -> Any:
            if request.method != "GET":
                self._next()
            return send(adapter, request, *given, **options)

        setattr(requests.adapters.HTTPAdapter, "send", sending)  # noqa: B010 - as a method

    def _statement(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not statement.lstrip().upper().startswith(_READS):
            self._next()

    def _next(self) -> None:
        if threading.get_ident() != self._thread:  # a heartbeat
            return
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1


def change_tables(
    pipe: Connection,
    bench: RealBench,
    change: str,
    *names: Any,
    last: int | None = None,
    **options: Any,
) -> None:
    """`lake.tables.rename(…)`, say, which dies before effect number `last`; otherwise it tells how
    many effects there were.
    """
    lake = Lake(bench.root, bench.settings, environment={})
    lake.stores.catalog.pointers()
    pipe.send("ready")
    pipe.recv()
    effects = Effects(last)
    effects.watch()
    getattr(lake.tables, change)(*names, **options)
    pipe.send(effects.count)


def lapse_leases(database: Database) -> None:
    """What happens by itself when all holders have been silent for long enough, and when whoever
    began a change without a lease could have finished it.
    """
    with database.writing() as connection:
        connection.execute(text("UPDATE lakebed_leases SET heartbeat = 0"))
        connection.execute(text("UPDATE lakebed_publications SET at = 0 WHERE state = 'amending'"))
