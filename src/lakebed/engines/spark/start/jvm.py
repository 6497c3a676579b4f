"""A running JVM of Spark: how spark-submit starts one, and how pyspark connects to it."""

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakebed.engines.spark.logs import log_options, tail
from lakebed.engines.spark.start.gateway import environment_with, first_session, forget
from lakebed.engines.spark.start.home import spark_home
from lakebed.engines.spark.start.launch import Launch, ordinary_conf, properties_text
from lakebed.engines.spark.start.process import (
    Scratch,
    inherited_file,
    kill_process,
    local_address,
    make_scratch,
    nameless_file,
)
from lakebed.errors import SparkFailed
from lakebed.settings import without_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    scratch: Scratch

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
            kill_process(self.process)
        self.scratch.remove()


def start_ordinarily(launch: Launch, *, environment: Mapping[str, str], log: Path) -> Jvm:
    """Start the JVM through spark-submit, as pyspark does."""
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    with ExitStack() as stack:
        folder, console = (
            stack.enter_context(_private_folder()),
            stack.enter_context(log.open("ab")),
        )
        scratch = make_scratch(launch, environment)
        stack.callback(scratch.let_go)
        options = (*scratch.options, *log_options(log, folder))
        conf = scratch.conf(launch) | ordinary_conf(launch, options=options)
        properties = stack.enter_context(nameless_file(properties_text(conf)))
        told = {
            "SPARK_HOME": str(spark_home()),
            "JAVA_HOME": str(launch.java.home),
            **local_address(launch),
            **scratch.environment,
        }
        arguments = (
            "--load-spark-defaults",
            "--properties-file",
            str(inherited_file(properties)),
            "pyspark-shell",
        )
        told["PYSPARK_SUBMIT_ARGS"] = shlex.join(arguments)
        try:
            with environment_with({**environment, **told}):
                started = _PopenOptions(
                    stdout=console, stderr=console, pass_fds=(properties, *scratch.locks)
                )
                gateway = launch_gateway(popen_kwargs=started)  # type: ignore[no-untyped-call]
        except (PySparkException, OSError) as error:
            scratch.remove()
            raise SparkFailed(tail(log), log=str(log)) from error
        return Jvm(gateway.proc, gateway, log, "ordinarily", scratch)


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


class _PopenOptions(dict[str, Any]):
    """Options with which pyspark starts the JVM.

    It adds the whole environment; secrets are removed from it.
    """

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, without_secrets(value) if key == "env" else value)


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
