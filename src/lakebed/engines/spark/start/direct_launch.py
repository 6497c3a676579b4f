"""Starting java directly, without Spark's launcher and shell scripts."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lakebed.engines.spark.logs import crash_report, log_options, tail
from lakebed.engines.spark.start.gateway import attach
from lakebed.engines.spark.start.home import spark_home
from lakebed.engines.spark.start.jvm import Jvm, JvmCrashed
from lakebed.engines.spark.start.launch import Launch, java_command, properties_text
from lakebed.engines.spark.start.process import (
    Scratch,
    end_process,
    inherited_file,
    kill_process,
    local_address,
    make_scratch,
    nameless_file,
    start_process,
)
from lakebed.errors import SparkFailed
from lakebed.settings import without_secrets

# seconds until a JVM that does not answer has failed; a loaded machine may take half a minute
PATIENCE = 120.0


@dataclass
class BootingJvm:
    """A JVM that was started and has not answered yet.

    Ended by `answer` or `end`: each removes the folder, which only this user can read.
    """

    process: "subprocess.Popen[bytes]"
    folder: Path
    log: Path
    scratch: Scratch

    def answer(self) -> Jvm:
        """The JVM, once it answers; it is killed if it does not."""
        try:
            import pyspark.sql  # noqa: F401  the JVM boots meanwhile

            port, secret = _address(self.process, _address_file(self.folder), self.log)
            return Jvm(self.process, attach(port, secret), self.log, "directly", self.scratch)
        except BaseException:
            kill_process(self.process)
            self.scratch.remove()
            raise
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def end(self) -> None:
        """End a JVM that is not needed."""
        end_process(self.process)
        self.scratch.remove()
        shutil.rmtree(self.folder, ignore_errors=True)


def start_directly(launch: Launch, *, environment: Mapping[str, str], log: Path) -> Jvm:
    """Start a JVM and wait until it answers."""
    return boot(launch, environment=environment, log=log).answer()


def boot(launch: Launch, *, environment: Mapping[str, str], log: Path) -> BootingJvm:
    """Start a JVM without waiting for it."""
    scratch = make_scratch(launch, environment)
    folder = Path(tempfile.mkdtemp(prefix="lakebed-"))
    try:
        process = _started(launch, folder, scratch, environment, log)
        return BootingJvm(process, folder, log, scratch)
    except BaseException:
        scratch.remove()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        scratch.let_go()


def _started(
    launch: Launch, folder: Path, scratch: Scratch, environment: Mapping[str, str], log: Path
) -> "subprocess.Popen[bytes]":
    told = {
        "SPARK_HOME": str(spark_home()),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(_address_file(folder)),
        **scratch.environment,
    }
    told |= local_address(launch)
    # The JVM has the file open from its start on: it may be closed here before it was read.
    conf = scratch.conf(launch) | dict(launch.conf)
    with nameless_file(properties_text(conf)) as properties:
        command = java_command(
            launch,
            properties=inherited_file(properties),
            options=(*scratch.options, *log_options(log, folder)),
        )
        return start_process(
            command,
            environment={**without_secrets(environment), **told},
            log=log,
            reads=(properties, *scratch.locks),
        )


def _address_file(folder: Path) -> Path:
    """Where the JVM writes its port and secret."""
    return folder / "address"


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
