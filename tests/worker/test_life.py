"""A worker without Spark: how it begins, what it answers, when it ends."""

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lakebed.app.spark.workers import Workers
from lakebed.engines.worker import connect as connecting
from lakebed.engines.worker.borrow import WorkerSpark
from lakebed.engines.worker.connect import accepted, ask, connect, connect_or_start, send_or_start
from lakebed.engines.worker.messages import receive, send
from lakebed.engines.worker.places import WorkerPlace, known_places
from lakebed.errors import LakebedError
from lakebed.worker.keep import wait_for_core
from lakebed.worker.lifetime import Lifetime
from lakebed.worker.memory import _of_group
from tests.support.terminals import PATIENCE
from tests.worker.conftest import ABOUT, started, wait_for_end


def test_a_worker_is_started_once_and_found_again(place: WorkerPlace) -> None:
    first, second = started(place), started(place)
    assert first["pid"] == second["pid"]
    assert place in known_places({"XDG_RUNTIME_DIR": str(place.folder.parent)})


def test_a_worker_that_was_killed_is_replaced(place: WorkerPlace) -> None:
    first = started(place)
    os.kill(first["pid"], 9)
    while connect(place) is not None:
        time.sleep(0.01)
    assert started(place)["pid"] != first["pid"]


def test_the_log_of_a_worker_that_was_killed_can_be_read(place: WorkerPlace) -> None:
    with connect_or_start(place, ABOUT, os.environ) as connection:
        send(connection, {"kind": "command", "files": 3})
        assert receive(connection) is None
    os.kill(place.described()["pid"], 9)
    workers = Workers({"XDG_RUNTIME_DIR": str(place.folder.parent)}, lake=ABOUT["lake"])
    (log,) = workers.logs()
    assert "a caller was sent away" in "".join(log.lines)
    assert Path(log.file) == place.log
    place.about.unlink()  # which a worker that ends by itself does


def test_an_idle_worker_ends_and_leaves_no_socket(place: WorkerPlace) -> None:
    connect_or_start(place, ABOUT | {"idle_seconds": 1.0}, os.environ).close()
    wait_for_end(place)
    assert not place.socket.exists()


def command(*arguments: str, folder: Path) -> dict[str, Any]:
    return {
        "kind": "command",
        "arguments": ["lakebed", *arguments],
        "environment": {"PATH": os.environ["PATH"], "HOME": str(folder)},
        "folder": str(folder),
        "umask": 0o022,
        "path": sys.path,
        "files": [],
    }


def test_a_worker_runs_commands_with_the_files_folder_and_exit_code_of_the_caller(
    shared_place: WorkerPlace, tmp_path: Path
) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("w") as stdout, err.open("w") as stderr, (tmp_path / "in").open("w+") as stdin:
        codes = []
        for word in ("--version", "ls"):
            connection = connect(shared_place)
            assert connection is not None
            told = command(word, folder=tmp_path) | {"files": [0, 1, 2]}
            with connection:
                send(connection, told, [stdin.fileno(), stdout.fileno(), stderr.fileno()])
                assert receive(connection) == ({"accepted": True}, [])
                answer = receive(connection)
            assert answer is not None
            codes.append(answer[0]["code"])
    assert codes == [0, 2]
    assert out.read_text().startswith("lakebed ")
    assert str(tmp_path) in err.read_text()


def test_a_command_that_comes_while_a_worker_ends_is_taken_by_the_next(
    place: WorkerPlace, tmp_path: Path
) -> None:
    first = started(place)
    ask(place, "stop")
    message = command("--version", folder=tmp_path)
    with send_or_start(message, place, ABOUT, os.environ) as connection:
        assert receive(connection) == ({"code": 0, "early": False}, [])
    assert started(place)["pid"] != first["pid"]


def test_asking_for_the_status_does_not_keep_a_worker_alive(place: WorkerPlace) -> None:
    first = started(place)
    again = ask(place, "status")
    assert again is not None
    assert again["idle_seconds_left"] < first["idle_seconds_left"]


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "command", "arguments": ["lakebed"]},
        {"kind": "command", "files": 3},
        {"kind": ["command"]},
        {},
    ],
)
def test_nonsense_does_not_harm_a_worker(
    shared_place: WorkerPlace, message: dict[str, Any]
) -> None:
    connection = connect(shared_place)
    assert connection is not None
    with connection, Path(os.devnull).open() as file:
        send(connection, message, [file.fileno()])
        answer = receive(connection)
    assert answer is None or "accepted" not in answer[0]
    assert ask(shared_place, "status") is not None


@pytest.mark.parametrize("sent", [b"", b"\0", b"\0\0\0\x09{}", b"\xff\xff\xff\xff", b"\0\0\0\x01{"])
def test_a_caller_that_breaks_off_does_not_harm_a_worker(
    shared_place: WorkerPlace, sent: bytes
) -> None:
    connection = connect(shared_place)
    assert connection is not None
    with connection:
        connection.sendall(sent)
    assert ask(shared_place, "status") is not None


def test_a_worker_that_answers_too_late_does_not_run_the_command_a_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connecting, "PROMPT", 0.01)
    client, worker = socket.socketpair()
    with client, worker:
        assert not accepted(client)
        with pytest.raises(BrokenPipeError):
            send(worker, {"accepted": True})


def test_a_worker_that_answers_is_waited_for() -> None:
    client, worker = socket.socketpair()
    with client, worker:
        send(worker, {"accepted": True})
        assert accepted(client)
        assert client.gettimeout() is None


def test_a_worker_ends_when_packages_are_installed(place: WorkerPlace, tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    connect_or_start(place, ABOUT, {**os.environ, "PYTHONPATH": str(packages)}).close()
    (packages / "new.py").touch()
    wait_for_end(place)


def test_a_worker_ends_when_memory_is_short(
    place: WorkerPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(place)
    lifetime = Lifetime(place, ABOUT)
    assert not lifetime.is_over()
    for left, expected in ((900, False), (20, True)):
        monkeypatch.setattr("lakebed.worker.memory._of_machine", lambda left=left: (left, 1000))
        assert Lifetime(place, ABOUT).is_over() is expected


def test_a_container_has_a_limit_of_its_own(tmp_path: Path) -> None:
    assert _of_group(tmp_path) == []
    for name, text in {
        "max": "max\n",
        "current": "700\n",
        "stat": "anon 9\ninactive_file 200\n",
    }.items():
        (tmp_path / f"memory.{name}").write_text(text)
    assert _of_group(tmp_path) == []
    (tmp_path / "memory.max").write_text("1000\n")
    assert _of_group(tmp_path) == [(500, 1000)]


def test_a_second_worker_because_of_the_folder_says_what_it_costs(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
    reported: list[str] = []

    def borrow(folder: str) -> str:
        """What is reported of a worker that is started; the request starts no Spark."""
        (tmp_path / folder).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / folder)
        reported.clear()
        spark = WorkerSpark(
            "file:///lake", b"", environment=environment, about=ABOUT, report=reported.append
        )
        assert spark.borrow({}) is None
        return reported[0]

    try:
        assert borrow("one").startswith("No worker")
        assert f"started in {tmp_path / 'one'}," in borrow("two")
        assert borrow("one").startswith("No worker")
    finally:
        Workers(environment).stop()


class _Lender:
    """A Spark whose cores are taken when it is looked at for the first times."""

    def __init__(self, busy: int) -> None:
        self._busy = busy

    @property
    def is_busy(self) -> bool:
        self._busy -= 1
        return self._busy >= 0


def test_a_command_waits_for_a_free_core_as_long_as_it_is_told() -> None:
    wait_for_core(_Lender(busy=0), 0)
    wait_for_core(_Lender(busy=3), PATIENCE)
    with pytest.raises(LakebedError, match="busy with another command"):
        wait_for_core(_Lender(busy=3), 0)
