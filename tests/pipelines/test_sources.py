"""Pipelines without code: what their settings mean, and what is refused."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import lakebed
from lakebed.cli.main import app
from lakebed.errors import BadFiles, BadPipeline, UsageError
from lakebed.names import TableName
from lakebed.pipelines import PipelineSpec, read_pipeline
from lakebed.pipelines.definition.batch_source import config_digest
from lakebed.pipelines.definition.inventory import inspect_folders
from lakebed.pipelines.definition.load import read_drafts
from lakebed.pipelines.definition.schema_file import pipelines_of_schema
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.planning.sources.plan import DueLine, SourcePlan
from lakebed.ports import BatchRun, RunRecord
from lakebed.presentation.plan import plan_json
from lakebed.presentation.run import run_json
from lakebed.settings import Settings
from lakebed.testing import MemoryFiles
from lakebed.types import is_storable, read_table_type, stored_type
from tests.cli.json_shapes import described, differences

FOLDER = "econ/pipelines/bronze/regional_income"
SEED = """\
tables:
  regional_income:
    # Source table: consolidated partitions from JSON
    source: "type=regional_income/year=*/geo_fips=*/*.parquet"
    partitions:
      style: hive
      keys:
        - name: year
          type: INTEGER
        - name: geo_fips
          type: VARCHAR
    batch_partition_columns: [year]       # Columns for batching (OOM prevention)
    incremental_keys: [year]              # Columns for incremental tracking

    # Partition alternates: same data, different partition order
    alternate_partitions:
      - name: by_fips                         # Description only (for logging), NOT a lookup key
        partition:
          style: hive
          keys:
            - name: geo_fips
              type: VARCHAR
            - name: year
              type: INTEGER
        batch_partition_columns: [year]       # Columns for batching (OOM prevention)
        incremental_keys: [year]              # Columns for incremental tracking
        # Physical Iceberg table: _mv_{random32} (auto-generated, managed by Iceberg catalog)
"""
PLAIN = "source: in/{table}_{year}_{set}.json\n"


def read(text: str, **files: str) -> PipelineSpec:
    return read_pipeline(FOLDER, {"config.yaml": text, **files})


def test_the_schema_of_the_seed_becomes_a_pipeline_as_it_is() -> None:
    files = pipelines_of_schema(SEED, where="econ-schema.yaml", namespace="econ")
    (path,) = files
    assert path == f"{FOLDER}/config.yaml"
    spec = read(files[path].decode())
    assert (spec.kind, spec.strategy_name, spec.file) == ("source", "batches", path)
    assert spec.batches is not None
    assert [(key.name, str(key.type)) for key in spec.batches.keys] == [("year", "int")]
    assert list(map(str, spec.config.partition_by)) == ["year", "geo_fips"]
    (layout,) = spec.config.alternate_partitions
    assert layout.name == "by_fips"
    assert list(map(str, layout.partition_by)) == ["geo_fips", "year"]
    assert spec.batches.values("type=regional_income/year=2020/geo_fips=01001/data.parquet") == (
        2020,
    )


def test_short_forms_mean_the_same() -> None:
    long = read(
        f"{PLAIN}partitions: {{keys: [year, set]}}\nbatch_partition_columns: [year]\n"
        "partition_alternates: [{name: a, partition: {keys: [set]}, batch_partition_columns: [year]}]\n"
    )
    short = read(
        f"{PLAIN}partition_by: year, set\nbatch_by: year\n"
        "layouts: [{name: a, partition_by: [set], batch_by: [year]}]\n"
    )
    for name in ("partition_by", "batch_partition_columns", "alternate_partitions"):
        assert getattr(long.config, name) == getattr(short.config, name)
    assert (long.layouts_key, short.layouts_key) == ("partition_alternates", "layouts")
    with pytest.raises(BadPipeline, match="layouts is another name for alternate_partitions"):
        read(f"{PLAIN}layouts: [{{partition_by: [set]}}]\nalternate_partitions: []\n")


def test_batch_keys_become_the_last_partition_fields() -> None:
    """Without them, a batch could not be replaced by itself."""
    found = read(f"{PLAIN}partition_by: [table, 'truncate(2, set)']\nbatch_by: [year, set]\n")
    fields = list(map(str, found.config.partition_by))
    assert fields == ["table", "truncate(2, set)", "year", "set"]
    assert found.config.arrangement.partition_by == found.config.partition_by


def test_batches_retry_three_times_by_default_and_wait_as_the_seed_says() -> None:
    config = read(PLAIN).config
    assert config.batch_retries == 3
    assert [config.batch_retry_delay(attempt) for attempt in (1, 2, 3)] == [1, 2, 3]
    given = read(f"{PLAIN}max_retries: 0\nretry_delay_ms: 250\n").config
    assert (given.batch_retries, given.batch_retry_delay(2)) == (0, 0.5)
    sql = read("retry_delay_seconds: 2\nmax_retries: 1\n", **{"pipeline.sql": "SELECT 1 AS a"})
    assert (sql.config.max_retries, sql.config.retry_delay(3)) == (1, 8)


def test_columns_have_names_in_files_and_types_in_the_words_of_sql() -> None:
    columns = read(
        f"{PLAIN}columns: {{geo_fips: {{type: VARCHAR(5), from: GeoFips}}, value: DOUBLE}}\n"
    ).config.columns
    assert (columns["geo_fips"].type, columns["geo_fips"].read_from) == ("string", "GeoFips")
    assert columns["value"].type == "double"


@pytest.mark.parametrize(
    ("word", "type_"),
    [
        ("VARCHAR", "string"), ("varchar(20)", "string"), ("TEXT", "string"), ("INTEGER", "int"),
        ("BIGINT", "bigint"), ("SMALLINT", "int"), ("DOUBLE PRECISION", "double"),
        ("DECIMAL(12, 2)", "decimal(12,2)"), ("NUMERIC(5)", "decimal(5,0)"), ("BOOLEAN", "boolean"),
        ("TIMESTAMP WITH TIME ZONE", "timestamp"), ("DATE", "date"), ("bigint", "bigint"),
        ("array<int>", "array<int>"),
    ],
)  # fmt: skip
def test_types_in_the_words_of_sql(word: str, type_: str) -> None:
    assert stored_type(word) == type_


@given(st.text(max_size=12))
def test_any_other_word_is_refused_and_nothing_crashes(word: str) -> None:
    with suppress(ValueError):
        assert is_storable(read_table_type(stored_type(word)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{PLAIN}pattern: '*.parquet'\n", "pattern was removed"),
        (f"{PLAIN}layouts: [{{name: a, pattern: x}}]\n", "pattern was removed"),
        (f"{PLAIN}batch_by: [yaer]\n", "do not hold 'yaer'"),
        (f"{PLAIN}batch_by: [year]\nincremental_keys: [set]\n", "not among the batch columns"),
        (f"{PLAIN}batch_by: [year, set]\nincremental_keys: [year]\n", "leaves out 'set'"),
        (f"{PLAIN}batch_by: [year]\ncolumns: {{year: DOUBLE}}\n", "cannot be of type double"),
        (f"{PLAIN}merge_strategy: append\n", "does not go with source"),
        (f"{PLAIN}materialized: view\n", "cannot be read by a view"),
        (f"{PLAIN}on_schema_change: sync\n", "would drop columns that one batch does not have"),
        (f"{PLAIN}partition_by: [year]\npartitions: {{keys: [year]}}\n", "both are given"),
        (f"{PLAIN}partitions: {{style: flat}}\n", "hive"),
        (f"{PLAIN}partitions: {{keys: [year, year]}}\n", "listed twice"),
        (f"{PLAIN}partitions: {{keys: [{{name: year, type: YEARS}}]}}\n", "no type 'YEARS'"),
        (f"{PLAIN}columns: {{a: NONSENSE}}\n", "no type 'NONSENSE'"),
        ("source: '*.json'\n", "whole lake"),
        ("source: .data/x/*.json\n", "its own files"),
        ("source: econ/warehouse/*.json\n", "its own files"),
        ("source: econ/landing/orders/*.json\n", "of landing zones"),
        ("description: no source\n", "nor a source in config.yaml"),
    ],
)
def test_what_cannot_work_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(BadPipeline, match=why) as caught:
        read(text)
    assert FOLDER in caught.value.where


def test_rows_come_from_code_or_from_a_source() -> None:
    with pytest.raises(BadPipeline, match="code too"):
        read(PLAIN, **{"pipeline.sql": "SELECT 1 AS a"})
    with pytest.raises(BadPipeline, match="goes with source"):
        read("batch_by: [year]\n", **{"pipeline.sql": "SELECT 1 AS a"})


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ("description: other\n", False),
        ("max_retries: 1\n", False),
        ("sort_by: [a]\n", False),
        ("columns: {a: {type: int}}\n", True),
        ("columns: {a: {from: b}}\n", True),
        ("format: csv\n", True),
    ],
)
def test_settings_that_change_rows_make_batches_run_again(change: str, again: bool) -> None:
    changed = config_digest(read(PLAIN + change).config) != config_digest(read(PLAIN).config)
    assert changed == again


def test_another_partitioning_changes_no_row_so_no_batch_runs_again() -> None:
    typed = PLAIN + "columns: {a: {type: int}}\n"
    by_a = read(typed + "partitions: {keys: [{name: a, type: INTEGER}]}\n").config
    assert config_digest(by_a) == config_digest(read(typed).config)
    only_there = read(PLAIN + "partitions: {keys: [{name: a, type: INTEGER}]}\n").config
    assert config_digest(only_there) != config_digest(read(PLAIN).config), "it gives a its type"


def test_loading_and_fsck_know_pipelines_without_code() -> None:
    files = MemoryFiles()
    for path, data in pipelines_of_schema(SEED, where="x", namespace="econ").items():
        files.write(path, data)
    assert [str(table) for table in read_drafts(files)] == ["econ.bronze.regional_income"]
    tables, unreadable = inspect_folders(files, Settings())
    assert len(tables) == 1
    assert unreadable == {}


def test_a_schema_with_a_table_that_cannot_run_creates_nothing(tmp_path: Path) -> None:
    schema = tmp_path / "econ.yaml"
    schema.write_text(
        SEED.replace("batch_partition_columns: [year] ", "batch_partition_columns: [yeer] ", 1)
    )
    made = CliRunner().invoke(
        app, ["init", str(tmp_path / "lake"), "--from-schema", str(schema)], env={"COLUMNS": "200"}
    )
    assert made.exit_code == 2
    assert "regional_income: incremental_keys names" in " ".join(made.output.split())
    assert "econ.yaml:13" in made.output
    assert not (tmp_path / "lake").exists()


def test_a_namespace_that_queries_could_not_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "econ.yaml").write_text(SEED)
    arguments = ["init", str(tmp_path / "lake"), "--from-schema", str(tmp_path / "econ.yaml")]
    made = CliRunner().invoke(app, [*arguments, "--namespace", "default"])
    assert made.exit_code == 2
    assert "SQL takes the word for its own" in " ".join(made.output.split())
    assert not (tmp_path / "lake").exists()
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (tmp_path / "lake/lake/pipelines/bronze").is_dir()


def test_init_from_the_schema_of_the_seed(tmp_path: Path) -> None:
    schema = tmp_path / "econ.yaml"
    schema.write_text(SEED)
    made = CliRunner().invoke(
        app, ["init", str(tmp_path / "lake"), "--from-schema", str(schema), "--namespace", "econ"]
    )
    assert made.exit_code == 0, made.output
    assert (tmp_path / "lake" / FOLDER / "config.yaml").exists()


def test_a_release_of_a_pipeline_without_code_is_checked_and_read_back(tmp_path: Path) -> None:
    files = pipelines_of_schema(SEED, where="x", namespace="econ")
    with lakebed.create(tmp_path / "lake", files=files) as lake:
        lake.pipelines.release("regional_income")
        (tmp_path / "lake" / "type=regional_income/year=2020/geo_fips=01001").mkdir(parents=True)
        data = tmp_path / "lake/type=regional_income/year=2020/geo_fips=01001/data.parquet"
        data.write_bytes(b"PAR1")
        (plan,) = lake.plan(released=True)
        assert plan.source is not None
        assert [(due.batch, due.reason, due.files) for due in plan.source.due] == [
            ("year=2020", "new", 1)
        ]
        assert any("by_fips" in note for note in plan.source.notes)
        data.unlink()
        with pytest.raises(BadFiles, match="no file matches"):
            lake.plan()
        assert [one for one in lake.fsck().findings if one.severity == "problem"] == []


def test_options_of_batches_go_with_sources_only(tmp_path: Path) -> None:
    files = {"shop/pipelines/bronze/orders/pipeline.sql": b"SELECT 1 AS a"}
    files |= pipelines_of_schema(SEED, where="x", namespace="econ")
    with lakebed.create(tmp_path / "lake", files=files) as lake:
        with pytest.raises(UsageError, match="have a source"):
            lake.run("bronze.orders", force=True)
        with pytest.raises(UsageError, match="one by one"):
            lake.run(together=True)


def test_a_plan_shows_batches_sizes_and_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed.pipelines.planning.sources.look.files_at_once", lambda _: 400)
    config = "source: in/{table}_{year}.json\nbatch_by: [year]\ncolumns: {year: INTEGER}\n"
    with lakebed.create(tmp_path / "lake", files={f"{FOLDER}/config.yaml": config.encode()}):
        (tmp_path / "lake" / "in").mkdir()
        for number in range(1_001):
            (tmp_path / "lake" / "in" / f"T{number}_2020.json").write_text("{}")
        (tmp_path / "lake" / "in" / "T_2021.json").write_text("{}")
    shown = CliRunner().invoke(
        app, ["plan", "--lake", str(tmp_path / "lake")], env={"COLUMNS": "300"}
    )
    assert shown.exit_code == 0, shown.output
    assert "2 of 2 batches are due" in shown.output
    assert "batch year=2020 (new): 1,001 files, 2.0 KiB" in shown.output
    assert (
        "batch year=2020, which makes the table:\n     1. read 1001 files of batch year=2020\n"
        in shown.output
    )
    assert "batch year=2021:\n     1. read 1 file of batch year=2021\n" in shown.output
    assert (
        "  1. rewrite small files and expire old snapshots, as far as that is due" in shown.output
    )
    assert "if a file is not as it seems: take back what was written" in shown.output
    assert "warning: batch year=2020 has 1,001 files" in shown.output
    assert "No other value in the paths divides it well" in shown.output
    assert "expected: 2 data files of about" in shown.output
    assert "batch year=2020 is read in 3 parts, of 400 files each" in shown.output
    assert "year=2021 is read in" not in shown.output


def test_a_plan_says_which_types_the_files_show_and_which_value_decides(tmp_path: Path) -> None:
    config = "source: in/year=*/*.csv\nbatch_by: year\ncolumns: {n: {type: string}}\n"
    files = {f"{FOLDER}/config.yaml": config, "in/year=2020/a.csv": "id,x,n\n1,1.5,1\n2,12D,2\n"}
    made = {path: text.encode() for path, text in files.items()}
    with lakebed.create(tmp_path / "lake", files=made) as lake:
        (plan,) = lake.plan()
    assert plan.source is not None
    assert plan.source.notes == ("id is int: 1 in a.csv", "x is string: 12D in a.csv")


def test_a_source_may_be_outside_of_the_lake(tmp_path: Path) -> None:
    raw = tmp_path / "raw" / "year=2020"
    raw.mkdir(parents=True)
    (raw / "a.json").write_text("{}")
    config = f"source: {tmp_path}/raw/year=*/*.json\nbatch_by: year\n"
    with lakebed.create(
        tmp_path / "lake", files={f"{FOLDER}/config.yaml": config.encode()}
    ) as lake:
        (plan,) = lake.plan()
    assert plan.source is not None
    assert [due.batch for due in plan.source.due] == ["year=2020"]


def test_plans_and_records_of_sources_print_the_json_that_the_reference_describes() -> None:
    named = described()
    line = BatchRun("year=2020", "success", "new", rows=3, snapshot=2**60)
    table, now = TableName("econ", "bronze", "income"), datetime(2026, 11, 16, tzinfo=UTC)
    record = RunRecord("r", "i", table, "success", now, batches=(line,), metrics={"m": 1.5})
    assert differences(run_json(record), named["Run"], named) == []
    source = SourcePlan("due", (DueLine("year=2020", "new", 1, 2),), 0, 1, 2, 3, 4, ("w",), ("n",))
    plan = RunPlan(table=table, run_id="", source=source)
    assert differences(plan_json(plan), named["Plan"], named) == []
