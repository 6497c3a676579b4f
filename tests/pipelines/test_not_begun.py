"""A run that fails before its first step: it alone fails, and its record says why. No Spark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakebed.names import TableName
from lakebed.pipelines.planning.sources.look import SourceLook
from lakebed.ports import RunRecord
from tests.support.lakes.pipeline_lake import TestLake

OF_ZONE = "SELECT * FROM {{ landing_zone('orders') }}"
STEPS = ["pin_inputs", "plan_run"]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[TestLake]:
    """Two pipelines over a zone without files: a run of them has nothing to do."""
    made = TestLake(tmp_path / "lake")
    (made.folder / "shop/landing/orders").mkdir(parents=True)
    for name in ("bronze.a", "bronze.b"):
        made.pipeline(name, OF_ZONE)
    yield made
    made.lake.close()


def fail_in(module: str, name: str, table: TableName, patch: pytest.MonkeyPatch) -> None:
    """Let a function raise what nobody expects, for one table."""
    place = f"lakebed.pipelines.running.{module}.{name}"
    former = __import__(place.rpartition(".")[0], fromlist=[name]).__dict__[name]

    def failing(spec: Any, *given: Any, **options: Any) -> Any:
        if spec.table == table:
            raise KeyError("broken")
        return former(spec, *given, **options)

    patch.setattr(place, failing)


def stored(shop: TestLake) -> dict[str, RunRecord]:
    return {record.table.name: record for record in shop.lake.stores.records.runs(limit=10)}


@pytest.mark.parametrize("step", STEPS)
def test_an_unexpected_exception_fails_that_run_alone_and_is_recorded(
    step: str, shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_in("begin", step, shop.table("bronze.a"), monkeypatch)
    records = shop.run()
    assert {name: record.state for name, record in records.items()} == {
        "bronze.a": "failed",
        "bronze.b": "success",
    }
    kept = stored(shop)
    assert "Lakebed itself failed: KeyError: 'broken'" in kept["a"].error["what"]
    assert {record.state for record in kept.values()} == {"failed", "success"}
    assert shop.lake.stores.records.pinned() == {}


@pytest.mark.parametrize("step", STEPS)
def test_an_unexpected_exception_fails_all_that_are_published_together(
    step: str, shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_in("begin", step, shop.table("bronze.b"), monkeypatch)
    records = shop.run(together=True)
    assert {record.state for record in records.values()} == {"failed"}
    kept = stored(shop)
    assert "KeyError: 'broken'" in kept["b"].error["what"]
    assert kept["a"].error["kind"] == "NotPublished"
    assert shop.lake.stores.records.runs(state="running", limit=10) == ()
    assert shop.lake.stores.records.pinned() == {}


def source(shop: TestLake) -> TableName:
    folder = shop.folder / "shop/pipelines/bronze/income"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text('source: "in/{year}.json"\nbatch_by: [year]\n')
    for year in (2020, 2021):
        (shop.folder / "in").mkdir(exist_ok=True)
        (shop.folder / f"in/{year}.json").write_text('{"a": 1}\n')
    return shop.table("bronze.income")


def test_an_unexpected_exception_while_a_source_is_looked_at_fails_its_run_alone(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    source(shop)

    def broken(look: SourceLook) -> None:
        raise KeyError("broken")

    monkeypatch.setattr("lakebed.pipelines.running.builds.begin_batch.missing_warnings", broken)
    records = shop.run()
    assert [record.state for record in records.values()].count("success") == 2
    kept = stored(shop)["income"]
    assert (kept.state, kept.batches) == ("failed", ())
    assert "KeyError: 'broken'" in kept.error["what"]


def test_an_unexpected_exception_while_a_batch_is_planned_fails_that_batch_alone(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_in("begin", "pin_inputs", source(shop), monkeypatch)
    records = shop.run()
    assert [record.state for record in records.values()].count("success") == 2
    kept = stored(shop)["income"]
    assert [(line.label, line.state) for line in kept.batches] == [
        ("year=2020", "failed"),
        ("year=2021", "failed"),
    ]
    assert "KeyError: 'broken'" in kept.batches[0].error


def test_a_run_that_is_interrupted_while_it_is_planned_is_not_left_running(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(spec: Any, specs: Any, services: Any, options: Any, **given: Any) -> None:
        options.stop.set()
        raise KeyError("broken")

    monkeypatch.setattr("lakebed.pipelines.running.begin.pin_inputs", interrupted)
    assert shop.run("bronze.a")["bronze.a"].state == "failed"
    assert stored(shop)["a"].state == "failed"
