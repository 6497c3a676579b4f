"""Processes that kill themselves (SIGKILL) half-way through their work on a lake."""

import os
import signal
import subprocess
import sys
import time


def let_die(module: str, *arguments: str) -> None:
    """Run a module of `tests.support` until it kills itself, and wait until its lease has lapsed.

    The lake's `lease.limit_seconds` is 1.
    """
    environment = {**os.environ, "LAKEBED_SPARK_QUICK": "true"}
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
