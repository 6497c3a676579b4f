"""Folders for temporary files that only this user may enter; those of processes that were killed
are removed by the next one.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PrivateFolder:
    """A folder that nobody sweeps while a process has the `lock` open.

    A file system without locks has none: nobody else can lock a folder to sweep it either.
    """

    path: Path
    lock: int | None

    def let_go(self) -> None:
        """Leave the lock to those processes that have inherited it."""
        if self.lock is not None:
            os.close(self.lock)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def make_private_folder(parent: Path, prefix: str) -> PrivateFolder:
    """A new folder, after a sweep of what killed processes left."""
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent, prefix)
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = _locked(path)
        except OSError:
            return PrivateFolder(path, None)
        if lock is not None:
            return PrivateFolder(path, lock)
        # otherwise another process removed it before it was locked


def _sweep(parent: Path, prefix: str) -> None:
    for path in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            if path.lstat().st_uid == os.geteuid() and (lock := _locked(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _locked(path: Path) -> int | None:
    """A lock on a folder, which ends with the processes that have it open.

    None if another process has it or the folder is gone.
    """
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(path.stat(), os.fstat(folder)):
            return folder
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(folder)
        raise
    os.close(folder)
    return None
