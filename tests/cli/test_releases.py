"""Releases and drafts at the keyboard."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import HEAVY, WATCHED
from tests.support.lakes.shop import lakebed, make_shop, write

ORDERS = "pipelines/silver/orders"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pipelines and files; nothing has run."""
    monkeypatch.setenv("LAKEBED_LAKE", str(tmp_path / "lake"))
    return make_shop(tmp_path / "lake")


def told(*arguments: str) -> Any:
    done = lakebed(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def said(*arguments: str) -> str:
    done = lakebed(*arguments)
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def released_twice(lake: Path) -> None:
    said("pipeline", "release", "silver.orders", "-m", "[red]first[/red]")
    write(
        lake,
        f"{ORDERS}/tests/quality/cheap.sql",
        "SELECT id FROM {{ this }} WHERE eur < array(3)[0]",
    )
    said("pipeline", "release", "silver.orders")


def test_a_release_is_told_with_its_changes(lake: Path) -> None:
    shown = said("pipeline", "release", "silver.orders", "-m", "first")
    assert shown.splitlines()[0] == "shop.silver.orders release 1 (3 added)"
    assert "  + tests/quality/positive.sql" in shown
    assert (
        said("pipeline", "release", "silver.orders")
        == "shop.silver.orders is already release 1: no release was made\n"
    )
    write(lake, f"{ORDERS}/config.yaml", "max_versions: 1\n")
    facts = told("pipeline", "release", "silver.orders")
    assert (facts["version"], facts["new"], facts["dropped"]) == (2, True, [1])
    assert facts["changes"]["added"] == ["config.yaml"]
    assert "+max_versions: 1\n" in facts["changes"]["text"]


def test_releases_are_listed_and_compared(lake: Path) -> None:
    released_twice(lake)
    rows = said("pipeline", "releases", "silver.orders").splitlines()
    assert [row.split()[0] for row in rows[2:]] == ["2", "1"]
    assert rows[3].endswith("[red]first[/red]")
    shown = said("pipeline", "diff", "silver.orders", "1", "2")
    assert "+SELECT id FROM {{ this }} WHERE eur < array(3)[0]" in shown
    assert shown.splitlines()[-1] == "from release 1 to release 2: 1 changed"
    assert said("pipeline", "diff", "silver.orders", "2") == "from release 2 to draft: no change\n"
    assert told("pipeline", "diff", "silver.orders", "2", "1")["changed"] == [
        "tests/quality/cheap.sql"
    ]


def test_a_rollback_is_told_like_a_release(lake: Path) -> None:
    released_twice(lake)
    assert said("pipeline", "rollback", "silver.orders", "1").startswith(
        "shop.silver.orders release 3 (1 changed)"
    )
    assert told("pipeline", "releases", "silver.orders")[0]["message"] == "rollback to 1"


def test_drafts_are_saved_listed_deleted_and_restored(lake: Path) -> None:
    digest = told("pipeline", "save", "silver.orders")["digest"]
    assert digest[:12] in said("pipeline", "drafts", "silver.orders")
    write(lake, f"{ORDERS}/config.yaml", "tags: [x]\n")
    assert "restored shop.silver.orders from saved draft" in said(
        "pipeline", "restore", "silver.orders", digest[:10]
    )
    assert not (lake / "shop" / ORDERS / "config.yaml").exists()
    assert "its table stays" in said("pipeline", "delete", "silver.orders")
    listed = {row["table"]: row["draft"] for row in told("pipeline", "ls")}
    assert (listed["shop.silver.orders"], listed["shop.bronze.orders"]) == ("deleted", "unreleased")
    assert "can be restored until" in said("pipeline", "ls")
    said("pipeline", "restore", "silver.orders")
    assert (lake / "shop" / ORDERS / "pipeline.sql").is_file()


def test_plan_and_compile_take_the_release_if_asked(lake: Path) -> None:
    released_twice(lake)
    write(lake, f"{ORDERS}/tests/quality/cheap.sql", "SELECT id FROM {{ this }} WHERE eur < 77")
    write(lake, "pipelines/gold/total/pipeline.sql", "SELECT {{")
    for name in ("bronze.orders", "bronze.rates"):
        said("pipeline", "release", name)
    shown = [sql["text"] for sql in told("compile", "silver.orders", "--gates", "--released")]
    assert any("eur < array(3)[0]" in sql for sql in shown)
    assert not any("eur < 77" in sql for sql in shown)
    tables = [plan["table"] for plan in told("plan", "--released")]
    assert tables == ["shop.bronze.orders", "shop.bronze.rates", "shop.silver.orders"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pipeline", "release", "silver.ordrs"], "Did you mean silver.orders"),
        (["pipeline", "release", "orders"], "pipeline 'orders' is ambiguous"),
        (["pipeline", "diff", "silver.orders", "1"], "there is no release 1"),
        (["pipeline", "rollback", "silver.orders", "3"], "Make one: lakebed pipeline release"),
        (["pipeline", "rollback", "silver.orders", "0"], "RELEASE"),
        (["pipeline", "restore", "silver.orders", "abcd"], "no release or saved draft"),
        (["run", "silver.orders", "--released"], "it has no release, only a draft"),
        (["preview", "silver.orders", "--released"], "it has no release, only a draft"),
        (["test", "silver.orders", "--released"], "it has no release, only a draft"),
    ],
)
def test_bad_input_is_refused(lake: Path, arguments: list[str], words: str) -> None:
    done = lakebed(*arguments)
    assert done.exit_code == 2, done.output
    assert words in done.stderr


def test_help_has_examples() -> None:
    for name in (
        "ls",
        "release",
        "releases",
        "diff",
        "rollback",
        "save",
        "drafts",
        "restore",
        "delete",
    ):
        assert "$ lakebed pipeline" in lakebed("pipeline", name, "--help").output, name


@pytest.mark.parametrize("command", [["pipeline", "ls"], ["pipeline", "release", "silver.orders"]])
def test_releasing_starts_no_jvm(lake: Path, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(done.stderr.split("loaded:")[1].split()) & HEAVY
