"""The caller's process while a worker runs its command: passes signals on, and waits."""

import os
import signal
import socket
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

from lakebed.engines.worker.messages import receive, send

_INTERRUPTED = 130
_SHOW_CURSOR = "\x1b[?25h"
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGUSR1, signal.SIGUSR2)
_DIED = (
    "error: the worker died while it ran this command.\n"
    "  Every table is as it was, or published: lakebed runs tells which.\n"
    "  Run the command again; the worker's log: lakebed worker logs\n"
)


def attend(connection: socket.socket) -> int:
    """Wait for the command to end; its exit code."""
    caller = _Caller(connection)
    caller.listen()
    answer = receive(connection)
    if answer is None:
        caller.restore_terminal()
        sys.stderr.write(_DIED)
        return 1
    code = int(answer[0]["exit"])
    if code >= 0:
        return code
    caller.restore_terminal()
    if -code != signal.SIGINT:
        sys.stderr.write(f"error: the command's process was ended by {_name(-code)}.\n")
    return 128 - code


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Caller:
    """The terminal of the caller, and its signals."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._interrupts = connection, 0
        self._terminal = _terminal_settings()

    def listen(self) -> None:
        for number in _PASSED_ON:
            signal.signal(number, self._pass_on)
        signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGTSTP, self._suspend)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        with suppress(OSError):  # it has just ended
            send(self._connection, {"signal": number})

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
