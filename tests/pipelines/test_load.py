"""From files to a pipeline: what is accepted, and what is refused at which line."""

import pytest
from pydantic import ValidationError

from lakebed.errors import BadName, BadPipeline
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.load import decode_files, read_drafts, read_pipeline
from lakebed.pipelines.definition.naming import require_known_layer
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.settings import Settings
from lakebed.testing import MemoryFiles

FOLDER = "shop/pipelines/silver/orders"
SEED = """-- @merge_strategy: incremental
-- @unique_key: order_id
-- @watermark_column: updated_at
SELECT order_id, updated_at
FROM {{ ref('bronze.raw_orders') }}
{% if is_incremental() %}
WHERE updated_at > '{{ watermark_value }}'
{% endif %}
"""


def read(
    source: str = "SELECT 1 AS id", config: str = "", file: str = "pipeline.sql", **others: str
) -> PipelineSpec:
    contents = {file: source, **others}
    return read_pipeline(FOLDER, contents | ({"config.yaml": config} if config else {}))


def refusal(source: str = "SELECT 1 AS id", config: str = "", **others: str) -> BadPipeline:
    with pytest.raises(BadPipeline) as refused:
        read(source, config, **others)
    return refused.value


def test_the_seeds_pipeline_is_read_as_it_stands() -> None:
    spec = read(SEED)
    assert spec.table == TableName("shop", "silver", "orders")
    assert spec.inputs == (TableName("shop", "bronze", "raw_orders"),)
    assert spec.strategy.strategy == "incremental"
    assert (spec.strategy.keys, spec.strategy.order) == (("order_id",), "updated_at")


def test_an_annotation_has_the_last_word_field_by_field() -> None:
    spec = read(
        "-- @unique_key: a, b\nSELECT 1",
        "merge_strategy: merge\nunique_key: x\ndescription: from yaml",
    )
    assert spec.strategy.keys == ("a", "b")
    assert spec.strategy.strategy == "incremental"
    assert spec.config.description == "from yaml"


@pytest.mark.parametrize(
    ("alias", "strategy"),
    [
        ("table", "full_refresh"),
        ("replace", "full_refresh"),
        ("merge", "incremental"),
        ("upsert", "incremental"),
        ("append", "append_only"),
        ("delete+insert", "delete_insert"),
        ("history", "scd2"),
        ("insert_overwrite", "snapshot"),
        ("SOFT_DELETE", "soft_delete"),
    ],
)
def test_every_alias_is_a_strategy(alias: str, strategy: str) -> None:
    assert (
        read(
            f"-- @merge_strategy: {alias}\n-- @unique_key: id\n-- @partition_column: day\nSELECT 1"
        ).strategy.strategy
        == strategy
    )


def test_a_misspelt_strategy_in_an_annotation_is_refused_at_its_line_with_the_nearest_word() -> (
    None
):
    error = refusal("-- a comment\n-- @merge_strategy: incremntal\n-- @unique_key: id\nSELECT 1")
    assert error.where == f"{FOLDER}/pipeline.sql:2"
    assert "incremental" in error.what


def test_a_misspelt_strategy_in_the_config_is_refused_at_its_line() -> None:
    error = refusal(config="description: x\nmerge_strategy: scd3\n")
    assert error.where == f"{FOLDER}/config.yaml:2"
    assert "scd2" in error.what


@pytest.mark.parametrize("key", ["unqiue_key", "watermark", "merge_strateg"])
def test_an_unknown_key_is_refused_with_the_nearest_one(key: str) -> None:
    for error in (refusal(config=f"{key}: x"), refusal(f"-- @{key}: x\nSELECT 1")):
        assert error.line == 1
        assert "Did you mean" in error.next


@pytest.mark.parametrize("strategy", ["incremental", "delete_insert", "scd2", "soft_delete"])
def test_a_strategy_without_its_key_is_refused(strategy: str) -> None:
    error = refusal(config=f"merge_strategy: {strategy}")
    assert "needs unique_key" in error.what
    assert error.where == f"{FOLDER}/config.yaml:1"


def test_a_snapshot_without_its_partition_column_is_refused() -> None:
    assert "needs partition_column" in refusal(config="merge_strategy: snapshot").what


def test_both_sources_or_neither_are_refused() -> None:
    with pytest.raises(BadPipeline, match="both"):
        read_pipeline(FOLDER, {"pipeline.sql": "SELECT 1", "pipeline.py": "result = 1"})
    with pytest.raises(BadPipeline, match="neither") as refused:
        read_pipeline(FOLDER, {"pipline.sql": "SELECT 1"})
    assert "pipline.sql" in refused.value.next


@pytest.mark.parametrize(
    "wrong",
    [
        "max_retries: -1",
        "on_schema_change: maybe",
        "on_empty: perhaps",
        "materialized: cube",
        "archive_landing_zones: sometimes",
        "partition_by: [weekly(at)]",
        "partition_by: [bucket(id)]",
        "columns: {id: {tests: [not_nul]}}",
        "columns: {id: {tpye: int}}",
        "columns: [a]",
        "[]",
        "a: b: c",
    ],
)
def test_a_value_that_makes_no_sense_is_refused_before_anything_runs(wrong: str) -> None:
    assert refusal(config=wrong).where.startswith(f"{FOLDER}/config.yaml")


@pytest.mark.parametrize(
    ("given", "spark"),
    [
        ("country", "`country`"),
        ("day(at)", "days(`at`)"),
        ("months(at)", "months(`at`)"),
        ("bucket(8, id)", "bucket(8, `id`)"),
        ("{column: at, transform: hour}", "hours(`at`)"),
        ("{column: name, transform: truncate, width: 2}", "truncate(2, `name`)"),
    ],
)
def test_partitioning_is_written_in_several_ways(given: str, spark: str) -> None:
    (field,) = read(
        config=f"partition_by: [{given!r}]" if "{" not in given else f"partition_by: [{given}]"
    ).config.partition_by
    assert field.spark == spark


def test_gates_are_sql_files_and_tests_of_columns() -> None:
    config = """columns:
  id:
    tests: [not_null, unique]
  state:
    tests:
      - accepted_values: {values: [a, "it's"], severity: warn}
  customer:
    tests:
      relationships: {to: bronze.customers, field: id}
"""
    gate = (
        "-- @severity: WARNING\n-- @tags: Money, pii\n-- @remediation: fix it\nSELECT * FROM {{"
        " this }} WHERE amount < 0"
    )
    spec = read(config=config, **{"tests/quality/positive.sql": gate})
    assert [(one.name, one.severity) for one in spec.gates] == [
        ("positive", "warn"),
        ("id_not_null", "error"),
        ("id_unique", "error"),
        ("state_accepted_values", "warn"),
        ("customer_relationships", "error"),
    ]
    assert spec.gates[0].tags == ("money", "pii")
    assert spec.inputs == (TableName("shop", "bronze", "customers"),)


def test_a_gate_with_an_unknown_setting_is_refused() -> None:
    error = refusal(**{"tests/quality/x.sql": "-- @severty: warn\nSELECT 1"})
    assert error.where == f"{FOLDER}/tests/quality/x.sql:1"
    assert "severity" in error.next


@pytest.mark.parametrize(
    ("source", "style"),
    [
        ("def run(spark, context):\n    return context.ref('bronze.a')", "spark"),
        ("def run(conn, context):\n    return conn.sql(context['ref']('bronze.a'))", "duckdb"),
        ("result = ref('bronze.a')", "flat"),
    ],
)
def test_python_pipelines_are_understood_without_being_run(source: str, style: str) -> None:
    spec = read(source, file="pipeline.py")
    assert spec.style == style
    assert spec.inputs == (TableName("shop", "bronze", "a"),)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def run(spark, context):\n    return context.ref(name)", 2),
        ("def run(spark, context):\n    return context.landing_zone(f'{x}')", 2),
        ("def run(spark):\n    pass", 1),
        ("x = 1", None),
        ("def run(spark, context)\n    pass", 1),
    ],
)
def test_a_python_pipeline_whose_reads_cannot_be_known_is_refused(
    source: str, line: int | None
) -> None:
    assert refusal(source, file="pipeline.py").line == line


def test_zones_may_be_of_another_namespace_and_have_a_pattern() -> None:
    spec = read(
        "SELECT * FROM {{ landing_zone('orders', pattern='*.csv') }} JOIN {{"
        " landing_zone('hr.people') }}"
    )
    assert [(ref.zone, ref.pattern) for ref in spec.zones] == [
        (ZoneName("shop", "orders"), "*.csv"),
        (ZoneName("hr", "people"), None),
    ]


def test_a_view_reads_tables_only() -> None:
    assert read(config="materialized: view").is_view
    assert (
        "landing zone"
        in refusal("SELECT * FROM {{ landing_zone('x') }}", "materialized: view").what
    )


def test_files_of_other_encodings_are_refused_with_what_they_are() -> None:
    with pytest.raises(BadPipeline, match=r"not UTF-8 text.*It is UTF-16. Save it as UTF-8"):
        decode_files("f", {"pipeline.sql": "SELECT 1".encode("utf-16")})


def test_the_release_changes_with_any_file_and_with_nothing_else() -> None:
    assert read("SELECT 1").digest == read("SELECT 1").digest
    assert read("SELECT 1").digest != read("SELECT 2").digest
    assert (
        read("SELECT 1").digest
        != read("SELECT 1", **{"tests/quality/a.sql": "SELECT 1 WHERE false"}).digest
    )


def test_all_pipelines_of_all_namespaces_are_found() -> None:
    files = MemoryFiles()
    for path in (
        "shop/pipelines/bronze/a/pipeline.sql",
        "hr/pipelines/gold/b-c/pipeline.sql",
        "shop/landing/z/x.csv",
        ".data/x",
        "shop/pipelines/README.md",
    ):
        files.write(path, b"SELECT 1 AS id")
    assert {str(table) for table in read_drafts(files)} == {"shop.bronze.a", "hr.gold.b-c"}


def test_a_layer_nobody_knows_is_refused() -> None:
    with pytest.raises(
        BadPipeline,
        match=r"its layers are bronze, silver, gold.*layers: \[bronze, silver, gold, platinum\]",
    ):
        require_known_layer("shop/pipelines/platinum/a", Settings())
    with pytest.raises(BadPipeline, match="Did you mean silver"):
        require_known_layer("shop/pipelines/sliver/a", Settings())


def test_a_lake_and_a_namespace_may_have_layers_of_their_own() -> None:
    settings = Settings.model_validate(
        {"layers": ["staging", "marts"], "namespaces": {"hr": {"layers": ["raw"]}}}
    )
    require_known_layer("shop/pipelines/marts/a", settings)
    require_known_layer("hr/pipelines/raw/a", settings)
    for folder in ("shop/pipelines/gold/a", "hr/pipelines/marts/a"):
        with pytest.raises(BadPipeline):
            require_known_layer(folder, settings)
    for wrong in ([], ["a", "a"], ["My Layer"], ["_a"]):
        with pytest.raises((ValidationError, BadName)):
            Settings.model_validate({"layers": wrong})


KNOWN = [
    TableName.parse(f"{name}")
    for name in ("shop.bronze.orders", "shop.gold.total", "hr.gold.total", "hr.silver.people")
]
TWICE = [*KNOWN, TableName.parse("shop.silver.orders"), TableName.parse("it.gold.people")]


def refs(*names: str, known: list[TableName]) -> list[str]:
    text = "SELECT 1 FROM " + ", ".join(f"{{{{ ref('{name}') }}}}" for name in names)
    return [
        str(ref.table) for ref in read_pipeline(FOLDER, {"pipeline.sql": text}, known=known).refs
    ]


def test_a_ref_may_be_short_where_one_table_is_meant_in_the_own_namespace_first() -> None:
    assert refs("orders", "total", "people", known=KNOWN) == [
        "shop.bronze.orders",
        "shop.gold.total",
        "hr.silver.people",
    ]
    assert refs("orders", "shop.silver.orders", known=KNOWN) == [
        "shop.bronze.orders",
        "shop.silver.orders",
    ]


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("orders", TWICE, "is ambiguous: shop.bronze.orders, shop.silver.orders.*Give the layer"),
        ("people", TWICE, "is ambiguous: hr.silver.people, it.gold.people"),
        ("ordres", KNOWN, "no pipeline produces a table 'ordres'.*Did you mean orders"),
        ("payments", KNOWN, "named with its layer"),
        ("a.b.c.d", KNOWN, "a ref is 'name', 'layer.name'"),
    ],
)
def test_a_short_ref_that_means_no_table_or_several_is_refused(
    name: str, known: list[TableName], said: str
) -> None:
    with pytest.raises(BadPipeline, match=said) as refused:
        refs(name, known=known)
    assert refused.value.line == 1
