"""Nobody but the user can reach a worker."""

import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lakebed.engines.worker.borrow import WorkerSpark
from lakebed.engines.worker.connect import ask
from lakebed.engines.worker.places import WorkerPlace, private_folder, runtime_folder
from lakebed.errors import WorkerUnavailable
from tests.worker.conftest import ABOUT, started

OTHER_USER = 65534


# -- the folder


def test_the_folder_of_workers_is_made_for_the_user_alone(runtime: Path) -> None:
    folder = private_folder({"XDG_RUNTIME_DIR": str(runtime)})
    assert folder == runtime / "lakebed"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_without_a_runtime_folder_workers_are_below_tmp_by_user() -> None:
    expected = Path(f"/tmp/lakebed-{os.geteuid()}")
    assert runtime_folder({}) == runtime_folder({"XDG_RUNTIME_DIR": "not/absolute"}) == expected


def spoil_by_link(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


def spoil_by_mode(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def spoil_by_file(folder: Path) -> None:
    folder.write_text("")


@pytest.mark.parametrize("spoil", [spoil_by_link, spoil_by_mode, spoil_by_file])
def test_a_folder_that_others_could_control_is_refused_and_the_command_runs_by_itself(
    tmp_path: Path, spoil: Any
) -> None:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    spoil(tmp_path / "lakebed")
    with pytest.raises(WorkerUnavailable):
        private_folder(environment)
    reported: list[str] = []
    spark = WorkerSpark(
        "file:///lake", b"", environment=environment, about=ABOUT, report=reported.append
    )
    assert spark.borrow({}) is None
    assert len(reported) == 1
    assert "runs by itself" in reported[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lakebed").mkdir(mode=0o700)
    os.chown(tmp_path / "lakebed", OTHER_USER, OTHER_USER)
    with pytest.raises(WorkerUnavailable, match="another user"):
        private_folder({"XDG_RUNTIME_DIR": str(tmp_path)})


# -- other users

TRY = """
import socket, sys
connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
try:
    connection.connect(sys.argv[1])
    connection.sendall(bytes.fromhex("00000012") + b'{"kind": "status"}')
    print("answered" if connection.recv(4) else "refused")
except PermissionError:
    print("no entry")
except ConnectionError:
    print("refused")
"""


def as_other_user(place: WorkerPlace) -> str:
    return subprocess.run(
        ["python3", "-I", "-c", TRY, str(place.socket)],
        user=OTHER_USER,
        group=OTHER_USER,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    ).stdout.strip()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_cannot_use_a_worker(place: WorkerPlace) -> None:
    started(place)
    assert as_other_user(place) == "no entry"
    folders = (place.folder, place.folder.parent)
    try:
        for folder in folders:  # even if the folder were open to all
            folder.chmod(0o755)
        place.socket.chmod(0o666)
        assert as_other_user(place) == "refused"
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert ask(place, "status") is not None
