"""The command line and the settings file of a start."""

import subprocess
import sys
from pathlib import Path

import pytest

from lakebed.engines.spark.start.java import Java
from lakebed.engines.spark.start.launch import (
    Launch,
    classpath,
    java_command,
    ordinary_conf,
    properties_text,
)
from lakebed.engines.spark.start.process import make_scratch
from lakebed.errors import SparkFailed

JAVA = Java(Path("/jdk"), "17.0.15", 17, "PATH")
JARS = (Path("/cache/iceberg.jar"), Path("/cache/sqlite.jar"))
CONF = {"spark.driver.memory": "3g", "spark.sql.catalog.lake.jdbc.password": "hush"}


def command(**more: object) -> tuple[str, ...]:
    launch = Launch(JAVA, JARS, CONF | more.pop("conf", {}), **more)  # type: ignore[operator, arg-type]
    return java_command(
        launch, properties=Path("/private/spark.properties"), options=("-Dlakebed.log=x",)
    )


def test_the_command_starts_java_with_our_jars_and_the_settings_file() -> None:
    words = command()
    assert words[0] == "/jdk/bin/java"
    assert "-Xmx3g" in words
    assert words[words.index("-cp") + 1].startswith("/cache/iceberg.jar:/cache/sqlite.jar:")
    assert words[-3:] == ("--properties-file", "/private/spark.properties", "pyspark-shell")
    assert words.index("-Dlakebed.log=x") < words.index("-cp")


def test_no_secret_is_on_the_command_line() -> None:
    assert "hush" not in " ".join(command())


@pytest.mark.parametrize("told", ["by the environment", "by the settings"])
def test_spark_gets_private_folders_where_it_was_told_to_keep_its_files(
    told: str, tmp_path: Path
) -> None:
    places = f"{tmp_path}/one,{tmp_path}/two"
    by_environment = told == "by the environment"
    launch = Launch(JAVA, JARS, {} if by_environment else {"spark.local.dir": places})
    scratch = make_scratch(launch, {"SPARK_LOCAL_DIRS": places} if by_environment else {})
    folders = [Path(folder) for folder in scratch.environment["SPARK_LOCAL_DIRS"].split(",")]
    assert [folder.parent.name for folder in folders] == ["one", "two"]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700, 0o700]
    other = make_scratch(launch, {"SPARK_LOCAL_DIRS": places})
    assert all(folder.is_dir() for folder in folders), "they are in use, and not swept"
    other.let_go()
    other.remove()
    scratch.let_go()
    scratch.remove()
    assert not any(folder.exists() for folder in folders)


def test_a_folder_that_spark_cannot_use_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    launch = Launch(JAVA, JARS, {"spark.local.dir": str(tmp_path / "file" / "below")})
    with pytest.raises(SparkFailed, match="below") as failed:
        make_scratch(launch, {})
    assert "spark.local.dir" in failed.value.next


def test_serial_collection_unless_the_user_chose_another() -> None:
    assert "-XX:+UseSerialGC" in command()
    chosen = command(conf={"spark.driver.extraJavaOptions": "-XX:+UseG1GC -Dx=y"})
    assert "-XX:+UseSerialGC" not in chosen
    assert {"-XX:+UseG1GC", "-Dx=y"} <= set(chosen)


@pytest.mark.parametrize(
    ("memory", "new"), [("4g", [512]), ("1024m", [128]), ("600m", [128]), ("much", [])]
)
def test_the_heap_grows_no_further_than_what_is_in_use_needs(memory: str, new: list[int]) -> None:
    words = command(conf={"spark.driver.memory": memory})
    told = [word for word in words if "HeapFreeRatio" in word or "NewSize" in word]
    assert told == [
        *("-XX:MinHeapFreeRatio=20", "-XX:MaxHeapFreeRatio=40"),
        *(f"-XX:MaxNewSize={size * 1024**2}" for size in new),
    ]
    own = {"spark.driver.memory": memory, "spark.driver.extraJavaOptions": "-XX:+UseParallelGC"}
    assert not any("HeapFreeRatio" in word or "NewSize" in word for word in command(conf=own))


def test_the_slow_compiler_is_left_out_only_when_asked() -> None:
    assert "-XX:TieredStopAtLevel=1" not in command()
    assert "-XX:TieredStopAtLevel=1" in command(quick=True)


def test_a_start_is_not_spent_on_optimizing_what_runs_once_unless_the_user_says_so() -> None:
    threshold = "-XX:Tier4InvocationThreshold="
    assert [word for word in command() if word.startswith(threshold)] == [f"{threshold}200000"]
    chosen = command(conf={"spark.driver.extraJavaOptions": f"{threshold}5000"})
    assert [word for word in chosen if word.startswith(threshold)][-1] == f"{threshold}5000"


def test_the_module_that_some_javas_lack_is_not_asked_for() -> None:
    assert not any("incubator" in word for word in command())


def test_an_archive_is_named_before_the_class_path() -> None:
    words = command(archive=("-XX:SharedArchiveFile=/a.jsa",))
    assert words.index("-XX:SharedArchiveFile=/a.jsa") < words.index("-cp")


def test_what_the_user_adds_to_the_class_path_comes_last() -> None:
    conf = {"spark.driver.extraClassPath": "/etc/hadoop"}
    assert classpath(Launch(JAVA, JARS, conf)).endswith("/jars/*:/etc/hadoop")
    assert (
        ordinary_conf(Launch(JAVA, JARS, conf))["spark.driver.extraClassPath"]
        == "/cache/iceberg.jar:/cache/sqlite.jar:/etc/hadoop"
    )


def test_options_with_spaces_stay_whole() -> None:
    conf = {"spark.driver.extraJavaOptions": "-Dname='two words'"}
    assert "-Dname=two words" in command(conf=conf)
    told = ordinary_conf(Launch(JAVA, JARS, conf), options=("-Dlog=/my lake/log",))[
        "spark.driver.extraJavaOptions"
    ]
    assert told == "'-Dlog=/my lake/log' '-Dname=two words'"


def test_jars_of_a_cluster_are_not_on_the_class_path() -> None:
    launch = Launch(
        JAVA, JARS, {"spark.jars": "/cache/iceberg.jar", "spark.master": "spark://head:7077"}
    )
    assert "iceberg" not in classpath(launch)
    assert "spark.driver.extraClassPath" not in ordinary_conf(launch)


def test_a_users_jar_does_not_push_ours_out() -> None:
    launch = Launch(JAVA, JARS, {"spark.jars": "/own.jar", "spark.master": "local[2]"})
    assert classpath(launch).startswith("/cache/iceberg.jar")


def test_importing_the_engine_does_not_import_pyspark() -> None:
    code = "import sys, lakebed.engines.spark; print('pyspark' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("spark.a", "b c", "spark.a=b c"),
        ("spark.a:b", "x=y#z", r"spark.a\:b=x=y#z"),
        ("spark.a", "two\nlines\\", r"spark.a=two\nlines\\"),
        ("spark.ü", "ß", "spark.ü=ß"),
    ],
)
def test_settings_are_written_as_java_reads_them(key: str, value: str, line: str) -> None:
    assert properties_text({key: value}) == line + "\n"
