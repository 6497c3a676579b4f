"""The house: imports go down only, engines stay in their room, names explain themselves."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STARTERS = "shop_files"  # what users would write: pipelines, not part of the house
SOURCES = sorted(
    file for file in (ROOT / "src" / "lakebed").rglob("*.py") if STARTERS not in file.parts
)
COMMANDS = [file for file in SOURCES if file.is_relative_to(ROOT / "src" / "lakebed" / "cli")]
ENGINES = {"pyspark", "pyiceberg", "duckdb", "obstore", "sqlalchemy"}
MOST_FILES = 14
EMPTY_WORDS = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def imported(file: Path) -> set[str]:
    """The packages a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_imports_go_down_only() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_a_planted_upward_import_is_caught(tmp_path: Path) -> None:
    planted = tmp_path / "src" / "lakebed"
    for file in SOURCES:
        copy = planted / file.relative_to(ROOT / "src" / "lakebed")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(file.read_text())
    (planted / "names.py").write_text((planted / "names.py").read_text() + "\nimport lakebed.app\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    program = Path(sys.executable).with_name("lint-imports")
    environment = {"PYTHONPATH": str(tmp_path / "src"), "PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run(
        [program, "--no-cache"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "imports go down only BROKEN" in done.stdout


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT / "src")))
def test_only_engines_import_engines(file: Path) -> None:
    if "engines" not in file.parts:
        assert not imported(file) & ENGINES


@pytest.mark.parametrize("file", COMMANDS, ids=lambda file: file.name)
def test_the_command_line_leaves_json_to_the_presentation(file: Path) -> None:
    names = {
        node.id for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Name)
    }
    assert not names & {"asdict", "id_text"}


def test_names_explain_themselves_and_files_stay_small() -> None:
    for file in SOURCES:
        assert file.stem not in EMPTY_WORDS
        assert len(file.read_text().splitlines()) <= 400, file


def test_no_public_class_name_is_defined_twice() -> None:
    homes: dict[str, list[str]] = {}
    for file in SOURCES:
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    twice = {name: files for name, files in homes.items() if len(files) > 1}
    assert not twice, "a reader must know which class is meant: give one of each pair another name"


def test_what_rooms_hand_each_other_has_a_name_and_a_contract() -> None:
    """A callable among a room's services joins rooms where neither the linter nor a reader sees;
    one with another name for its type, too.
    """
    bare = [
        f"{file.stem}: {node.name}.{ast.unparse(field.target)}"
        for file in SOURCES
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Services", "Ports"))
        for field in node.body
        if isinstance(field, ast.AnnAssign) and _words(field.annotation) & _callables(file)
    ]
    assert not bare, "make it a protocol with a sentence on what it does"


def _callables(file: Path) -> set[str]:
    """`Callable`, and what a module calls one."""
    named = (node for node in ast.parse(file.read_text()).body if isinstance(node, ast.Assign))
    return {"Callable"}.union(
        *(
            _words(target)
            for node in named
            if "Callable" in _words(node.value)
            for target in node.targets
        )
    )


def _words(node: ast.AST) -> set[str]:
    return set(re.findall(r"\w+", ast.unparse(node)))


def test_no_folder_shows_more_files_than_a_reader_can_take_in() -> None:
    counts = Counter(
        file.parent.relative_to(ROOT) for file in SOURCES if file.name != "__init__.py"
    )
    crowded = {str(folder): count for folder, count in counts.items() if count > MOST_FILES}
    assert not crowded, "divide the folder into sub-packages by stage"


def test_opening_the_package_loads_no_engine() -> None:
    script = "import sys, lakebed; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & (ENGINES | {"pandas", "pyarrow"})


def test_no_machine_path_is_in_the_tree() -> None:
    found = subprocess.run(
        ["git", "grep", "-nE", r"(^|[^a-z.])/(work|root|farm)/"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    assert [
        line for line in found if not line.startswith(("requirements.lock", "tests/test_rooms.py"))
    ] == []
