"""Backfills on Spark: every chunk replaces its range and nothing else, whatever happens."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakebed.pipelines import RunListener
from lakebed.ports import RunRecord
from tests.support.kills import check_healed, killed
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.rest_lake import RestLake
from tests.support.scale import in_turn

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),  # PyIceberg has not all of them
]

# two rows a month of two years; those on the last day of a month are of the next one in UTC
EVENTS = """
SELECT id, timestampadd(MONTH, CAST(id DIV 2 AS INT), TIMESTAMP '2024-01-01 00:30:00')
  + (id % 2) * INTERVAL '9' DAY AS at, id * 10 AS v
FROM range(48)
"""
RANGED = """
SELECT id, at, v FROM {{ ref('bronze.events') }}
{% if batch_start %}WHERE at >= {{ batch_start }} AND at < {{ batch_end }}
{% if is_incremental() %}AND FALSE{% endif %}{% endif %}
"""  # a range is computed as a whole: no chunk is incremental
GATE = {"positive": "SELECT * FROM {{ this }} WHERE v < 0"}
NAME = "silver.orders"
YEARS: dict[str, Any] = {"start": "2024-01-01", "end": "2026-01-01"}


def lake_of_events(folder: Path, **settings: Any) -> TestLake:
    made = TestLake(folder, settings={"timezone": "Europe/Berlin", **settings})
    made.pipeline("bronze.events", EVENTS)
    made.pipeline(NAME, RANGED, "batch_column: at\n", gates=GATE)
    made.run_one("bronze.events")
    return made


@pytest.fixture
def events(tmp_path: Path, spark_home: Path) -> Iterator[TestLake]:
    made = lake_of_events(tmp_path / "lake")
    yield made
    made.lake.close()


def backfill(shop: TestLake, name: str = NAME, **options: Any) -> RunRecord:
    return shop.run(name, **options)[name]


def ids(shop: TestLake, name: str = NAME) -> list[int]:
    return sorted(row["id"] for row in shop.rows(name))


def ended(record: RunRecord) -> dict[str, str]:
    return {batch.label.partition("=")[2]: batch.state for batch in record.batches}


def test_a_backfill_killed_three_times_ends_with_the_rows_of_one_full_refresh(
    tmp_path: Path, spark_home: Path
) -> None:
    shop = lake_of_events(tmp_path / "lake", lease={"limit_seconds": 1.0})
    asked = f"{NAME}:{YEARS['start']}:{YEARS['end']}"
    killed(shop.folder, "after", "Write", "times=3", asked)  # two months are published
    killed(shop.folder, "before", "Publish", "times=2", asked)  # three
    killed(shop.folder, "after", "Publish", "times=2", asked)  # five
    (plan,) = shop.lake.plan(NAME, **YEARS)
    assert plan.backfill is not None
    assert (plan.backfill.done, plan.backfill.due[0]) == (5, "at=2024-06-01..2024-07-01")
    record = backfill(shop, **YEARS)
    assert record.state == "success", record.error
    assert record.message == "19 batches written, 5 done before"
    assert (shop.hidden(), shop.refs(NAME), shop.snapshots(NAME)) == ([], {"main"}, 24)
    found = shop.rows(NAME)
    shop.run_one(NAME)  # without a range, it is one full refresh
    assert found == shop.rows(NAME)
    assert len(found) == 48
    # the backfill came to its end: the same command is another one
    assert len(shop.lake.plan(NAME, **YEARS)[0].backfill.due) == 24  # type: ignore[union-attr]
    shop.lake.close()


def test_a_chunk_replaces_its_range_and_rows_that_others_write_meanwhile_stay(
    events: TestLake,
) -> None:
    events.run_one(NAME)
    events.lake.execute("DELETE FROM shop.bronze.events WHERE id BETWEEN 4 AND 5")
    table = events.lake.iceberg.load_table(events.table(NAME).parts)

    def row(number: int, at: datetime) -> pa.Table:
        return pa.table({"id": [number], "at": [at], "v": [1]}, schema=table.schema().as_arrow())

    table.append(row(900, datetime(2024, 2, 10, tzinfo=UTC)))  # in the range: replaced
    theirs = [
        row(901, datetime(2025, 5, 1, tzinfo=UTC)),
        row(902, datetime(2024, 3, 2, tzinfo=UTC)),
    ]

    def intrude(_: str, step: Any, when: str) -> None:
        if (step.kind, when) == ("Write", "after") and theirs:
            table.refresh()
            table.append(theirs.pop(0))

    record = backfill(
        events,
        start="2024-02",
        end=datetime(2024, 4, 1),  # noqa: DTZ001 - of the lake's zone
        listener=RunListener(on_step=intrude),
    )
    assert record.state == "success", record.error
    assert [batch.attempts for batch in record.batches] == [3, 1]
    # 902 was written into the second range before its turn, and there are no events any more
    assert ids(events) == [*range(4), *range(6, 48), 901]
    stored = events.lake.stores.records.run(record.run_id)
    assert stored is not None
    assert (stored.batches, stored.backfill) == (
        record.batches,
        "at from 2024-02-01 to 2024-04-01 by month",
    )
    assert [pin.table.name for pin in stored.inputs] == ["events"]
    check_files(events)


def check_files(shop: TestLake) -> None:
    assert (shop.hidden(), shop.refs(NAME)) == ([], {"main"})
    assert [found for found in shop.lake.fsck().findings if found.severity != "info"] == []


def test_a_chunk_that_fails_is_left_to_the_next_run_and_the_others_stand(events: TestLake) -> None:
    events.run_one(NAME)
    before = events.lake.tables.describe(events.table(NAME)).refs["main"].snapshot
    events.lake.execute("UPDATE shop.bronze.events SET v = -1 WHERE id = 3")
    asked: dict[str, Any] = {"start": "2024-01-01", "end": "2024-04-01"}

    def due() -> int:
        plan = events.lake.plan(NAME, **asked)[0].backfill
        return len(plan.due) if plan else 0

    record = backfill(events, **asked)
    assert record.state == "failed"
    assert list(ended(record).values()) == ["success", "failed", "success"]
    assert "1 of 3 batches failed.\nat=2024-02-01..2024-03-01" in record.error["what"]
    assert [row["v"] for row in events.rows(NAME) if row["id"] == 3] == [30]  # as it was
    assert due() == 1
    events.pipeline(NAME, RANGED.replace("id, at", "id,  at"))
    assert due() == 3  # other code
    events.pipeline(NAME, RANGED)
    assert due() == 1
    events.lake.execute("UPDATE shop.bronze.events SET v = 31 WHERE id = 3")
    record = events.lake.pipelines.retry().records[0]
    assert ended(record) == {"2024-02-01..2024-03-01": "success"}
    assert [row["v"] for row in events.rows(NAME) if row["id"] == 3] == [31]

    events.lake.execute("UPDATE shop.bronze.events SET v = -1 WHERE id = 5")
    forced = backfill(events, force=True, **asked)
    assert [batch.reason for batch in forced.batches] == ["forced"] * 3
    assert due() == 1
    events.lake.tables.rollback(str(events.table(NAME)), to=str(before))
    assert due() == 3  # what it had done was taken back


def test_rows_outside_of_the_range_are_refused_and_the_table_stays(events: TestLake) -> None:
    events.pipeline(NAME, RANGED.replace("at < {{ batch_end }}", "at <= {{ batch_end }}"))
    events.lake.execute(
        "UPDATE shop.bronze.events SET at = TIMESTAMP '2024-02-01 00:00:00' WHERE id = 2"
    )
    record = backfill(events, start="2024-01-01", end="2024-03-01")
    assert list(ended(record).values()) == ["failed", "success"]
    assert "1 row is outside" in record.batches[0].error
    assert "batch_start" in record.error["next"]
    assert ids(events) == [2, 3]
    # a column that gets another name is known by both
    renamed = RANGED.replace("id, at, v", "id, at AS seen, v")
    events.pipeline(NAME, renamed, "batch_column: seen\nrename: at -> seen\n")
    record = backfill(events, start="2024-01-01", end="2024-03-01")
    assert record.state == "success", record.error
    assert sorted(row["id"] for row in events.rows(NAME, columns=("id", "seen"))) == [0, 1, 2, 3]
    shown = events.lake.pipelines.preview(NAME, start="2024-01-10", end="2024-02-01")
    assert [row["id"] for row in shown.rows] == [1]


KEYED = "merge_strategy: incremental\nunique_key: id\nwatermark_column: at\n"


def test_a_key_is_once_in_its_range_and_never_in_two(events: TestLake) -> None:
    """The column of the range is the watermark: a row that changed would be in both."""
    twice = RANGED.replace("id, at, v FROM", "id DIV 2 AS id, at, v FROM")
    events.pipeline("silver.keyed", twice, KEYED)
    record = backfill(events, "silver.keyed", start="2024-01-01", end="2024-03-01")
    assert record.state == "success", record.error
    assert [row["v"] for row in events.rows("silver.keyed")] == [10, 30]  # the newest of each
    events.lake.execute("UPDATE shop.bronze.events SET id = 0 WHERE id = 4")
    record = backfill(events, "silver.keyed", start="2024-03-01", end="2024-04-01")
    assert record.state == "failed"
    assert 'outside of it have, too: {"id":0}' in record.error["what"]
    assert ids(events, "silver.keyed") == [0, 1]


PYTHON = """
def run(spark, context):
    rows = spark.createDataFrame([(n, n * 2) for n in range(20)], "id int, v int")
    if context.batch_start is None:
        return rows
    assert type(context.batch_start) is int
    return rows.where(f"id >= {context.batch_start} AND id < {context['batch_end']}")
"""
DATES = """
SELECT CAST(id AS INT) AS id, {type}('2024-01-29') + id * INTERVAL '1' DAY AS day FROM range(8)
WHERE {type}('2024-01-29') + id * INTERVAL '1' DAY >= {{{{ batch_start }}}}
  AND {type}('2024-01-29') + id * INTERVAL '1' DAY < {{{{ batch_end }}}}
"""


def test_ranges_run_over_integers_dates_and_times_without_a_zone(shop: TestLake) -> None:
    shop.pipeline("silver.numbers", PYTHON, "batch_column: id\n")
    record = backfill(shop, "silver.numbers", start=3, end=12, chunk=4)
    assert record.state == "success", record.error
    assert list(ended(record)) == ["3..7", "7..11", "11..12"]
    assert ids(shop, "silver.numbers") == list(range(3, 12))
    for type_ in ("date", "to_timestamp_ntz"):
        name = f"silver.{type_}"
        shop.pipeline(name, DATES.format(type=type_), "partition_by: month(day)\n")
        record = backfill(shop, name, start=date(2023, 12, 30), end="2024-02-03")  # no table yet
        assert record.state == "success", record.error
        assert list(ended(record)) == [
            "2023-12-30..2024-01-01",
            "2024-01-01..2024-02-01",
            "2024-02-01..2024-02-03",
        ]
        assert ids(shop, name) == [0, 1, 2, 3, 4]
        record = backfill(shop, name, start="2024-01-30", end="2024-02-05", chunk="year")
        assert (record.state, ids(shop, name)) == ("success", [0, 1, 2, 3, 4, 5, 6])
    text = "SELECT CAST({{ batch_start }} AS STRING) AS day"
    shop.pipeline("silver.text", text, "batch_column: day\n")
    record = backfill(shop, "silver.text", start="2024-01-01", end="2024-01-02")
    assert record.state == "failed"
    assert "'day' is string" in record.error["what"]
    check_healed(shop.lake, [])


@in_turn(2, of=4)
@pytest.mark.s3
@pytest.mark.postgres
def test_a_backfill_on_a_rest_catalog_goes_on_where_it_failed(rest_lake: RestLake) -> None:
    """The table and Lakebed's records are in two places there."""
    lake, name = rest_lake.lake, f"{rest_lake.namespace}.silver.numbers"
    rest_lake.pipeline("bronze.numbers", "SELECT CAST(id AS INT) AS id, 1 AS v FROM range(3)")
    source = "SELECT id, v FROM {{ ref('bronze.numbers') }} WHERE id >= {{ batch_start }}"
    source += " AND id < {{ batch_end }}"
    rest_lake.pipeline("silver.numbers", source, "batch_column: id\n", **GATE)
    assert lake.run(f"{rest_lake.namespace}.bronze.numbers").ok
    lake.execute(f"UPDATE {rest_lake.namespace}.bronze.numbers SET v = -1 WHERE id = 1")
    (record,) = lake.run(name, start=0, end=3, chunk=1).records
    assert list(ended(record).values()) == ["success", "failed", "success"]
    lake.execute(f"UPDATE {rest_lake.namespace}.bronze.numbers SET v = 2 WHERE id = 1")
    (record,) = lake.run(name, start=0, end=3, chunk=1).records
    assert ended(record) == {"1..2": "success"}
    assert [row["v"] for row in rest_lake.rows("silver.numbers")] == [1, 2, 1]
