"""Care that is killed loses nothing, and the next one finishes what it began."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from lakebed.care.removal import FOLDER
from lakebed.settings import Root
from lakebed.tables import USED
from tests.care.lakes import CareLake
from tests.conftest import SCALE

ROUNDS = 8 * SCALE
TABLES = [f"silver.t{number}" for number in range(6)]


def test_killed_at_any_moment_no_row_is_lost_and_no_file_is_left(tmp_path: Path) -> None:
    cared = CareLake(Root.parse(tmp_path / "lake"), settings={"lease": {"limit_seconds": 0.4}})
    dice = random.Random(7)
    for table in TABLES:
        cared.make(table, [0])
    cared.lake.clone("silver.t0", "shop.silver.copy")
    died = 0
    for number in range(1, ROUNDS + 1):
        for table in TABLES:
            cared.overwrite(table, [number])
        cared.make("silver.passing", [number])
        cared.lake.drop("silver.passing")
        died += killed(cared, after=dice.uniform(0, 0.6))
        assert {table: cared.rows(table) for table in TABLES} == {table: [number] for table in TABLES}
        assert cared.rows("silver.copy") == [0]
    time.sleep(0.5)  # the dead one's leases pass on
    assert cared.care(days=40, orphans=True).ok
    assert died > ROUNDS // 4
    assert cared.files(FOLDER) == set()
    assert {path for path in cared.files() if not path.endswith(USED)} == cared.reached()
    cared.lake.close()


def killed(cared: CareLake, *, after: float) -> bool:
    """Start care in a process of its own and kill it so long after it began; whether it died of that."""
    command = [sys.executable, "-m", "tests.care.killed", str(cared.lake.root), "40"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL
