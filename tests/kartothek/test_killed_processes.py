"""Writers killed with SIGKILL at any change to the file system: the old state or the new one stays."""

import random
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.kartothek import (
    DatasetOptions,
    collect_garbage,
    load_state,
    read_table,
    store,
    update,
    verify,
)
from tests.support.killed_dataset import OPERATIONS, rows
from tests.support.scale import SCALE, SEED

KILLS = 2 * SCALE  # of each operation
MOST = 60  # changes that no operation makes


def killed(folder: Path, operation: str, nth: int) -> bool:
    """Whether the process died before its nth change; False if it made fewer."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killed_dataset", str(folder), operation, str(nth)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def content(folder: Path) -> list[int]:
    files = FolderFiles(folder)
    found = sorted(read_table(files, "d")["x"].to_pylist())
    for x in found:
        assert read_table(files, "d", predicates=[[("x", "==", x)]]).num_rows == 1
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_killed_writer_loses_nothing_and_blocks_nobody(operation: str, tmp_path: Path) -> None:
    clean = tmp_path / "clean"
    store(FolderFiles(clean), "d", rows(1, 2, 3, 5), options=DatasetOptions(("k",), ("x",)))
    before = content(clean)
    done = tmp_path / "done"
    shutil.copytree(clean, done)
    assert not killed(done, operation, MOST)
    after = content(done)
    chance = random.Random(f"{SEED} {operation}")
    for nth in sorted(chance.sample(range(14), min(KILLS, 14))):
        folder = tmp_path / f"killed{nth}"
        shutil.copytree(clean, folder)
        killed(folder, operation, nth)
        assert content(folder) in (before, after)
        files = FolderFiles(folder)
        assert not [one for one in verify(files, "d", full=True) if one.level == "problem"]
        update(files, "d", rows(11))
        assert 11 in content(folder)
        collect_garbage(files, "d", older_than=timedelta(0))
        assert load_state(files, "d").files <= {info.path for info in files.list("d")}
