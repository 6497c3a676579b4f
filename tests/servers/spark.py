"""Spark's own servers from the pip package: a standalone cluster, and a Connect server."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

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


def _java(classname: str, *arguments: str, memory: str = "512m") -> list[str]:
    java = str(find_java(os.environ).home / "bin" / "java")
    return [
        java,
        f"-Xmx{memory}",
        "-XX:+UseSerialGC",
        "-cp",
        f"{spark_home()}/jars/*",
        classname,
        *arguments,
    ]


@contextmanager
def standalone(folder: Path, *, workers: int = 2) -> Iterator[Cluster]:
    """A master and so many workers of one core each, on loopback."""
    ports = iter(free_ports(2 + 2 * workers))
    master, web = next(ports), next(ports)
    home = {
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_HOME": str(spark_home()),
        "JAVA_HOME": str(find_java(os.environ).home),
    }
    home |= {"SPARK_SCALA_VERSION": "2.13"}  # the launcher would look for it in folders of a build
    with ExitStack() as stack:
        begin = _java(
            "org.apache.spark.deploy.master.Master",
            "--host",
            LOOPBACK,
            "--port",
            str(master),
            "--webui-port",
            str(web),
        )
        stack.enter_context(
            running(
                begin,
                log=folder / "master.log",
                ready=lambda: answers(master),
                environment=home,
                seconds=90,
            )
        )
        started = []
        for number in range(workers):
            port, page = next(ports), next(ports)
            work = _java(
                *(
                    "org.apache.spark.deploy.worker.Worker",
                    "--host",
                    LOOPBACK,
                    "--port",
                    str(port),
                    "--webui-port",
                    str(page),
                ),
                *(
                    "--cores",
                    "1",
                    "--memory",
                    "2g",
                    "--work-dir",
                    str(folder / f"work{number}"),
                    f"spark://{LOOPBACK}:{master}",
                ),
            )
            log = folder / f"worker{number}.log"
            ready = _logged(log, "Successfully registered with master")
            started.append(
                Worker(
                    stack.enter_context(
                        running(work, log=log, ready=ready, environment=home, seconds=90)
                    )
                )
            )
        yield Cluster(f"spark://{LOOPBACK}:{master}", tuple(started), folder)


def documented_defaults() -> dict[str, str]:
    """The settings that docs/production.md gives to a Connect server; secrets in it are …"""
    page = (Path(__file__).parents[2] / "docs" / "production.md").read_text()
    block = page.partition("```properties\n")[2].partition("```")[0]
    return dict(line.split(" ", 1) for line in block.splitlines())


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
    command = [
        *(str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--properties-file", str(defaults), "spark-internal"),
    ]
    home = {
        "JAVA_HOME": str(find_java(os.environ).home),
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": LOOPBACK,
    }
    with running(
        command,
        log=folder / "connect.log",
        ready=lambda: answers(port),
        environment=home,
        seconds=120,
    ):
        yield f"sc://{LOOPBACK}:{port}"
