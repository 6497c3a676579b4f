"""Gates: tests of columns as a table of cases, what is kept of an answer, and what is refused."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.steps import RunGate, RunStep
from lakebed.quality import SAMPLE
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.recorded_queries import record_queries

pytestmark = pytest.mark.spark

ROWS = "SELECT * FROM VALUES {} AS t(id, state, customer)"
GOOD = "(1, 'open', 10), (2, 'shut', NULL), (3, NULL, 11)"
CASES = {
    "not_null": ("id: {tests: [not_null]}", "(NULL, 'open', 10)", 1),
    "unique": (
        "id: {tests: [unique]}",
        "(7, 'open', 10), (7, 'open', 10), (NULL, 'open', 10), (NULL, 'open', 10)",
        1,
    ),
    "accepted_values": (
        'state: {tests: [{accepted_values: {values: [open, shut, "it\'s"]}}]}',
        "(1, 'ajar', 10), (2, 'it\\'s', 10)",
        1,
    ),
    "accepted numbers": (
        "customer: {tests: {accepted_values: {values: [10, 11]}}}",
        "(1, 'open', 12)",
        1,
    ),
    "relationships": (
        "customer: {tests: {relationships: {to: bronze.customers, field: number}}}",
        "(1, 'open', 99), (2, 'open', 98)",
        2,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_test_of_a_column_passes_good_rows_and_stops_bad_ones(
    shop: TestLake, case: str
) -> None:
    column, bad, count = CASES[case]
    shop.pipeline("bronze.customers", "SELECT * FROM VALUES (10), (11) AS t(number)")
    shop.run_one("bronze.customers")
    shop.pipeline("silver.a", ROWS.format(GOOD), f"columns:\n  {column}")
    shop.run_one("silver.a")
    shop.pipeline("silver.a", ROWS.format(f"{GOOD}, {bad}"), f"columns:\n  {column}")
    record = shop.run("silver.a")["silver.a"]
    assert (record.state, record.error["kind"]) == ("failed", "GateFailed")
    assert [verdict.bad_rows for verdict in record.verdicts] == [count]
    assert len(shop.rows("silver.a")) == 3


def test_all_gates_are_asked_and_kept_with_a_capped_sample(shop: TestLake) -> None:
    gates = {
        "many": (
            "-- @description: none at all\n-- @remediation: Mend it.\n-- @tags: a, B\n"
            "SELECT id, repeat('x', 1000) AS long FROM {{ this }}"
        ),
        "none": "SELECT * FROM {{ this }} WHERE id < 0",
        "broken": "SELECT nope FROM {{ this }}",
    }
    shop.pipeline("silver.a", "SELECT * FROM range(100)", gates=gates)
    record = shop.run("silver.a")["silver.a"]
    verdicts = {verdict.gate: verdict for verdict in record.verdicts}
    assert (verdicts["many"].bad_rows, len(verdicts["many"].sample)) == (100, SAMPLE)
    assert len(verdicts["many"].sample[0]["long"]) < 250
    assert (verdicts["many"].description, verdicts["many"].tags) == ("none at all", ("a", "b"))
    assert verdicts["none"].passed
    assert "nope" in verdicts["broken"].error
    assert verdicts["broken"].blocks
    kept = shop.lake.stores.records.run(record.run_id)
    assert kept is not None
    assert kept.verdicts == record.verdicts


@pytest.mark.parametrize(
    "gate",
    [
        "SELECT count(*) FROM {{ this }}",
        "INSERT INTO {{ this }} VALUES (1)",
        "SELECT * FROM csv.`/etc/passwd`",
        "SELECT reflect('java.lang.System', 'getenv') FROM {{ this }}",
        "SELECT 1; SELECT 2",
        "SELECT * FROM lake.shop.silver.a",
    ],
)
def test_a_gate_that_is_no_question_about_bad_rows_is_refused(shop: TestLake, gate: str) -> None:
    shop.pipeline("silver.a", "SELECT * FROM range(1)", gates={"g": gate})
    record = shop.run("silver.a")["silver.a"]
    assert (record.state, record.error["kind"]) == ("failed", "BadPipeline")
    assert shop.lake.stores.catalog.pointers() == {}


@pytest.mark.parametrize(
    "source",
    [
        "SELECT * FROM csv.`/etc/passwd`",
        "SELECT java_method('java.lang.System', 'currentTimeMillis')",
        "SELECT TRANSFORM(id) USING 'cat' AS x FROM range(1)",
        "DROP TABLE lake.shop.silver.a",
        "SELECT 1; DROP TABLE lake.shop.silver.a",
        "SET spark.sql.shuffle.partitions = 1",
        "SELECT * FROM lake.shop.bronze.secret",
    ],
)
def test_a_pipeline_that_is_more_than_one_query_is_refused_before_it_runs(
    shop: TestLake, source: str
) -> None:
    shop.pipeline("silver.a", source)
    record = shop.run("silver.a")["silver.a"]
    assert (record.state, record.error["kind"]) == ("failed", "BadPipeline")
    assert record.error["where"].startswith("shop/pipelines/silver/a/pipeline.sql")


def test_the_gates_of_what_is_published_can_be_asked_at_any_time(shop: TestLake) -> None:
    shop.pipeline(
        "silver.a",
        "SELECT * FROM range(3)",
        gates={"g": "-- @severity: warn\nSELECT * FROM {{ this }} WHERE id > 1"},
    )
    shop.run_one("silver.a")
    from lakebed.pipelines import RunOptions, run_gates

    specs = shop.lake.pipelines.load().specs
    (verdict,) = run_gates(
        specs[shop.table("silver.a")], specs, shop.lake.pipelines.services, RunOptions()
    )
    assert (verdict.passed, verdict.bad_rows) == (False, 1)


def test_a_gate_with_a_misspelt_word_is_refused_for_the_whole_lake(shop: TestLake) -> None:
    shop.pipeline("silver.a", "SELECT * FROM range(3)", gates={"g": "SELECT * FROM {{ thsi }}"})
    with pytest.raises(BadPipeline, match="thsi") as refused:
        shop.run()
    assert refused.value.where == "shop/pipelines/silver/a/tests/quality/g.sql:1"


def _losing_rows_at_the_first_gate(shop: TestLake) -> RunListener:
    """Takes the files of the table away when the first attempt asks its first gate."""
    asked: list[str] = []

    def on_step(run_id: str, step: RunStep, when: str) -> None:
        if isinstance(step, RunGate) and not asked:
            asked.append(run_id)
            for file in (shop.folder / "shop" / "warehouse").rglob("*.parquet"):
                file.unlink()

    return RunListener(on_step=on_step)


@pytest.mark.parametrize("severity", ["error", "warn"])
def test_a_gate_that_could_not_run_lets_no_table_be_published(
    shop: TestLake, severity: str
) -> None:
    gate = f"-- @severity: {severity}\nSELECT * FROM {{{{ this }}}} WHERE id % 10 = 11"
    shop.pipeline("silver.a", "SELECT * FROM range(3)", gates={"odd": gate})
    record = shop.run("silver.a", listener=_losing_rows_at_the_first_gate(shop))["silver.a"]
    assert (record.state, record.error["kind"]) == ("failed", "RunFailed")
    assert record.error["what"].startswith("the gate odd could not run: ")
    assert "Look at the rows" not in record.error["next"]
    assert [verdict.error[:15] for verdict in record.verdicts] == ["could not run: "]
    assert shop.lake.stores.catalog.pointers() == {}


def test_a_run_whose_gate_could_not_run_is_tried_again_as_often_as_it_says(shop: TestLake) -> None:
    gates = {"odd": "SELECT * FROM {{ this }} WHERE id % 10 = 11"}
    retries = "max_retries: 1\nretry_delay_ms: 0"
    shop.pipeline("silver.a", "SELECT * FROM range(3)", retries, gates=gates)
    record = shop.run_one("silver.a", listener=_losing_rows_at_the_first_gate(shop))
    assert record.attempt == 2
    assert [row["id"] for row in shop.rows("silver.a")] == [0, 1, 2]


def test_a_gate_that_cannot_run_on_what_is_published_fails_even_if_it_would_only_warn(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", "SELECT * FROM range(3)")
    shop.run_one("silver.a")
    gates = {
        "broken": "-- @severity: warn\nSELECT nope FROM {{ this }}",
        "none": "SELECT * FROM {{ this }} WHERE id < 0",
    }
    shop.pipeline("silver.a", "SELECT * FROM range(3)", gates=gates)
    (judged,) = shop.lake.pipelines.test("silver.a")
    assert {verdict.gate: verdict.passed for verdict in judged.verdicts} == {
        "broken": False,
        "none": True,
    }
    assert [verdict.gate for verdict in judged.verdicts if verdict.blocks] == ["broken"]


ROW_GATES = {
    "negative": "SELECT * FROM {{ this }} WHERE id < 0",
    "large": "-- @severity: warn\nSELECT * FROM {{ this }}\nWHERE id > 90 -- for now",
    "odd": "SELECT * FROM {{ this }} WHERE id % 1 = 1",
    "repeated": "SELECT id % 200 FROM {{ this }} GROUP BY id % 200 HAVING count(*) > 1",
}


def test_gates_that_filter_the_same_rows_share_one_scan(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = record_queries(monkeypatch)
    shop.pipeline("silver.a", "SELECT * FROM range(100)", gates=ROW_GATES)
    record = shop.run_one("silver.a")
    found = {verdict.gate: verdict for verdict in record.verdicts}
    assert {gate: one.bad_rows for gate, one in found.items()} == {
        "negative": 0,
        "large": 9,
        "odd": 0,
        "repeated": 0,
    }
    assert [row["id"] for row in found["large"].sample] == list(range(91, 100))
    shared, *others = sorted(asked, key=lambda query: "count_if" not in query)
    assert all(condition in shared for condition in ("id < 0", "id > 90", "id % 1 = 1"))
    assert len(others) == 2, "the sample of the gate that found rows, and the GROUP BY"


def test_a_gate_that_fails_in_a_shared_scan_tells_its_own_error_and_no_other_gate_fails(
    shop: TestLake,
) -> None:
    gates = ROW_GATES | {"broken": "SELECT * FROM {{ this }} WHERE nope > 1"}
    shop.pipeline("silver.a", "SELECT * FROM range(100)", gates=gates)
    record = shop.run("silver.a")["silver.a"]
    found = {verdict.gate: verdict for verdict in record.verdicts}
    assert "nope" in found["broken"].error
    assert [found[gate].error for gate in ROW_GATES] == ["", "", "", ""]
    assert found["large"].bad_rows == 9
