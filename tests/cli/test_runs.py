"""What ran, at the keyboard: the list, and one run."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import pytest

from lakebed.app import open_lake
from lakebed.cli.output.run_text import failed_gate, run_details, run_problems
from lakebed.names import TableName
from lakebed.pipelines import BuildResult, RunOptions, RunServices
from lakebed.pipelines.lineage.artifact_files import write_artifacts
from lakebed.pipelines.lineage.artifacts import RUN_RESULTS
from lakebed.ports import BatchRun, InputPin, Phase, QuarantinedFile, RunRecord, Verdict
from lakebed.presentation.run import run_label
from lakebed.requests import RunRequest
from tests.support.lakes.shop import lakebed

BEGAN = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
ORDERS, TOTAL = TableName("shop", "silver", "orders"), TableName("shop", "gold", "total")
GATE = Verdict(
    "positive",
    "error",
    passed=False,
    bad_rows=25,
    sample=({"id": 7, "eur": None},),
    remediation="Mend the file.",
)
ENDED = BEGAN + timedelta(seconds=4.06)
SUCCESS = RunRecord(
    "1" * 32,
    "b" * 32,
    ORDERS,
    "success",
    BEGAN,
    ended_at=ENDED,
    strategy="incremental",
    phases=(Phase("Write", 3.5),),
    rows={"result": 1200},
    inputs=(
        InputPin(TableName("shop", "bronze", "orders"), 77),
        InputPin(TableName("shop", "bronze", "new"), None),
    ),
    files={"shop.orders": 1},
    set_aside=(
        QuarantinedFile(
            "shop/landing/orders/x.csv", "shop/landing/orders/_quarantine/1/x.csv", "it is torn"
        ),
    ),
    verdicts=(Verdict("known", "error", passed=True, bad_rows=0, seconds=0.25),),
    snapshot=78,
)
FAILED = RunRecord(
    "2" * 32,
    "c" * 32,
    ORDERS,
    "failed",
    BEGAN + timedelta(minutes=1),
    attempt=2,
    ended_at=ENDED + timedelta(minutes=1),
    strategy="incremental",
    phases=(Phase("Write", 3.5),),
    verdicts=(GATE,),
    error={
        "kind": "GateFailed",
        "what": "the gate [red]positive[/red] found 25 bad rows.\nsee",
        "safe": "It is safe.",
        "next": "Look.",
    },
)
SKIPPED = RunRecord(
    "3" * 32,
    "c" * 32,
    TOTAL,
    "skipped",
    BEGAN + timedelta(minutes=2),
    message="shop.silver.orders failed",
)


WRITTEN = replace(
    SKIPPED,
    state="success",
    message="",
    strategy="scd2",
    phases=(Phase("Write", 1.0),),
    rows={"result": 1},
)
WARNED = (
    Verdict("a", "warn", passed=False, bad_rows=1),
    Verdict("b", "error", passed=True, bad_rows=0),
)


@pytest.mark.parametrize(
    ("record", "kind", "said"),
    [
        (
            SUCCESS,
            "WARN",
            "draft: incremental, 1,200 rows, 1 file set aside, 1 gate passed in 4.1 s",
        ),
        (
            replace(SUCCESS, set_aside=()),
            "OK",
            "draft: incremental, 1,200 rows, 1 gate passed in 4.1 s",
        ),
        (FAILED, "ERROR", "draft: incremental, 0 of 1 gates passed, attempt 2 in 4.1 s"),
        (SKIPPED, "SKIP", "shop.silver.orders failed"),
        (
            replace(SKIPPED, state="success", message="no new file in shop.orders"),
            "NOOP",
            "draft: no new file in shop.orders",
        ),
        (
            replace(WRITTEN, message="nothing changed"),
            "OK",
            "draft: scd2, nothing changed in 1.0 s",
        ),
        (replace(WRITTEN, version=3), "OK", "release 3: scd2, 1 row in 1.0 s"),
        (
            replace(WRITTEN, verdicts=WARNED),
            "WARN",
            "draft: scd2, 1 row, 1 of 2 gates passed in 1.0 s",
        ),
    ],
)
def test_a_line_says_how_a_run_ended(record: RunRecord, kind: str, said: str) -> None:
    assert (run_label(record), run_details(record)) == (kind, said)


def test_bad_rows_are_few_and_the_rest_is_counted() -> None:
    assert list(failed_gate(GATE, limit=1)) == [
        "gate positive, error: 25 bad rows",
        "  id=7, eur=NULL",
        "  … and 24 more",
        "  Mend the file.",
    ]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake in which three runs are on record."""
    folder = tmp_path / "lake"
    monkeypatch.setenv("LAKEBED_LAKE", str(folder))
    assert lakebed("init", str(folder)).exit_code == 0
    with open_lake(folder) as opened:
        for record in (SUCCESS, FAILED, SKIPPED):
            opened.stores.records.write(record)
    return folder


def told(*arguments: str) -> Any:
    return json.loads(lakebed(*arguments, "--json").stdout)


def test_runs_are_listed_newest_first(lake: Path) -> None:
    shown = lakebed("runs").stdout
    assert [line.split()[2] for line in shown.splitlines()[2:5]] == ["skipped", "failed", "success"]
    assert "the gate [red]positive[/red] found 25 bad rows." in shown
    assert [run["run_id"][0] for run in told("runs", "ls")] == ["3", "2", "1"]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--state", "failed"], "2"),
        (["--table", "total"], "3"),
        (["--table", "silver.orders", "--limit", "1"], "2"),
        (["--table", "orders", "--state", "success"], "1"),
        (["--table", "orders", "--state", "skipped"], ""),
    ],
)
def test_runs_can_be_narrowed_down(lake: Path, options: list[str], ids: str) -> None:
    assert "".join(run["run_id"][0] for run in told("runs", *options)) == ids


def test_one_run_is_shown_whole(lake: Path) -> None:
    shown = lakebed("runs", "show", "11").stdout
    for line in (
        "shop.silver.orders WARN [draft: incremental, 1,200 rows",
        "read shop.bronze.orders at 77",
        "read shop.bronze.new (no rows yet)",
        "read 1 file of shop.orders",
        (
            "set aside shop/landing/orders/x.csv as shop/landing/orders/_quarantine/1/x.csv: it is"
            " torn"
        ),
        "3.50 s  Write",
        "gate known, error: passed in 0.25 s",
        "snapshot 78 on main",
    ):
        assert line in shown
    failed = lakebed("runs", "show", "2").stdout
    for line in (
        "error: the gate [red]positive[/red] found 25 bad rows.",
        "It is safe.",
        "id=7, eur=NULL",
        "… and 24 more",
    ):
        assert line in failed


def test_a_run_as_json_has_all_facts(lake: Path) -> None:
    run = told("runs", "show", "1")
    assert (run["table"], run["seconds"], run["inputs"][0]) == (
        "shop.silver.orders",
        4.06,
        {"table": "shop.bronze.orders", "snapshot": "77"},
    )


def test_the_last_run_is_the_first_that_failed_in_the_newest_build(lake: Path) -> None:
    assert told("runs", "show", "last")["run_id"] == FAILED.run_id
    with open_lake(lake) as opened:
        later = replace(
            SKIPPED, run_id="5" * 32, invocation="f" * 32, started_at=BEGAN + timedelta(hours=1)
        )
        opened.stores.records.write(later)
    assert told("runs", "show", "last")["run_id"] == later.run_id


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--state", "faild"], "Did you mean failed?"),
        (["--table", "ordrs"], "Did you mean"),
        (["show", "zz"], "there is no run 'zz'"),
        (["shw"], "Did you mean"),
        (["show", "2", "--logs"], "no such file"),
    ],
)
def test_bad_input(lake: Path, arguments: list[str], said: str) -> None:
    done = lakebed("runs", *arguments)
    assert done.exit_code == 2, done.output
    assert said in done.stderr


def test_a_beginning_that_fits_several_runs_is_refused(lake: Path) -> None:
    with open_lake(lake) as opened:
        opened.stores.records.write(RunRecord("11" + "0" * 30, "d" * 32, ORDERS, "skipped", BEGAN))
    assert "2 runs start with it" in lakebed("runs", "show", "11").stderr


@pytest.fixture
def retried(monkeypatch: pytest.MonkeyPatch) -> list[RunRequest]:
    """What retries ask for, instead of doing it."""
    requests: list[RunRequest] = []

    def run(options: RunOptions, services: RunServices) -> BuildResult:
        requests.append(options.request)
        return BuildResult("d" * 32, ())

    monkeypatch.setattr("lakebed.pipelines.running.builds.run_selected.run_selected", run)
    return requests


def test_a_change_by_hand_does_not_make_retry_forget_the_build_that_failed(
    lake: Path, retried: list[RunRequest]
) -> None:
    with open_lake(lake) as opened:
        for number in range(30):
            at = BEGAN + timedelta(minutes=3 + number)
            hand = RunRecord(
                f"4{number:031}", f"d{number:031}", TOTAL, "success", at, strategy="by hand"
            )
            opened.stores.records.write(hand)
        opened.pipelines.retry()
    assert [set(request.select) for request in retried] == [
        {"shop.silver.orders", "shop.gold.total"}
    ]


BACKFILL = RunRequest(start=1, end=9, chunk=2, fail_fast=True)
RANGE = {"start", "end", "chunk"}
CHOSEN = {"select", "exclude", "released"}  # by what failed, and how
OF_TYPE: dict[Any, Any] = {
    bool: True,
    int: 4,
    float: 7.5,
    tuple: ("year=2020",),
    Mapping: {"n": [1, {"a": None}]},
}


def not_default(name: str) -> Any:
    """A value of an option, by its type."""
    kind = RunRequest.model_fields[name].annotation
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    return next(OF_TYPE[found] for each in kinds if (found := get_origin(each) or each) in OF_TYPE)


NOT_DEFAULT = RunRequest(
    **{name: not_default(name) for name in RunRequest.model_fields.keys() - RANGE - {"released"}}
)


def test_retries_are_tested_with_every_option() -> None:
    default = dict(RunRequest())
    stored = {name for name in default if default[name] != dict(NOT_DEFAULT)[name]}
    stored |= {name for name in default if default[name] != dict(BACKFILL)[name]}
    assert stored | CHOSEN == default.keys()


@pytest.mark.parametrize("request_", [NOT_DEFAULT, BACKFILL], ids=["most", "backfill"])
def test_a_retry_keeps_every_option_of_the_build(
    lake: Path, retried: list[RunRequest], request_: RunRequest
) -> None:
    options = RunOptions(request=request_, invocation=FAILED.invocation)
    with open_lake(lake) as opened:
        services = opened.pipelines.services
        write_artifacts(services, {}, (FAILED, SKIPPED), options, elapsed=1.0)
    assert lakebed("retry").exit_code == 0
    assert lakebed("retry", "--threads", "2", "--wait", "1").exit_code == 0
    kept, changed = retried
    failed = ("shop.gold.total", "shop.silver.orders")
    assert kept == request_.replace(select=failed, exclude=())
    assert changed == kept.replace(threads=2, wait=1)


def test_a_retry_of_a_build_that_has_succeeded_runs_nothing(
    lake: Path, retried: list[RunRequest]
) -> None:
    with open_lake(lake) as opened:
        for record in (FAILED, SKIPPED):
            opened.stores.records.write(
                replace(record, run_id=f"5{record.run_id[1:]}", state="success")
            )
    retry = lakebed("retry")
    assert (retry.exit_code, retry.stdout.strip()) == (0, "Everything in the last build succeeded.")
    assert retried == []


def test_a_retry_reads_what_an_earlier_version_has_stored(
    lake: Path, retried: list[RunRequest]
) -> None:
    options = RunOptions(invocation=FAILED.invocation)
    with open_lake(lake) as opened:
        write_artifacts(opened.pipelines.services, {}, (FAILED,), options, elapsed=1.0)
    file = lake / RUN_RESULTS
    results = json.loads(file.read_text())
    results["args"] = {"full_refresh": True, "vars": {"n": 1}, "gone_since": "then"}
    file.write_text(json.dumps(results))
    assert lakebed("retry").exit_code == 0
    assert [(request.full_refresh, request.vars) for request in retried] == [(True, {"n": 1})]


def test_slow_batches_and_a_table_much_larger_than_its_source_are_warned_about() -> None:
    batches = (
        BatchRun("year=2020", "success", "new", seconds=60.0),
        BatchRun("year=2021", "success", "new", seconds=75.4),
    )
    stored = "partition_alternate.storage.amplification"
    record = replace(SUCCESS, set_aside=(), batches=batches, metrics={stored: 3.5})
    slow, large = (line for line in run_problems(record) if line.startswith("warning: "))
    assert "1 of 2 batches took more than 60 s, year=2021 75 s" in slow
    assert "3.5 times the bytes of the source" in large
    cheap = replace(record, batches=batches[:1], metrics={stored: 3.0})
    assert list(run_problems(cheap)) == []
