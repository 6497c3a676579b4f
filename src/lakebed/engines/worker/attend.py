"""The process that a command was called as, while a child or a worker runs the command: passes
signals on, and waits.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

from lakebed.engines.worker.children import fork_child, send_signal
from lakebed.engines.worker.end_report import CommandEnd, EndReport, command_end, report_to
from lakebed.engines.worker.messages import receive, send

_INTERRUPTED = 130
_SHOW_CURSOR = "\x1b[?25h"
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGUSR1, signal.SIGUSR2)
_DIED = (
    "error: the worker died while it ran this command.\n"
    "  Every table is as it was, or published: lakebed runs tells which.\n"
    "  Run the command again; the worker's log: lakebed worker logs\n"
)
_EARLY = (
    "error: the command's process ended before the command did: code that it ran called os._exit,"
    " or a library ended the process.\n"
    "  Tables that were published stand, all others are as they were: lakebed runs tells which.\n"
    "  Take that call out of the pipeline, then: lakebed retry\n"
)


def run_in_child() -> int | None:
    """The exit code of this process's command, which a child runs; None in that child.

    A child that ends by a signal makes this process end by it, too.
    """
    sys.stdout.flush()
    report = EndReport()
    pid = fork_child()
    if pid == 0:
        report_to(report.writing)
        return None
    caller = _Caller(partial(send_signal, pid))
    caller.listen()
    _, status = os.waitpid(pid, 0)
    report.close_writing()
    end = command_end(status, report.read())
    if end.code < 0:
        caller.restore_terminal()
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-end.code, signal.SIG_DFL)
        os.kill(os.getpid(), -end.code)
    return _exit_code(end, caller)


def attend(connection: socket.socket) -> int:
    """Wait for the command that a worker runs to end; its exit code."""
    caller = _Caller(partial(_send, connection))
    caller.listen()
    answer = receive(connection)
    if answer is None:
        caller.restore_terminal()
        sys.stderr.write(_DIED)
        return 1
    return _exit_code(CommandEnd(**answer[0]), caller)


def _send(connection: socket.socket, number: int) -> None:
    with suppress(OSError):  # it has just ended
        send(connection, {"signal": number})


def _exit_code(end: CommandEnd, caller: "_Caller") -> int:
    if end.code >= 0 and not end.early:
        return end.code
    caller.restore_terminal()
    if end.early:
        sys.stderr.write(_EARLY)
        return end.code
    if -end.code != signal.SIGINT:
        sys.stderr.write(f"error: the command's process was ended by {_name(-end.code)}.\n")
    return 128 - end.code


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Caller:
    """The terminal of the caller, and its signals."""

    def __init__(self, send: Callable[[int], None]) -> None:
        self._send, self._interrupts = send, 0
        self._terminal = _terminal_settings()

    def listen(self) -> None:
        for number in _PASSED_ON:
            signal.signal(number, self._pass_on)
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGTSTP, self._suspend)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        self._send(number)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C is the command's; the second ends this process at once."""
        self._interrupts += 1
        if self._interrupts == 1:
            self._pass_on(number, frame)
            return
        self.restore_terminal()
        os._exit(_INTERRUPTED)

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        self._pass_on(signal.SIGSTOP, frame)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # returns when the shell continues us
        signal.signal(number, self._suspend)
        self._pass_on(signal.SIGCONT, frame)

    def restore_terminal(self) -> None:
        """The command may have hidden the cursor or switched off the echo, and cannot put it
        right any more.
        """
        if self._terminal is not None:
            import termios

            with suppress(OSError, termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._terminal)
        if os.isatty(2):
            os.write(2, _SHOW_CURSOR.encode())


def _terminal_settings() -> Any:
    if not os.isatty(0):
        return None
    import termios

    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None
