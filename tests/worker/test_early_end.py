"""Code of a pipeline that ends its process: nobody is told that all is well."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lakebed.engines.worker.end_report import CommandEnd, command_end

# A `lakebed run` whose work is this line of Python instead of a build.
PROGRAM = """
import os, sys
from lakebed.cli import main
import lakebed.cli.main as commands

def work(**_):
    {line}

commands.app = work
sys.argv = ["lakebed", "run"]
main()
"""
# The same without all that a program loads.
COMMAND = """
import ctypes, os, sys, time
from lakebed.engines.worker.attend import run_in_child
from lakebed.engines.worker.end_report import report_end

code = run_in_child()
if code is not None:
    sys.exit(code)
try:
    {line}
except SystemExit as ended:
    report_end(ended.code)
    raise
"""


def start(line: str, *, text: str = COMMAND) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", text.format(line=line)], stdout=pipe, stderr=pipe, text=True
    )


def run(line: str, *, text: str = COMMAND) -> tuple[int, str]:
    process = start(line, text=text)
    _, said = process.communicate(timeout=120)
    return process.returncode, said


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [("os._exit(0)", 1, True), ("sys.exit(0)", 0, False), ("sys.exit(2)", 2, False)],
)
def test_lakebed_run_ends_with_0_only_if_it_came_to_its_end(
    line: str, code: int, told: bool
) -> None:
    ended, said = run(line, text=PROGRAM)
    assert ended == code
    assert ("ended before the command did" in said) is told


@pytest.mark.parametrize(
    "line",
    [
        "ctypes.CDLL(None).exit(0)",
        "__import__('threading').Thread(target=os._exit, args=(0,)).start(); time.sleep(60)",
    ],
)
def test_a_run_whose_process_ended_before_it_is_no_success(line: str) -> None:
    code, said = run(line)
    assert code == 1
    assert "ended before the command did" in said
    assert "lakebed retry" in said


def test_the_exit_code_of_a_process_that_ended_before_its_run_is_kept() -> None:
    code, said = run("os._exit(3)")
    assert code == 3
    assert "ended before the command did" in said


def test_a_failed_run_is_no_success_if_code_ends_the_process_at_exit() -> None:
    code, _ = run("__import__('atexit').register(os._exit, 0); sys.exit(1)")
    assert code == 1


def test_a_child_that_a_pipeline_forks_may_end_as_it_likes() -> None:
    code, said = run("os.fork() or os._exit(0); os.wait(); sys.exit(0)")
    assert (code, said) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_was_killed_ends_by_the_same_signal(number: signal.Signals) -> None:
    code, said = run(f"os.kill(os.getpid(), {int(number)})")
    assert (code, said) == (-number, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_program_reaches_the_run(number: signal.Signals) -> None:
    process = start("print('working', flush=True); time.sleep(600)")
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == -number
    assert ("KeyboardInterrupt" in said) is (number == signal.SIGINT)


def test_a_run_does_not_outlive_its_program() -> None:
    process = start("print(os.getpid(), flush=True); time.sleep(600)")
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=120)
    while _runs(child):
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_command_reports_and_how_its_process_ends_make_its_exit_code() -> None:
    exited_0, exited_3, killed = 0, 3 << 8, int(signal.SIGKILL)
    assert command_end(exited_0, 0) == CommandEnd(0)
    assert command_end(exited_0, None) == CommandEnd(1, early=True)
    assert command_end(exited_3, None) == CommandEnd(3, early=True)
    assert command_end(exited_0, 2) == CommandEnd(2)
    assert command_end(exited_3, 0) == CommandEnd(3)
    assert command_end(killed, 0) == CommandEnd(-9)
    assert command_end(killed, None) == CommandEnd(-9)
