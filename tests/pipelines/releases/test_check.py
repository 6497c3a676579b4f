"""What a release is refused for, before anything is written; and what is none of its business."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.errors import BadPipeline
from tests.support.lakes.pipeline_lake import TestLake

ZONED = "SELECT id, at FROM {{ landing_zone('orders') }}"
INCREMENTAL = "merge_strategy: incremental\nunique_key: id\nwatermark_column: at\n"
EXPECTED = "expected_schema: {id: bigint, at: timestamp}\n"


@pytest.fixture
def drafts(tmp_path: Path) -> Iterator[TestLake]:
    """A lake with a zone and a pipeline; nothing runs in it, so it needs no Spark."""
    made = TestLake(tmp_path / "lake")
    made.land("orders", "a.csv", "id,at\n1,2026-01-01\n")
    made.pipeline("bronze.orders", "SELECT id, at FROM {{ landing_zone('orders') }}")
    yield made
    made.lake.close()


def refusal(drafts: TestLake, name: str = "silver.orders", **options: object) -> BadPipeline:
    releases = drafts.lake.pipelines
    with pytest.raises(BadPipeline) as refused:
        releases.release(name, **options)  # type: ignore[arg-type]
    assert releases.releases(name) == ()
    assert not (drafts.folder / ".data" / "releases").exists()
    return refused.value


@pytest.mark.parametrize(
    ("source", "config", "gate", "said"),
    [
        ("SELECT 1 AS id, {{ reff('a') }}", "", "", ("pipeline.sql:1", "ref")),
        (
            "SELECT 1 AS id\nFROM {{ ref('bronze.ordrs') }}",
            "",
            "",
            ("pipeline.sql:2", "shop.bronze.orders"),
        ),
        ("SELECT *\nFROM {{ landing_zone('ordrs') }}", "", "", ("pipeline.sql:2", "orders")),
        ("SELECT 1 AS id\nFROM oops", "", "", ("pipeline.sql:2", "was not given")),
        ("SELECT 1 AS id FRM", "", "", ("pipeline.sql:1",)),
        ("SELECT 1 AS id; DROP TABLE x", "", "", ("pipeline.sql:1",)),
        ("SELECT 1 AS id", "merge_strategy: incrementel\n", "", ("config.yaml:1", "incremental")),
        (
            ZONED,
            INCREMENTAL.replace("id", "idd", 1),
            "",
            ("config.yaml:2", "unique_key names 'idd'", "id"),
        ),
        (
            f"-- @unique_key: idd\n{ZONED}",
            INCREMENTAL,
            "",
            ("pipeline.sql:1", "unique_key names 'idd'"),
        ),
        (
            ZONED,
            INCREMENTAL.replace(": at", ": att"),
            "",
            ("config.yaml:3", "watermark_column names 'att'"),
        ),
        (ZONED, "partition_by: [day(att)]\n", "", ("config.yaml:1", "partition_by names 'att'")),
        (ZONED, "sort_by: [id DESC, days(att)]\n", "", ("config.yaml:1", "sort_by names 'att'")),
        (
            ZONED,
            "tags: [a]\ncolumns:\n  idd: {tests: [not_null]}\n",
            "",
            ("config.yaml:3", "columns names 'idd'"),
        ),
        (ZONED, "", "SELECT * FROM {{ this }}\nWHERE {{ oops }}", ("g.sql:2",)),
        (ZONED, "", "SELECT * FROM {{ this }}\nWHERE id <", ("g.sql",)),
        (ZONED, "", "SELECT count(*) FROM {{ this }}", ("g.sql", "HAVING")),
        (ZONED, "", "-- @severity: wran\nSELECT 1", ("g.sql:1", "warn")),
        (ZONED, "", "SELECT * FROM {{ ref('bronze.nothing') }}", ("g.sql:1", "bronze.nothing")),
        (
            (
                f"{ZONED}\n{{% if is_incremental() %}}\nWHERE at >> {{{{ watermark }}}} AND\n{{%"
                " endif %}"
            ),
            INCREMENTAL,
            "",
            ("pipeline.sql",),
        ),
    ],
)
def test_what_would_not_run_is_refused_at_its_line(
    drafts: TestLake, source: str, config: str, gate: str, said: tuple[str, ...]
) -> None:
    drafts.pipeline("silver.orders", source, config, gates={"g": gate} if gate else None)
    shown = str(refusal(drafts))
    for word in said:
        assert word in shown


@pytest.mark.parametrize(
    ("source", "config"),
    [
        (
            ZONED,
            INCREMENTAL
            + "partition_by: [day(at), 'bucket(4, id)']\nsort_by: [at desc nulls last, id]\n",
        ),
        (
            ZONED,
            (
                "merge_strategy: scd2\nunique_key: ID\ncolumns: {valid_to: {description: until"
                " when}}\n"
            ),
        ),
        (ZONED, "merge_strategy: soft_delete\nunique_key: id\ncolumns: {_deleted_at: {}}\n"),
        (
            "SELECT * FROM {{ landing_zone('orders') }}",
            "merge_strategy: incremental\nunique_key: who_knows\n",
        ),
        (
            "SELECT id, struct(at) AS s FROM {{ landing_zone('orders') }}",
            "partition_by: [day(s.at)]\n",
        ),
        (
            "def run(spark, context):\n    return spark.range(1)\n",
            "merge_strategy: append\nsort_by: [id]\n",
        ),
        (
            f"{ZONED}\n{{% if is_incremental() %}}WHERE at > {{{{ watermark }}}}{{% endif %}}",
            INCREMENTAL,
        ),
    ],
)
def test_what_can_run_or_cannot_be_told_is_released(
    drafts: TestLake, source: str, config: str
) -> None:
    drafts.pipeline(
        "silver.orders", source, config, gates={"g": "SELECT * FROM {{ this }} WHERE id < 0"}
    )
    assert drafts.lake.pipelines.release("silver.orders").new


def test_a_star_is_written_out_where_the_zone_says_its_columns(drafts: TestLake) -> None:
    (drafts.folder / "shop/landing/orders/zone.yaml").write_text(EXPECTED)
    drafts.pipeline(
        "silver.orders",
        "SELECT * FROM {{ landing_zone('orders') }}",
        INCREMENTAL.replace("id", "idd", 1),
    )
    assert "unique_key names 'idd'" in str(refusal(drafts))


def test_variables_without_a_default_are_asked_for(drafts: TestLake) -> None:
    drafts.pipeline("silver.orders", "SELECT {{ var('day') | literal }} AS day")
    assert "there is no variable 'day'" in str(refusal(drafts))
    assert drafts.lake.pipelines.release("silver.orders", vars={"day": "2026-01-01"}).new


def test_another_draft_that_is_wrong_is_no_reason_to_refuse(drafts: TestLake) -> None:
    drafts.pipeline("gold.broken", "-- @merge_strategy: nonsense\nSELECT")
    drafts.pipeline("silver.orders", "SELECT * FROM {{ ref('gold.broken') }}")
    assert drafts.lake.pipelines.release("silver.orders").new


def test_released_pipelines_never_read_each_other_in_a_circle(drafts: TestLake) -> None:
    releases = drafts.lake.pipelines
    drafts.pipeline("silver.a", "SELECT id FROM {{ ref('silver.b') }}")
    drafts.pipeline("silver.b", "SELECT 1 AS id")
    assert [releases.release(name).release.version for name in ("silver.a", "silver.b")] == [1, 1]
    drafts.pipeline("silver.b", "SELECT id FROM {{ ref('silver.a') }}")
    with pytest.raises(BadPipeline, match="in a cycle"):
        releases.release("silver.b")
    drafts.pipeline("silver.a", "SELECT 2 AS id")
    assert [releases.release(name).release.version for name in ("silver.a", "silver.b")] == [2, 2]
    with pytest.raises(BadPipeline, match="in a cycle"):
        releases.rollback("silver.a", 1)
    assert releases.releases("silver.a")[0].version == 2
