"""A lake that an earlier Lakebed left in the middle of several things is taken up by this one.

`make.py` made it.
"""

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lakebed.cli.main import app

PACKED = Path(__file__).with_name("lake.tar.gz")
ORDERS = [{"id": 1, "country": "DE", "amount": 10.0}, {"id": 2, "country": "US", "amount": 3.0}]
GONE = [{"id": 1, "word": "here"}, {"id": 2, "word": "and"}, {"id": 3, "word": "gone"}]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Unpacked elsewhere than it was made, and relocated."""
    with tarfile.open(PACKED) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.setenv("LAKEBED_LAKE", str(tmp_path / "lake"))
    moved = told("relocate")
    assert {table["name"]: table["kind"] for table in moved["tables"]} == {
        "shop.bronze.orders": "table",
        "shop.bronze.rates": "table",
        "shop.silver.orders": "table",
        "shop.silver.seen": "view",
        "shop.silver.gone": "dropped",
        "shop.gold.total": "table",
    }
    return tmp_path / "lake"


def told(*arguments: str, exit_code: int = 0) -> Any:
    """What a command answers in JSON."""
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == exit_code, f"{arguments}: {done.output}"
    return json.loads(done.stdout)


def rows(table: str, *options: str) -> list[dict[str, Any]]:
    return told("query", f"SELECT * FROM {table} ORDER BY ALL", *options)  # type: ignore[no-any-return]


def states() -> dict[str, str]:
    return {file["path"]: file["state"] for file in told("zone", "show", "orders")["files"]}


def findings(severity: str) -> list[str]:
    """Kinds of what fsck finds, every file read whole."""
    return [
        found["kind"]
        for found in told("fsck", "--all")["findings"]
        if found["severity"] == severity
    ]


def removals(lake: Path) -> list[Path]:
    return list((lake / ".data" / "care" / "removals").glob("*.json"))


def test_it_is_listed_as_it_was_left(lake: Path) -> None:
    assert [row["table"] for row in told("ls")] == [
        "shop.bronze.orders",
        "shop.bronze.rates",
        "shop.gold.total",
        "shop.silver.orders",
        "shop.silver.seen",
    ]
    assert [(run["table"], run["state"]) for run in told("runs", "--limit", "3")] == [
        ("shop.gold.total", "running"),
        ("shop.silver.gone", "success"),
        ("shop.silver.seen", "success"),
    ]
    assert states() == {"day1.csv": "taken", "day2.csv": "held", "torn.json": "quarantined"}
    assert [
        (one["version"], one["message"]) for one in told("pipeline", "releases", "silver.orders")
    ] == [(1, "first words")]
    assert len(told("pipeline", "drafts", "gold.total")) == 2
    assert [one["table"] for one in told("table", "dropped")] == ["shop.silver.gone"]
    assert rows("shop.bronze.orders") == rows("shop.bronze.orders", "--at", "first") == ORDERS
    assert rows("shop.silver.orders", "--at", "v1") == [
        {"id": 1, "eur": 10.0},
        {"id": 2, "eur": 1.5},
    ]
    assert rows("shop.silver.seen") == [{"id": 1}, {"id": 2}]


def test_care_ends_what_was_interrupted_and_what_was_dropped_comes_back(
    lake: Path, tmp_path: Path
) -> None:
    (removal,) = removals(lake)
    (data,) = [
        lake / path
        for path in json.loads(removal.read_text())["files"]
        if path.endswith(".parquet")
    ]
    assert data.exists()
    assert findings("problem") == []
    assert findings("warning") == ["stale branch", "dead run"]
    done = {
        (entry["action"], entry["subject"]): entry["state"] for entry in told("care")["entries"]
    }
    assert (
        done["finish_removal", "shop.bronze.rates"]
        == done["close_dead_runs", "shop.gold.total"]
        == "done"
    )
    assert "failed" not in done.values()
    assert (removals(lake), data.exists()) == ([], False)
    assert [run["state"] for run in told("runs", "--limit", "1")] == ["failed"]
    assert rows("shop.bronze.rates") == [
        {"country": "DE", "rate": 1.0},
        {"country": "US", "rate": 2.0},
    ]
    told("table", "restore", "silver.gone")
    assert rows("shop.silver.gone") == GONE
    backup = tmp_path / "backup.zip"
    told("backup", str(backup))
    told("table", "drop", "silver.gone")
    told("table", "untag", "bronze.orders", "first")
    told("restore", str(backup), "--force")
    assert rows("shop.silver.gone") == GONE
    assert rows("shop.bronze.orders", "--at", "first") == ORDERS
    assert findings("problem") == []
    assert findings("warning") == ["table without pipeline"]


@pytest.mark.spark
def test_it_runs_on_without_the_files_that_were_held_back(lake: Path, spark_home: Path) -> None:
    landed = lake / "shop" / "landing" / "orders" / "day3.csv"
    landed.write_text("id,country,amount\n5,US,7.0\n")
    os.utime(landed, (0, 0))  # it came long ago: nobody waits to see whether it still grows
    built = told("run")
    assert {run["state"] for run in built["runs"]} == {"success"}
    assert rows("shop.bronze.orders") == [*ORDERS, {"id": 5, "country": "US", "amount": 7.0}]
    assert rows("shop.silver.orders") == [
        {"id": 1, "eur": 10.0},
        {"id": 2, "eur": 6.0},
        {"id": 5, "eur": 14.0},
    ]
    assert rows("shop.gold.total") == [{"total": 30.0}]
    assert rows("shop.silver.seen") == [{"id": 1}, {"id": 2}, {"id": 5}]
    assert states() == {
        "day1.csv": "taken",
        "day2.csv": "held",
        "day3.csv": "taken",
        "torn.json": "quarantined",
    }
    assert told("run", "--released", "silver.orders")["runs"][0]["version"] == 1
    told("table", "rollback", "bronze.orders", "--to", "first", "--requeue")
    assert states()["day3.csv"] == "waiting"
    assert findings("problem") == findings("warning") == []
