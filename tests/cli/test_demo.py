"""The demo shows what it says it shows."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakebed.cli.main import app

pytestmark = pytest.mark.spark

PIPELINES = [
    "bronze.customers",
    "bronze.orders",
    "bronze.products",
    "silver.clean_orders",
    "gold.revenue",
]


def states(*given: str) -> dict[str, str]:
    return {f"ecommerce.{name}": state for name, state in zip(PIPELINES, given, strict=True)}


def test_every_chapter_of_the_demo_holds(tmp_path: Path, spark_home: Path) -> None:
    done = CliRunner().invoke(app, ["demo", str(tmp_path / "shop"), "--json"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["landed"] == 5
    assert sorted(facts["pipelines"]) == sorted(f"ecommerce.{name}" for name in PIPELINES)
    assert facts["first"] == states("success", "success", "success", "success", "success")
    assert facts["rows"] == {
        "ecommerce.bronze.orders": 600,
        "ecommerce.silver.clean_orders": 600,
        "ecommerce.gold.revenue": 15,
    }
    assert facts["processed"] == 3
    assert facts["bad"] == states("success", "failed", "success", "skipped", "skipped")
    assert facts["main_unchanged"]
    assert facts["repaired"] == states("success", "success", "success", "success", "success")
    assert (
        facts["rows_after"]["ecommerce.bronze.orders"]
        == facts["rows_after"]["ecommerce.silver.clean_orders"]
        == 603
    )
    assert facts["told"] == ["LeaseHeld"]
    assert "matches_silver" in facts["refused"]
    assert facts["undone"] == {"rows": facts["rows_after"]["ecommerce.gold.revenue"], "runs": 1}
    assert len(facts["best"]) == 3
    assert facts["then_and_now"] == [600, 603]
    assert 0 < facts["german"] < 603
    assert len(facts["untrusted"]) == 2
    assert facts["pyiceberg_rows"] == 603


def test_the_demo_ends_by_telling_what_to_try_next(tmp_path: Path, spark_home: Path) -> None:
    shown = CliRunner().invoke(app, ["demo", str(tmp_path / "shop")]).output
    for word in (
        "1. A lake in a folder",
        "ecommerce.bronze.orders",
        "gate positive_amounts",
        "amount=-179.00",
        "still see the 600 rows they saw before",
        "The lake is yours",
        "doctor",
    ):
        assert word in shown
