"""The worker's view of the child that keeps Spark."""

import os
import selectors
import signal
import socket
from contextlib import suppress

from lakebed.engines.worker.children import fork_child
from lakebed.engines.worker.messages import receive, send
from lakebed.engines.worker.open_files import close_all_but


class SparkChild:
    """The child that keeps Spark, forked for the first borrower, and again if it has died."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self.pid = 0
        self._connection: socket.socket | None = None
        self.borrowers = 0
        self.full = False  # borrowers have left too much in its memory
        self.log = ""

    def pass_on(self, borrower: socket.socket) -> socket.socket | None:
        """Give a borrower's connection to the child. In the child, when it was just forked: its
        connection to the worker.
        """
        if self._connection is None:
            ours, theirs = socket.socketpair()
            self.pid = fork_child()
            if self.pid == 0:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                close_all_but({0, 1, 2, theirs.fileno()})
                return theirs
            theirs.close()
            self._connection = ours
            self._selector.register(ours, selectors.EVENT_READ, lambda _: self._hear())
        self.borrowers += 1  # until the child says how many there are
        with borrower:
            send(self._connection, {"kind": "spark"}, [borrower.fileno()])
        return None

    def _hear(self) -> None:
        told = receive(self._connection) if self._connection else None
        if told is None:
            self._lose()
            return
        self.borrowers = told[0].get("borrowers", self.borrowers)
        self.full = told[0].get("full", self.full)
        self.log = told[0].get("log", self.log)

    def _lose(self) -> None:
        """It has died, and Spark with it; the next borrower gets another."""
        if self._connection:
            self._selector.unregister(self._connection)
            self._connection.close()
        self._connection, self.borrowers, self.full = None, 0, False

    def stop(self) -> None:
        """End it, and wait until Spark has ended."""
        if self._connection:
            self._lose()
            with suppress(ChildProcessError):  # it has ended already
                os.waitpid(self.pid, 0)
