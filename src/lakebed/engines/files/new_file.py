"""A local file that is written in full before it becomes visible."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from lakebed.ports.files.file_content import Content, chunks
from lakebed.ports.files.file_paths import unfinished_name


@contextmanager
def new_file(
    folder: Path, data: Content, refusing: Callable[[], AbstractContextManager[None]]
) -> Iterator[Path]:
    """Write and sync the data to a temporary file, which is gone after the block.

    `refusing` translates errors of the disk; those of the stream of data pass as they are.
    """
    unfinished = folder / unfinished_name()
    with refusing():
        file = unfinished.open("xb")
    try:
        for chunk in chunks(data):
            with refusing():
                file.write(chunk)
        with refusing():
            file.flush()
            _stamp(file.fileno())
            os.fsync(file.fileno())
            file.close()
        with refusing():
            yield unfinished
    finally:
        with suppress(OSError):  # what a full disk did not take fails once more
            file.close()
        unfinished.unlink(missing_ok=True)


def _stamp(descriptor: int) -> None:
    """Set the time to the nanosecond.

    The kernel's clock for files ticks every few milliseconds and inode numbers are reused: without
    this two contents of one path could have the same etag.
    """
    now = time.time_ns()
    os.utime(descriptor, ns=(now, now))
