"""The worker's first process: answers the socket, forks, reaps. It has one thread."""

import fcntl
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from lakebed.engines.worker.messages import is_own, receive, send
from lakebed.engines.worker.open_files import close_files
from lakebed.engines.worker.places import WorkerPlace
from lakebed.worker.become import Command
from lakebed.worker.callers import GRACE, Callers
from lakebed.worker.lifetime import Lifetime
from lakebed.worker.memory import memory_of
from lakebed.worker.preload import preload
from lakebed.worker.spark_child import SparkChild

_STEP = 1.0  # seconds between looks at the clock

Part = Command | socket.socket  # what a forked child is for: a command, or keeping Spark


class Worker:
    """A worker and its children."""

    def __init__(self, place: WorkerPlace, about: Mapping[str, Any]) -> None:
        self.place, self.about = place, about
        self._selector = selectors.DefaultSelector()
        self._callers, self._spark = Callers(self._selector), SparkChild(self._selector)
        self._ahead = preload()
        self._lifetime = Lifetime(place, about)
        self._leaving = False

    def serve(self, listens: Callable[[], None]) -> Part | None:
        """Serve until idle, stopped or full; None then. In a child: what it is for."""
        if not self._lock():
            listens()  # another one was faster
            return None
        self._hear_signals()
        self._listen()
        listens()
        while not self._ends():
            if (part := self._step()) is not None:
                return part
        self._leave()
        return None

    # -- beginning and end

    def _lock(self) -> bool:
        self._locked = os.open(self.place.lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _hear_signals(self) -> None:
        """A signal wakes the selector: a child has ended, or the worker is to end."""
        self._woken, self._wake = socket.socketpair()
        for end in (self._woken, self._wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._retire())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._selector.register(self._woken, selectors.EVENT_READ, lambda _: self._drain())

    def _drain(self) -> None:
        self._woken.recv(4096)

    def _listen(self) -> None:
        told = {**self.about, "pid": os.getpid(), "started": time.time()}
        self.place.about.write_text(json.dumps(told))
        self.place.socket.unlink(missing_ok=True)
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(self.place.socket))
        self.place.socket.chmod(0o600)
        self._listening.listen(64)
        self._listening.setblocking(False)
        self._selector.register(self._listening, selectors.EVENT_READ, lambda _: self._accept())

    def _retire(self) -> None:
        self._leaving = True

    def _ends(self) -> bool:
        if len(self._callers) or self._spark.borrowers:
            self._lifetime.used()
            return False
        return self._leaving or self._spark.full or self._lifetime.is_over()

    def _leave(self) -> None:
        """Whoever comes from here on starts another worker, without waiting for Spark's end."""
        self._listening.close()
        for file in (self.place.socket, self.place.about):
            file.unlink(missing_ok=True)
        os.close(self._locked)
        self._spark.stop()

    # -- one step

    def _step(self) -> Part | None:
        loads = len(self._callers) == 0 and next(self._ahead, None) is not None
        for key, _ in self._selector.select(0 if loads else _STEP):
            part: Part | None = key.data(key.fileobj)
            if part is not None:
                return part
        self._reap()
        self._callers.end_abandoned()
        return None

    def _reap(self) -> None:
        """Children that have ended. The one that keeps Spark is missed by its connection."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._callers.ended(pid, status)

    def _accept(self) -> Part | None:
        try:
            connection, _ = self._listening.accept()
        except OSError:
            return None
        connection.settimeout(GRACE)
        told = receive(connection) if self._may_come(connection) else None
        if told is None:
            connection.close()
            return None
        connection.settimeout(None)
        message, files = told
        try:
            return self._answer(connection, message, files)
        except (OSError, ValueError, KeyError, TypeError) as error:  # it has gone, or is no client
            self._note(f"a caller was sent away: {error!r}")
            connection.close()
            close_files(files)
            return None

    def _may_come(self, connection: socket.socket) -> bool:
        if is_own(connection):
            return True
        self._note("another user was refused")
        return False

    def _note(self, text: str) -> None:
        """Write to the worker's log."""
        sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
        sys.stderr.flush()

    def _answer(
        self, connection: socket.socket, told: dict[str, Any], files: list[int]
    ) -> Part | None:
        match told.get("kind"):
            case "command" if not self._leaving:
                self._lifetime.used()
                return self._callers.start(connection, told, files)
            case "spark":
                self._lifetime.used()
                send(connection, {"accepted": True})
                return self._spark.pass_on(connection)
            case "stop":
                self._retire()
        with connection:
            send(connection, self._status())
        return None

    def _status(self) -> dict[str, Any]:
        return {
            **self.about,
            "pid": os.getpid(),
            "commands": self._callers.served,
            "running": len(self._callers),
            "borrowers": self._spark.borrowers,
            "spark_log": self._spark.log,
            "idle_seconds_left": self._lifetime.seconds_left,
            "memory": memory_of(os.getpid()),
            "stopping": self._leaving,
        }
