"""Spark's own servers from the pip package: a standalone cluster, and a Connect server."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from lakebed.engines.spark import ALL_JARS, find_java, local_jars
from lakebed.engines.spark.conf import EXTENSIONS
from lakebed.engines.spark.start.home import spark_home
from lakebed.engines.spark.start.launch import properties_text
from lakebed.settings import Root, Settings
from tests.servers.processes import LOOPBACK, answers, free_ports, running


@dataclass(frozen=True)
class Worker:
    """One worker of a cluster, by its pid; its executors are its children."""

    pid: int

    def kill(self) -> list[int]:
        """kill -9 the worker and its executors; returns the pids of the latter."""
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.pid)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        executors = [int(pid) for pid in found.split()]
        for pid in (self.pid, *executors):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return executors


@dataclass(frozen=True)
class Cluster:
    """A running standalone cluster; its logs and the folders of its workers are below `folder`."""

    master: str
    workers: tuple[Worker, ...]
    folder: Path


@contextmanager
def standalone(folder: Path, *, workers: int = 2) -> Iterator[Cluster]:
    """A master and so many workers of one core each, on loopback, as docs/production.md starts
    them.
    """
    ports = iter(free_ports(2 + 2 * workers))
    master, web = next(ports), next(ports)
    address = f"spark://{LOOPBACK}:{master}"
    (folder / "spark.conf").write_text(documented("/etc/lakebed/spark.conf"))
    home = _home() | {"SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC", "SPARK_DAEMON_MEMORY": "512m"}
    places = {"/etc/lakebed": str(folder), "spark://10.0.0.5:7077": address}
    with ExitStack() as stack:
        here = places | {"10.0.0.5": LOOPBACK, "7077": str(master), "8080": str(web)}
        begin, log = documented_command("spark-master", here), folder / "master.log"
        ready = lambda: answers(master)  # noqa: E731
        stack.enter_context(running(begin, log=log, ready=ready, environment=home, seconds=90))
        started = []
        for number in range(workers):
            here = places | {
                "10.0.0.6": LOOPBACK,
                "7078": str(next(ports)),
                "8081": str(next(ports)),
                "--cores 4 --memory 8g": "--cores 1 --memory 2g",
                "/var/lib/lakebed/work": str(folder / f"work{number}"),
            }
            work, log = documented_command("spark-worker", here), folder / f"worker{number}.log"
            ready = _logged(log, "Successfully registered with master")
            process = running(work, log=log, ready=ready, environment=home, seconds=90)
            started.append(Worker(stack.enter_context(process)))
        yield Cluster(address, tuple(started), folder)


def _home() -> dict[str, str]:
    """Where Spark's own scripts find Spark, Java and Python, and that they listen on loopback."""
    return {
        "JAVA_HOME": str(find_java(os.environ).home),
        "SPARK_HOME": str(spark_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": LOOPBACK,
    }


def documented(file: str) -> str:
    """What docs/production.md puts into a file."""
    page = (Path(__file__).parents[2] / "docs" / "production.md").read_text()
    found = re.search(rf"```\w+\n *# {re.escape(file)}\n(.*?)```", page, re.DOTALL)
    assert found, f"docs/production.md does not show {file}"
    return dedent(found[1])


def documented_command(unit: str, here: Mapping[str, str]) -> list[str]:
    """What a unit of docs/production.md starts, with the places that it has here."""
    (line,) = (
        line.removeprefix("ExecStart=")
        for line in documented(f"/etc/systemd/system/{unit}.service").splitlines()
        if line.startswith("ExecStart=")
    )
    for place, real in {"/opt/lakebed/bin": str(Path(sys.executable).parent), **here}.items():
        line = line.replace(place, real)
    return shlex.split(line)


def documented_defaults() -> dict[str, str]:
    """The settings that docs/production.md gives to a Connect server; secrets in it are …"""
    lines = documented("/etc/lakebed/spark-connect.conf").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def _logged(log: Path, said: str) -> Callable[[], bool]:
    return lambda: log.exists() and said in log.read_text(errors="replace")


@contextmanager
def connect_server(folder: Path, *, conf: Iterable[tuple[str, str]] = ()) -> Iterator[str]:
    """A Connect server with every jar a lake may need; it knows of a lake what `conf` says, in a
    file that only we may read.
    """
    (port,) = free_ports(1)
    jars = local_jars(
        Settings(), Root.parse(folder), environment=os.environ, report=print, also=ALL_JARS
    )
    settings = {
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.extensions": EXTENSIONS,
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        **dict(conf),
    }
    defaults = folder / "spark-defaults.conf"
    defaults.touch(mode=0o600)
    defaults.write_text(properties_text(settings))
    here = {"/etc/lakebed/spark-connect.conf": str(defaults), "local[4]": "local[2]"}
    command = documented_command("spark-connect", here)
    with running(
        command,
        log=folder / "connect.log",
        ready=lambda: answers(port),
        environment=_home(),
        seconds=120,
    ):
        yield f"sc://{LOOPBACK}:{port}"
