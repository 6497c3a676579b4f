"""A query is one statement that only reads, as DuckDB's own parser sees it; nothing it says stays
for the next one.
"""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from lakebed.app import Lake
from lakebed.engines.duckdb.extensions import load
from lakebed.errors import BadQuery
from lakebed.query.parsing.functions import WRITING
from lakebed.requests import QueryRequest
from tests.support.benches import ids
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake
from tests.support.tables import snapshots_of

SCHEMA = pa.schema([pa.field("id", pa.int64())])


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with make_lake(tmp_path_factory.mktemp("statements") / "lake") as lake:
        bench = bench_of(lake)
        add_table(bench, "t", [ids(range(3)), ids(range(3, 6))], schema=SCHEMA)
        bench.close()
        yield lake


def answer(lake: Lake, sql: str) -> list[tuple[object, ...]]:
    return lake.query(sql).fetchall()


WRITES = [
    "COPY (SELECT 1) TO '{out}/x.csv'",
    "EXPORT DATABASE '{out}/x'",
    "CREATE TABLE x AS SELECT 1",
    "CREATE OR REPLACE VIEW shop.silver.t AS SELECT 999 AS id",
    "CREATE OR REPLACE MACRO upper(x) AS 'no'",
    "INSERT INTO shop.silver.t VALUES (1)",
    "DELETE FROM shop.silver.t",
    "UPDATE shop.silver.t SET id = 1",
    "DROP VIEW shop.silver.t",
    "ATTACH '{out}/x.db'",
    "DETACH shop",
    "INSTALL json",
    "LOAD json",
    "SET memory_limit = '1GB'",
    "RESET memory_limit",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "CHECKPOINT",
    "VACUUM",
    "PREPARE x AS SELECT 1",
    "BEGIN",
    "USE shop",
]
HIDDEN = [
    *WRITES,
    *(
        f"{explain} {sql}"
        for explain in ("EXPLAIN", "EXPLAIN ANALYZE", "explain /* ( */ (ANALYZE, FORMAT json)")
        for sql in WRITES
    ),
    *(f"{sql}; SELECT 1 -- pivot" for sql in WRITES),
    *(f"{sql}; PIVOT shop.silver.t ON id USING count(*)" for sql in WRITES),
    *(f"PIVOT shop.silver.t ON id USING count(*); {sql}" for sql in WRITES),
    "CREATE TABLE x AS PIVOT shop.silver.t ON id USING count(*); SELECT 1",
    "COPY (PIVOT shop.silver.t ON id USING count(*)) TO '{out}/x.csv'",
    "EXPLAIN ANALYZE COPY (PIVOT shop.silver.t ON id USING count(*)) TO '{out}/x.csv'",
    "SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_path = '{out}/logs')",
    (
        "SELECT * FROM (SELECT * FROM Enable_Logging('QueryLog', storage = 'file', storage_path ="
        " '{out}/logs'))"
    ),
    (
        "EXPLAIN ANALYZE SELECT * FROM enable_logging('QueryLog', storage = 'file', storage_path ="
        " '{out}/logs')"
    ),
    (
        "PIVOT (FROM \"enable_logging\" /**/ ('QueryLog', storage = 'file', storage_path ="
        " '{out}/logs')) ON 1 USING count(*)"
    ),
    "PIVOT t ON write_log('x') USING count(*)",
    "PIVOT t ON id IN (SELECT id FROM t WHERE write_log('x') IS NULL) USING count(*)",
    "PIVOT t ON id IN (FROM query('SELECT 1')) USING count(*)",
    "SELECT write_log('x')",
    "SELECT id FROM t WHERE write_log('x') IS NULL",
    "FROM query('SELECT 1')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 5'))",
    "PRAGMA json_execute_serialized_sql('{{}}')",
    "FROM checkpoint()",
]


@pytest.mark.parametrize("sql", HIDDEN)
def test_what_would_write_or_set_something_is_refused_however_it_is_wrapped(
    lake: Lake, tmp_path: Path, sql: str
) -> None:
    with pytest.raises(BadQuery):
        answer(lake, sql.format(out=tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert answer(lake, "SELECT sum(id), upper('a') FROM t") == [(15, "A")]


READS = [
    ("EXPLAIN SELECT id FROM t", "READ_PARQUET"),
    (
        ";; -- a\n/* b */ EXPLAIN ANALYZE SELECT id FROM t AS x AT (VERSION => {first});",
        "Total Time",
    ),
    ("EXPLAIN (FORMAT json) SELECT id FROM t", "READ_PARQUET"),
    ("EXPLAIN (ANALYZE) (SELECT count(*) FROM t)", "Total Time"),
    ("EXPLAIN (SELECT id FROM t)", "READ_PARQUET"),
    ("PIVOT shop.silver.t ON id % 2 USING count(*)", "3, 3"),
    ("PIVOT shop.silver.t ON id % 2 USING count(*) ; -- done;", "3, 3"),
    ("FROM (PIVOT shop.silver.t ON id % 2 USING count(*)) LIMIT 5;", "3, 3"),
    ("WITH x AS (FROM shop.silver.t) PIVOT x ON id % 2 USING count(*)", "3, 3"),
    ("PIVOT t ON id IN (1, 2) USING count(*)", "1, 1"),
    ("SELECT 'a; b -- pivot', count(*) FROM t;", "6"),
    ("DESCRIBE t", "BIGINT"),
    ("SUMMARIZE t", "BIGINT"),
    ("SHOW TABLES", "('t',)"),
    ("VALUES (1), (2)", "2"),
    ("PRAGMA version", "v"),
]


@pytest.mark.parametrize(("sql", "shown"), READS)
def test_what_only_reads_is_answered(lake: Lake, sql: str, shown: str) -> None:
    assert shown in str(answer(lake, sql.format(first=snapshots_of(lake, "t")[-1].id)))


def test_explain_reads_the_files_that_the_query_would(lake: Lake) -> None:
    (view,) = lake.queries.plan(QueryRequest("EXPLAIN SELECT * FROM t WHERE id = 1")).tables
    assert view.scan is not None
    assert len(view.scan.files) == 1


def test_a_pivot_that_cannot_be_explained_says_what_to_write(lake: Lake) -> None:
    with pytest.raises(BadQuery, match="does not explain a PIVOT") as refused:
        answer(lake, "EXPLAIN PIVOT shop.silver.t ON id USING count(*)")
    assert "IN (" in refused.value.next


def test_a_pivot_of_computed_values_says_what_to_write(lake: Lake) -> None:
    with pytest.raises(BadQuery, match="are computed or parameters") as refused:
        answer(lake, "PIVOT t ON id IN (1 + 1) USING count(*)")
    assert "IN (" in refused.value.next


# Looked at one by one: they read, or hand over what the process knows of itself.
READING = """
arrow_scan arrow_scan_dumb duckdb_approx_database_count duckdb_columns duckdb_connection_count duckdb_constraints
duckdb_coordinate_systems duckdb_databases duckdb_dependencies duckdb_extensions duckdb_external_file_cache duckdb_functions
duckdb_indexes duckdb_keywords duckdb_log_contexts duckdb_logs duckdb_memory duckdb_optimizers duckdb_prepared_statements
duckdb_schemas duckdb_secret_types duckdb_secrets duckdb_sequences duckdb_settings duckdb_table_sample duckdb_tables
duckdb_temporary_files duckdb_types duckdb_variables duckdb_views generate_series glob iceberg_column_stats
iceberg_load_table_response iceberg_metadata iceberg_partition_stats iceberg_scan iceberg_schema_properties iceberg_snapshots
iceberg_table_properties icu_calendar_names json_each json_tree pandas_scan parquet_bloom_probe parquet_file_metadata
parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan parquet_schema pg_timezone_names pragma_collations
pragma_database_size pragma_metadata_info pragma_platform pragma_show pragma_storage_info pragma_table_info pragma_user_agent
pragma_version python_map_function query_table range read_avro read_blob read_csv read_csv_auto read_duckdb read_json
read_json_auto read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text
repeat repeat_row seq_scan sniff_csv summary test_all_types test_vector_types unnest which_secret
"""
_KNOWN = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table'"
_EFFECTS = (
    "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'scalar' AND"
    " has_side_effects"
)
HARMLESS = """
current_connection_id current_query current_query_id current_transaction_id currval error gen_random_uuid
iceberg_verify_equality_deletes nextval random setseed sleep_ms stats uuid uuidv4 uuidv7
"""


def test_every_function_of_this_duckdb_was_judged() -> None:
    connection = duckdb.connect()
    load(connection, "httpfs", "avro", "iceberg")
    tables = {name for (name,) in connection.execute(_KNOWN).fetchall()}
    others = {name for (name,) in connection.execute(_EFFECTS).fetchall()}
    assert tables - set(READING.split()) - set(WRITING) == set()
    assert others - set(HARMLESS.split()) - set(WRITING) == set()
    assert not set(WRITING) & {*READING.split(), *HARMLESS.split()}
