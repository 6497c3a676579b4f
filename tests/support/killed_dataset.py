"""A process that changes a Kartothek dataset in a folder and kills itself (SIGKILL) before its nth
change to the file system; if there are fewer, it ends with 0.

    python -m tests.support.killed_dataset FOLDER OPERATION N
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakebed.engines.files import FolderFiles
from lakebed.kartothek import build_indices, store, update
from lakebed.ports.files.files import Files

CHANGES = ("fsync", "link", "replace", "rename", "unlink", "remove")


def rows(*values: int) -> Any:
    return pa.table({"k": [value % 2 for value in values], "x": list(values)})


OPERATIONS: dict[str, Callable[[Files], Any]] = {
    "append": lambda files: update(files, "d", rows(7, 8)),
    "scope": lambda files: update(files, "d", rows(7), delete_scope=[{"x": 1}, {"k": 0}]),
    "index": lambda files: build_indices(files, "d", ["x"]),
    "overwrite": lambda files: store(files, "d", rows(9), overwrite=True),
}


def die_before(nth: int) -> None:
    """Count the calls of the operating system that change files."""
    left = nth

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return call(*arguments, **options)

        return instead

    for name in CHANGES:
        setattr(os, name, counted(getattr(os, name)))


def main() -> None:
    folder, operation, nth = sys.argv[1:]
    files = FolderFiles(Path(folder))
    die_before(int(nth))
    OPERATIONS[operation](files)


if __name__ == "__main__":
    main()
