"""A lock on one path of a folder: whoever replaces, moves or removes a file holds it meanwhile.

The kernel releases it when its holder dies, so a killed process blocks nobody. The lock is a file
beside the path, because a lock on the folder itself would not reach other machines on NFS; it is
removed by its holder, and one that a killed process left by the next holder or by a listing.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakebed.ports.files.file_paths import lock_name

NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def locked(place: Path, *, unless: frozenset[int] = frozenset()) -> Iterator[None]:
    """Hold the lock of a path; go on without one after an error in `unless`."""
    lock = place.parent / lock_name(place.name)
    try:
        descriptor = _locked(lock)
    except OSError as error:
        if error.errno in NO_LOCKS:
            lock.unlink(missing_ok=True)  # nobody can hold it
        if error.errno not in unless:
            raise
        yield
        return
    try:
        yield
    finally:
        _release(lock, descriptor)


def remove_unless_held(lock: Path) -> None:
    """Remove a lock that a killed process left; `BlockingIOError` if another process holds it."""
    descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    _release(lock, descriptor)


def _locked(lock: Path) -> int:
    while True:
        descriptor = _opened(lock)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the last holder has removed it: others lock a new file


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)  # NFS: only if writable
    except PermissionError as refused:
        try:
            return os.open(lock, os.O_RDONLY | os.O_NOFOLLOW)  # another user's process was killed
        except FileNotFoundError:
            raise refused from None


def _release(lock: Path, descriptor: int) -> None:
    try:
        if os.fstat(descriptor).st_nlink:  # the folder may have been removed meanwhile
            lock.unlink(missing_ok=True)
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked process may have the descriptor too
        os.close(descriptor)
