"""Which worker fits: one digest of everything that a running one cannot change any more."""

import hashlib
import os
import resource
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_FORMAT = "1"  # of the messages between worker and client
_EXACT = {
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV"),
    *("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERMINAL_WIDTH"),  # typer reads them once
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
}
_BEGINNINGS = (
    *("LAKEBED_", "PYTHON", "PYSPARK_", "SPARK_", "HADOOP_", "YARN_", "HIVE_", "KRB5"),
    *("JAVA_", "JDK_", "_JAVA_", "LC_", "LD_", "DYLD_", "MALLOC_", "AWS_", "AZURE_", "GOOGLE_"),
    *("SSL_", "OMP_", "OPENBLAS_", "MKL_", "CONDA_"),
)
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy", "ftp_proxy")
# of LAKEBED_*: what says which lake, or how one command behaves
_PER_COMMAND = {"LAKEBED_LAKE", "LAKEBED_DEBUG", "LAKEBED_WORKER"}
# pyspark sets these in a process that has used Spark
_BY_PYSPARK = {"SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE"}
_LIMITS = ("AS", "CORE", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC", "STACK")


def worker_digest(
    root: str, settings: bytes, environment: Mapping[str, str], *, anywhere: bool = False
) -> str:
    """The name of the worker for this lake, its settings, this Python and this surrounding; of
    `anywhere`, workers that differ in their folder alone have the same.
    """
    parts = [_FORMAT, str(os.geteuid()), root, settings.hex(), installation(), *_surroundings()]
    parts += () if anywhere else _folder()
    parts += [f"{name}={value}" for name, value in sorted(lasting(environment).items())]
    return _digest(parts)


def installation() -> str:
    """A digest of this Python, its packages and Lakebed itself: an upgrade changes it."""
    return _digest([*_python(), *_lakebed()])


def _digest(parts: Iterable[str]) -> str:
    text = "\0".join(parts).encode(errors="surrogateescape")
    return hashlib.sha256(text).hexdigest()[:16]


def lasting(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that Python or Java read once, when they start. All others are given to
    each command as its caller has them.
    """
    return {name: value for name, value in environment.items() if _lasts(name)}


def _lasts(name: str) -> bool:
    if name in _PER_COMMAND or name in _BY_PYSPARK:
        return False
    return name in _EXACT or name.startswith(_BEGINNINGS) or name.lower() in _PROXIES


def _python() -> Iterator[str]:
    flags = sys.flags
    yield from (sys.prefix, sys.base_prefix, sys.version, repr(sys.warnoptions))
    yield repr((flags.optimize, flags.dev_mode, flags.utf8_mode, flags.no_user_site))
    for folder in sys.path:  # packages were installed, upgraded or removed
        if folder.endswith(("site-packages", "dist-packages")):
            yield from (folder, _changed(folder))


def _surroundings() -> Iterator[str]:
    """What is inherited: priority, cores and limits."""
    yield str(os.nice(0))
    yield str(sorted(os.sched_getaffinity(0)))
    for limit in _LIMITS:
        yield str(resource.getrlimit(getattr(resource, f"RLIMIT_{limit}")))


def _folder() -> Iterator[str]:
    """The current folder, which Java cannot change."""
    here = Path().stat()
    yield from (str(Path.cwd()), f"{here.st_dev}:{here.st_ino}")


def _lakebed() -> Iterator[str]:
    """Lakebed's own files, if they are not installed but worked on."""
    package = Path(__file__).parents[2]
    if package.parent.name in ("site-packages", "dist-packages"):
        return
    for folder, _, files in os.walk(package):
        for name in files:
            if name.endswith(".py"):
                file = f"{folder}/{name}"
                yield f"{file}:{_changed(file)}"


def _changed(path: str) -> str:
    try:
        return str(Path(path).stat().st_mtime_ns)
    except OSError:
        return ""
