"""`lakebed kartothek` outside any lake: what users see, and what scripts get."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from lakebed.cli.main import app
from lakebed.engines.files import FolderFiles
from lakebed.kartothek import DatasetOptions, store, update


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAKEBED_LAKE", raising=False)
    rows = pa.table({"country": ["DE", "FR"], "item": [1, 2]})
    options = DatasetOptions(("country",), ("item",), keep_days=7)
    store(FolderFiles(tmp_path / "exports"), "sales", rows, options=options)
    return tmp_path / "exports"


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["kartothek", *arguments])


def test_datasets_are_listed_shown_and_queried_without_a_lake(location: Path) -> None:
    assert "sales" in asked("ls", str(location)).output
    assert "item" in asked("show", "exports/sales").output
    sql = "SELECT item FROM sales WHERE country = 'FR'"
    assert json.loads(asked("query", "exports/sales", sql, "--json").stdout) == [{"item": 2}]
    assert asked("query", "exports/sales", sql, "--format", "csv").stdout == "item\n2\n"
    assert "nothing is wrong" in asked("verify", "exports/sales", "--full").output


def test_a_former_state_is_queried_by_its_version(location: Path) -> None:
    update(FolderFiles(location), "sales", delete_scope=[{"item": 1}])
    first = json.loads(asked("versions", "exports/sales", "--json").stdout)[0]["version"]
    count = "SELECT count(*) AS n FROM sales"
    assert json.loads(asked("query", "exports/sales", count, "--json").stdout) == [{"n": 1}]
    past = asked("query", "exports/sales", count, "--at", first, "--json")
    assert json.loads(past.stdout) == [{"n": 2}]
    assert "kept for 2 days" in asked("keep", "exports/sales", "2").output


def test_a_damaged_dataset_makes_verify_fail_and_an_unknown_one_suggests_a_near_name(
    location: Path,
) -> None:
    unknown = asked("show", "exports/sale")
    assert (unknown.exit_code, "sales" in unknown.output) == (2, True)
    assert asked("ls", "s4://bucket").exit_code == 2
    data = next(location.glob("sales/table/country=DE/*.parquet"))
    data.unlink()
    found = asked("verify", "exports/sales", "--json")
    assert (found.exit_code, json.loads(found.stdout)["problems"]) == (1, 1)
    assert "problem: a data file is missing" in asked("verify", "exports/sales").output


def test_garbage_is_shown_before_it_is_removed(location: Path) -> None:
    (location / "sales" / "table" / ("0" * 32 + ".parquet")).write_bytes(b"left by a writer")
    assert "0 files removed" in asked("gc", "exports/sales").output
    would = asked("gc", "exports/sales", "--older-than", "0", "--dry-run")
    assert "1 file would be removed" in would.output
    assert "1 file removed" in asked("gc", "exports/sales", "--older-than", "0").output


def test_an_exchange_needs_a_lake(location: Path) -> None:
    refused = asked("export", "silver.orders", "exports/orders")
    assert refused.exit_code == 2
    assert "lake" in refused.output
    assert location.exists()
