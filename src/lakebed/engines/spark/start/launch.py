"""The command line and settings file of Spark's JVM. Decides only; `jvm` starts it."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lakebed.engines.spark.start.home import spark_home
from lakebed.engines.spark.start.java import Java
from lakebed.settings import java_size

MAIN = "org.apache.spark.deploy.SparkSubmit"
# The options of Spark's own launcher, without the incubator module that not every Java has.
_OPENED = (
    *(
        "java.lang",
        "java.lang.invoke",
        "java.lang.reflect",
        "java.io",
        "java.net",
        "java.nio",
        "java.util",
    ),
    *(
        "java.util.concurrent",
        "java.util.concurrent.atomic",
        "jdk.internal.ref",
        "sun.nio.ch",
        "sun.nio.cs",
    ),
    *("sun.security.action", "sun.util.calendar"),
)
_SPARK_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
)
# The optimizing compiler takes a method after forty times as many calls as by default: at a start
# it would spend seconds of CPU on methods that are called some thousand times and never again. Code
# that works on rows passes these thresholds within a second: a million rows, too, take less CPU
# than by default.
_LATE_OPTIMIZATION = (
    "-XX:Tier4InvocationThreshold=200000",
    "-XX:Tier4MinInvocationThreshold=24000",
    "-XX:Tier4CompileThreshold=600000",
    "-XX:Tier4BackEdgeThreshold=1600000",
)
# The heap grows as far as what is in use needs it, and no further, however long a run takes: by
# default a collection leaves two thirds of what is in use free, and new objects get a third of all.
_SMALL_HEAP = ("-XX:MinHeapFreeRatio=20", "-XX:MaxHeapFreeRatio=40")
_LEAST_FOR_NEW, _NEW_OBJECTS = 128 * 1024**2, 8  # bytes; of the heap, an eighth


@dataclass(frozen=True)
class Launch:
    """What to start."""

    java: Java
    jars: tuple[Path, ...]
    conf: Mapping[str, str]
    quick: bool = False
    archive: tuple[str, ...] = ()  # options that read or write a class-data archive

    @property
    def brings_jars(self) -> bool:
        """Whether our jars are on the class path; a cluster gets them through `spark.jars`."""
        return self.conf.get("spark.master", "local").startswith("local")

    @property
    def own_options(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.conf.get("spark.driver.extraJavaOptions", "")))


def classpath(launch: Launch) -> str:
    """Our jars, Spark's, then the user's: an archive fits every class path that begins with its
    own.
    """
    ours = map(str, launch.jars) if launch.brings_jars else ()
    added = launch.conf.get("spark.driver.extraClassPath")
    return os.pathsep.join([*ours, str(spark_home() / "jars" / "*"), *([added] if added else [])])


def java_command(
    launch: Launch, *, properties: Path, options: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The command of a direct launch.

    Settings are in a file, since anybody on the machine can read a command line.
    """
    compiler = ("-XX:TieredStopAtLevel=1",) if launch.quick else _LATE_OPTIMIZATION
    return (
        *(
            str(launch.java.executable),
            f"-Xmx{launch.conf.get('spark.driver.memory', '1g')}",
            "-XX:-UsePerfData",
        ),
        *(
            *_collector(launch),
            *compiler,
            *launch.archive,
            *_SPARK_OPTIONS,
            *options,
            *launch.own_options,
        ),
        *("-cp", classpath(launch), MAIN, "--properties-file", str(properties), "pyspark-shell"),
    )


def _collector(launch: Launch) -> tuple[str, ...]:
    """A small garbage collector and how its heap grows, unless the user has chosen another."""
    if any("GC" in option for option in launch.own_options):
        return ()
    heap = java_size(launch.conf.get("spark.driver.memory", "1g"))
    new = (f"-XX:MaxNewSize={max(heap // _NEW_OBJECTS, _LEAST_FOR_NEW)}",) if heap else ()
    return ("-XX:+UseSerialGC", *_SMALL_HEAP, *new)


def ordinary_conf(launch: Launch, *, options: tuple[str, ...] = ()) -> dict[str, str]:
    """The settings for spark-submit, which builds the command line itself."""
    conf = {
        **launch.conf,
        "spark.driver.extraJavaOptions": shlex.join((*options, *launch.own_options)),
    }
    if launch.brings_jars:
        added = launch.conf.get("spark.driver.extraClassPath")
        conf["spark.driver.extraClassPath"] = os.pathsep.join(
            [*map(str, launch.jars), *([added] if added else [])]
        )
    return conf


def properties_text(conf: Mapping[str, str]) -> str:
    """The settings as Java reads them from a properties file."""
    return "".join(
        f"{_escaped(key, ' :=#!')}={_escaped(value, '')}\n" for key, value in conf.items()
    )


def _escaped(text: str, signs: str) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    for sign in signs:
        text = text.replace(sign, "\\" + sign)
    return text
