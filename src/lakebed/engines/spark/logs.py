"""Spark's log files: nothing of Spark is printed to the console."""

import logging
import os
import time
from pathlib import Path

from lakebed.settings import make_log

KEPT = 20  # logs of earlier starts

_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = ${sys:lakebed.log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


def new_log(logs: Path) -> Path:
    """A log file for one start of Spark; the oldest ones are removed."""
    folder = logs / "spark"
    log = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    make_log(log)
    for old in sorted(folder.glob("*.log"), reverse=True)[KEPT:]:
        old.unlink(missing_ok=True)
    return log


def log_options(log: Path, folder: Path) -> tuple[str, ...]:
    """Write log4j's settings into `folder` and return the options that make the JVM log to `log`,
    crash reports included.
    """
    config = folder / "log4j2.properties"
    config.write_text(_LOG4J)
    return (
        f"-Dlog4j2.configurationFile={config.as_uri()}",
        f"-Dlakebed.log={log}",
        f"-XX:ErrorFile={log.parent}/crash-%p.txt",
        "-XX:-CreateCoredumpOnCrash",
    )


def crash_report(log: Path, pid: int) -> Path:
    """Where a JVM that crashes writes its report."""
    return log.parent / f"crash-{pid}.txt"


def silence_pyspark() -> None:
    """Keep pyspark from printing failed queries, and py4j broken connections; the exception says
    the same.
    """
    logging.getLogger("SQLQueryContextLogger").disabled = True
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """False for the traceback that py4j logs through the user's root logger when the JVM
    has died.
    """
    return not (
        record.msg == "Exception while sending command."
        and Path(record.pathname).parent.name == "py4j"
    )


def tail(log: Path, *, lines: int = 3) -> str:
    """The last meaningful lines of a log, as one line."""
    said = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in said if not line.startswith("at ")]
    return " | ".join(telling[-lines:]) or "it said nothing"


def note(log: Path, line: str) -> None:
    """Add a line to Spark's log."""
    with log.open("a") as file:
        file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} LAKEBED {line}\n")
