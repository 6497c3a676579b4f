"""Data is printed letter for letter: nothing in it is taken for markup, a picture or an order to
the terminal.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from lakebed.app import open_lake
from lakebed.cli.main import app
from lakebed.cli.output.build_progress import BuildProgress
from lakebed.cli.output.screen import Screen
from lakebed.names import TableName
from lakebed.pipelines import Pipelines
from lakebed.pipelines.preview.preview import Preview
from lakebed.pipelines.preview.selected import GateResults
from lakebed.ports import CareEntry, Field, Phase, QuarantinedFile, RunRecord, Snapshot, Verdict
from lakebed.tables import ColumnFigures, Example, TableDiff, Tables
from tests.support.lakes.query_lakes import add_table, bench_of
from tests.support.lakes.shop import lakebed, write

EVIL = (
    "urn:id:5 00:ab:1c [red]a[/red] [/] [link=x]b[/link] 10:100:20"  # as a value, a name, a message
)
OBEYED = "\x1b\x9b\u202e\x07"  # by a terminal
ORDERS = "\x1b[31m\x9b\u202e\x07"
SEEN = EVIL + "\ufffd[31m\ufffd\ufffd\ufffd"
FILE = ":ab:[red]x[" + "link=x].csv"
NOW = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
TABLE = TableName("shop", "silver", "evil")
VERDICT = Verdict(
    "gate",
    "error",
    passed=False,
    bad_rows=1,
    sample=({EVIL: EVIL + ORDERS},),
    description=EVIL,
    remediation=EVIL,
)
RECORD = RunRecord(
    "e" * 32,
    "b" * 32,
    TABLE,
    "failed",
    NOW,
    phases=(Phase("Write", 1.0),),
    set_aside=(QuarantinedFile(EVIL, EVIL, EVIL + ORDERS),),
    verdicts=(VERDICT,),
    message=EVIL + ORDERS,
    error={"kind": "GateFailed", "where": EVIL, "what": EVIL + ORDERS, "safe": EVIL, "next": EVIL},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake in which everything that can hold a text holds a hostile one."""
    lake = tmp_path_factory.mktemp("hostile") / "lake"
    assert lakebed("init", str(lake)).exit_code == 0
    write(
        lake,
        "pipelines/silver/evil/pipeline.sql",
        f"-- {EVIL}\nSELECT '{EVIL}' AS `{EVIL}`, s FROM {{{{ landing_zone('in') }}}}\n",
    )
    write(lake, f"landing/in/{FILE}", "s\n1\n")
    write(lake, "landing/in/zone.yaml", f"description: {json.dumps(EVIL)}\n")
    with open_lake(lake) as opened:
        opened.stores.records.write(RECORD)
        opened.stores.care.write(CareEntry(EVIL, EVIL, "reported", NOW, message=EVIL))
        bench = bench_of(opened)
        add_table(
            bench,
            "odd",
            [],
            schema=pa.schema([pa.field(EVIL, pa.string(), metadata={"doc": EVIL})]),
        )
        rows = pa.table({"s": [EVIL + ORDERS]})
        add_table(bench, "evil", [], schema=rows.schema)
        bench.iceberg.load_table(TABLE.parts).append(
            rows, snapshot_properties={"lakebed.run-id": "[red]:ab:[/red]"}
        )
        opened.tables.tag(TABLE, "ab")
        bench.close()
    assert (
        "shop.silver.evil"
        in lakebed("pipeline", "release", "evil", "-m", EVIL, "--lake", str(lake)).output
    )
    return lake


@pytest.fixture(params=["pipe", "terminal"])
def surface(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    monkeypatch.setenv("LAKEBED_LAKE", str(folder))
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setenv("TTY_COMPATIBLE", "1" if request.param == "terminal" else "0")
    return str(request.param)


def printed(*arguments: str, input: str | None = None) -> str:
    """What is seen: our own colours are taken off."""
    done = CliRunner().invoke(app, list(arguments), input=input)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.output)


ALL = f"""SELECT s AS "{EVIL}" FROM evil WHERE s > '{EVIL}'"""


@pytest.mark.usefixtures("surface")
@pytest.mark.parametrize(
    ("command", "seen"),
    [
        (["query", ALL], [EVIL, SEEN]),
        (["query", f"SELECT {EVIL}"], []),
        (["query", f"SELECT nope FROM evil -- {EVIL}"], []),
        (["query", f"SELECT '{EVIL}'::INT"], [EVIL]),
        (["query", "SELECT 'a' || chr(10) || 'b' AS x"], ["a⏎b"]),
        (["explain", ALL], [EVIL]),
        (["query-log"], [EVIL]),
        (["runs"], [SEEN]),
        (["runs", "show", "last"], [SEEN, f"{EVIL}={SEEN}"]),
        (["ls", EVIL], [EVIL]),
        (["ls"], ["shop.silver.evil"]),
        (["table", "describe", "odd"], [EVIL]),
        (["table", "describe", EVIL], [EVIL]),
        (["table", "history", "evil"], ["[red]:ab:[/red]"]),
        (["zone", "ls"], [EVIL]),
        (["zone", "show", "in"], [FILE]),
        (["zone", "show", ":ab:"], [":ab:"]),
        (["plan", "evil"], ["shop.silver.evil"]),
        (["compile", "evil"], [f"'{EVIL}' AS `{EVIL}`"]),
        (["lineage"], ["zone shop.in"]),
        (["lineage", "--format", "mermaid"], ["flowchart"]),
        (["lineage", "evil", "--columns"], [EVIL]),
        (["pipeline", "releases", "evil"], [EVIL]),
        (["pipeline", "diff", "evil", "draft", "1"], ["from"]),
        (["care", "--history"], [EVIL]),
        (["care", ":ab:[red]"], [":ab:[red]"]),
        (["doctor", "--lake", ":ab:[red]"], [":ab:[red]"]),
        (["init", "--set", "[red]=:ab:"], ["[red]"]),
        (["query", "SELECT 1", "--engine", ":ab:[red]"], [":ab:[red]"]),
        ([":ab:[red]"], [":ab:[red]"]),
    ],
)
def test_no_command_obeys_what_it_prints(command: list[str], seen: list[str]) -> None:
    out = printed(*command)
    assert "🆎" not in out
    assert not set(OBEYED) & set(out)
    for text in seen:
        assert text in out


@pytest.mark.usefixtures("surface")
def test_the_shell_obeys_nothing(folder: Path) -> None:
    out = printed("sql", input=f"{ALL};\n.tables\n.schema evil\n.at {FILE}\nSELECT {EVIL};")
    assert EVIL in out
    assert f"as of {FILE}" in out
    assert "🆎" not in out
    assert "\x1b" not in out


@pytest.mark.usefixtures("surface")
def test_comparing_previewing_and_judging_obey_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    point = Snapshot(1, None, NOW, "append", {})
    figures = ColumnFigures(EVIL, {"min": EVIL}, {"min": EVIL + ORDERS})
    found = TableDiff(
        point,
        point,
        (),
        (EVIL,),
        {"added": 1},
        (figures,),
        {"added": (Example(None, {EVIL: EVIL + ORDERS}),)},
    )
    monkeypatch.setattr(Tables, "diff", lambda *_, **__: found)
    shown = Preview(TABLE, (Field(EVIL, "string"),), ({EVIL: EVIL + ORDERS},), ())
    monkeypatch.setattr(Pipelines, "preview", lambda *_, **__: shown)
    monkeypatch.setattr(
        Pipelines,
        "test",
        lambda *_, on_end, **__: (on_end(GateResults(TABLE, (VERDICT,)), 1), ())[1],
    )
    for command in (["table", "diff", "evil", "1"], ["preview", "evil"], ["test"]):
        out = printed(*command)
        assert EVIL in out, command
        assert SEEN in out, command
        assert "🆎" not in out
        assert "\x1b" not in out


@pytest.mark.usefixtures("surface")
def test_a_build_shows_files_gates_and_errors_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    showing = BuildProgress(Screen())
    showing.listener.on_select((TABLE,))
    showing.listener.on_end(replace(RECORD, message=EVIL))
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert out.count(SEEN) == 3
    assert "🆎" not in out


def test_only_the_screen_makes_consoles_and_nobody_writes_markup() -> None:
    """A console made elsewhere would take names of emoji for pictures again."""
    for file in _commands():
        text = file.read_text()
        assert "rich.markup" not in text, file
        assert "Console(" not in text or file.name == "screen.py", file
        assert not re.search(r"\[/(bold|dim|red|green|yellow|cyan)", text), file


def _commands() -> Iterator[Path]:
    import lakebed.cli

    return Path(lakebed.cli.__file__).parent.rglob("*.py")
