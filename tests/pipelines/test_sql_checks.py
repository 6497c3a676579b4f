"""SQL that could not run is refused by plan, compile, release and run alike, before Spark
starts.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lakebed.errors import BadPipeline
from lakebed.ports import RunRecord
from tests.support.lakes.pipeline_lake import TestLake

ONE = "silver.orders"


@pytest.fixture
def drafts(tmp_path: Path) -> Iterator[TestLake]:
    """A lake in which nothing has run."""
    made = TestLake(tmp_path / "lake")
    made.land("orders", "a.csv", "id,at\n1,2026-01-01\n")
    made.pipeline("bronze.orders", "SELECT id, at, 'x' AS label FROM {{ landing_zone('orders') }}")
    yield made
    assert "spark" not in vars(made.lake)  # nothing here may have started it
    made.lake.close()


def _plan(drafts: TestLake) -> None:
    drafts.lake.plan(ONE)


def _compile(drafts: TestLake) -> None:
    drafts.lake.pipelines.compile(ONE)


def _release(drafts: TestLake) -> None:
    drafts.lake.pipelines.release("silver.orders")


def _together(drafts: TestLake) -> None:
    drafts.lake.plan()


def _run(drafts: TestLake) -> RunRecord:
    return drafts.run("silver.orders")["silver.orders"]


WRONG = [
    ("SELECT 1 AS a,, 2 AS b", "',' is not understood here"),
    ("SELECT 1 AS a FRM", "'FRM' is not understood here"),
    ("-- nothing but a comment\n", "there is no query"),
    ("", "there is no query"),
    ("SELECT 1 AS a; SELECT 2 AS a", "there are several statements"),
    ("DROP TABLE x", "DROP does not begin a query"),
    ("SELECT * FROM shop.bronze.orders", "shop.bronze.orders was not given to this query"),
    ("SELECT uper('a') AS a", "there is no function uper()"),
    ("SELECT idd FROM (SELECT 1 AS id)", "there is no column idd"),
    ("SELECT * FROM {{ landing_zone('ordres') }}", "there is no landing zone 'ordres'"),
    ("SELECT * FROM {{ ref('bronze.ordres') }}", "there is no table 'bronze.ordres' to ref"),
]


def test_what_spark_would_not_take_is_refused_in_the_same_words_wherever_it_is_asked_for(
    drafts: TestLake,
) -> None:
    for source, what in WRONG:
        drafts.pipeline("silver.orders", source)
        said = set()
        for ask in (_plan, _compile, _release):
            with pytest.raises(BadPipeline) as refused:
                ask(drafts)
            assert refused.value.next
            said.add((refused.value.what, refused.value.where))
        ((text, where),) = said
        assert what in text
        assert where.startswith("shop/pipelines/silver/orders/pipeline.sql:1")


def test_a_run_fails_with_the_words_of_the_plan_and_before_spark_starts(drafts: TestLake) -> None:
    for source, what in WRONG[:-2]:  # those two refuse the whole run
        drafts.pipeline("silver.orders", source)
        error = _run(drafts).error or {}
        assert error["kind"] == "BadPipeline"
        assert what in error["what"]
        assert error["where"].startswith("shop/pipelines/silver/orders/pipeline.sql:1")
        assert error["next"]


@pytest.mark.parametrize("ask", [_plan, _compile, _release])
def test_a_gate_is_checked_with_its_pipeline(
    drafts: TestLake, ask: Callable[[TestLake], None]
) -> None:
    drafts.pipeline(
        "silver.orders",
        "SELECT 1 AS id",
        gates={"positive": "SELECT * FROM {{ this }}\nWHERE absolute(id) < 0"},
    )
    with pytest.raises(BadPipeline, match=r"positive\.sql:2: there is no function absolute\(\)"):
        ask(drafts)


NEGATIVE = {"positive": "SELECT * FROM {{ this }}\nWHERE amout < 0"}
RELATED = """columns:
  id:
    tests:
      - not_null
      - relationships: {to: bronze.orders, field: idd}
"""
MISSPELT = [
    ("SELECT 1 AS id, 2 AS amount", "", NEGATIVE, r"positive\.sql:2: there is no column amout"),
    (
        "SELECT 1 AS id",
        RELATED,
        {},
        r"config\.yaml:5: relationships .*'id': there is no column idd",
    ),
    (
        "SELECT 1 AS amount",
        "materialized: view\n",
        NEGATIVE,
        r"positive\.sql:2: there is no column",
    ),
    (
        "def run(spark, context):\n    return spark.range(1)\n",
        "contract: true\ncolumns: {amount: int}\n",
        NEGATIVE,
        r"positive\.sql:2: there is no column amout(?s:.*)Did you mean amount\?",
    ),
]


@pytest.mark.parametrize(("source", "config", "gates", "said"), MISSPELT)
def test_a_column_that_a_gate_misspells_is_told_before_anything_runs(
    drafts: TestLake, source: str, config: str, gates: dict[str, str], said: str
) -> None:
    drafts.pipeline("silver.orders", source, config, gates=gates)
    compiled = () if "def run" in source else (_compile,)
    released = () if config is RELATED else (_release,)  # whose columns may change with a release
    for ask in (_plan, *compiled, *released):
        with pytest.raises(BadPipeline, match=said):
            ask(drafts)
    assert (_run(drafts).error or {})["kind"] == "BadPipeline"


@pytest.mark.parametrize("ask", [_plan, _compile, _release])
def test_a_gate_may_name_what_the_query_and_the_strategy_make(
    drafts: TestLake, ask: Callable[[TestLake], None]
) -> None:
    drafts.pipeline(
        "silver.orders",
        "SELECT id, at AS seen FROM {{ ref('bronze.orders') }}",
        "merge_strategy: scd2\nunique_key: id\n",
        gates={"valid": "SELECT seen, id FROM {{ this }} WHERE valid_from > valid_to"},
    )
    ask(drafts)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("merge_strategy: upsert\nunique_key: idd\n", "config.yaml:2: unique_key names 'idd'"),
        ("tags: a\npartition_by: [day(att)]\n", "config.yaml:2: partition_by names 'att'"),
        ("sort_by: [id DESC, days(att)]\n", "config.yaml:1: sort_by names 'att'"),
        ("columns:\n  idd: {type: int}\n", "config.yaml:2: columns names 'idd'"),
        ("columns:\n  id: {type: itn}\n", "config.yaml:2: the column 'id': there is no type 'itn'"),
    ],
)
def test_a_setting_that_names_no_column_is_told_by_the_plan_and_before_a_first_run(
    drafts: TestLake, config: str, said: str
) -> None:
    drafts.pipeline("silver.orders", "SELECT * FROM {{ ref('bronze.orders') }}", config)
    for ask in (_plan, _compile):  # bronze has not run, but its query says its columns
        with pytest.raises(BadPipeline, match=re.escape(said)):
            ask(drafts)


def test_columns_of_tables_that_must_be_built_first_are_those_of_their_queries(
    drafts: TestLake,
) -> None:
    drafts.pipeline("silver.orders", "SELECT * FROM {{ ref('bronze.orders') }}")
    drafts.pipeline("gold.orders", "SELECT id, lable FROM {{ ref('silver.orders') }}")
    with pytest.raises(BadPipeline, match=r"there is no column lable(?s:.*)Did you mean label\?"):
        drafts.lake.plan("gold.orders")
    drafts.pipeline("silver.orders", "SELECT oops FROM {{ ref('bronze.orders') }}")
    assert drafts.lake.plan("gold.orders")  # what is wrong with another is said where it is planned


def test_a_zone_with_an_expected_schema_has_no_other_columns(drafts: TestLake) -> None:
    zone = drafts.folder / "shop/landing/orders/zone.yaml"
    zone.write_text("expected_schema: {id: int, at: date}\n")
    drafts.pipeline("silver.orders", "SELECT id, att FROM {{ landing_zone('orders') }}")
    for ask in (_plan, _compile, _release):
        with pytest.raises(BadPipeline, match=r"pipeline\.sql:1: there is no column att"):
            ask(drafts)


def test_a_pipeline_can_be_planned_while_those_it_reads_are_not_built(drafts: TestLake) -> None:
    drafts.pipeline("silver.orders", "SELECT id, label FROM {{ ref('bronze.orders') }}")
    (plan,) = drafts.lake.plan(ONE)
    assert plan.steps
    assert plan.reason == "shop.bronze.orders must be built first: lakebed run +shop.silver.orders"
    assert drafts.lake.pipelines.compile(ONE)


def test_columns_of_what_runs_first_are_known_ahead(drafts: TestLake) -> None:
    drafts.pipeline("silver.orders", "SELECT id, lable FROM {{ ref('bronze.orders') }}")
    with pytest.raises(
        BadPipeline,
        match=r"silver/orders/pipeline\.sql:1: there is no column lable(?s:.*)Did you mean label\?",
    ):
        _together(drafts)
    drafts.pipeline("silver.orders", "SELECT id, label FROM {{ ref('bronze.orders') }}")
    drafts.pipeline(
        "gold.orders", "WITH o AS (SELECT * FROM {{ ref('silver.orders') }}) SELECT o.at FROM o"
    )
    with pytest.raises(BadPipeline, match=r"gold/orders/pipeline\.sql:1: there is no column at"):
        _together(drafts)


@pytest.mark.parametrize(
    ("source", "config"),
    [
        ("SELECT * FROM {{ landing_zone('orders') }}", ""),  # its columns are those of files
        ("SELECT 1 AS id", "merge_strategy: scd2\nunique_key: id\n"),  # which adds valid_from
        ("SELECT 1 AS id, 2 AS old", "merge_strategy: append\nrename: old -> valid_from\n"),
        ("def run(spark, context):\n    return spark.range(1)\n", ""),
    ],
)
def test_columns_that_may_come_are_not_called_missing(
    drafts: TestLake, source: str, config: str
) -> None:
    drafts.pipeline("bronze.other", source, config)
    drafts.pipeline("silver.orders", "SELECT valid_from FROM {{ ref('bronze.other') }}")
    _together(drafts)
    _release(drafts)


def test_functions_that_a_python_pipeline_registers_may_be_called(drafts: TestLake) -> None:
    drafts.pipeline("silver.orders", "SELECT my_udf(1) AS a")
    for ask in (_plan, _compile, _release):
        with pytest.raises(BadPipeline, match=r"no function my_udf\(\)"):
            ask(drafts)
    drafts.pipeline(
        "bronze.functions",
        "def run(spark, context):\n    spark.udf.register('my_udf', abs)\n    return"
        " spark.range(1)\n",
    )
    for ask in (_plan, _compile, _release):
        ask(drafts)


def test_what_functions_a_server_has_is_left_to_the_server(tmp_path: Path) -> None:
    for number, conf in enumerate(
        ({"spark.sql.extensions": "org.example.Functions"}, {"spark.jars": "functions.jar"})
    ):
        made = TestLake(tmp_path / str(number), settings={"spark": {"conf": conf}})
        made.pipeline("silver.orders", "SELECT my_udf(1) AS a")
        _plan(made)
        made.lake.close()


def test_only_the_branch_that_would_run_is_checked(drafts: TestLake) -> None:
    drafts.pipeline(
        "silver.orders",
        "SELECT 1 AS id {% if is_incremental() %} WHERE id > {{ var('since') }},, {% endif %}",
        "merge_strategy: append\n",
    )
    _plan(drafts)
    with pytest.raises(BadPipeline, match="since"):
        _release(drafts)  # which is for later runs too
