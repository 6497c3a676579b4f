"""Which commands use a worker, and which worker."""

import json
import socket
from pathlib import Path

import pytest

from lakebed.app import create_lake, open_lake
from lakebed.cli.output.screen import Screen
from lakebed.engines.worker.digest import worker_digest
from lakebed.engines.worker.handover import connected, needs_spark
from lakebed.engines.worker.places import WorkerPlace, private_folder
from lakebed.settings import Root, WorkerSettings, wants_worker


def test_another_python_lake_setting_or_variable_means_another_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = {"PATH": "/bin"}
    same = worker_digest("file:///a", b"x", base)
    assert worker_digest("file:///a", b"x", base) == same
    assert worker_digest("file:///a", b"x", base | {"SHLVL": "2", "DAY": "1"}) == same
    assert worker_digest("file:///a", b"x", base | {"SPARK_BUFFER_SIZE": "65536"}) == same
    others = [
        worker_digest("file:///b", b"x", base),
        worker_digest("file:///a", b"y", base),
        worker_digest("file:///a", b"x", base | {"JAVA_HOME": "/java"}),
        worker_digest("file:///a", b"x", base | {"LAKEBED_SPARK_MEMORY": "2g"}),
    ]
    anywhere = worker_digest("file:///a", b"x", base, anywhere=True)
    monkeypatch.chdir(tmp_path)
    assert worker_digest("file:///a", b"x", base, anywhere=True) == anywhere
    others.append(worker_digest("file:///a", b"x", base))
    assert len({same, *others}) == 1 + len(others)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("run", True),
        ("--lake somewhere build orders", True),
        ("query x --engine spark", True),
        ("query x --engine=spark", True),
        ("query x", False),
        ("table diff a b", True),
        ("table migrate a --partition-by b", True),
        ("table adopt a b", True),
        ("table ls", False),
        ("table", False),
        ("kartothek import a b", True),
        ("kartothek export a b", True),
        ("kartothek show a", False),
        ("ls", False),
        ("run --no-worker", False),
        ("run --help", False),
        ("", False),
    ],
)
def test_commands_that_need_spark_are_known_by_their_words(line: str, expected: bool) -> None:
    assert needs_spark(line.split()) is expected


@pytest.mark.parametrize(
    ("enabled", "variables", "asked", "interactive", "expected"),
    [
        (None, {}, None, True, True),
        (None, {}, None, False, False),
        (None, {"CI": "true"}, None, True, False),
        (True, {"CI": "true"}, None, False, True),
        (False, {}, None, True, False),
        (None, {}, False, True, False),
        (False, {}, True, False, True),
        (True, {"LAKEBED_WORKER": "off"}, True, True, False),
    ],
)
def test_a_worker_is_used_in_a_terminal_or_as_asked(
    enabled: bool | None,
    variables: dict[str, str],
    asked: bool | None,
    interactive: bool,
    expected: bool,
) -> None:
    settings = WorkerSettings(enabled=enabled)
    assert wants_worker(settings, variables, asked=asked, interactive=interactive) is expected


def test_a_lake_borrows_spark_only_if_asked(tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    create_lake(folder)
    for asked, expected in ((True, True), (False, False), (None, False)):
        with open_lake(folder, environment={"CI": "true"}, worker=asked) as lake:
            assert (lake._warm is not None) is expected
    with open_lake(folder, environment={"LAKEBED_WORKER_ENABLED": "true"}, worker=None) as lake:
        assert lake._warm is not None


def test_no_worker_on_the_command_line_means_none_for_the_lake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAKEBED_WORKER", raising=False)
    monkeypatch.setenv("LAKEBED_WORKER_ENABLED", "true")
    create_lake(tmp_path / "lake")
    for no_worker in (True, False):
        with Screen(str(tmp_path / "lake"), no_worker=no_worker) as screen:
            assert (screen.lake._warm is None) is no_worker


@pytest.mark.parametrize(
    ("enabled", "variables", "handed"),
    [
        (True, {}, True),
        (True, {"CI": "true"}, True),
        (True, {"LAKEBED_WORKER": "off"}, False),
        (None, {}, False),  # a test has no terminal
        (False, {}, False),
    ],
)
def test_a_command_is_handed_to_a_running_worker_only_if_the_lake_wants_one(
    tmp_path: Path,
    runtime: Path,
    enabled: bool | None,
    variables: dict[str, str],
    handed: bool,
) -> None:
    create_lake(tmp_path / "the lake, ünusual")
    folder = str(tmp_path / "the lake, ünusual")
    environment = {"XDG_RUNTIME_DIR": str(runtime), **variables}
    text = Path(folder, "lakebed.yaml").read_bytes()
    digest = worker_digest(Root.parse(folder).url, text, environment)
    place = WorkerPlace(private_folder(environment), digest)
    place.about.write_text(json.dumps({"enabled": enabled}))
    with socket.socket(socket.AF_UNIX) as worker:
        worker.bind(str(place.socket))
        worker.listen()
        connection = connected(["run", "--lake", folder], environment)
        assert (connection is not None) is handed
        if connection:
            connection.close()
    place.about.unlink()
