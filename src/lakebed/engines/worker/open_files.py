"""The open files of this process."""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path


def open_files() -> list[int]:
    """The numbers of all open files; one of them, which was open to list them, is closed again."""
    return sorted(int(file.name) for file in Path("/proc/self/fd").iterdir())


def inherited_files() -> list[int]:
    """The files that a program started by this process would have: standard streams, and what the
    shell has opened.
    """
    return [number for number in open_files() if _is_inherited(number)]


def _is_inherited(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:  # the one by which they were listed
        return False


def close_all_but(kept: Collection[int]) -> None:
    """Close every file whose number is not among these."""
    close_files(number for number in open_files() if number not in kept)


def close_files(numbers: Iterable[int]) -> None:
    """Close these; one that is closed already is passed over."""
    for number in numbers:
        with suppress(OSError):
            os.close(number)
