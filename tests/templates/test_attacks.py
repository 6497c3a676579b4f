"""Templates that try to escape or to exhaust are refused, soon and cheaply."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakebed.child_process import child_environment
from lakebed.errors import BadPipeline, RunFailed
from lakebed.templates import render
from lakebed.templates import render_confined as confined
from tests.templates.attacks import ATTACKS, Attempt
from tests.templates.examples import WHERE, values

LOOP = "{% for x in [1] %}{{ x }}{% endfor %}"
MOST_SECONDS, MOST_MEGABYTES = 2, 200


@pytest.fixture(scope="module")
def attempts() -> dict[str, Attempt]:
    """Every attack tried, in processes whose memory can be measured."""
    command = [sys.executable, "-m", "tests.templates.attacks"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    return {found.pop("name"): found for found in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_within_two_seconds_and_200_megabytes(
    name: str, attempts: dict[str, Attempt]
) -> None:
    found = attempts[name]
    assert found["outcome"].startswith("refused: ")
    assert found["seconds"] < MOST_SECONDS
    assert found["megabytes"] < MOST_MEGABYTES


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(99999) %}\n{% for j in range(99999) %}{{ j }}{% endfor %}{% endfor %}",
        "\n{{ 'a' * 10**9 }}",
    ],
    ids=["time", "memory"],
)
def test_a_template_that_takes_too_much_is_told_its_line(source: str) -> None:
    # a quick machine reaches the limit of characters before that of time
    with pytest.raises(BadPipeline, match="too much|produces more than") as caught:
        render(source, values(), where=WHERE)
    assert caught.value.line == 2


ESCAPED = """
from lakebed.templates import child
import os, socket
child._limit()
try:
    {body}
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize("body", ["open('/etc/passwd')", "socket.socket()", "os.pipe()"])
def test_whoever_escapes_in_the_child_can_open_neither_files_nor_sockets(body: str) -> None:
    program = [sys.executable, "-c", ESCAPED.format(body=body)]
    assert (
        "Too many open files"
        in subprocess.run(program, capture_output=True, text=True, check=True).stdout
    )


def test_the_child_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_CATALOG_PASSWORD", "canary")
    assert "canary" not in str(child_environment())


def test_a_child_that_does_not_start_is_not_the_templates_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confined, "_PROGRAM", "import nowhere")
    with pytest.raises(RunFailed, match="could not start") as caught:
        render(LOOP, values(), where=WHERE)
    assert "No module named 'nowhere'" in caught.value.next


@pytest.mark.parametrize(
    "program",
    [
        "import os; os.write(1, b'ready\\n')",
        "import os; os.write(1, b'ready\\nnot json')",
        "import os; os.write(1, b'ready\\n[1]')",
        "import os; os.write(1, b'ready\\n' + b'{\"text\": 1, \"lines\": []}')",
        "import os; os.write(1, b'ready\\n'); os.kill(os.getpid(), 9)",
        "import os; os.write(1, b'ready\\n')\nwhile True: os.write(1, b'x' * 65536)",
    ],
    ids=["silent", "babbling", "wrong", "mistyped", "killed", "endless"],
)
def test_a_child_that_answers_nonsense_is_a_refusal(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "_PROGRAM", program)
    with pytest.raises(BadPipeline, match="too much"):
        render(LOOP, values(), where=WHERE)


def test_a_child_that_dies_before_it_has_read_everything_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confined, "_PROGRAM", "import os; os.write(1, b'ready\\n')")
    with pytest.raises(BadPipeline, match="too much"):
        render(LOOP + "x" * 1_000_000, values(), where=WHERE)


def test_a_child_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        confined, "_PROGRAM", "import os, time; os.write(1, b'ready\\n'); time.sleep(600)"
    )
    monkeypatch.setattr(confined, "_PATIENCE", 2.0)
    with pytest.raises(BadPipeline, match="too much time"):
        render(LOOP, values(), where=WHERE)


def test_a_child_needs_no_installed_package_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.devnull)
    assert render(LOOP, values(), where=WHERE).text == "1"
