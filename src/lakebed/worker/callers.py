"""The callers of commands: their signals go to the children that run them, exit codes come back."""

import selectors
import signal
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from lakebed.engines.worker.children import fork_child, send_signal
from lakebed.engines.worker.end_report import EndReport, command_end
from lakebed.engines.worker.messages import receive, send
from lakebed.engines.worker.open_files import close_files
from lakebed.worker.become import Command

GRACE = 5.0  # seconds that a command without a caller may take to end


@dataclass
class _Caller:
    connection: socket.socket
    report: EndReport
    interrupted: bool = False
    gone_since: float | None = None


class Callers:
    """The callers whose commands run now, by the process ids of the children."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._callers: dict[int, _Caller] = {}
        self.served = 0

    def __len__(self) -> int:
        return len(self._callers)

    def start(
        self, connection: socket.socket, told: dict[str, Any], files: list[int]
    ) -> Command | None:
        """Run a command in a child, where it is returned."""
        command = Command.read(told, files)
        send(connection, {"accepted": True})  # from here on the caller does not run it itself
        report = EndReport()
        pid = fork_child()
        if pid == 0:
            return replace(command, report=report.writing)
        report.close_writing()
        close_files(files)
        self._callers[pid] = _Caller(connection, report)
        self._selector.register(connection, selectors.EVENT_READ, lambda _: self._hear(pid))
        self.served += 1
        return None

    def _hear(self, pid: int) -> None:
        """A signal from a caller, or its end, which interrupts its command."""
        caller = self._callers[pid]
        told = receive(caller.connection)
        if told is not None:
            number = told[0]["signal"]
        else:
            self._selector.unregister(caller.connection)
            caller.gone_since = time.monotonic()
            number = 0 if caller.interrupted else signal.SIGINT
        caller.interrupted = caller.interrupted or number in (signal.SIGINT, signal.SIGTERM)
        send_signal(pid, number)

    def end_abandoned(self) -> None:
        """Kill commands that go on although their callers have gone."""
        for pid, caller in self._callers.items():
            if caller.gone_since and time.monotonic() - caller.gone_since > GRACE:
                send_signal(pid, signal.SIGKILL)

    def ended(self, pid: int, status: int) -> None:
        """Tell a caller how its command ended."""
        caller = self._callers.pop(pid, None)
        if caller is None:
            return
        end = command_end(status, caller.report.read())
        if caller.gone_since is None:
            self._selector.unregister(caller.connection)
            with suppress(OSError):  # it has just gone
                send(caller.connection, asdict(end))
        caller.connection.close()
