"""Processes that kill themselves (SIGKILL) half-way through their work on a lake."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping


def let_die(module: str, *arguments: str, given: Mapping[str, str] | None = None) -> None:
    """Run a module of `tests.support` until it kills itself, and wait until its lease has lapsed.

    `given` is added to its environment.
    """
    own = {"LAKEBED_LEASE_LIMIT_SECONDS": "1", "LAKEBED_SPARK_QUICK": "true"}
    environment = {**os.environ, **(given or {}), **own}
    environment.pop("LAKEBED_TEST_NO_ARCHIVE", None)
    done = subprocess.run(
        [sys.executable, "-m", f"tests.support.{module}", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == -signal.SIGKILL, (arguments, done.stdout, done.stderr)
    time.sleep(1.1)
