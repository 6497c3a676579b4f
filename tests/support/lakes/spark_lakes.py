"""Throwaway lakes, the least that a run does to one, and Python processes that do it apart from the
tests' own.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.settings import Root

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENVIRONMENT = {**os.environ, "LAKEBED_TEST_NO_ARCHIVE": "1"}
TABLE = "lake.shop.silver.orders"


def new_lake(folder: Path) -> Root:
    """As much of a lake as Spark needs."""
    (folder / ".data").mkdir(parents=True)
    return Root.parse(folder)


def make_table(session: "SparkSession") -> None:
    for namespace in ("lake.shop", "lake.shop.silver"):
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    session.sql(f"CREATE TABLE {TABLE} (id BIGINT, v STRING) USING iceberg")


def run_once(session: "SparkSession", branch: str = "run_1") -> list[int]:
    """Branch, merge three rows, publish; the ids that are published then."""
    session.sql(f"ALTER TABLE {TABLE} CREATE BRANCH {branch}")
    session.sql(
        f"MERGE INTO {TABLE}.branch_{branch} t USING (SELECT * FROM VALUES (1L, 'a'), (2L, 'b'),"
        " (3L, 'c') AS s(id, v)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED"
        " THEN INSERT *"
    )
    assert session.table(TABLE).count() == 0
    session.sql(f"CALL lake.system.fast_forward('{TABLE}', 'main', '{branch}')").collect()
    return sorted(row.id for row in session.table(TABLE).select("id").collect())


def open_lake(folder: Path, **spark: Any) -> "SparkSession":
    """A session on the lake in this folder, made if need be; reports go to standard output."""
    from lakebed.engines.spark import open_session
    from lakebed.settings import Settings, SparkSettings

    root = Root.parse(folder) if (folder / ".data").is_dir() else new_lake(folder)
    settings = Settings(spark=SparkSettings(**spark))
    return open_session(
        settings, root, environment=os.environ, logs=folder / ".data" / "logs", report=print
    )


def python(
    code: str,
    *arguments: object,
    environment: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> dict[str, Any]:
    """Run code in a Python of its own; what it printed, the last line of which is JSON."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    path = {"PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        command,
        env={**(environment or ENVIRONMENT), **path},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    seen: dict[str, Any] = json.loads(lines[-1])
    return {**seen, "stdout": lines[:-1], "stderr": done.stderr}


def jvm_of(pid: int) -> list[int]:
    """The JVMs that a process has started, from whichever thread.

    Every process names its parent, which `/proc/PID/task/*/children` sometimes does not tell.
    """
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # processes end meanwhile
            name, _, rest = file.read_text().partition("(")[2].rpartition(")")
            if name == "java" and int(rest.split()[1]) == pid:
                found.append(int(file.parent.name))
    return found


def listens_on(pid: int) -> set[str]:
    """The addresses on which a process waits for connections, such as 127.0.0.1."""
    sockets = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            sockets.add(os.readlink(file))
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    ]
    waiting = [
        line[1].partition(":")[0]
        for line in lines
        if line[3] == "0A" and f"socket:[{line[9]}]" in sockets
    ]
    return {_address(address) for address in waiting}


def _address(told: str) -> str:
    """An address as Linux tells it: words of four bytes in the machine's order, IPv4 perhaps within
    IPv6.
    """
    packed = b"".join(
        int(told[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(told), 8)
    )
    found = ip_address(packed)
    return str(getattr(found, "ipv4_mapped", None) or found)
