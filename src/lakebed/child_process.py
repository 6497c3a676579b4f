"""Child processes for code that is not trusted: isolated Python that gets no secret and limits
itself before it works.

A child writes `READY` when its limits are in place, reads one job from standard input, answers it
and ends.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType

READY = b"ready\n"
ChildProcess = subprocess.Popen[bytes]


def program_of(module: str) -> str:
    """The program that runs `main` of a module; its arguments are where Python finds packages."""
    return f"import sys; sys.path += sys.argv[1:]; from {module} import main; main()"


def start_child(
    program: str,
    packages: Iterable[ModuleType],
    *,
    stderr: int = subprocess.PIPE,
    environment: Mapping[str, str] | None = None,
) -> ChildProcess:
    """Start isolated Python that can import Lakebed and these packages, and gets no secret."""
    command = [sys.executable, "-I", "-S", "-c", program, *_import_paths(packages)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=stderr,
        env=child_environment() | dict(environment or {}),
        cwd="/",
    )


def _import_paths(packages: Iterable[ModuleType]) -> list[str]:
    """Where the child finds what it imports, however this process found it."""
    files = [__file__, *(package.__file__ for package in packages)]
    return list(dict.fromkeys(str(Path(file).parents[1]) for file in files if file))


def child_environment() -> dict[str, str]:
    """The environment of a child: no secret, only where Python's own libraries are."""
    return {
        name: os.environ[name] for name in ("LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ
    }


def send_job(child: ChildProcess, job: bytes) -> None:
    """Give a child its job. One that died meanwhile is no error here: what it wrote says why."""
    if child.stdin is None:
        return
    with suppress(BrokenPipeError):
        child.stdin.write(job)
    with suppress(BrokenPipeError):
        child.stdin.close()


# -- in the child


def forbid_writing() -> None:
    """No file can grow from here on, and no core is dumped."""
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(kind, (0, 0))


def say_ready() -> None:
    """Tell the parent that the limits are in place."""
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
