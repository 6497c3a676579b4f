"""A lake with a worker, and terminals in which commands run."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import create_lake, open_lake
from lakebed.app.spark.workers import Workers, WorkerStatus
from lakebed.engines.worker.connect import ask, connect_or_start
from lakebed.engines.worker.places import WorkerPlace, private_folder
from tests.support.terminals import LAKEBED, PATIENCE, Terminal

ABOUT: dict[str, Any] = {"lake": "/lake", "idle_seconds": 600.0, "enabled": None}
SMALL = "SELECT * FROM VALUES (1L, 10), (2L, 20) AS t(id, amount)"


class Desk:
    """A user with a lake, who opens terminals."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder, self.runtime = folder / "lake", runtime
        create_lake(self.folder)
        with (self.folder / "lakebed.yaml").open("a") as settings:
            settings.write("spark:\n  memory: 1g\n  master: local[2]\n")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "CI"},
            "XDG_RUNTIME_DIR": str(runtime),
            "PYTHONPATH": str(self.folder / "shared"),
            "TERM": "xterm-256color",
        }
        self.environment.pop("LAKEBED_WORKER", None)
        self._open: list[Terminal] = []
        self.first: Terminal

    def pipeline(self, name: str, source: str) -> None:
        layer, _, table = name.partition(".")
        folder = self.folder / "shop" / "pipelines" / layer / table
        folder.mkdir(parents=True, exist_ok=True)
        kind = "py" if "def run(" in source else "sql"
        for file in folder.iterdir():
            file.unlink()
        (folder / f"pipeline.{kind}").write_text(source)

    def terminal(self, *arguments: str, piped: bool = False, **variables: str) -> Terminal:
        environment = self.environment | variables
        made = Terminal(
            LAKEBED, *arguments, environment=environment, folder=self.folder, piped=piped
        )
        self._open.append(made)
        return made

    def run(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """Exit code and text of a command in a terminal."""
        terminal = self.terminal(*arguments, piped=False, **variables)
        return terminal.end(), terminal.text

    def shell(self) -> Terminal:
        """A shell in a terminal."""
        command = ("bash", "--norc", "--noprofile", "-i")
        made = Terminal(*command, environment=self.environment, folder=self.folder)
        self._open.append(made)
        return made

    def python(self, program: str) -> str:
        """What a Python program prints."""
        return subprocess.run(
            [sys.executable, "-c", program],
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    def processes(self) -> str:
        """The states and command lines of the worker's processes."""
        found, pids = "", [self.worker().pid]
        while pids:
            process = Path(f"/proc/{pids.pop()}")
            with suppress(OSError):  # it has just ended
                state = process.joinpath("stat").read_text().rpartition(")")[2].split()[0]
                line = process.joinpath("cmdline").read_text().replace("\0", " ")
                found += f"{state} {line}\n"
                for task in process.joinpath("task").iterdir():
                    pids += map(int, task.joinpath("children").read_text().split())
        return found

    def rows(self, sql: str) -> list[dict[str, Any]]:
        with open_lake(self.folder) as lake, lake.query(sql) as found:
            return found.to_arrow().to_pylist()  # type: ignore[no-any-return]

    def tables(self) -> set[str]:
        with open_lake(self.folder) as lake:
            return {str(table) for table in lake.tables.readable()}

    def workers(self) -> tuple[WorkerStatus, ...]:
        return Workers(self.environment, lake=str(self.folder)).status()

    def worker(self) -> WorkerStatus:
        (found,) = self.workers()
        return found

    def wait_until_idle(self) -> WorkerStatus:
        """The worker's status, once nobody uses it."""
        self.wait_until(lambda: not self.worker().running and not self.worker().borrowers)
        return self.worker()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, self.workers()
            time.sleep(0.05)

    def close(self) -> None:
        for terminal in self._open:
            terminal.close()
        Workers(self.environment).stop()


@pytest.fixture(scope="session")
def runtime() -> Iterator[Path]:
    """A runtime folder with a short path: sockets take no long ones."""
    folder = Path(tempfile.mkdtemp(prefix="lb", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def place(runtime: Path) -> Iterator[WorkerPlace]:
    """The place of a worker that is not there yet; it is stopped afterwards."""
    place = _new_place(runtime)
    yield place
    ask(place, "stop")
    wait_for_end(place)


@pytest.fixture(scope="module")
def shared_place(runtime: Path) -> Iterator[WorkerPlace]:
    """The place of a running worker."""
    place = _new_place(runtime)
    started(place)
    yield place
    ask(place, "stop")
    wait_for_end(place)


def _new_place(runtime: Path) -> WorkerPlace:
    folder = private_folder({"XDG_RUNTIME_DIR": str(runtime)})
    return WorkerPlace(folder, os.urandom(8).hex())


def wait_for_end(place: WorkerPlace) -> None:
    deadline = time.monotonic() + PATIENCE
    while place.about.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not place.about.exists()


def started(place: WorkerPlace) -> dict[str, Any]:
    """The status of a worker, which is started if there is none."""
    while True:
        connect_or_start(place, ABOUT, os.environ).close()
        if status := ask(place, "status"):
            return status


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, runtime: Path) -> Iterator[Desk]:
    """The first command, of this fixture, has started the worker."""
    made = Desk(tmp_path_factory.mktemp("desk"), runtime)
    try:
        made.pipeline("bronze.small", SMALL)
        made.first = made.terminal("run", "bronze.small")
        assert made.first.end() == 0, made.first.text
        made.wait_until_idle()
        yield made
    finally:
        made.close()
