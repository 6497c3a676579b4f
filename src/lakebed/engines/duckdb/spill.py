"""Where DuckDB writes what does not fit into memory.

All DuckDB instances name their files alike: two in one folder would read each other's rows. So each
process has a private folder, and each instance its own folder in there, which DuckDB creates when
it spills and removes when it is closed.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from threading import Lock
from uuid import uuid4

from lakebed.engines.duckdb.sql.types import text
from lakebed.engines.private_folders import make_private_folder
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
            _made[key] = make_private_folder(parent, PREFIX).path
            atexit.register(_remove, _made[key], os.getpid())
        return _made[key]


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)
