"""Backfills before anything runs: what is refused, and what a plan shows. No Spark."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lakebed.cli.main import app
from lakebed.errors import BadPipeline, LakebedError, UsageError
from lakebed.names import TableName
from lakebed.pipelines.definition.load import read_pipeline
from tests.support.lakes.pipeline_lake import TestLake

NAME = "silver.orders"
RANGED = "SELECT id, at FROM {{ ref('bronze.events') }} WHERE at >= {{ batch_start }}"
GUARDED = RANGED.replace("WHERE", "{% if batch_start %}WHERE") + "{% endif %}"
OVER = "batch_column: at\n"
KEYED = "unique_key: id\nwatermark_column: at\n"
YEAR: dict[str, Any] = {"start": "2024-01-01", "end": "2025-01-01"}


@pytest.fixture
def drafts(tmp_path: Path) -> Iterator[TestLake]:
    made = TestLake(tmp_path / "lake")
    made.land("orders", "a.csv", "id,at\n1,2026-01-01\n")
    made.pipeline("bronze.events", "SELECT 1 AS id, TIMESTAMP '2024-01-01 00:00:00' AS at")
    yield made
    made.lake.close()


def refusal(drafts: TestLake, **options: Any) -> LakebedError:
    """What a plan and a run say; neither leaves anything behind."""
    before = drafts.files()
    with pytest.raises(LakebedError) as refused:
        drafts.lake.plan(NAME, **YEAR | options)
    assert drafts.files() == before
    assert drafts.lake.stores.records.runs(limit=1) == ()
    return refused.value


REFUSED = {
    "scd2": (GUARDED, f"merge_strategy: scd2\n{KEYED}", "strategy scd2 cannot be backfilled"),
    "soft_delete": (GUARDED, f"merge_strategy: soft_delete\n{KEYED}", "strategy soft_delete"),
    "view": (GUARDED, "materialized: view\n", "a view has no rows"),
    "zone": (
        "SELECT id, at FROM {{ landing_zone('orders') }} WHERE at < {{ batch_end }}",
        OVER,
        "landing zone shop.orders",
    ),
    "neither": ("SELECT id, at FROM {{ ref('bronze.events') }}", OVER, "neither batch_start nor"),
    "neither in Python": ("def run(spark, context):\n    return 1", OVER, "neither batch_start"),
    "no column": (GUARDED, "", "no setting names a column of times"),
    "two columns": (
        GUARDED,
        f"partition_by: month(at)\nmerge_strategy: incremental\n{KEYED}".replace(
            "watermark_column: at", "watermark_column: seen"
        ),
        "at, seen could be meant",
    ),
    "text": (GUARDED, f"{OVER}columns: {{at: string}}\n", "'at' is string"),
    "broken SQL": (GUARDED.replace("id, at", "id at,"), OVER, ""),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_pipeline_whose_ranges_cannot_be_computed_alone_is_refused_by_name(
    case: str, drafts: TestLake
) -> None:
    source, config, told = REFUSED[case]
    drafts.pipeline(NAME, source, config)
    error = refusal(drafts)
    assert told in error.what
    assert "orders" in error.where
    assert error.next or case == "broken SQL"


def test_a_source_is_told_how_its_batches_are_run(drafts: TestLake) -> None:
    folder = drafts.folder / "shop/pipelines/silver/orders"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text('source: "in/{year}.json"\nbatch_by: [year]\n')
    assert "--batch" in refusal(drafts).next


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"end": None}, "both a start and an end"),
    ({"start": None, "end": None, "chunk": "day"}, "both a start and an end"),
    ({"end": "2024-01-01"}, "is empty; its end is exclusive"),
    ({"start": "soon"}, "neither a date nor a time"),
    ({"start": "1900", "end": "2000", "chunk": "month"}, "is a count, such as 1000"),
    ({"chunk": "fortnight"}, "one of day, week, month, year"),
    ({"chunk": "hour", "end": "2124-01-01 01:00"}, "more than 100,000 chunks"),
    ({"full_refresh": True}, "--full-refresh does not go with"),
    ({"batches": ["a=1"]}, "--batch does not go with"),
]


def test_a_range_that_cannot_be_meant_is_refused(drafts: TestLake) -> None:
    drafts.pipeline(NAME, GUARDED, OVER)
    for options, told in OPTIONS:
        assert told in refusal(drafts, **options).what
    with pytest.raises(UsageError, match="--together does not go with"):
        drafts.lake.run(NAME, together=True, **YEAR)


@pytest.mark.parametrize(
    ("config", "chunk", "labels"),
    [
        ("partition_by: day(at)\n", "month", ["at=2024-01-15..2024-02-01", "at=2024-02-01..2024-02-10"]),
        ("merge_strategy: snapshot\npartition_column: at\n", "month", None),
        (f"merge_strategy: incremental\n{KEYED}", "month", None),
        ("partition_by: years(at)\n", "year", ["at=2024-01-15..2024-02-10"]),
        (f"partition_by: year(seen)\n{OVER}", "month", None),
        ("partition_by: [id, at]\ncolumns: {at: date, id: int}\n", "month", None),
    ],
)  # fmt: skip
def test_the_column_and_the_chunks_follow_the_other_settings(
    config: str, chunk: str, labels: list[str] | None, drafts: TestLake
) -> None:
    drafts.pipeline(NAME, GUARDED.replace("id, at", "id, at, at AS seen", 1), config)
    (plan,) = drafts.lake.plan(NAME, start="2024-01-15", end="2024-02-10")
    assert plan.backfill is not None
    assert (plan.backfill.column, plan.backfill.chunk) == ("at", chunk)
    assert labels is None or list(plan.backfill.due) == labels


def test_integers_are_one_chunk_unless_the_table_is_divided(drafts: TestLake) -> None:
    for config, labels in (
        ("batch_column: id\n", ["id=5..25"]),
        ("partition_by: truncate(10, id)\n", ["id=5..15", "id=15..25"]),
    ):
        drafts.pipeline(NAME, GUARDED, config)
        (plan,) = drafts.lake.plan(NAME, start=5, end=25)
        assert plan.backfill is not None
        assert list(plan.backfill.due) == labels


def test_the_sql_of_a_range_can_be_seen(drafts: TestLake) -> None:
    gate = "SELECT * FROM {{ this }} WHERE {% if batch_end %}at < {{ batch_end }} AND{% endif %} id < 0"
    drafts.pipeline(NAME, RANGED, OVER, gates={"positive": gate})
    command = ["compile", NAME, "--start", "2024-01", "--end", "2024-03-05", "--gates"]
    shown = CliRunner().invoke(app, [*command, "--lake", str(drafts.folder)])
    assert shown.exit_code == 0, shown.output
    assert "WHERE at >= DATE '2024-01-01'" in shown.stdout
    assert "WHERE at < DATE '2024-03-05' AND id < 0" in shown.stdout


def test_a_dry_run_shows_the_chunks_and_touches_nothing(drafts: TestLake) -> None:
    drafts.pipeline(NAME, RANGED, OVER)
    before = drafts.files()
    command = ["run", NAME, "--start", "2024-01", "--end", "2026-01", "--dry-run"]
    lake = ["--lake", str(drafts.folder)]
    shown = CliRunner().invoke(app, [*command, *lake])
    assert shown.exit_code == 0, shown.output
    assert "24 of 24 batches of at from 2024-01-01 to 2026-01-01 by month are due" in shown.output
    assert "batch at=2024-01-01..2024-02-01\n" in shown.output
    assert "… and 4 more batches, up to at=2025-12-01..2026-01-01" in shown.output
    told = CliRunner().invoke(app, [*command, "--chunk", "year", "--json", *lake])
    assert json.loads(told.stdout)[0]["backfill"] == {
        "reason": "2 of 2 batches of at from 2024-01-01 to 2026-01-01 by year are due",
        "column": "at", "start": "2024-01-01", "end": "2026-01-01", "chunk": "year",
        "due": ["at=2024-01-01..2025-01-01", "at=2025-01-01..2026-01-01"], "done": 0,
    }  # fmt: skip
    (plan,) = json.loads(told.stdout)
    assert [step["step"] for step in plan["steps"]] == ["PublishBatch", "PublishBatch", "Care"]
    assert [step["does"] for step in plan["steps"][:2]] == [
        f"batch {label}" for label in plan["backfill"]["due"]
    ]
    first, others = plan["each"]
    assert (first["first"], first["batches"], others["batches"]) == (
        plan["backfill"]["due"][0],
        1,
        1,
    )
    assert [[step["step"] for step in alike["steps"]] for alike in (first, others)] == [
        ["Calculate", "Stage", "CreateHidden", "Write", "DropStage", "Publish"],
        ["Calculate", "Stage", "PrepareSchema", "OpenBranch", "Write", "DropStage", "Publish"],
    ]
    assert drafts.files() == before
    assert drafts.lake.stores.records.runs(limit=1) == ()


def test_without_a_range_a_guarded_pipeline_runs_and_another_says_what_to_give(
    drafts: TestLake,
) -> None:
    drafts.pipeline(NAME, GUARDED, OVER)
    assert drafts.lake.plan(NAME)[0].steps
    drafts.pipeline(NAME, RANGED, OVER)
    with pytest.raises(BadPipeline, match="batch_start has no value") as refused:
        drafts.lake.plan(NAME)
    assert "--start and --end" in str(refused.value)


def test_a_pipeline_that_is_only_backfilled_can_be_released_and_traced(drafts: TestLake) -> None:
    drafts.pipeline(NAME, RANGED, OVER)
    drafts.lake.pipelines.release(NAME)
    (lineage,) = drafts.lake.pipelines.column_lineage(NAME)
    assert set(lineage.columns) == {"id", "at"}
    drafts.pipeline(NAME, GUARDED.replace("{% endif %}", "{% else %}WHERE{% endif %}"), OVER)
    with pytest.raises(BadPipeline):  # what an ordinary run would fail with
        drafts.lake.pipelines.release(NAME)
    drafts.pipeline(NAME, RANGED, "batch_column: att\n")
    with pytest.raises(BadPipeline, match="batch_column names 'att'"):
        drafts.lake.pipelines.release(NAME)


CODE = "def run(spark, context):\n    return spark.range({}, {})"


@pytest.mark.parametrize(
    ("start", "end", "used"),
    [
        ("context.batch_start", "9", {"batch_start"}),
        ("context['batch_start']", "context.get('batch_end')", {"batch_start", "batch_end"}),
        ("0", "9", set()),
    ],
)
def test_python_code_that_uses_a_range_is_known_without_running_it(
    start: str, end: str, used: set[str]
) -> None:
    spec = read_pipeline("shop/pipelines/silver/a", {"pipeline.py": CODE.format(start, end)})
    assert spec.table == TableName("shop", "silver", "a")
    assert spec.names & {"batch_start", "batch_end"} == used
