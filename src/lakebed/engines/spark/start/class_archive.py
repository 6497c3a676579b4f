"""The class-data archive: Spark's loaded classes, which make a start twice as fast.

An archive is used only if its size is the one in its name: a JVM that maps a truncated archive dies
of SIGBUS.
"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lakebed.engines.spark.start.home import spark_home, spark_version
from lakebed.engines.spark.start.java import Java
from lakebed.settings import cache_folder, without_secrets

SWITCHED_OFF = "LAKEBED_TEST_NO_ARCHIVE"
RETRY_AFTER = 3600.0  # seconds between attempts, for a Java that always fails
# kept, or Python would warn that nobody waits for them
_makers: "list[subprocess.Popen[bytes]]" = []


@dataclass(frozen=True)
class ClassArchive:
    """The archive for one Java with one set of jars: where it is, or would be."""

    folder: Path
    key: str
    base_key: str  # empty if Java has its base archive

    @property
    def file(self) -> Path | None:
        return _whole(self.folder, self.key)

    @property
    def base(self) -> Path | None:
        return _whole(self.folder, self.base_key) if self.base_key else None

    @property
    def lock(self) -> Path:
        """Locked by the process that makes the archive; its time is that of the last attempt."""
        return self.folder / f"{self.key}.lock"

    def mark_used(self) -> None:
        """Record the use: unused archives are removed after a while."""
        for file in (self.file, self.base):
            with contextlib.suppress(OSError):
                if file:
                    os.utime(file)

    def distrust(self) -> None:
        """Remove the archive: a JVM that used it did not start."""
        for file in (self.file, self.base):
            with contextlib.suppress(OSError):
                if file:
                    file.unlink()


def archive_for(
    java: Java, jars: Iterable[Path], *, environment: Mapping[str, str]
) -> ClassArchive:
    """The archive for this Java, these jars and the installed Spark. Stats files, opens none."""
    build = (java.version, *_stamp(java.home / "lib" / "server" / _library()))
    spark = (spark_version(), *_stamp(spark_home() / "jars"))
    key = archive_key("spark", *build, *spark, *(part for jar in jars for part in _stamp(jar)))
    brings_base = (java.home / "lib" / "server" / "classes.jsa").is_file()
    return ClassArchive(
        cache_folder(environment) / "archives",
        key,
        "" if brings_base else archive_key("base", *build),
    )


def archive_key(kind: str, *parts: str) -> str:
    """A name that changes with everything that would make the JVM reject the archive."""
    return f"{kind}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]}"


def reading_options(archive: ClassArchive) -> tuple[str, ...]:
    """The JVM options that use the archive; none unless it is complete."""
    if archive.file is None or (archive.base_key and archive.base is None):
        return ()
    files = [str(file) for file in (archive.base, archive.file) if file]
    return ("-Xshare:auto", f"-XX:SharedArchiveFile={os.pathsep.join(files)}")


def writing_options(archive: ClassArchive, aside: Path) -> tuple[str, ...]:
    """The JVM options that write the archive when the JVM ends."""
    base = (f"-XX:SharedArchiveFile={archive.base}",) if archive.base else ()
    return (*base, f"-XX:ArchiveClassesAtExit={aside}")


def is_wanted(archive: ClassArchive, environment: Mapping[str, str]) -> bool:
    """Whether to make it: it is absent, allowed, not tried recently, and the cache is writable."""
    if environment.get(SWITCHED_OFF) or archive.file or _age(archive.lock) < RETRY_AFTER:
        return False
    try:
        archive.folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(archive.folder, os.W_OK)


def make_in_background(java: Java, jars: Iterable[Path], *, environment: Mapping[str, str]) -> None:
    """Start a detached process of low priority that makes the archive silently."""
    maker = subprocess.Popen(
        maker_command(java, jars),
        env=without_secrets(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=spark_home(),
    )
    _makers.append(maker)


def maker_command(java: Java, jars: Iterable[Path]) -> tuple[str, ...]:
    """The command that makes the archive for this Java and these jars."""
    order = json.dumps(
        {
            "home": str(java.home),
            "version": java.version,
            "origin": java.origin,
            "jars": [str(jar) for jar in jars],
        }
    )
    return (sys.executable, "-m", "lakebed.engines.spark.start.make_class_archive", order)


def _age(file: Path) -> float:
    """Seconds since a file was last written; infinite if there is none."""
    try:
        return time.time() - file.stat().st_mtime
    except OSError:
        return float("inf")


def _whole(folder: Path, key: str) -> Path | None:
    for file in folder.glob(f"{key}.*.jsa"):
        if file.name == finished_name(key, file.stat().st_size):
            return file
    return None


def finished_name(key: str, size: int) -> str:
    return f"{key}.{size}.jsa"


def _stamp(file: Path) -> tuple[str, ...]:
    """What the JVM compares: a file's path, size and time."""
    try:
        seen = file.stat()
    except OSError:
        return (str(file),)
    return (str(file), str(seen.st_size), str(seen.st_mtime_ns))


def _library() -> str:
    return {"darwin": "libjvm.dylib", "win32": "jvm.dll"}.get(sys.platform, "libjvm.so")
