"""The README's tour is run, and its output is what the commands print now; times, sizes and ids
aside.
"""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.test_docs import ROOT, alike, blocks, commands_of, shell_environment

README = (ROOT / "README.md").read_text()


@pytest.mark.spark
def test_the_tour_prints_what_the_readme_shows(tmp_path: Path) -> None:
    environment = shell_environment()
    compared = 0
    for language, content in blocks(README):
        if language == "csv":
            (tmp_path / "bad.csv").write_text(content)
        for command, shown in steps(language, content):
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            said = f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
            assert done.returncode == exit_code(shown), said
            if shown:
                assert same(shown, done.stdout), (
                    f"README.md shows:\n{chr(10).join(shown)}\nthe command prints:\n{said}"
                )
                compared += 1
    assert compared >= 6


def steps(language: str, content: str) -> list[tuple[list[str], list[str]]]:
    """The commands of a block, each with the output that is shown below it."""
    if language != "console":
        return [(command, []) for command in commands_of(language, content)]
    found: list[tuple[list[str], list[str]]] = []
    for line in content.splitlines():
        if line.startswith("$ "):
            found.append((shlex.split(line.removeprefix("$ ")), []))
        else:
            found[-1][1].append(line)
    return found


def exit_code(shown: list[str]) -> int:
    """A command that shows a failed run returns 1."""
    return int(any(re.match(r"\d+ of \d+ ERROR ", line) for line in shown))


def same(shown: list[str], printed: str) -> bool:
    """Whether the lines shown are all that was printed.

    A line with … alone stands for any lines, and numbers may differ.
    """
    pattern = "".join(
        "(?:.*\n)*?" if line.strip() == "…" else f"{alike(line).pattern}\n" for line in shown
    )
    return re.fullmatch(pattern, printed) is not None


def test_a_line_that_the_readme_lacks_is_noticed() -> None:
    printed = "1 of 2 OK    a [12 rows in 3.4 s]\n2 of 2 SKIP  b [a failed]\n"
    assert same(["1 of 2 OK    a [7 rows in 0.1 s]", "2 of 2 SKIP  b [a failed]"], printed)
    assert same(["1 of 2 OK    a [7 rows in 0.1 s]", "…"], printed)
    assert not same(["1 of 2 OK    a [7 rows in 0.1 s]"], printed)
    assert not same(["1 of 2 OK    a [7 files in 0.1 s]", "…"], printed)
    assert not same(["2 of 2 SKIP  b [a failed]", "1 of 2 OK    a [7 rows in 0.1 s]"], printed)
