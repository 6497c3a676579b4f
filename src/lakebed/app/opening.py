"""Opening a lake by its path or address."""

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.app.connections import Report, Starting, quiet
from lakebed.app.lake import Lake
from lakebed.app.spark.workers import warm_spark
from lakebed.engines.files import open_files
from lakebed.errors import FileMissing, NoLake
from lakebed.settings import (
    SETTINGS_FILE,
    Root,
    files_settings,
    find_root,
    load_settings,
    wants_worker,
)
from lakebed.work import retry

if TYPE_CHECKING:
    from lakebed.engines.types import SparkSession


def open_lake(
    path: str | Path | None = None,
    *,
    spark: "SparkSession | None" = None,
    environment: Mapping[str, str] | None = None,
    report: Report = quiet,
    starting: Starting = nullcontext,
    worker: bool | None = False,
) -> Lake:
    """Open the lake at `path`; without one, the lake of LAKEBED_LAKE, or the nearest at or above
    the current folder.

    `worker` says whether to borrow Spark from a worker, which then stays for the next process;
    None decides as commands do. `report` is told what takes long, and `starting` encloses the start
    of Spark.
    """
    environment = os.environ if environment is None else environment
    root = locate(path or environment.get("LAKEBED_LAKE"))
    text = _settings_text(root, environment)
    settings = load_settings(text, environment, root=root)
    wanted = wants_worker(
        settings.worker, environment, asked=worker, interactive=sys.stderr.isatty()
    )
    warm = (
        warm_spark(root, text, settings, environment=environment, report=report)
        if wanted and settings.spark.is_local
        else None
    )
    return Lake(
        root,
        settings,
        environment=environment,
        spark=spark,
        report=report,
        starting=starting,
        warm=warm,
    )


def locate(path: str | Path | None) -> Root:
    """The root of a lake, from an address, a folder in the lake, or the current folder."""
    if path is not None and "://" in str(path):
        return Root.parse(path)
    start = Path(path).expanduser().resolve() if path is not None else Path.cwd()
    found = find_root(start)
    if found is None:
        raise NoLake(str(start))
    return found


def _settings_text(root: Root, environment: Mapping[str, str]) -> str:
    """The text of `lakebed.yaml`.

    The environment says how to reach a bucket, because the file is in it.
    """
    try:
        files = open_files(root, files_settings(environment))
        return retry(lambda: files.read(SETTINGS_FILE), attempts=3, pause=float).decode()
    except FileMissing:
        raise NoLake(str(root)) from None
