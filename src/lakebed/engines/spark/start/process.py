"""Starting a JVM as a process: what it is told, without leaving a secret behind, and where it keeps
temporary files.
"""

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lakebed.engines.private_folders import PrivateFolder, make_private_folder
from lakebed.engines.spark.start.launch import Launch
from lakebed.errors import SparkFailed

SCRATCH = "lakebed-spark-"
_PATIENCE = 5.0  # seconds; an idle machine takes a tenth of one
_ALL_ADDRESSES = ("0.0.0.0", "::")  # noqa: S104  as the host's own address, executors would be told to call it


@contextmanager
def nameless_file(text: str) -> Iterator[int]:
    """An open, unlinked file with this text: nothing is left of it, however the process ends."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.write(text)
        file.seek(0)
        yield file.fileno()


def inherited_file(number: int) -> Path:
    """The path under which a process finds an open file that it inherited."""
    return Path(f"/dev/fd/{number}")


def local_address(launch: Launch) -> dict[str, str]:
    """The address of Spark's web UI, which by default listens on all; also avoids looking up the
    host name.
    """
    address = launch.conf.get("spark.driver.bindAddress")
    return {"SPARK_LOCAL_IP": address} if address and address not in _ALL_ADDRESSES else {}


@dataclass(frozen=True)
class Scratch:
    """The private folders of a JVM for shuffle files and other temporary ones, in which rows are.

    Spark lets everybody read them. The JVM inherits the locks: nobody sweeps the folders while it
    runs, and somebody does once it was killed.
    """

    folders: tuple[PrivateFolder, ...]

    @property
    def locks(self) -> tuple[int, ...]:
        return tuple(folder.lock for folder in self.folders if folder.lock is not None)

    @property
    def environment(self) -> dict[str, str]:
        """Overrides spark.local.dir, for the driver alone."""
        return {"SPARK_LOCAL_DIRS": ",".join(str(folder.path) for folder in self.folders)}

    @property
    def options(self) -> tuple[str, ...]:
        """Files on their way to a bucket lie in Java's own temporary folder."""
        return (f"-Djava.io.tmpdir={self.folders[0].path}",)

    def conf(self, launch: Launch) -> dict[str, str]:
        """Hadoop's temporary folder too, unless executors on other machines would be told it."""
        folder = {"spark.hadoop.hadoop.tmp.dir": str(self.folders[0].path)}
        return folder if launch.brings_jars else {}

    def let_go(self) -> None:
        """The JVM has started: the locks are its own from here on."""
        for folder in self.folders:
            folder.let_go()

    def remove(self) -> None:
        """The JVM has ended."""
        for folder in self.folders:
            folder.remove()


def make_scratch(launch: Launch, environment: Mapping[str, str]) -> Scratch:
    """Private folders where Spark would keep its files: as the environment says, or the lake's
    settings, or in the system's temporary folder.
    """
    told = environment.get("SPARK_LOCAL_DIRS") or launch.conf.get("spark.local.dir", "")
    parents = [Path(part.strip()) for part in told.split(",") if part.strip()]
    folders: list[PrivateFolder] = []
    try:
        for parent in parents or [Path(tempfile.gettempdir())]:
            folders.append(make_private_folder(parent, SCRATCH))
    except OSError as error:
        Scratch(tuple(folders)).remove()
        raise SparkFailed(
            f"its temporary files cannot be kept in {error.filename} ({error.strerror}).",
            next="Change spark.local.dir in the lake's spark.conf, or SPARK_LOCAL_DIRS.",
        ) from error
    return Scratch(tuple(folders))


def start_process(
    command: tuple[str, ...], *, environment: Mapping[str, str], log: Path, reads: tuple[int, ...]
) -> "subprocess.Popen[bytes]":
    """Start a JVM that writes to `log` and inherits the open files `reads`."""
    # A separate process group: Ctrl-C is handled by Lakebed, not by the JVM.
    with log.open("ab") as console:
        return subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=console,
            stderr=console,
            pass_fds=reads,
            process_group=0,
        )


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """Let a JVM remove its temporary files and end; kill it if it takes long."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)
    kill_process(process)


def kill_process(process: "subprocess.Popen[bytes]") -> None:
    """Kill a JVM and wait for its end."""
    process.kill()
    process.wait()
    if process.stdin:
        process.stdin.close()
