"""A forked child takes the place of the caller's process."""

import fcntl
import importlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, TextIO

from lakebed.engines.worker.end_report import report_to
from lakebed.engines.worker.open_files import close_all_but


@dataclass(frozen=True)
class Command:
    """What the caller's process was started as, and its open files by their numbers."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    umask: int
    path: Sequence[str]  # where Python looks for modules
    files: Mapping[int, int]
    report: int = -1  # where the command's end is reported to

    @classmethod
    def read(cls, told: Mapping[str, Any], files: Sequence[int]) -> "Command":
        """The command as a client sends it."""
        return cls(
            told["arguments"],
            told["environment"],
            told["folder"],
            told["umask"],
            told["path"],
            dict(zip(told["files"], files, strict=True)),
        )


def become(command: Command) -> None:
    """Be the caller's process from here on."""
    report_to(_take_files(command.files, command.report))
    os.chdir(command.folder)
    os.umask(command.umask)
    os.environ.clear()
    os.environ.update(command.environment)
    time.tzset()
    sys.argv[:] = command.arguments
    sys.path[:] = command.path
    importlib.invalidate_caches()  # folders may have got modules since they were last looked at
    _reseed()
    _open_streams(command.files)


def _take_files(files: Mapping[int, int], report: int) -> int:
    """The caller's open files under the caller's numbers, and no others but the report, whose
    number is returned.
    """
    above = max((*files, *files.values(), 2)) + 1
    moved = {number: fcntl.fcntl(file, fcntl.F_DUPFD, above) for number, file in files.items()}
    moved_report = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, above)
    close_all_but({*moved.values(), moved_report})
    for number, file in moved.items():
        os.dup2(file, number, inheritable=True)
        os.close(file)
    return moved_report


def _open_streams(files: Mapping[int, int]) -> None:
    """Standard streams on the new files, as Python opens them when it starts."""
    sys.stdin = sys.__stdin__ = _stream(0, sys.stdin, "r") if 0 in files else None  # type: ignore
    sys.stdout = sys.__stdout__ = _stream(1, sys.stdout, "w") if 1 in files else None  # type: ignore
    sys.stderr = sys.__stderr__ = _stream(2, sys.stderr, "w") if 2 in files else None  # type: ignore


def _stream(number: int, former: TextIO, mode: str) -> IO[Any]:
    return open(
        number,
        mode,
        buffering=1 if number == 2 or os.isatty(number) else -1,
        encoding=former.encoding,
        errors=former.errors,
        closefd=False,
    )


def _reseed() -> None:
    """NumPy's generator was seeded when it was loaded: every command would draw the same."""
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
