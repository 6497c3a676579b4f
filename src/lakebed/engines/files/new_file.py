"""A local file that is written in full before it becomes visible."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakebed.ports.files.file_paths import unfinished_name


@contextmanager
def new_file(folder: Path, data: bytes) -> Iterator[Path]:
    """Write and sync the data to a temporary file, which is gone after the block."""
    unfinished = folder / unfinished_name()
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            _stamp(file.fileno())
            os.fsync(file.fileno())
        yield unfinished
    finally:
        unfinished.unlink(missing_ok=True)


def _stamp(descriptor: int) -> None:
    """Set the time to the nanosecond.

    The kernel's clock for files ticks every few milliseconds and inode numbers are reused: without
    this two contents of one path could have the same etag.
    """
    now = time.time_ns()
    os.utime(descriptor, ns=(now, now))
