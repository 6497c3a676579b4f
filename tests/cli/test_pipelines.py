"""Pipelines at the keyboard: run, plan, test, compile, preview, retry, lineage."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.cli.test_commands import HEAVY, WATCHED
from tests.support.lakes.shop import lakebed, make_shop, write


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pipelines and files; nothing has run."""
    monkeypatch.setenv("LAKEBED_LAKE", str(tmp_path / "lake"))
    return make_shop(tmp_path / "lake")


def told(*arguments: str) -> Any:
    done = lakebed(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


# -- without Spark


def test_a_plan_tells_steps_inputs_and_files_in_the_order_of_the_graph(lake: Path) -> None:
    shown = lakebed("plan").stdout
    assert "read 2 files of shop.orders: day1.csv, torn.json" in shown
    assert "write by incremental: insert new keys and update existing ones (by id)" in shown
    assert "run the gate positive (blocks): orders are worth something" in shown
    assert "run the gate cheap (warns)" in shown
    tables = [plan["table"] for plan in told("plan")]
    assert tables == [
        "shop.bronze.orders",
        "shop.bronze.rates",
        "shop.silver.orders",
        "shop.gold.total",
    ]


def test_a_plan_as_json_has_the_facts(lake: Path) -> None:
    (plan,) = told("plan", "bronze.orders")
    assert (plan["strategy"], plan["reason"]) == ("append_only", "2 new files in shop.orders")
    assert [file["path"] for file in plan["files"][0]["files"]] == [
        "shop/landing/orders/day1.csv",
        "shop/landing/orders/torn.json",
    ]
    assert [step["step"] for step in plan["steps"]] == [
        "OpenZone",
        "Calculate",
        "CreateHidden",
        "Write",
        "Publish",
        "Archive",
    ]


def test_a_dry_run_is_the_plan_and_touches_nothing(lake: Path) -> None:
    before = sorted(path for path in (lake / "shop").rglob("*") if path.is_file())
    assert (
        lakebed("run", "gold.total", "silver.orders", "+silver.orders", "--dry-run").stdout
        == lakebed("plan").stdout
    )
    assert sorted(path for path in (lake / "shop").rglob("*") if path.is_file()) == before
    assert told("runs") == []


@pytest.mark.parametrize(
    "command",
    [
        ["plan"],
        ["run", "--dry-run"],
        ["compile", "bronze.rates"],
        ["lineage", "--columns"],
        ["runs"],
        ["zone", "ls"],
    ],
)
def test_looking_starts_no_jvm(lake: Path, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(done.stderr.split("loaded:")[1].split()) & HEAVY


def test_compile_prints_the_sql_and_the_gates_if_asked(lake: Path) -> None:
    assert (
        lakebed("compile", "bronze.rates").stdout.strip()
        == "SELECT country, rate FROM `zone_shop_rates`"
    )
    write(
        lake,
        "pipelines/bronze/rates/tests/quality/known.sql",
        "SELECT * FROM {{ this }} WHERE rate IS NULL",
    )
    shown = lakebed("compile", "bronze.rates", "--gates").stdout
    assert "-- shop/pipelines/bronze/rates/tests/quality/known.sql (known)" in shown
    assert [sql["gate"] for sql in told("compile", "bronze.rates", "--gates")] == ["", "known"]


def test_lineage_as_text_json_and_mermaid(lake: Path) -> None:
    shown = lakebed("lineage").stdout
    assert "← zone shop.orders" in shown
    assert lakebed("lineage", "--format", "mermaid").stdout.startswith("flowchart LR\n")
    edges = {
        (edge["source"], edge["target"]) for edge in told("lineage", "+silver.orders")["edges"]
    }
    assert ("shop.bronze.rates", "shop.silver.orders") in edges
    assert told("lineage", "silver.orders") == json.loads(
        lakebed("lineage", "silver.orders", "--format", "json").stdout
    )


def test_column_lineage_names_tables_and_columns(lake: Path) -> None:
    shown = lakebed("lineage", "silver.orders", "--columns").stdout
    assert "eur ← shop.bronze.orders.amount, shop.bronze.rates.rate" in shown


def test_help_has_examples_and_build_is_run(lake: Path) -> None:
    words = (
        "run",
        "build",
        "retry",
        "plan",
        "test",
        "compile",
        "preview",
        "lineage",
        "runs ls",
        "runs show",
    )
    for command in (*words, "zone ls", "zone show", "zone put", "zone retry"):
        assert "$ lakebed" in lakebed(*command.split(), "--help").output, command
    options = [lakebed(name, "--help").output.count("--") for name in ("run", "build")]
    assert options[0] == options[1]


# -- bad input


def refused(done: Result) -> str:
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    return str(done.stderr)


@pytest.mark.parametrize("command", ["plan", "run", "test"])
@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "silver/orders/pipeline.sql",
            "-- @merge_strategy: incrementel\nSELECT 1",
            ("pipeline.sql:1", "incremental"),
        ),
        (
            "silver/orders/config.yaml",
            "tags: [a]\nuniqe_key: id\n",
            ("config.yaml:2", "unique_key"),
        ),
        (
            "silver/orders/tests/quality/cheap.sql",
            "-- @severity: wran\nSELECT 1",
            ("cheap.sql:1", "warn"),
        ),
        ("silver/orders/pipeline.sql", "SELECT 1,\n{{ reff('a') }}", ("pipeline.sql:2", "ref")),
    ],
)
def test_a_misspelt_word_is_refused_with_its_line_and_the_nearest(
    lake: Path, command: str, file: str, text: str, said: tuple[str, str]
) -> None:
    write(lake, f"pipelines/{file}", text)
    shown = refused(lakebed(command, "+gold.total"))
    for word in said:
        assert word in shown


@pytest.mark.parametrize("command", ["plan", "run", "compile"])
def test_an_unknown_ref_is_refused_with_its_line_and_the_nearest(lake: Path, command: str) -> None:
    write(lake, "pipelines/gold/total/pipeline.sql", "SELECT *\nFROM {{ ref('silver.ordrs') }}")
    done = lakebed(command, "gold.total")
    assert done.exit_code == 2, done.output
    for word in ("gold/total/pipeline.sql:2", "silver.ordrs", "shop.silver.orders"):
        assert word in done.output


@pytest.mark.parametrize(
    "command", [["plan"], ["run"], ["build", "-s"], ["compile"], ["test"], ["lineage"], ["preview"]]
)
def test_an_unknown_selector_is_refused_with_the_nearest(lake: Path, command: list[str]) -> None:
    shown = refused(lakebed(*command, "silver.ordrs"))
    assert "silver.ordrs" in shown
    assert "Did you mean silver.orders" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "tag:dayly"], "Did you mean daily"),
        (["run", "--threads", "0"], "threads"),
        (["run", "--vars", "day"], "--vars"),
        (["lineage", "--format", "mermade"], "Did you mean mermaid"),
        (["lineage", "--columns", "--format", "mermaid"], "not columns"),
        (["retry"], "nothing has run yet"),
        (["runs", "show", "last"], "nothing has run yet"),
        (["preview", "bronze.*"], "selects 2 pipelines"),
    ],
)
def test_other_bad_input(lake: Path, arguments: list[str], said: str) -> None:
    assert said in refused(lakebed(*arguments))


def test_a_python_pipeline_has_no_sql(lake: Path) -> None:
    write(
        lake,
        "pipelines/silver/code/pipeline.py",
        "def run(spark, context):\n    return spark.range(3)\n",
    )
    assert "Python pipeline" in refused(lakebed("compile", "silver.code"))
    assert "Python pipeline" in refused(lakebed("lineage", "silver.code", "--columns"))
    assert [sql["table"] for sql in told("compile", "silver.code", "bronze.rates")] == [
        "shop.bronze.rates"
    ]


def test_completion_knows_the_pipelines(lake: Path) -> None:
    program = Path(sys.executable).with_name("lakebed")
    words = {
        "COMP_WORDS": "lakebed run shop.silver",
        "COMP_CWORD": "2",
        "_TYPER_COMPLETE_ARGS": "lakebed run shop.silver",
    }
    environment = os.environ | words | {"_LAKEBED_COMPLETE": "complete_bash"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "shop.silver.orders"


def test_a_lake_with_layers_of_its_own_plans_compiles_and_releases_with_short_refs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEBED_LAKE", str(tmp_path / "dbt"))
    assert lakebed("init", str(tmp_path / "dbt"), "--set", "layers=[staging, marts]").exit_code == 0
    write(tmp_path / "dbt", "landing/raw/a.csv", "id\n1\n")
    write(
        tmp_path / "dbt",
        "pipelines/staging/stg_orders/pipeline.sql",
        "SELECT id FROM {{ landing_zone('raw') }}\n",
    )
    write(
        tmp_path / "dbt",
        "pipelines/marts/orders/pipeline.sql",
        "SELECT id FROM {{ ref('stg_orders') }}\n",
    )
    assert [plan["table"] for plan in told("plan")] == [
        "shop.staging.stg_orders",
        "shop.marts.orders",
    ]
    assert "`staging`.`stg_orders`" in lakebed("compile", "marts.orders").stdout
    for name in ("stg_orders", "marts.orders"):
        assert lakebed("pipeline", "release", name).exit_code == 0
    assert [plan["table"] for plan in told("plan", "--released")] == [
        "shop.staging.stg_orders",
        "shop.marts.orders",
    ]
    assert json.loads(lakebed("fsck", "--json").stdout)["problems"] == 0
    write(tmp_path / "dbt", "pipelines/gold/late/pipeline.sql", "SELECT 1 AS id\n")
    assert "its layers are staging, marts" in refused(lakebed("plan"))
