"""`lakebed sql`: typed at a terminal, piped in, and completed."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from typer.testing import CliRunner

import lakebed
from lakebed.app import Lake, create_lake
from lakebed.cli.main import app
from lakebed.cli.output.screen import Screen
from lakebed.cli.sql.prompt import SqlCompleter, prompted
from lakebed.cli.sql.shell import Shell, run_interactively
from tests.support.benches import sqlite_bench


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lake with one table of two states: 3 rows, then 5."""
    create_lake(tmp_path / "lake", environment={})
    bench = sqlite_bench(tmp_path / "lake")
    orders = bench.table("orders")
    bench.write(orders, [1, 2, 3])
    head = bench.iceberg.load_table(orders.parts).current_snapshot()
    assert head
    bench.iceberg.load_table(orders.parts).manage_snapshots().create_tag(
        head.snapshot_id, "three"
    ).commit()
    bench.write(orders, [4, 5])
    bench.close()
    return tmp_path / "lake"


@pytest.fixture
def shell(folder: Path) -> Iterator[Shell]:
    with lakebed.open(folder) as lake:
        yield Shell(Screen(), lake, timer=False)


def piped(folder: Path, text: str, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["--lake", str(folder), "sql", *options], input=text)
    return done.exit_code, done.output


def test_piped_statements_are_answered_one_by_one(folder: Path) -> None:
    code, out = piped(
        folder,
        "SELECT count(*) AS n\nFROM orders;\nSELECT max(id) AS top FROM silver.orders",
        "--mode",
        "csv",
    )
    assert (code, out) == (0, "n\n5\ntop\n5\n")


def test_the_first_error_of_a_script_ends_it_without_a_traceback(folder: Path) -> None:
    code, out = piped(folder, "SELECT nope FROM orders;\nSELECT 1 AS one;")
    assert code == 2
    assert "nope" in out
    assert "one" not in out
    assert "Traceback" not in out


def test_a_moment_mode_and_commands_hold_for_what_follows(folder: Path) -> None:
    code, out = piped(
        folder,
        ".at three\n.mode csv\nSELECT count(*) AS n FROM orders;\n.at now\nSELECT count(*) AS n"
        " FROM orders;\n",
    )
    assert code == 0
    assert (
        out.replace("Tables are read as of three.\n", "").replace(
            "Tables are read as of now.\n", ""
        )
        == "n\n3\nn\n5\n"
    )
    assert piped(folder, "SELECT count(*) AS n FROM orders;", "--at", "three", "--mode", "csv") == (
        0,
        "n\n3\n",
    )


def test_json_is_json(folder: Path) -> None:
    code, out = piped(folder, "SELECT id FROM orders ORDER BY id LIMIT 2", "--json")
    assert (code, json.loads(out)) == (0, [{"id": 1}, {"id": 2}])


def test_commands_tell_tables_columns_and_help(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run_interactively(
        shell,
        [
            ".tables",
            ".schema orders",
            ".help",
            ".tables nothing*",
            ".nope",
            ".mode xml",
            ".schema",
            ".schema ordres",
        ],
    )
    shown = capsys.readouterr()
    assert "shop.silver.orders" in shown.out
    assert re.search(r"^id +bigint", shown.out, re.MULTILINE)
    assert ".timer" in shown.out
    assert "there is no command '.nope'" in shown.err
    assert "there is no mode 'xml'" in shown.err
    assert "Did you mean" in shown.err


def test_what_is_typed_over_many_lines_is_one_statement_and_errors_end_nothing(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    history = tmp_path / "h" / "sql_history"
    with create_pipe_input() as keys:
        keys.send_text(
            "SELECT sum(id) AS total\rFROM orders;\rSELECT nope;\r.mode csv\rSELECT 7 AS seven;"
            " SELECT 8 AS eight;\r.quit\r"
        )
        run_interactively(shell, prompted(shell, history, input=keys, output=DummyOutput()))
    shown = capsys.readouterr()
    assert "15" in shown.out
    assert "seven\n7\neight\n8\n" in shown.out
    assert "nope" in shown.err
    assert "Traceback" not in shown.err
    assert "FROM orders;" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def test_ctrl_c_begins_anew_and_ctrl_d_leaves(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    with create_pipe_input() as keys:
        keys.send_text("SELECT nonsense\x03SELECT 9 AS nine;\r\x04")
        run_interactively(shell, prompted(shell, None, input=keys, output=DummyOutput()))
    shown = capsys.readouterr()
    assert "nine" in shown.out
    assert shown.err == ""


def test_tables_columns_and_keywords_of_the_lake_are_completed(shell: Shell) -> None:
    def completed(text: str) -> list[str]:
        return [
            one.text for one in SqlCompleter(shell).get_completions(Document(text), CompleteEvent())
        ]

    assert completed("SELECT * FROM or") == ["shop.silver.orders"]
    assert completed("SELECT * FROM orders WHERE i")[0] == "id"
    assert "SELECT" in completed("se")


def test_values_that_a_terminal_would_obey_are_shown_harmless(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run_interactively(
        shell,
        [
            "SELECT chr(27) || '[31mred' AS a, 'two' || chr(10) || 'lines' AS b, NULL AS c,"
            " repeat('x', 100) AS d, 1 AS a"
        ],
    )
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "two⏎lines" in shown
    assert "NULL" in shown
    assert "x" * 100 in shown  # nothing is cut on its way into a pipe
    assert "a (2)" in shown


def test_a_real_terminal_has_prompt_completion_and_no_traceback(
    folder: Path, tmp_path: Path
) -> None:
    master, slave = pty.openpty()
    paths = os.pathsep.join(filter(None, sys.path))
    environment = os.environ | {
        "TERM": "xterm",
        "LAKEBED_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": paths,
    }
    program = "from lakebed.cli import main; main()"
    command = [sys.executable, "-c", program, "--lake", str(folder), "sql"]
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment
    ) as child:
        try:
            os.close(slave)
            seen = until(master, "lake>")
            os.write(master, b"SELECT count(*) + 37 AS n FROM or\t")
            seen += until(master, "shop.silver.orders")  # the only table that fits
            os.write(master, b";\r")
            seen += until(master, "1 row")
            os.write(master, b"SELECT nope;\r")
            seen += until(master, "error:")
            os.write(master, b".quit\r")
            assert child.wait(timeout=20) == 0
        finally:
            child.kill()
            os.close(master)
    assert "42" in seen
    assert "Traceback" not in seen
    assert (tmp_path / "cache" / "sql_history").exists()


def until(terminal: int, wanted: str, *, seconds: float = 30) -> str:
    """What the terminal shows until `wanted` is there."""
    seen, deadline = "", time.monotonic() + seconds
    while wanted not in seen:
        assert time.monotonic() < deadline, seen
        if select.select([terminal], [], [], 0.2)[0]:
            got = os.read(terminal, 65536)
            if b"\x1b[6n" in got:
                os.write(terminal, b"\x1b[1;1R")  # where the cursor is
            seen += got.decode(errors="replace")
    return seen


def test_the_query_log_is_readable_while_the_database_is_broken(folder: Path) -> None:
    piped(folder, "SELECT count(*) AS n FROM orders; SELECT nope;")
    for name in ("lake.db", "lake.db-wal", "lake.db-shm"):
        (folder / ".data" / name).unlink(missing_ok=True)
    (folder / ".data/lake.db").write_text("broken")
    done = CliRunner().invoke(app, ["--lake", str(folder), "query-log", "--json"])
    assert done.exit_code == 0
    failed, asked = json.loads(done.output)
    assert (asked["status"], asked["route"], asked["rows"], asked["tables"]) == (
        "ok",
        "shell",
        1,
        ["shop.silver.orders"],
    )
    assert failed["status"] == "error"
    (snapshot,) = asked["snapshot_ids"]
    assert isinstance(snapshot, str), "a reader of JSON would round so large a number"
    shown = CliRunner().invoke(app, ["--lake", str(folder), "query-log", "--failed"])
    assert "SELECT nope" in shown.output
    assert "count(*)" not in shown.output
    assert isinstance(lakebed.open(folder), Lake)
