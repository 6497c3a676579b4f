"""Builds at the keyboard, on real Spark: the first days of a small lake."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.lakes.shop import lakebed, make_shop, write

pytestmark = pytest.mark.spark


class Story:
    """What the commands of the first days said, by a word for each."""

    def __init__(self, lake: Path) -> None:
        self.lake = lake
        self.said: dict[str, Result] = {}
        self.first_results: list[dict[str, Any]] = []

    def do(self, word: str, *arguments: str) -> None:
        self.said[word] = lakebed(*arguments, "--lake", str(self.lake))

    def told(self, *arguments: str) -> Any:
        return json.loads(lakebed(*arguments, "--json", "--lake", str(self.lake)).stdout)

    def artifact(self, name: str) -> Any:
        return json.loads((self.lake / ".data" / "artifacts" / f"{name}.json").read_text())


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Story:
    story = Story(make_shop(tmp_path_factory.mktemp("story") / "lake"))
    story.do("preview", "preview", "silver.orders", "--limit", "2")
    story.do("first", "run")
    story.first_results = story.artifact("run_results")["results"]
    story.do("noop", "build", "bronze.orders")
    story.do("test", "test")
    story.do("blocked", "run", "silver.orders+", "--vars", "least=1")
    story.do("retried", "retry")
    return story


def test_a_build_prints_a_line_a_pipeline_and_a_summary(story: Story) -> None:
    done = story.said["first"]
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith(
        "1 of 4 WARN  shop.bronze.orders [draft: append_only, 3 rows, 1 file set aside in "
    )
    assert "    set aside: shop/landing/orders/torn.json: " in lines[1]
    warned = "3 of 4 WARN  shop.silver.orders [draft: incremental, 3 rows, 1 of 2 gates passed in "
    assert any(line.startswith(warned) for line in lines)
    assert "    gate cheap, warn: 2 bad rows" in lines
    assert lines[-1].startswith("Done. PASS=2 WARN=2 ERROR=0 SKIP=0 TOTAL=4 in ")


def test_a_build_leaves_results_and_a_manifest(story: Story) -> None:
    results = story.first_results
    statuses = {result["unique_id"]: result["status"] for result in results}
    assert statuses["model.shop.silver.orders"] == "success"
    assert statuses["test.shop.silver.orders.cheap"] == "warn"
    assert statuses["test.shop.silver.orders.positive"] == "pass"
    total = next(result for result in results if result["unique_id"] == "model.shop.gold.total")
    assert total["adapter_response"]["snapshot"]
    assert story.artifact("manifest")["parent_map"]["model.shop.bronze.orders"] == [
        "source.shop.landing.orders"
    ]


def test_what_has_nothing_to_do_says_so(story: Story) -> None:
    done = story.said["noop"]
    assert done.exit_code == 0, done.output
    nothing = "no file is waiting in shop.orders"
    earlier = "1 set aside earlier: lakebed zone show shop.orders"
    line = f"1 of 1 NOOP  shop.bronze.orders [draft: {nothing}; {earlier}]"
    assert done.stdout.splitlines()[0] == line


def test_gates_can_be_asked_about_what_is_published(story: Story) -> None:
    done = story.said["test"]
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("1 of 1 WARN  shop.silver.orders [1 of 2 gates passed in ")


def test_a_gate_that_fails_ends_a_build_with_1_and_shows_rows(story: Story) -> None:
    done = story.said["blocked"]
    assert done.exit_code == 1, done.output
    assert (
        "1 of 2 ERROR shop.silver.orders [draft: incremental, 3 rows, 0 of 2 gates passed in "
        in done.stdout
    )
    assert (
        "    gate positive, error: 1 bad row (orders are worth something)\n      id=3, eur=0.5"
        in done.stdout
    )
    assert "2 of 2 SKIP  shop.gold.total [shop.silver.orders failed]" in done.stdout
    assert "ERROR=1 SKIP=1 TOTAL=2" in done.stdout


def test_a_retry_runs_what_failed_with_the_same_variables(story: Story) -> None:
    done = story.said["retried"]
    assert done.exit_code == 1, done.output
    assert "id=3, eur=0.5" in done.stdout
    assert story.artifact("run_results")["args"]["vars"] == {"least": 1}


def test_a_preview_shows_rows_and_writes_nothing(story: Story) -> None:
    done = story.said["preview"]
    assert done.exit_code == 2, done.output  # its inputs are not there yet
    assert "Run its pipeline first: lakebed run -s +shop.bronze.orders" in done.stderr
    (first, *_) = story.told("preview", "bronze.rates", "--limit", "1")["rows"]
    assert first == {"country": "DE", "rate": 1.0}


def test_a_finished_run_shows_its_log_and_the_lineage_its_snapshots(story: Story) -> None:
    run = story.told("runs", "--table", "gold.total", "--state", "success")[0]
    shown = lakebed("runs", "show", run["run_id"], "--logs", "--lake", str(story.lake)).stdout
    assert "INFO query:" in shown
    edge = story.told("lineage", "gold.total")["edges"][0]
    assert edge["snapshot"] == run["inputs"][0]["snapshot"]
    compiled = story.told("compile", "gold.total")[0]["text"]
    assert f"VERSION AS OF {edge['snapshot']}" in compiled


def test_a_zone_knows_how_far_its_files_have_come(story: Story) -> None:
    files = {file["path"]: file for file in story.told("zone", "show", "orders")["files"]}
    assert (files["day1.csv"]["state"], files["torn.json"]["state"]) == ("processed", "quarantined")
    assert files["torn.json"]["reason"]
    (rates,) = story.told("zone", "show", "rates")["files"]
    assert (rates["state"], rates["taken_by"]) == ("taken", ["shop.bronze.rates"])


def test_a_broken_query_is_told_at_its_line_before_spark_starts_and_exits_2(story: Story) -> None:
    write(
        story.lake,
        "pipelines/gold/broken/pipeline.sql",
        "-- nothing\nSELECT\n  amout FROM {{ ref('bronze.orders') }}\n",
    )
    done = lakebed("run", "gold.broken", "--lake", str(story.lake))
    assert done.exit_code == 2, done.output
    assert "gold/broken/pipeline.sql:3: there is no column amout." in done.stdout
    assert "Nothing was changed." in done.stdout
