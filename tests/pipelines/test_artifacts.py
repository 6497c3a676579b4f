"""The files that other tools read of a build."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakebed.names import TableName
from lakebed.pipelines.definition.load import read_pipeline
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.lineage.artifacts import (
    Invocation,
    elapsed,
    manifest,
    run_results,
    verdict_status,
)
from lakebed.ports import InputPin, Phase, RunRecord, Verdict

BEGAN = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
ORDERS = TableName("shop", "silver", "orders")
RAW = TableName("shop", "bronze", "orders")
INVOCATION = Invocation(
    "b" * 32, BEGAN, "0.1.0", elapsed=2.5, args={"select": ("orders",), "vars": {"n": 3}}
)
PASSED = Verdict("no_nulls", "error", passed=True, bad_rows=0, seconds=0.2)
RECORD = RunRecord(
    "a" * 32,
    INVOCATION.id,
    ORDERS,
    "success",
    BEGAN,
    ended_at=BEGAN + timedelta(seconds=1.5),
    strategy="incremental",
    phases=(Phase("Calculate", 0.5), Phase("Write", 0.75)),
    rows={"result": 12, "inserted": 10, "updated": 2},
    inputs=(InputPin(RAW, 7),),
    files={"shop.orders": 3},
    verdicts=(PASSED,),
    snapshot=8,
)


def results(*records: RunRecord) -> list[Mapping[str, Any]]:
    written = json.loads(json.dumps(run_results(records, INVOCATION)))
    return list(written["results"])


def test_a_build_says_when_by_what_and_how_it_was_asked_for() -> None:
    written = run_results([RECORD], INVOCATION)
    assert written["metadata"] == {
        "lakebed_schema_version": "lakebed/run-results/v1",
        "generated_at": "2026-11-15T09:30:00+00:00",
        "invocation_id": "b" * 32,
        "lakebed_version": "0.1.0",
    }
    assert written["elapsed_time"] == 2.5
    assert written["args"]["vars"] == {"n": 3}


def test_a_run_is_a_model_and_each_of_its_gates_a_test() -> None:
    run, gate = results(RECORD)
    assert (run["unique_id"], run["status"], run["execution_time"]) == (
        "model.shop.silver.orders",
        "success",
        1.5,
    )
    assert run["timing"] == [
        {
            "name": "execute",
            "started_at": "2026-11-15T09:30:00+00:00",
            "completed_at": "2026-11-15T09:30:01.500000+00:00",
        }
    ]
    response = run["adapter_response"]
    assert (response["rows_affected"], response["snapshot"]) == (12, "8")
    assert response["inputs"] == {"shop.bronze.orders": "7"}
    assert (gate["unique_id"], gate["status"], gate["failures"]) == (
        "test.shop.silver.orders.no_nulls",
        "pass",
        0,
    )


def test_a_failed_run_is_an_error_with_its_message() -> None:
    failed = replace(RECORD, state="failed", error={"what": "the gate said no."}, verdicts=())
    (run,) = results(failed)
    assert (run["status"], run["message"]) == ("error", "the gate said no.")


def test_a_skipped_run_says_why() -> None:
    (run,) = results(
        RunRecord(
            "c" * 32, INVOCATION.id, ORDERS, "skipped", BEGAN, message="shop.bronze.orders failed"
        )
    )
    assert (run["status"], run["message"], run["execution_time"]) == (
        "skipped",
        "shop.bronze.orders failed",
        0,
    )


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (PASSED, "pass"),
        (replace(PASSED, passed=False, bad_rows=3), "fail"),
        (replace(PASSED, passed=False, bad_rows=3, severity="warn"), "warn"),
        (replace(PASSED, passed=False, error="no such column"), "error"),
    ],
)
def test_verdicts_have_dbts_words(verdict: Verdict, status: str) -> None:
    assert verdict_status(verdict) == status
    assert results(replace(RECORD, verdicts=(verdict,)))[1]["failures"] == verdict.bad_rows


def test_a_run_that_still_goes_on_is_as_long_as_its_phases() -> None:
    assert elapsed(replace(RECORD, ended_at=None)) == 1.25


def pipeline(folder: str, **files: str) -> PipelineSpec:
    return read_pipeline(
        f"shop/pipelines/{folder}",
        {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()},
    )


@pytest.fixture
def specs() -> dict[TableName, PipelineSpec]:
    raw = pipeline("bronze/orders", pipeline_dot_sql="SELECT * FROM {{ landing_zone('orders') }}")
    orders = pipeline(
        "silver/orders",
        pipeline_dot_sql=(
            "-- @merge_strategy: merge\n-- @unique_key: id\nSELECT * FROM {{"
            " ref('bronze.orders') }}"
        ),
        config_dot_yaml=(
            "description: clean orders\ntags: [daily]\ncolumns:\n  id: {type: bigint, tests:"
            " [not_null]}\n  country: {tests: [{relationships: {to: main.countries, field:"
            " code}}]}\n"
        ),
        tests__quality__positive_dot_sql=(
            "-- @severity: warn\nSELECT * FROM {{ this }} WHERE amount < 0"
        ),
    )
    return {spec.table: spec for spec in (raw, orders)}


def test_the_manifest_knows_who_reads_whom(specs: dict[TableName, PipelineSpec]) -> None:
    written = json.loads(json.dumps(manifest(specs, INVOCATION)))
    zone, raw, orders = (
        "source.shop.landing.orders",
        "model.shop.bronze.orders",
        "model.shop.silver.orders",
    )
    assert written["parent_map"][raw] == [zone]
    assert written["parent_map"][orders] == [raw]
    assert written["child_map"][zone] == [raw]
    assert "test.shop.silver.orders.positive" in written["child_map"][orders]
    assert (
        set(written["parent_map"])
        == set(written["child_map"])
        == {*written["nodes"], *written["sources"]}
    )
    assert written["sources"][zone]["relation_name"] == "shop/landing/orders"


def test_a_node_of_the_manifest_is_a_pipeline_with_its_settings(
    specs: dict[TableName, PipelineSpec],
) -> None:
    node = manifest(specs, INVOCATION)["nodes"]["model.shop.silver.orders"]
    assert node["original_file_path"] == "shop/pipelines/silver/orders/pipeline.sql"
    assert node["config"]["merge_strategy"] == "incremental"
    assert node["checksum"] == {"name": "sha256", "checksum": specs[ORDERS].digest}
    assert node["columns"]["id"] == {"name": "id", "data_type": "bigint", "description": ""}
    assert (node["description"], node["tags"], node["language"]) == (
        "clean orders",
        ["daily"],
        "sql",
    )


def test_a_gate_hangs_on_its_pipeline_and_on_what_it_alone_reads(
    specs: dict[TableName, PipelineSpec],
) -> None:
    nodes = manifest(specs, INVOCATION)["nodes"]
    related = nodes["test.shop.silver.orders.country_relationships"]
    assert related["depends_on"]["nodes"] == [
        "model.shop.silver.orders",
        "source.shop.main.countries",
    ]
    assert nodes["test.shop.silver.orders.id_not_null"]["depends_on"]["nodes"] == [
        "model.shop.silver.orders"
    ]
    assert nodes["test.shop.silver.orders.positive"]["config"]["severity"] == "WARN"
