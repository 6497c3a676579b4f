"""Python pipelines: what they may return, what they are given, and how their faults are told."""

import operator
from decimal import Decimal
from random import Random

import pytest

from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import fuzz_seed
from tests.support.spellings import is_kept, random_cell

pytestmark = pytest.mark.spark

RETURNED = {
    "Spark": (
        'def run(spark, context):\n    return spark.sql(\'SELECT 1L AS id, "a" AS name UNION ALL'
        " SELECT 2L, NULL')"
    ),
    "Arrow table": (
        "import pyarrow as pa\ndef run(spark, context):\n    return pa.table({'id': pa.array([1,"
        " 2], pa.int64()), 'name': ['a', None]})"
    ),
    "Arrow batch": (
        "import pyarrow as pa\ndef run(spark, context):\n    return pa.record_batch({'id':"
        " pa.array([1, 2], pa.int64()), 'name': ['a', None]})"
    ),
    "Arrow reader": (
        "import pyarrow as pa\ndef run(spark, context):\n    return pa.table({'id': pa.array([1,"
        " 2], pa.int64()), 'name': ['a', None]}).to_reader()"
    ),
    "pandas": (
        "import pandas as pd\ndef run(spark, context):\n    return pd.DataFrame({'id': [1, 2],"
        " 'name': ['a', None]})"
    ),
    "Polars": (
        "import polars as pl\ndef run(spark, context):\n    return pl.DataFrame({'id': [1, 2],"
        " 'name': ['a', None]})"
    ),
    "lazy Polars": (
        "import polars as pl\ndef run(spark, context):\n    return pl.LazyFrame({'id': [1, 2],"
        " 'name': ['a', None]})"
    ),
    "DuckDB": (
        "def run(conn, context):\n    return conn.sql(\"SELECT * FROM (VALUES (1::BIGINT, 'a'), (2,"
        ' NULL)) t(id, name)")'
    ),
    "flat": "result = spark.sql('SELECT 1L AS id, \"a\" AS name UNION ALL SELECT 2L, NULL')",
    "flat DuckDB": (
        "result = duckdb_conn.sql(\"SELECT * FROM (VALUES (1::BIGINT, 'a'), (2, NULL)) t(id,"
        ' name)")'
    ),
}


@pytest.mark.parametrize("kind", RETURNED)
def test_every_kind_of_frame_is_accepted_and_written_by_spark(shop: TestLake, kind: str) -> None:
    shop.pipeline("silver.a", RETURNED[kind])
    shop.run_one("silver.a")
    assert shop.rows("silver.a") == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]


SEED = '''import duckdb
def run(conn: duckdb.DuckDBPyConnection, context: dict) -> duckdb.DuckDBPyRelation:
    """Ingest data from API response stored in landing zone."""
    landing_path = context["landing_zone"]("api_data")
    return conn.sql(f"""
        SELECT
            json_extract_string(data, '$.id') AS id,
            json_extract_string(data, '$.name') AS name,
            json_extract(data, '$.value') AS value
        FROM read_json_auto('{landing_path}')
    """)
'''


def test_the_seeds_pipeline_runs_verbatim_over_frozen_files(shop: TestLake) -> None:
    shop.pipeline("bronze.api", SEED, "merge_strategy: append_only")
    shop.land("api_data", "a day's.json", '{"data": {"id": "1", "name": "x", "value": 7}}\n')
    shop.run_one("bronze.api")
    assert shop.rows("bronze.api") == [{"id": "1", "name": "x", "value": "7"}]
    shop.land("api_data", "sub/2.json", '{"data": {"id": "2", "name": "y", "value": [1]}}\n')
    shop.run_one("bronze.api")
    assert [row["id"] for row in shop.rows("bronze.api")] == ["1", "2"]


GIVEN = """
def run(spark, context):
    assert context.ref is context["ref"]
    assert context.get("nothing", 5) == 5
    before = bool(context.is_incremental)
    assert before == context.is_incremental() == (context.this is not None)
    assert (context.watermark is not None) == (context.watermark_value is not None) == before
    context.logger.info("hello from %s", context.run_id)
    files = context.landing_files("orders")
    assert context.landing_zone("orders").count() == len(files)
    rows = context.ref("bronze.base").count()
    n = context.this.count() if context.this is not None else 0
    return spark.createDataFrame([(n, rows, context.vars["who"], context.config["tags"][0], context.var("absent", "d"))],
        "n int, rows long, who string, tag string, other string")
"""


def test_the_context_gives_pinned_frames_files_settings_and_a_logger(shop: TestLake) -> None:
    shop.pipeline("bronze.base", "SELECT * FROM range(3)")
    shop.pipeline(
        "silver.a",
        GIVEN,
        "merge_strategy: incremental\nunique_key: n\nwatermark_column: n\ntags: [x]",
    )
    shop.land("orders", "1.csv", "id\n1\n")
    shop.run_one("bronze.base")
    record = shop.run_one("silver.a", vars={"who": "me"})
    shop.land("orders", "2.csv", "id\n2\n")
    shop.run_one("silver.a", vars={"who": "you"})
    rows = shop.rows("silver.a")
    assert [(row["n"], row["rows"], row["who"], row["tag"], row["other"]) for row in rows] == [
        (0, 3, "me", "x", "d"),
        (1, 3, "you", "x", "d"),
    ]
    log = shop.folder / ".data" / "logs" / "runs" / f"{record.run_id}.log"
    assert f"hello from {record.run_id}" in log.read_text()


def test_a_duckdb_pipeline_reads_pinned_tables_by_name(shop: TestLake) -> None:
    shop.pipeline("bronze.base", "SELECT id FROM range(3)")
    shop.pipeline(
        "silver.a",
        'def run(conn, context):\n    return conn.sql(f"SELECT sum(id)::BIGINT AS s FROM'
        " {context.ref('bronze.base')}\")",
    )
    assert {record.state for record in shop.run().values()} == {"success"}
    assert shop.rows("silver.a") == [{"s": 3}]


DUCKDB = """
def run(conn, context):
    rows = context.landing_zone("codes")
    return conn.sql(f"SELECT * FROM '{rows}'")
"""
OWN_READER = """
def run(conn, context):
    path = context.landing_zone("codes")
    return conn.sql(f"SELECT code FROM read_csv('{path}')")
"""


def test_a_duckdb_pipeline_reads_the_values_that_a_sql_one_reads(shop: TestLake) -> None:
    appended = "merge_strategy: append_only"
    shop.pipeline("bronze.a", "SELECT * FROM {{ landing_zone('codes') }}", appended)
    shop.pipeline("bronze.b", DUCKDB, appended)
    shop.land(
        "codes", "1.csv", "code,big,x,at\n007,12345678901234567890123,1.50,2026-01-31T10:00\n"
    )
    shop.land("codes", "2.csv", "code,big,x,at\n7,1,.5,2026-01-31 10:00:00.5Z\n")
    assert {record.state for record in shop.run().values()} == {"success"}
    rows = shop.rows("bronze.a")
    assert sorted(row["code"] for row in rows) == ["007", "7"]
    assert {row["big"] for row in rows} == {Decimal("12345678901234567890123"), Decimal(1)}
    key = operator.itemgetter("code")
    assert sorted(shop.rows("bronze.b"), key=key) == sorted(rows, key=key)
    shop.pipeline("bronze.c", OWN_READER, appended)
    assert "DuckDB's own reader" in shop.run_one("bronze.c").warnings[0]


def test_random_texts_of_a_zone_are_kept_by_sql_and_duckdb_alike(shop: TestLake) -> None:
    draw = Random(fuzz_seed(26))
    spelt = [[random_cell(draw) for _ in range(12)] for _ in range(2)]
    lines = [[f"c{place}" for place in range(12)], *spelt]
    quoted = [",".join(f'"{text}"' for text in line) for line in lines]
    shop.land("codes", "1.csv", "\n".join([*quoted, ""]))
    appended = "merge_strategy: append_only"
    shop.pipeline("bronze.a", "SELECT * FROM {{ landing_zone('codes') }}", appended)
    shop.pipeline("bronze.b", DUCKDB, appended)
    assert {record.state for record in shop.run().values()} == {"success"}
    rows = shop.rows("bronze.a")
    assert repr(shop.rows("bronze.b")) == repr(rows)
    for row in rows:
        assert any(all(map(is_kept, texts, row.values())) for texts in spelt), row


def test_a_remembered_number_is_read_on_in_other_spellings_and_a_key_in_two_of_them_is_refused(
    shop: TestLake,
) -> None:
    keyed = "merge_strategy: delete_insert\nunique_key: id"
    shop.pipeline("bronze.a", "SELECT * FROM {{ landing_zone('codes') }}", keyed)
    shop.land("codes", "1.csv", "id,n\n1,5\n")
    assert shop.run_one("bronze.a").warnings == ()
    shop.land("codes", "2.csv", "id,n\n2,006\n3,+7\n")
    (warning,) = shop.run_one("bronze.a").warnings
    assert "2 values have an unusual spelling for n, which is int" in warning
    shop.land("codes", "3.csv", "id,n\n04,1\n4,2\n")
    error = shop.run("bronze.a")["bronze.a"].error
    assert "id is a key or partition column" in error["what"]
    assert "'04' and '4'" in error["what"]
    assert sorted(row["n"] for row in shop.rows("bronze.a")) == [5, 6, 7]
    renaming = "SELECT id AS code, n FROM {{ landing_zone('codes') }}"
    shop.pipeline("bronze.b", renaming, "merge_strategy: append_only\npartition_by: [code]")
    assert "'04' and '4'" in shop.run("bronze.b")["bronze.b"].error["what"]


def test_functions_of_a_pipeline_reach_sparks_workers(shop: TestLake) -> None:
    code = """
from pyspark.sql.functions import udf
OFFSET = 10
def shifted(x):
    return x + OFFSET
def run(spark, context):
    return spark.range(2).select(udf(shifted, "long")("id").alias("id"))
"""
    shop.pipeline("silver.a", code)
    shop.run_one("silver.a")
    assert [row["id"] for row in shop.rows("silver.a")] == [10, 11]


@pytest.mark.parametrize(
    "ending",
    ["", ".localCheckpoint()"],
    ids=["while it is written", "in the pipeline's own action"],
)
def test_an_exception_in_a_function_on_sparks_workers_is_told_with_its_traceback(
    shop: TestLake, ending: str
) -> None:
    code = f"""
from pyspark.sql.functions import udf
def price(x):
    raise ValueError(f"no price for {{x}}")
def run(spark, context):
    return spark.range(1).select(udf(price, "long")("id").alias("id")){ending}
"""
    shop.pipeline("silver.a", code)
    error = shop.run("silver.a")["silver.a"].error
    assert "ValueError: no price for 0" in error["what"].splitlines()[0]
    assert 'pipeline.py>", line 4, in price' in error["what"]
    assert error["where"] == "shop/pipelines/silver/a/pipeline.py:4"


@pytest.mark.parametrize(
    ("code", "said", "line"),
    [
        ("def run(spark, context):\n    x = 1\n    return x / 0", "ZeroDivisionError", 3),
        ("def run(spark, context):\n    return 5", "rows cannot be read from a int", None),
        ("import nothing_there\ndef run(spark, context):\n    return 5", "ModuleNotFoundError", 1),
        ("def run(spark, context):\n    return spark.sql('SELECT nope FROM range(1)')", "nope", 2),
    ],
)
def test_a_fault_of_the_code_is_told_with_its_line(
    shop: TestLake, code: str, said: str, line: int | None
) -> None:
    shop.pipeline("silver.a", code)
    error = shop.run("silver.a")["silver.a"].error
    assert error["kind"] == "RunFailed"
    assert said in error["what"]
    assert error["where"] == "shop/pipelines/silver/a/pipeline.py" + (f":{line}" if line else "")


@pytest.mark.parametrize(
    "code",
    [
        "import sys\ndef run(spark, context):\n    sys.exit()",
        (
            "import sys\nclass Rows:\n"
            "    def __arrow_c_stream__(self, requested_schema=None):\n        sys.exit(0)\n"
            "def run(spark, context):\n    return Rows()"
        ),
        "class Enough(BaseException): pass\ndef run(spark, context):\n    raise Enough",
    ],
)
def test_code_that_wants_to_end_the_process_fails_its_run_and_no_other(
    shop: TestLake, code: str
) -> None:
    shop.pipeline("bronze.leaving", code)
    shop.pipeline("silver.after", "SELECT 1 AS id")
    records = shop.run()
    assert (records["bronze.leaving"].state, records["silver.after"].state) == ("failed", "success")
    assert records["bronze.leaving"].error["kind"] == "RunFailed"
    assert any(word in records["bronze.leaving"].error["what"] for word in ("sys.exit", "Enough"))


def test_a_fault_spark_finds_in_a_query_is_told_at_the_line_of_the_template(shop: TestLake) -> None:
    shop.pipeline(
        "silver.a", "-- a comment\n{% if true %}\nSELECT\n  nope\nFROM range(1)\n{% endif %}"
    )
    error = shop.run("silver.a")["silver.a"].error
    assert error["where"] == "shop/pipelines/silver/a/pipeline.sql:4"
    assert "nope" in error["what"]
