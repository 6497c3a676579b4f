"""How a command ended, as it reports itself.

Code of a pipeline can end its process before the command has ended: `os._exit(0)`, or a library
that ends the process, leaves exit code 0 and not a word. So a command's last act is to report its
exit code, and whoever waits for its process looks for that report.
"""

import os
from contextlib import suppress
from dataclasses import dataclass

_EARLY = 1  # the exit code of a command whose process ended early, and said 0


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended: its exit code, or a signal's number below 0."""

    code: int
    early: bool = False  # its process ended before the command did


def command_end(status: int, reported: int | None) -> CommandEnd:
    """How a command ended, by its process's status and what it reported. Pure.

    What runs after the report may end the process with 0, but makes no success of a failure.
    """
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return CommandEnd(code)
    if reported is None:
        return CommandEnd(code or _EARLY, early=True)
    return CommandEnd(code or reported)


class EndReport:
    """A pipe from a child to its parent, for the exit code that the command reports."""

    def __init__(self) -> None:
        self._reading, self.writing = os.pipe()

    def close_writing(self) -> None:
        """In the parent, once the child has its end."""
        os.close(self.writing)

    def read(self) -> int | None:
        """In the parent, once the child has ended: what it reported, if it did."""
        os.set_blocking(self._reading, False)  # a process that the child left may hold the pipe
        try:
            report = os.read(self._reading, 1)
        except BlockingIOError:
            report = b""
        os.close(self._reading)
        return report[0] if report else None


# -- in the child

_report: int | None = None  # where this process reports how its command ended


def report_to(file: int) -> None:
    """Have the end of the command reported to the parent by this pipe."""
    global _report  # a process runs one command
    _report = file


def report_end(code: object) -> None:
    """The command has ended with this exit code, as `SystemExit` has it."""
    if _report is None:
        return
    number = code if isinstance(code, int) else int(code is not None)
    with suppress(OSError):  # the parent has gone
        os.write(_report, bytes([number & 0xFF]))
