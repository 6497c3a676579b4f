"""Starting a JVM as a process: what it is told, without leaving a secret behind."""

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from lakebed.engines.spark.start.launch import Launch

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


def start_process(
    command: tuple[str, ...], *, environment: Mapping[str, str], log: Path, reads: int
) -> "subprocess.Popen[bytes]":
    """Start a JVM that writes to `log` and inherits the open file `reads`."""
    # A separate process group: Ctrl-C is handled by Lakebed, not by the JVM.
    with log.open("ab") as console:
        return subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=console,
            stderr=console,
            pass_fds=(reads,),
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
