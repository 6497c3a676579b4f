"""Which commands let Spark's JVM boot before they know what to do. No JVM is started here."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakebed.app import create_lake, open_lake
from lakebed.cli.main import app
from lakebed.errors import BadQuery


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ahead") / "lake"
    create_lake(folder)
    return folder


@pytest.fixture
def told(lake: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Spark's engine was told to do; nothing else of it is used, as every command fails or
    needs no Spark.
    """
    monkeypatch.setenv("LAKEBED_LAKE", str(lake))
    told: list[str] = []
    engine = "lakebed.engines.spark"
    monkeypatch.setattr(f"{engine}.start_ahead", lambda *_, **__: told.append("start"))
    monkeypatch.setattr(f"{engine}.end_ahead", lambda: told.append("end"))
    return told


@pytest.mark.parametrize(
    "command",
    [
        ["run", "no.such"],
        ["build", "no.such"],
        ["retry"],
        ["test", "no.such"],
        ["preview", "no.such"],
        ["query", "--engine", "spark", "SELECT * FROM no.such"],
        ["table", "diff", "no.such", "1"],
        ["table", "execute", "DELETE FROM no.such"],
        ["table", "write", "shop.gold.targets", "no_such.csv"],
    ],
)
def test_commands_that_need_spark_do_not_wait_for_their_plan_to_start_it_nor_leave_it_behind(
    told: list[str], command: list[str]
) -> None:
    assert CliRunner().invoke(app, command).exit_code
    assert told[0] == "start"
    assert told[-1] == "end"


@pytest.mark.parametrize(
    "command", [["ls"], ["plan"], ["run", "--dry-run"], ["query", "SELECT 1"], ["runs"]]
)
def test_commands_that_look_start_no_spark(told: list[str], command: list[str]) -> None:
    assert CliRunner().invoke(app, command).exit_code == 0
    assert told == []


def test_an_untrusted_query_cannot_start_spark(told: list[str], lake: Path) -> None:
    with open_lake(lake) as opened, pytest.raises(BadQuery):
        opened.query("SELECT 1", engine="spark", untrusted=True)
    assert told == []
