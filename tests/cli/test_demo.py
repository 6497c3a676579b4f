"""The demo shows what it says it shows."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakebed.cli.main import app

pytestmark = pytest.mark.spark


def test_every_chapter_of_the_demo_holds(tmp_path: Path, spark_home: Path) -> None:
    done = CliRunner().invoke(app, ["demo", str(tmp_path / "shop"), "--json"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["seen_before"] == {"orders": 0, "customers": 0, "products": 0}
    assert facts["waiting"] == facts["seen_after"] == {"orders": 400, "customers": 120, "products": 6}
    assert (facts["bad_rows"], facts["main_during_bad_day"], facts["main_after_bad_day"]) == (1, 400, 600)
    assert facts["holder"] == "Alice's run"
    assert facts["diverged"] == "main"
    assert facts["pyiceberg_rows"] == 600


def test_the_demo_ends_by_telling_what_to_try_next(tmp_path: Path, spark_home: Path) -> None:
    shown = CliRunner().invoke(app, ["demo", str(tmp_path / "shop")]).output
    for word in ("1. A lake in a folder", "nobody sees a row yet", "ecommerce.bronze.orders", "The lake is yours", "doctor"):
        assert word in shown
