"""Care that is killed loses nothing, and the next one finishes what it began."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from lakebed.care.removal.removal import FOLDER
from lakebed.settings import Root
from lakebed.tables import USED_MARKER
from tests.support.lakes.care_lakes import CareLake
from tests.support.scale import SCALE

ROUNDS = 5 * SCALE
TABLES = [f"silver.t{number}" for number in range(4)]


def test_killed_at_any_moment_no_row_is_lost_and_no_file_is_left(tmp_path: Path) -> None:
    cared = CareLake(Root.parse(tmp_path / "lake"), settings={"lease": {"limit_seconds": 0.4}})
    dice = random.Random(7)
    for table in TABLES:
        cared.make(table, [0])
    cared.lake.tables.clone("silver.t0", "shop.silver.copy")
    died = begun = 0
    for number in range(1, ROUNDS + 1):
        for table in TABLES:
            cared.overwrite(table, [number])
        cared.make("silver.passing", [number])
        cared.lake.tables.drop("silver.passing")
        died += killed(cared, lines=dice.randrange(1, 40), after=dice.choice([0, 0.002, 0.01]))
        begun += bool(cared.files(FOLDER))
        time.sleep(0.5)  # the dead one's leases pass on
        assert {table: cared.rows(table) for table in TABLES} == {
            table: [number] for table in TABLES
        }
        assert cared.rows("silver.copy") == [0]
    assert cared.care(days=40, orphans=True).ok
    assert died > ROUNDS // 2
    assert begun > ROUNDS // 8
    assert cared.files(FOLDER) == set()
    assert {path for path in cared.files() if not path.endswith(USED_MARKER)} == cared.reached()
    cared.lake.close()


def killed(cared: CareLake, *, lines: int, after: float) -> bool:
    """Start care in a process of its own and kill it after it told so many steps and files; whether
    it died of that.
    """
    command = [sys.executable, "-m", "tests.support.killed_care", str(cared.lake.root), "40"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout
        for _ in range(lines):
            process.stdout.readline()
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL
