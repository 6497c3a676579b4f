"""What a pipeline says of its columns and layout."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.names import TableName
from lakebed.pipelines.definition.load import read_pipeline
from lakebed.pipelines.definition.spec import PipelineSpec

FOLDER = "shop/pipelines/silver/orders"


def read(config: str = "", source: str = "SELECT 1 AS id") -> PipelineSpec:
    return read_pipeline(FOLDER, {"pipeline.sql": source, "config.yaml": config})


@pytest.mark.parametrize(
    ("config", "source"),
    [
        ("rename: a -> b, c -> d", "SELECT 1"),
        ("rename: [a -> b, c->d]", "SELECT 1"),
        ("rename: {a: b, c: d}", "SELECT 1"),
        ("", "-- @rename: a -> b, `c` -> d\nSELECT 1"),
        ("rename: a -> b\ncolumns: {d: {renamed_from: c}, b: {renamed_from: a}}", "SELECT 1"),
    ],
)
def test_a_rename_is_written_in_several_ways(config: str, source: str) -> None:
    assert read(config, source).config.renames == (("a", "b"), ("c", "d"))


@pytest.mark.parametrize(
    ("config", "source", "where", "said"),
    [
        ("tags: x\nrename: a -> b, b -> c", "SELECT 1", "config.yaml:2", "is itself the new name"),
        ("rename: a, b", "SELECT 1", "config.yaml:1", "old -> new"),
        ("", "-- @rename: a -> b, b -> a\nSELECT 1", "pipeline.sql:1", "is itself the new name"),
        (
            "columns:\n  b:\n    renamed_from: a\n  c:\n    renamed_from: a",
            "SELECT 1",
            "config.yaml:3",
            "two new names",
        ),
        ("contract: true", "SELECT 1", "config.yaml:1", "none are listed"),
        (
            "contract: true\ncolumns:\n  a: {type: int}\n  b:\n    description: x",
            "SELECT 1",
            "config.yaml:4",
            "no type for",
        ),
        (
            "contract: true\ncolumns:\n  a:\n    type: intt",
            "SELECT 1",
            "config.yaml:4",
            "'a': there is no type 'intt' \\(did you mean int",
        ),
        ("columns:\n  a: bigintt", "SELECT 1", "config.yaml:2", "did you mean bigint"),
        (
            "columns:\n- name: a\n  type: void",
            "SELECT 1",
            "config.yaml:3",
            "there is no type 'void'",
        ),
        ("", "-- @contract: true\nSELECT 1", "pipeline.sql:1", "none are listed"),
        ("sort_by: [week(at)]", "SELECT 1", "config.yaml:1", "no transform 'week'"),
        (
            "columns:\n  id: {}\ntags: x\ncolumns:\n  v: {}",
            "SELECT 1",
            "config.yaml:4",
            "columns is there twice; first on line 1",
        ),
        (
            "columns:\n  c:\n    tests: [accepted_values: {values: [DE, NO]}]",
            "SELECT 1",
            "config.yaml:3",
            "YAML reads NO, yes, on and off as true or false: quote them",
        ),
        (
            "",
            "SELECT 1\n-- @merge_strategy: append",
            "pipeline.sql:2",
            "below the first line of code",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_line(
    config: str, source: str, where: str, said: str
) -> None:
    with pytest.raises(BadPipeline, match=said) as refused:
        read(config, source)
    assert refused.value.where == f"{FOLDER}/{where}"


def test_nothing_said_of_the_layout_is_not_the_same_as_none() -> None:
    assert (read().config.arrangement.partition_by, read().config.arrangement.sort_by) == (
        None,
        None,
    )
    said = read("partition_by: []\nsort_by: []").config.arrangement
    assert (said.partition_by, said.sort_by) == ((), ())
    assert [
        *map(str, read("", "-- @sort_by: id desc, at\nSELECT 1").config.arrangement.sort_by or ())
    ] == ["id desc", "at asc"]


def test_a_message_that_ends_with_a_suggestion_ends_once() -> None:
    with pytest.raises(BadPipeline) as refused:
        read("merge_strategy: incremntal")
    assert "Did you mean incremental?" in refused.value.what
    assert "?." not in str(refused.value)


DBT = """
columns:
  - name: id
    data_type: bigint
    description: names a row
    data_tests: [not_null, unique]
  - name: status
    tests:
      - accepted_values: {values: [paid, placed]}
"""


def test_columns_may_be_a_list_as_dbt_writes_it() -> None:
    plain = "columns: {id: {type: bigint, description: names a row, tests: [not_null, unique]}, "
    plain += "status: {tests: {accepted_values: {values: [paid, placed]}}}}"
    assert read(DBT).config == read(plain).config
    assert [gate.name for gate in read(DBT).gates] == [
        "id_not_null",
        "id_unique",
        "status_accepted_values",
    ]


@pytest.mark.parametrize(
    ("config", "line", "said"),
    [
        (DBT.replace("data_type", "data_tpye"), 4, "no setting 'columns.id.data_tpye'"),
        (DBT.replace("description", "descr"), 5, "no setting 'columns.id.descr'"),
        ("columns:\n  - id", 1, "each column in a list needs a name"),
        ("columns:\n  - name: a\n  - name: a", 1, "the column a is listed twice"),
    ],
)
def test_a_wrong_column_of_a_list_is_refused_at_its_line(config: str, line: int, said: str) -> None:
    with pytest.raises(BadPipeline, match=said) as refused:
        read(config)
    assert refused.value.line == line


RELATED = """columns:
- name: customer_id
  data_tests:
  - not_null: {config: {severity: warn}}
  - relationships:
      TO
"""


@pytest.mark.parametrize(
    "to",
    [
        "{to: customers, field: id}",
        "{to: ref('customers'), field: id}",
        "{to: '{{ ref(\"customers\") }}', field: id}",
        "{arguments: {to: ref('customers'), field: id}, config: {severity: error}}",
    ],
)
def test_a_relationship_may_be_written_as_in_dbt(to: str) -> None:
    spec = read_pipeline(
        "shop/pipelines/gold/orders",
        {"pipeline.sql": "SELECT 1 AS customer_id", "config.yaml": RELATED.replace("TO", to)},
        known=[TableName("shop", "gold", "customers")],
    )
    assert [(gate.name, gate.severity) for gate in spec.gates] == [
        ("customer_id_not_null", "warn"),
        ("customer_id_relationships", "error"),
    ]
    ((ref),) = spec.gate_refs
    assert (str(ref.table), ref.line) == ("shop.gold.customers", 5)


@pytest.mark.parametrize(
    ("config", "line", "said"),
    [
        (
            "tests:\n- dbt_utils.unique_combination_of_columns:\n"
            "    combination_of_columns: [a, b]\n",
            1,
            "SELECT a, b FROM {{ this }} GROUP BY a, b HAVING count(*) > 1",
        ),
        (
            "tags: x\ndata_tests:\n- unique:\n    column_name: id\n",
            2,
            "columns:\n      id:\n        tests: [unique]",
        ),
        (
            "data_tests:\n- dbt_utils.expression_is_true: {arguments: {expression: a > b}}\n",
            1,
            "SELECT * FROM {{ this }} WHERE NOT (a > b)",
        ),
        ("tests: [something]\n", 1, "Write tests: [not_null, unique] below a column"),
        ("columns:\n  id:\n    tests: [uniqe]\n", 3, "there is no test 'uniqe'"),
        (
            "columns:\n  id:\n    data_tests:\n    - dbt_utils.at_least_one\n",
            3,
            "a query that returns bad rows, in tests/quality/NAME.sql",
        ),
        ("columns:\n  id: {tests: [unique], data_tests: [unique]}\n", 2, "write one of them"),
        ("type: bigint\n", 1, "or columns.<name>.type."),
        ("columns:\n  id: {unique_key: id}\n", 2, "It is written as unique_key."),
        ("columns:\n  id: {unique: true}\n", 2, "It is written as columns.<name>.tests.unique."),
        (
            RELATED.replace("TO", "to: source('raw', 'customers')\n      field: id"),
            6,
            "name the table as ref() does here: raw.customers",
        ),
    ],
)
def test_dbt_words_that_mean_nothing_here_are_refused_with_what_to_write(
    config: str, line: int, said: str
) -> None:
    with pytest.raises(BadPipeline) as refused:
        read(config)
    assert refused.value.line == line
    assert said in str(refused.value)
