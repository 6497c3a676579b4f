"""Docs are tested: what they list is complete, what they show runs."""

import inspect
import os
import re
import shlex
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from scripts.reference import page

import lakebed
from lakebed import Lake, ports
from lakebed.app.layouts import LakeLayouts
from lakebed.app.spark.workers import Workers
from lakebed.landing import Zones
from lakebed.pipelines import Pipelines, Runs
from lakebed.tables import ALIASES, STRATEGIES, Tables
from tests.support.scale import rotated

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = [
    f"docs/{page}.md" for page in ("pipelines", "tables", "layouts", "care", "reading", "keeping")
]
_BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def blocks(text: str) -> list[tuple[str, str]]:
    """Fenced blocks: language and content."""
    return _BLOCK.findall(text)


def test_the_reference_is_what_the_code_says() -> None:
    assert (ROOT / "docs" / "reference.md").read_text() == page(), "run: make docs"


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_every_make_target_that_docs_name_exists(file: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", file.read_text(), re.MULTILINE))
    assert {first or second for first, second in named} <= targets


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_every_link_leads_somewhere(file: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", file.read_text()):
        assert (file.parent / target).exists(), target


def test_the_glossary_has_no_word_twice() -> None:
    words = re.findall(
        r"^\| ([^|]+?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE
    )
    assert len(words) == len(set(words))


def glossary_types(section: str) -> set[str]:
    """The types that a section of the glossary lists."""
    text = (ROOT / "docs" / "glossary.md").read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", " ".join(cells)))


def signature_types(cls: type) -> set[str]:
    """The names of types in the public signatures of a class."""
    members = (member for name, member in inspect.getmembers(cls) if not name.startswith("_"))
    functions = (
        getattr(member, "func", None) or getattr(member, "fget", None) or member
        for member in members
    )
    annotations = (
        note for function in functions for note in getattr(function, "__annotations__", {}).values()
    )
    texts = (
        note if isinstance(note, str) else inspect.formatannotation(note) for note in annotations
    )
    return {name for text in texts for name in re.findall(r"\b[A-Z]\w+", text)}


def require_glossary(section: str, types: set[str]) -> None:
    listed = glossary_types(section)
    missing, gone = sorted(types - listed), sorted(listed - types)
    assert not missing, f"add a row to '{section}' of docs/glossary.md for: {', '.join(missing)}"
    assert not gone, (
        f"remove from '{section}' of docs/glossary.md, or rename there: {', '.join(gone)}"
    )


def test_the_glossary_lists_every_port() -> None:
    protocols = (getattr(ports, name) for name in ports.__all__)
    require_glossary(
        "Ports", {each.__name__ for each in protocols if getattr(each, "_is_protocol", False)}
    )


def test_the_glossary_lists_every_type_of_the_python_api() -> None:
    sources = (file.read_text() for file in (ROOT / "src" / "lakebed").rglob("*.py"))
    classes = {name for text in sources for name in re.findall(r"^class (\w+)", text, re.MULTILINE)}
    public = {name for name in lakebed.__all__ if isinstance(getattr(lakebed, name), type)}
    nouns = (Lake, Tables, LakeLayouts, Pipelines, Zones, Runs, Workers)
    used = {name for noun in nouns for name in signature_types(noun)} & classes - set(
        typing.__all__
    )
    require_glossary("Types of the Python API", public | used)


def test_contributing_fits_one_page() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 50


def test_ci_runs_the_readmes_test_command_as_on_a_machine_that_nobody_has_used() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    setting_up = ("cd ", "set ", "empty_home=", "trap ", "unset ")
    commands = [line for line in lines if line and not line.startswith(("#", *setting_up))]
    assert commands == ["HOME=$empty_home make test"]
    assert "empty_home=$(mktemp -d)" in lines
    assert "make test " in (ROOT / "README.md").read_text()


@pytest.mark.spark
@pytest.mark.parametrize("name", rotated(SHOWN, 2))
def test_what_the_docs_show_runs(name: str, tmp_path: Path) -> None:
    environment = shell_environment()
    ran = 0
    for language, content in blocks((ROOT / name).read_text()):
        for command in commands_of(language, content):
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
            assert unlike(shown_of(content, command), done.stdout) == [], (
                f"{shlex.join(command)}\n{done.stdout}"
            )
            ran += 1
    assert ran >= 6


def shell_environment() -> dict[str, str]:
    """Variables with which a reader's commands find our program, and start Spark quickly."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "LAKEBED_SPARK_QUICK": "true"}


def shown_of(content: str, command: list[str]) -> list[str]:
    """The output that a block prints under a command."""
    shown: list[str] = []
    below = False
    for line in content.splitlines():
        if line.startswith("$ "):
            below = shlex.split(line.removeprefix("$ ")) == command
        elif below and line.strip("…"):
            shown.append(line)
    return shown


def unlike(shown: list[str], printed: str) -> list[str]:
    """Lines that docs show and the program did not print; numbers, ids and widths may differ, and …
    is anything.
    """
    real = printed.splitlines()
    return [line for line in shown if not any(alike(line).fullmatch(one) for one in real)]


_KINDS = {
    r"[0-9a-f]{16}": r"[0-9a-f]{16}",
    r"[\d.,:-]*\d": r"[\d.,:-]+",
    "…": ".*",
    r"\s+": r"\s+",
    "─+": "─+",
}


def alike(line: str) -> re.Pattern[str]:
    """A pattern for a line, with any numbers, ids and widths in place of its own."""
    words = re.findall(f"{'|'.join(_KINDS)}|.", line)
    return re.compile(
        "".join(
            next((_KINDS[kind] for kind in _KINDS if re.fullmatch(kind, word)), re.escape(word))
            for word in words
        )
    )


def test_output_that_docs_show_is_compared_but_for_numbers() -> None:
    real = (
        "1 of 5 OK    shop.orders [draft: append_only, 600 rows in 2.3 s]\nmade /tmp/x/lake (run"
        " 01a1dfb942bedf93)\n"
    )
    assert unlike(["1 of 5 OK    shop.orders [draft: append_only, 7 rows in 12.3 s]"], real) == []
    assert unlike(["made …/lake (run 01a1dfb942bedf94)"], real) == []
    assert unlike(["1 of 5 OK    shop.orders [append_only, 600 rows in 2.3 s]"], real) != []


def test_every_strategy_and_alias_is_in_the_docs() -> None:
    text = (ROOT / "docs" / "pipelines.md").read_text()
    assert [name for name in STRATEGIES if f"| `{name}`" not in text] == []
    assert [alias for alias in ALIASES if alias not in text] == []


def commands_of(language: str, content: str) -> list[list[str]]:
    """What a reader would run of a block."""
    if language == "python":
        return [[sys.executable, "-c", content]]
    if language == "console":
        return [
            shlex.split(line.removeprefix("$ "))
            for line in content.splitlines()
            if line.startswith("$ ")
        ]
    return []
