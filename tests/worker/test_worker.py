"""A command that a worker runs is the same command, only sooner."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.support.terminals import LAKEBED, Terminal
from tests.worker.conftest import SMALL, Desk

pytestmark = pytest.mark.spark

SEEN = """
import os, sys
from pyspark.sql.functions import udf
import shared_code

def run(spark, context):
    seen = udf(lambda _: os.environ.get("SHADE", ""))
    value = udf(lambda _: __import__("shared_code").VALUE, "int")
    here = (os.getcwd(), os.environ.get("SHADE", ""), shared_code.VALUE, os.umask(0o022))
    frame = spark.createDataFrame([here], "folder string, shade string, value int, umask int")
    return frame.withColumn("udf_shade", seen("value")).withColumn("udf_value", value("value"))
"""
LEAVING = """
def run(spark, context):
    before = [
        spark.conf.get("spark.sql.shuffle.partitions"),
        str(spark.catalog.tableExists("left_view")),
        str(spark.catalog.tableExists("global_temp.left_global")),
        str(spark.table("lake.shop.bronze.small").storageLevel.useMemory),
    ]
    spark.conf.set("spark.sql.shuffle.partitions", "77")
    spark.range(3).createOrReplaceTempView("left_view")
    spark.range(3).createOrReplaceGlobalTempView("left_global")
    spark.table("lake.shop.bronze.small").cache().count()
    return spark.createDataFrame([before], "partitions string, view string, wide string, cached string")
"""
LONG = """
import threading, time

def announce(tracker):
    running = 0
    while running < 2:
        time.sleep(0.05)
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        running = sum(stage.numActiveTasks for stage in stages if stage)
    print("computing", flush=True)

def run(spark, context):
    tracker = spark.sparkContext.statusTracker()
    threading.Thread(target=announce, args=(tracker,), daemon=True).start()
    spark.range(10**15).selectExpr("sum(id % 7)").collect()
    return spark.range(1)
"""
SLOW = """
import time
from pathlib import Path

def run(spark, context):
    print("computing", flush=True)
    while not Path("go").exists():
        time.sleep(0.05)
    return spark.range(1)
"""
STUBBORN = """
import time

def run(spark, context):
    print("computing", flush=True)
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass
"""


RUNS = 50
RUNNING = f"""
import lakebed
for number in range({RUNS}):
    with lakebed.open(worker=True) as lake:
        assert lake.run("bronze.small").ok
        if number in (9, {RUNS - 1}):
            context, runtime = lake.spark.sparkContext, lake.spark._jvm.java.lang.Runtime.getRuntime()
            runtime.gc()
            listeners = context._jsc.sc().listenerBus().listeners().size()
            heap = runtime.totalMemory() - runtime.freeMemory()
            print(context.applicationId, listeners, heap, lake.workers.status()[0].memory)
"""
STOPPING = """
def run(spark, context):
    spark.stop()
    return spark.range(1)
"""
LEAKING = """
def run(spark, context):
    logging = spark._jvm.java.util.logging
    for _ in range(4):  # each keeps an array of 100 MB
        target, all = logging.ConsoleHandler(), logging.Level.ALL
        kept = logging.MemoryHandler(target, 25_000_000, all)
        logging.LogManager.getLogManager().getLogger("").addHandler(kept)
    return spark.range(1)
"""
SEVERAL = {
    "bronze.good": SMALL,
    "bronze.failing": "def run(spark, context):\n    raise ValueError('no luck')\n",
    "bronze.printing": "def run(spark, context):\n    print('printed')\n    return spark.range(1)\n",
}


def results(terminal: Terminal) -> list[str]:
    """What a command has shown when it has ended, but for how long it took."""
    return [re.sub(r"\d+\.\d+ s", "? s", line) for line in terminal.shown]


def test_the_second_command_is_run_by_the_worker_that_the_first_one_started(desk: Desk) -> None:
    before = desk.wait_until_idle().commands
    second = desk.terminal("run", "bronze.small")
    assert second.end() == 0, second.text
    assert desk.wait_until_idle().commands == before + 1
    assert results(second) == results(desk.first) != []
    assert "━" in second.text
    assert "\x1b[" in second.raw


def test_code_variables_and_folder_are_those_of_the_caller_at_every_run(desk: Desk) -> None:
    shared = desk.folder / "shared" / "shared_code.py"
    shared.parent.mkdir(exist_ok=True)
    desk.pipeline("bronze.seen", SEEN)
    for value, shade in ((1, "red"), (12345, "blue")):
        shared.write_text(f"VALUE = {value}\n")
        code, text = desk.run("run", "bronze.seen", SHADE=shade)
        assert code == 0, text
        (row,) = desk.rows("SELECT * FROM shop.bronze.seen")
        assert (row["value"], row["udf_value"]) == (value, value)
        assert (row["shade"], row["udf_shade"]) == (shade, shade)
        assert row["folder"] == str(desk.folder)
    desk.wait_until(lambda: "pyspark.daemon" not in desk.processes())


def test_nothing_that_a_run_leaves_in_spark_reaches_the_next(desk: Desk) -> None:
    desk.pipeline("bronze.leaving", LEAVING)
    seen = []
    for _ in range(2):
        code, text = desk.run("run", "bronze.leaving")
        assert code == 0, text
        seen += desk.rows("SELECT * FROM shop.bronze.leaving")
    assert seen[0] == seen[1]
    assert seen[1]["partitions"] != "77"
    assert (seen[1]["view"], seen[1]["wide"], seen[1]["cached"]) == ("False", "False", "False")


def test_a_pipeline_that_ends_its_process_does_not_end_the_worker(desk: Desk) -> None:
    worker = desk.worker().pid
    for exits_with, code in ((3, 3), (0, 1)):
        source = f"import os\n\ndef run(spark, context):\n    os._exit({exits_with})\n"
        desk.pipeline(f"bronze.ending_{code}", source)
        ended, text = desk.run("run", f"bronze.ending_{code}")
        assert ended == code
        assert "ended before the command did" in text
    assert desk.wait_until_idle().pid == worker
    assert desk.run("run", "bronze.small")[0] == 0


def test_a_command_says_the_same_if_there_can_be_no_worker(desk: Desk, tmp_path: Path) -> None:
    """Its folder could be changed by everybody: the command runs by itself, and says so once."""
    for name, source in SEVERAL.items():
        desk.pipeline(name, source)
    (tmp_path / "lakebed").mkdir()
    (tmp_path / "lakebed").chmod(0o777)
    arguments = ("run", *SEVERAL, "--debug", "--threads", "1")
    alone = desk.terminal(*arguments, XDG_RUNTIME_DIR=str(tmp_path))
    before = desk.worker().commands
    assert alone.end() == 1, alone.text
    assert desk.worker().commands == before
    by_worker = desk.terminal(*arguments)
    assert by_worker.end() == 1, by_worker.text
    assert desk.worker().commands == before + 1
    first, *rest = results(alone)
    assert first.startswith("No worker: ")
    assert "chmod 700" in first
    assert rest == results(by_worker)


def test_a_pipeline_that_stops_spark_stops_it_for_itself_alone(desk: Desk) -> None:
    desk.pipeline("bronze.stopping", STOPPING)
    desk.pipeline("bronze.slow_beside", SLOW.replace('"go"', '"go beside"'))
    beside = desk.terminal("run", "bronze.slow_beside")
    beside.wait_for("computing")
    before = desk.worker()
    assert desk.run("run", "bronze.stopping")[0] == 1
    (desk.folder / "go beside").touch()
    assert beside.end() == 0, beside.text
    assert desk.wait_until_idle().spark_log == before.spark_log


def test_every_command_that_needs_spark_is_run_by_the_worker(desk: Desk) -> None:
    (desk.folder / "rows.csv").write_text("id,amount\n3,30\n")
    commands = (
        ("build", "bronze.small"),
        ("preview", "bronze.small"),
        ("test", "bronze.small"),
        ("table", "execute", "UPDATE shop.bronze.small SET amount = 11 WHERE id = 1"),
        ("table", "write", "shop.bronze.written", "rows.csv"),
        ("table", "diff", "bronze.small", "main"),
        ("query", "SELECT count(*) FROM shop.bronze.small", "--engine", "spark"),
        ("care", "--dry-run"),
    )
    before = desk.wait_until_idle()
    for arguments in commands:
        code, text = desk.run(*arguments)
        assert code == 0, text
    after = desk.wait_until_idle()
    assert after.commands == before.commands + len(commands)
    assert after.spark_log == before.spark_log


def test_debug_shows_the_traceback_of_an_error(desk: Desk) -> None:
    for arguments, shown in ((("run", "no.such"), False), (("run", "no.such", "--debug"), True)):
        code, text = desk.run(*arguments)
        assert code == 2
        assert ("Traceback" in text) is shown


def test_a_pipeline_can_ask_at_the_terminal(desk: Desk) -> None:
    asking = "def run(spark, context):\n    name = input('your name? ')\n    return spark.createDataFrame([(name,)], 'name string')\n"
    desk.pipeline("bronze.asking", asking)
    terminal = desk.terminal("run", "bronze.asking")
    terminal.wait_for("your name?")
    terminal.type("Ada\n")
    assert terminal.end() == 0, terminal.text
    assert desk.rows("SELECT name FROM shop.bronze.asking") == [{"name": "Ada"}]


def test_output_into_a_pipe_has_no_colours(desk: Desk) -> None:
    terminal = desk.terminal("query", "SELECT 1 AS n", "--engine", "spark", "--json", piped=True)
    assert terminal.process.stdout is not None
    assert terminal.process.stdout.read() == b'[\n{"n": 1}\n]\n'
    assert terminal.end() == 0


def test_two_terminals_at_once(desk: Desk) -> None:
    desk.pipeline("bronze.other", SMALL)
    both = [desk.terminal("run", f"bronze.{name}") for name in ("small", "other")]
    assert [terminal.end() for terminal in both] == [0, 0], [one.text for one in both]


def test_ctrl_c_cancels_one_run_and_leaves_its_table_and_other_terminals_alone(desk: Desk) -> None:
    desk.pipeline("bronze.long", "SELECT 1L AS id")
    assert desk.run("run", "bronze.long")[0] == 0
    desk.pipeline("bronze.long", LONG)
    long = desk.terminal("run", "bronze.long")
    long.wait_for("computing")
    code, text = desk.run("run", "bronze.small")
    assert code == 0, text
    assert "No worker: its Spark is busy" in text
    assert long.process.poll() is None
    long.type("\x03")
    assert long.end() == 130, long.text
    assert "it was interrupted." in long.text
    desk.wait_until_idle()
    assert desk.rows("SELECT * FROM shop.bronze.long") == [{"id": 1}]
    assert desk.run("run", "bronze.small")[0] == 0


def test_ctrl_z_stops_a_command_until_fg(desk: Desk) -> None:
    """In a shell, as only a shell can continue it."""
    desk.pipeline("bronze.slow", SLOW)
    shell = desk.shell()
    shell.type(f"{LAKEBED} run bronze.slow\n")
    shell.wait_for("computing")
    shell.type("\x1a")
    shell.wait_for("Stopped")
    desk.wait_until(lambda: "\nT " in desk.processes())
    (desk.folder / "go").touch()
    shell.type("fg\n")
    shell.wait_for("Done. PASS=1")
    shell.type("exit\n")
    shell.end()


def test_a_second_ctrl_c_ends_a_command_that_does_not_listen(desk: Desk) -> None:
    desk.pipeline("bronze.stubborn", STUBBORN)
    terminal = desk.terminal("run", "bronze.stubborn")
    terminal.wait_for("computing")
    assert terminal.press_until_end("\x03") == 130
    desk.wait_until_idle()


def test_fifty_runs_share_one_spark_and_its_memory_stays_flat(desk: Desk) -> None:
    """Each opens the lake in Python, borrows Spark, runs a pipeline, and closes the lake."""
    told = [line.split() for line in desk.python(RUNNING).splitlines()]
    assert len({application for application, *_ in told}) == 1
    (listeners, heap, memory), (more_listeners, larger_heap, more_memory) = (
        map(int, figures) for _, *figures in told
    )
    assert more_listeners < listeners + 5  # the last borrower may just be leaving
    assert larger_heap < heap + 32 * 2**20
    assert more_memory < memory * 1.25  # the JVM's heap may not have been full at first


@pytest.mark.parametrize("victim", ["worker", "command"])
def test_kill_9_in_the_middle_of_a_run_is_reported_and_the_next_command_works(
    desk: Desk, victim: str
) -> None:
    desk.pipeline(f"bronze.killed_{victim}", LONG)
    terminal = desk.terminal("run", f"bronze.killed_{victim}")
    terminal.wait_for("computing")
    worker = desk.worker().pid
    children = Path(f"/proc/{worker}/task/{worker}/children").read_text().split()
    os.kill(worker if victim == "worker" else int(children[-1]), signal.SIGKILL)
    assert terminal.end() not in (0, None)
    assert "error:" in terminal.text
    code, text = desk.run("run", "bronze.small")
    assert code == 0, text


def test_a_worker_whose_spark_is_full_ends(desk: Desk) -> None:
    """The next command starts another one."""
    desk.pipeline("bronze.leaking", LEAKING)
    code, text = desk.run("run", "bronze.leaking")
    assert code == 0, text
    desk.wait_until(lambda: not desk.workers())
