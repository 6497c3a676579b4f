"""What the options of a build come to, and how a build ends."""

import io
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lakebed.app import Lake
from lakebed.batches.changes import DueBatch, progress_of
from lakebed.batches.finding import FoundBatch
from lakebed.cli.output.build_progress import BuildProgress
from lakebed.cli.output.run_text import summary
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.variables import variables
from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.pipelines import BuildResult, RunListener
from lakebed.ports import RunRecord, RunState
from lakebed.requests import RunRequest
from lakebed.tables.tables import Tables
from tests.support.lakes.shop import lakebed

TABLE = TableName("shop", "silver", "orders")
Asked = list[RunRequest]  # what `lake.run` is given


def record(state: RunState, kind: str = "") -> RunRecord:
    return RunRecord(
        "a" * 32,
        "b" * 32,
        TABLE,
        state,
        datetime(2026, 11, 15, tzinfo=UTC),
        error={"kind": kind} if kind else {},
    )


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What the commands ask for, instead of doing it."""
    found: Asked = []

    def run(_: Lake, request: RunRequest, *, listener: RunListener) -> BuildResult:
        listener.on_select((TABLE,))
        listener.on_start(TABLE)
        listener.on_end(record("success"))
        found.append(request)
        return BuildResult("b" * 32, (record("success"),))

    monkeypatch.setattr(Lake, "run", run)
    monkeypatch.setenv("LAKEBED_LAKE", str(tmp_path / "lake"))
    lakebed("init", str(tmp_path / "lake"))
    return found


def test_options_are_handed_on_as_they_were_given(asked: Asked) -> None:
    done = lakebed(
        "build",
        "a",
        "-s",
        "b+",
        "--select",
        "c",
        "--exclude",
        "d",
        "-f",
        "-x",
        "--threads",
        "3",
        "--together",
        "--vars",
        "n=1",
        "--released",
        "--wait",
        "5",
        *("--batch", "year=2020", "--force", "--repair-gaps"),
    )
    assert done.exit_code == 0, done.output
    assert asked == [
        RunRequest(
            *("a", "b+", "c"),
            exclude=("d",),
            full_refresh=True,
            batches=("year=2020",),
            force=True,
            repair_gaps=True,
            vars={"n": 1},
            released=True,
            together=True,
            threads=3,
            fail_fast=True,
            wait=5.0,
        )
    ]


def test_the_range_of_a_backfill_is_handed_on_as_it_was_given(asked: Asked) -> None:
    done = lakebed("run", "a", "--start", "1", "--end", "9", "--chunk", "3", "--force")
    assert done.exit_code == 0, done.output
    assert asked == [RunRequest("a", start="1", end="9", chunk="3", force=True)]


def test_without_options_everything_runs_one_by_one(asked: Asked) -> None:
    shown = lakebed("run").stdout
    (request,) = asked
    assert request == RunRequest()
    assert (request.select, request.threads, request.together) == ((), 1, False)
    assert shown.splitlines()[0] == "1 of 1 OK    shop.silver.orders [draft in 0.0 s]"


def test_quiet_and_json_print_no_lines(asked: Asked) -> None:
    assert lakebed("run", "-q").output == ""
    assert len(lakebed("run", "--json").stdout.splitlines()) == 1


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_says_what_runs_on_a_terminal_only(
    is_terminal: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen, seen = Screen(), io.StringIO()
    console = Console(file=seen, force_terminal=is_terminal, width=120)
    monkeypatch.setattr(Screen, "errors", console)
    showing = BuildProgress(screen)
    with showing.live():
        showing.listener.on_select((TABLE, TABLE))
        showing.listener.on_start(TABLE)
        showing.listener.on_end(record("failed"))
        showing.listener.on_start(TABLE)
    assert ("1/2" in seen.getvalue()) is is_terminal
    assert ("shop.silver.orders" in seen.getvalue()) is is_terminal
    assert capsys.readouterr().out == "1 of 2 ERROR shop.silver.orders [draft in 0.0 s]\n"


def test_the_bar_and_the_spinner_say_that_spark_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, seen = Screen(), io.StringIO()
    monkeypatch.setattr(Screen, "errors", Console(file=seen, force_terminal=True, width=150))
    showing = BuildProgress(screen)
    with showing.live():
        showing.listener.on_start(TABLE)
        with screen.starting_spark():
            assert "shop.silver.orders · starting Spark" in seen.getvalue()
    with screen.spinner("writing"), screen.starting_spark():
        while "writing · starting Spark" not in seen.getvalue():
            time.sleep(0.01)


def test_several_columns_are_named_by_one_option_or_by_several(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def diff(*_: Any, keys: Any, **__: Any) -> None:
        seen.append(keys)
        raise UsageError("enough.")

    monkeypatch.setattr(Tables, "diff", diff)
    for options in (["--key", "a, b"], ["--key", "a", "--key", "b"], []):
        lakebed("table", "diff", "orders", "main", *options)
    assert seen == [["a", "b"], ["a", "b"], None]
    assert asked == []


def test_the_bar_of_a_source_says_how_many_batches_files_and_bytes_are_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen, seen = Screen(), io.StringIO()
    monkeypatch.setattr(Screen, "errors", Console(file=seen, force_terminal=True, width=150))
    showing = BuildProgress(screen)
    due = [
        DueBatch("", "new", found(10, 4 * 1024**3)),
        DueBatch("", "new", found(1_500, 2 * 1024**3)),
    ]
    due.append(DueBatch("", "gone"))
    with showing.live():
        showing.listener.on_select((TABLE,))
        showing.listener.on_start(TABLE)
        for done, told in (
            (0, "0 of 3 batches, 0 of 1,510 files, 0 B of 6.0 GiB"),
            (1, "1 of 3 batches, 10 of 1,510 files, 4.0 GiB of 6.0 GiB"),
            (3, "3 of 3 batches, 1,510 of 1,510 files, 6.0 GiB of 6.0 GiB"),
        ):
            showing.listener.on_batch(TABLE, progress_of(due, done))
            assert showing.text == f"shop.silver.orders ({told})"
        assert progress_of(due, 1).share == pytest.approx(2 / 3)  # by bytes
        assert str(progress_of(due[2:], 1)) == "1 of 1 batches"  # as of a backfill
        assert progress_of(due[2:], 1).share == 1
    assert "3 of 3 batches" in seen.getvalue()


def found(files: int, size: int) -> FoundBatch:
    return FoundBatch("", (), files, size, "", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([], 0),
        ([record("success")], 0),
        ([record("success"), record("failed", "GateFailed"), record("skipped")], 1),
        ([record("failed", "LeaseHeld")], 1),
        ([record("failed", "GateFailed"), record("failed", "BadPipeline")], 2),
        ([record("failed", "SparkFailed")], 2),
        ([record("failed", "SomethingOfTomorrow")], 1),
        ([record("skipped")], 1),
    ],
)
def test_a_build_ends_with_the_code_of_its_worst_error(records: list[RunRecord], code: int) -> None:
    assert BuildResult("b" * 32, tuple(records)).exit_code == code


@pytest.mark.parametrize(
    ("given", "values"),
    [
        (
            ["day=2026-10-01", "n=3", "on=true", "name=a=b"],
            {"day": "2026-10-01", "n": 3, "on": True, "name": "a=b"},
        ),
        (["{n: 3, days: [2026-10-01]}"], {"n": 3, "days": ["2026-10-01"]}),
        (['{"n": 3}', "n=4"], {"n": 4}),
        (["at=2026-10-01T12:00:00Z", "empty="], {"at": "2026-10-01T12:00:00Z", "empty": None}),
    ],
)
def test_variables_are_pairs_yaml_or_json(given: list[str], values: dict[str, Any]) -> None:
    assert variables(given) == values


@pytest.mark.parametrize("given", ["day", "[1, 2]", "{a: [}", "1=2"])
def test_what_is_no_variable_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="--vars"):
        variables([given])


def test_the_summary_counts_everything_once() -> None:
    labels = ["OK", "OK", "WARN", "ERROR", "SKIP"]
    assert summary(labels, 12.34) == "Done. PASS=2 WARN=1 ERROR=1 SKIP=1 TOTAL=5 in 12.3 s"
    assert (
        summary(["OK", "NOOP"], 1) == "Done. PASS=1 WARN=0 ERROR=0 SKIP=0 NOOP=1 TOTAL=2 in 1.0 s"
    )
