"""Logs may quote rows: others cannot read them, whatever the umask."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lakebed.engines.spark.logs import new_log
from lakebed.errors import FilesRefused
from lakebed.pipelines.running.begin import logger_of


def log_of_a_run(folder: Path) -> Path:
    file = folder / "runs" / "r1.log"
    log = logger_of("r1", file)
    log.info("begun")
    for handler in log.handlers:
        handler.close()
    assert isinstance(handler, logging.FileHandler)
    return file


@pytest.mark.parametrize("make", [log_of_a_run, new_log])
@pytest.mark.parametrize(("umask", "mode"), [(0o000, 0o640), (0o022, 0o640), (0o077, 0o600)])
def test_others_cannot_read_a_log(
    make: Callable[[Path], Path], umask: int, mode: int, tmp_path: Path
) -> None:
    before = os.umask(umask)
    try:
        log = make(tmp_path / "logs")
    finally:
        os.umask(before)
    assert log.stat().st_mode & 0o777 == mode
    assert log.parent.stat().st_mode & 0o007 == 0  # what others write there, such as crash reports


@pytest.mark.parametrize("make", [log_of_a_run, new_log])
def test_a_folder_that_takes_no_log_is_named(make: Callable[[Path], Path], tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(FilesRefused, match="a log cannot be written") as refused:
        make(tmp_path / "logs")
    assert str(tmp_path / "logs") in refused.value.where
