"""The child that keeps Spark: starts it for the first borrower, lends it, and cleans up."""

import itertools
import os
import socket
import threading
import time
from typing import Any

from lakebed.engines.worker.messages import receive, send
from lakebed.errors import LakebedError

_LOOK = 0.05  # seconds between looks at the cores


def keep(worker: socket.socket) -> None:
    """Lend Spark to the connections that the worker passes on, until the worker ends."""
    keeper = _Keeper(worker)
    while told := receive(worker):
        _, files = told
        for file in files:
            connection = socket.socket(fileno=file)
            threading.Thread(target=keeper.attend, args=(connection,), daemon=True).start()
    keeper.stop()


class _Keeper:
    """One Spark and its borrowers."""

    def __init__(self, worker: socket.socket) -> None:
        self._worker = worker
        self._lender: Any = None
        self._start_seconds = 0.0  # that its Spark took to start
        self._borrowers = 0
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._telling = threading.Lock()

    def attend(self, connection: socket.socket) -> None:
        """Serve one borrower until it has gone."""
        self._count(+1)
        try:
            with connection:
                self._attend(connection)
        finally:
            self._count(-1)

    def _attend(self, connection: socket.socket) -> None:
        told = receive(connection)
        if told is None:
            return
        try:
            with self._lock:
                lender = self._lender_for(told[0])
            wait = told[0].get("wait")
            wait_for_core(lender, self._start_seconds if wait is None else wait)
            lent = lender.lend(f"lakebed-{os.getpid()}-{next(self._numbers)}")
        except Exception as error:
            why = error.what if isinstance(error, LakebedError) else repr(error)
            send(connection, {"refused": why})
            return
        try:
            answer = {"port": lent.port, "secret": lent.secret, "name": lent.name}
            send(connection, answer | {"log": lender.log})
            receive(connection)  # nothing more is said: it returns when the borrower has gone
        finally:
            lender.take_back(lent)

    def _lender_for(self, told: dict[str, Any]) -> Any:
        from lakebed.engines.spark.lending.lend import SparkLender
        from lakebed.engines.spark.lending.request import read_request

        request = read_request(told)
        lender = self._lender
        if lender and lender.works and lender.request.fits(request):
            return lender
        if lender and lender.works and self._borrowers > 1:
            raise LakebedError("its Spark was started with other settings, and is in use")
        if lender:
            self._lender = None
            lender.stop()
        began = time.monotonic()
        self._lender = SparkLender(request)
        self._start_seconds = time.monotonic() - began
        self._tell({"log": self._lender.log})
        return self._lender

    def _count(self, change: int) -> None:
        with self._telling:
            self._borrowers += change
            full = self._borrowers == 0 and self._is_full()
            send(self._worker, {"borrowers": self._borrowers, "full": full})

    def _tell(self, message: dict[str, Any]) -> None:
        with self._telling:
            send(self._worker, message)

    def _is_full(self) -> bool:
        try:
            return self._lender is not None and self._lender.is_full()
        except Exception:
            return True  # it died: the next borrower gets another

    def stop(self) -> None:
        """Stop Spark."""
        if self._lender:
            self._lender.stop()


def wait_for_core(lender: Any, seconds: float) -> None:
    """Wait for a free core; `LakebedError` if none has become free: then it is a long run of
    another terminal.
    """
    deadline = time.monotonic() + seconds
    while lender.is_busy:
        if time.monotonic() > deadline:
            raise LakebedError(
                f"its Spark is busy with another command, and was for {seconds:.0f} s"
            )
        time.sleep(_LOOK)
