"""A lake with a source, layouts, a backfill that was killed half-way and a build that failed, as
Lakebed wrote it before all runs had one driver, is taken up by this one.

`make_batches.py` made it.
"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.former.test_former_lake import findings, rows, told

RANGE = ("--start", "2018-01-01", "--end", "2021-01-01", "--chunk", "year")
VALUES = [2018, 7, 2019, 2020]

pytestmark = pytest.mark.spark


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with tarfile.open(Path(__file__).with_name("batches.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.setenv("LAKEBED_LAKE", str(tmp_path / "lake"))
    told("relocate")
    return tmp_path / "lake"


def steps(*arguments: str) -> list[str]:
    return [step["step"] for step in told("plan", *arguments)[0]["steps"]]


def ran(*arguments: str) -> Any:
    """The only run of a build that succeeds."""
    (run,) = told(*arguments)["runs"]
    assert run["state"] == "success"
    return run


def test_its_runs_go_on_where_they_were_and_it_is_cared_for_and_restored(
    lake: Path, tmp_path: Path, spark_home: Path
) -> None:
    gate = lake / "shop/pipelines/silver/words/tests/quality/some.sql"
    gate.write_text("SELECT * FROM {{ this }} WHERE n < 1")
    ran("retry")
    assert rows("silver.words") == [{"n": 4, "word": "kept"}]  # the variable of the failed build

    left = steps("silver.ranged", *RANGE)
    assert left == ["PublishBatch", "PublishBatch", "Care"]
    assert ran("run", "silver.ranged", *RANGE)["message"] == "2 batches written, 1 done before"
    assert sorted(row["value"] for row in rows("silver.ranged")) == sorted(VALUES)

    # unpacked files are others than those that were read
    assert {line["reason"] for line in ran("run", "bronze.income")["batches"]} == {"changed"}
    assert steps("bronze.income") == []
    config = lake / "shop/pipelines/bronze/income/config.yaml"
    config.write_text(config.read_text().replace("layouts: [", "layouts: [{partition_by: table}, "))
    assert steps("bronze.income") == ["BuildLayouts"]
    ran("run", "bronze.income")
    (lake / "downloads/CA3_2020_COUNTY.json").write_text('{"geo": "02", "value": 8}')
    assert [line["label"] for line in ran("run", "bronze.income")["batches"]] == ["year=2020"]
    assert all(check["ok"] for check in told("layout", "verify"))

    backup = tmp_path / "backup.zip"
    assert "failed" not in {entry["state"] for entry in told("care")["entries"]}
    told("backup", str(backup))
    before = rows("bronze.income")
    (lake / "downloads/CA3_2020_COUNTY.json").write_text(json.dumps({"geo": "02", "value": 9}))
    ran("run", "bronze.income")
    told("restore", str(backup), "--force")
    assert rows("bronze.income") == before
    assert sorted(row["value"] for row in before) == sorted([*VALUES, 8])
    assert findings("problem") == []
