"""Where DuckDB writes what does not fit into memory.

All DuckDB instances name their files alike: two in one folder would read each other's rows. So each
process has a private folder, and each instance its own folder in there, which DuckDB creates when
it spills and removes when it is closed.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock
from uuid import uuid4

from lakebed.engines.duckdb.sql.types import text
from lakebed.errors import UsageError

PREFIX = "lakebed-spill-"
_lock = Lock()
_made: dict[tuple[Path, int], Path] = {}  # by parent and process: a fork needs its own


def spill_setting(parent: str) -> str:
    """The setting for a new DuckDB.

    `parent` is where folders are created; if empty, the system's temporary folder.
    """
    try:
        own = _own(Path(parent).expanduser().absolute() if parent else Path(tempfile.gettempdir()))
    except OSError as error:
        if parent:
            raise UsageError(
                f"DuckDB cannot keep temporary files there: {error.strerror or error}.",
                where=parent,
                next="Change places.spill.",
            ) from error
        return "SET GLOBAL temp_directory = ''"  # queries that fit into memory still work
    return f"SET GLOBAL temp_directory = {text(str(own / uuid4().hex))}"


def _own(parent: Path) -> Path:
    """This process's folder."""
    key = (parent, os.getpid())
    with _lock:
        if key not in _made or not _made[key].is_dir():
            parent.mkdir(parents=True, exist_ok=True)
            _sweep(parent)
            _made[key] = _make(parent)
            atexit.register(_remove, _made[key], os.getpid())
        return _made[key]


def _make(parent: Path) -> Path:
    """A new folder that only this user may enter, locked until this process ends."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        try:
            if _locked(path) is not None:
                return path  # otherwise another process removed it before it was locked
        except OSError:  # a file system without locks: nobody else can lock it to remove it either
            return path


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Remove what killed processes of this user left behind."""
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path.lstat().st_uid == os.geteuid() and (lock := _locked(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _locked(path: Path) -> int | None:
    """A lock on a folder, which ends with this process.

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
