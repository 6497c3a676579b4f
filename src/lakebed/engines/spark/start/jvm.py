"""Starting Spark's JVM, directly or as spark-submit does, and connecting pyspark to it."""

import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakebed.engines.spark.logs import crash_report, log_options, tail
from lakebed.engines.spark.start.gateway import attach, environment_with, first_session, forget
from lakebed.engines.spark.start.home import spark_home
from lakebed.engines.spark.start.launch import Launch, java_command, ordinary_conf, properties_text
from lakebed.errors import SparkFailed
from lakebed.settings import without_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# seconds until a JVM that does not answer has failed; a loaded machine may take half a minute
PATIENCE = 120.0

_ALL_ADDRESSES = ("0.0.0.0", "::")  # noqa: S104  as the host's own address, executors would be told to call it


class JvmCrashed(SparkFailed):
    """The JVM crashed, for example because of a damaged class-data archive."""


@dataclass
class Jvm:
    """A running JVM.

    It ends when its standard input closes: with this process, however that ends.
    """

    process: "subprocess.Popen[bytes]"
    gateway: Any
    log: Path
    how: Literal["directly", "ordinarily"]

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def stop(self, *, patience: float = 20.0) -> None:
        """Stop the JVM and wait for it to end."""
        forget(self.gateway, runs=self.runs)
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            _kill(self.process)


def start_directly(launch: Launch, *, environment: Mapping[str, str], log: Path) -> Jvm:
    """Start java directly, without Spark's launcher and shell scripts."""
    with _private_folder() as folder, _nameless(properties_text(launch.conf)) as properties:
        address = folder / "address"
        command = java_command(
            launch, properties=_open_file(properties), options=log_options(log, folder)
        )
        told = {
            "SPARK_HOME": str(spark_home()),
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
        }
        told |= _local_address(launch)
        process = _started(
            command, environment={**without_secrets(environment), **told}, log=log, reads=properties
        )
        try:
            import pyspark.sql  # noqa: F401  the JVM boots meanwhile

            port, secret = _address(process, address, log)
            return Jvm(process, attach(port, secret), log, "directly")
        except BaseException:
            _kill(process)
            raise


def start_ordinarily(launch: Launch, *, environment: Mapping[str, str], log: Path) -> Jvm:
    """Start the JVM through spark-submit, as pyspark does."""
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    with ExitStack() as stack:
        folder, console = (
            stack.enter_context(_private_folder()),
            stack.enter_context(log.open("ab")),
        )
        conf = ordinary_conf(launch, options=log_options(log, folder))
        properties = stack.enter_context(_nameless(properties_text(conf)))
        told = {
            "SPARK_HOME": str(spark_home()),
            "JAVA_HOME": str(launch.java.home),
            **_local_address(launch),
        }
        arguments = (
            "--load-spark-defaults",
            "--properties-file",
            str(_open_file(properties)),
            "pyspark-shell",
        )
        told["PYSPARK_SUBMIT_ARGS"] = shlex.join(arguments)
        try:
            with environment_with({**environment, **told}):
                options = _PopenOptions(stdout=console, stderr=console, pass_fds=(properties,))
                gateway = launch_gateway(popen_kwargs=options)  # type: ignore[no-untyped-call]
        except (PySparkException, OSError) as error:
            raise SparkFailed(tail(log), log=str(log)) from error
        return Jvm(gateway.proc, gateway, log, "ordinarily")


def connect(jvm: Jvm, launch: Launch) -> "SparkSession":
    """The JVM's first session; the JVM is stopped if it cannot create one."""
    try:
        return first_session(jvm.gateway, python=launch.conf.get("spark.pyspark.python", ""))
    except Exception as error:
        jvm.stop()
        raise SparkFailed(_first_line(error), log=str(jvm.log)) from error


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder that only this user can read, while the JVM starts."""
    folder = Path(tempfile.mkdtemp(prefix="lakebed-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _nameless(text: str) -> Iterator[int]:
    """An open, unlinked file with this text: nothing is left of it, however the process ends."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.write(text)
        file.seek(0)
        yield file.fileno()


def _open_file(number: int) -> Path:
    """The path under which a process finds an open file that it inherited."""
    return Path(f"/dev/fd/{number}")


class _PopenOptions(dict[str, Any]):
    """Options with which pyspark starts the JVM.

    It adds the whole environment; secrets are removed from it.
    """

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, without_secrets(value) if key == "env" else value)


def _local_address(launch: Launch) -> dict[str, str]:
    """The address of Spark's web UI, which by default listens on all; also avoids looking up the
    host name.
    """
    address = launch.conf.get("spark.driver.bindAddress")
    return {"SPARK_LOCAL_IP": address} if address and address not in _ALL_ADDRESSES else {}


def _started(
    command: tuple[str, ...], *, environment: Mapping[str, str], log: Path, reads: int
) -> "subprocess.Popen[bytes]":
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


def _kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    if process.stdin:
        process.stdin.close()


def _address(process: "subprocess.Popen[bytes]", address: Path, log: Path) -> tuple[int, str]:
    """Port and secret of the JVM, once it has written them."""
    deadline = time.monotonic() + PATIENCE
    while not address.is_file():
        if (code := process.poll()) is not None:
            if code < 0 or crash_report(log, process.pid).is_file():
                raise JvmCrashed("its JVM crashed.", log=str(log))
            raise SparkFailed(f"its JVM ended with {code}: {tail(log)}", log=str(log))
        if time.monotonic() > deadline:
            raise SparkFailed(f"its JVM did not answer within {PATIENCE:.0f} s.", log=str(log))
        time.sleep(0.01)
    told = address.read_bytes()
    length = int.from_bytes(told[4:8], "big")
    return int.from_bytes(told[:4], "big"), told[8 : 8 + length].decode()


def _first_line(error: Exception) -> str:
    lines = [
        line.strip()
        for line in str(error).splitlines()
        if line.strip() and not line.strip().startswith("at ")
    ]
    return next(
        (line for line in lines if "Exception" in line and "Py4J" not in line),
        lines[0] if lines else repr(error),
    )
