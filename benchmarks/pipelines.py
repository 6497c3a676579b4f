"""What safety costs: a run with branch, staging, key checks, gates and publish beside the bare
MERGE it contains.

python benchmarks/pipelines.py [--quick]

The bare rival is the same MERGE from the same query at default settings plus the same three gate
queries, in the same Spark, on a table of its own. The batch is as large as the table, half of it
updates. Besides: a small run in a warm session, and a whole `lakebed run` of one small pipeline
from a cold start. Its rivals are a bare Spark script that replaces the same table and asks the same
gate, and dbt-duckdb's build of two such models (installed into a folder of its own; null where it
cannot be). Samples alternate; medians count. The last line is one JSON object.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from lakebed.app import Lake, create_lake, open_lake
from lakebed.engines.spark import find_java, local_jars
from lakebed.engines.spark.start.class_archive import archive_for
from lakebed.settings import Root, Settings

LAKEBED = str(Path(sys.executable).parent / "lakebed")
SAMPLES = 5
NOT_MEASURED = {"cold_run_s": None, "bare_spark_s": None, "dbt_duckdb_build_s": None}
UPDATED = 0.5  # of a batch as large as the table; the rest is new
GATES = {
    "id_missing": "SELECT * FROM {this} WHERE id IS NULL",
    "amount_negative": "SELECT * FROM {this} WHERE amount < 0",
    "id_repeated": "SELECT id, count(*) AS times FROM {this} GROUP BY id HAVING count(*) > 1",
}
CONFIG = "merge_strategy: incremental\nunique_key: id\n"
CUSTOMERS = (
    "SELECT concat('customer-', id) AS customer, concat('country-', id % 30) AS country FROM"
    " range(5000)"
)
# What a silver pipeline does: types, spelling, a join with a dimension. `plain` is the least a
# query can do.
TYPICAL = """
SELECT b.id, CAST(b.amount AS DECIMAL(12,2)) AS amount, lower(trim(b.customer)) AS customer,
    c.country, to_timestamp(b.at) AS at
FROM {batch} AS b JOIN {customers} AS c ON c.customer = lower(trim(b.customer))
"""
PLAIN = "SELECT * FROM {batch}"


def raw_rows(count: int, first: int) -> str:
    """A query of so many orders, as they come from a till."""
    return (
        "SELECT id, CAST(id % 1000 AS STRING) AS amount, concat(' Customer-', id % 5000, ' ') AS"
        " customer, concat('2026-01-01 ', lpad(id % 24, 2, '0'), ':', lpad(id % 60, 2, '0'),"
        f" ':00') AS at FROM range({first}, {first + count})"
    )


def write_pipeline(
    folder: Path, name: str, source: str, config: str = "", gates: dict[str, str] | None = None
) -> None:
    place = folder / "shop" / "pipelines" / Path(*name.split("."))
    (place / "tests" / "quality").mkdir(parents=True, exist_ok=True)
    (place / "pipeline.sql").write_text(source)
    (place / "config.yaml").write_text(config)
    for gate, query in (gates or {}).items():
        (place / "tests" / "quality" / f"{gate}.sql").write_text(query.format(this="{{ this }}"))


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _timed_in_turn(number: int, **works: Callable[[], Any]) -> dict[str, float]:
    """Seconds of each; in every second round the other one begins."""
    names = list(works) if number % 2 else list(reversed(works))
    return {name: timed(works[name]) for name in names}


def must(lake: Lake, *selectors: str) -> None:
    result = lake.run(*selectors)
    if not result.ok:
        raise SystemExit(f"a run failed: {[dict(record.error) for record in result.records]}")


def cost_of_safety(folder: Path, *, query: str, count: int, samples: int) -> dict[str, Any]:
    """Seconds of safe runs and of bare MERGEs with the same query and gates, alternating; both
    tables begin anew each time.
    """
    create_lake(folder, settings={"spark": {"memory": "4g"}})
    write_pipeline(folder, "bronze.customers", CUSTOMERS)
    write_pipeline(folder, "bronze.first", raw_rows(count, 0))
    write_pipeline(folder, "bronze.batch", raw_rows(count, int(count * (1 - UPDATED))))
    safe, bare = [], []
    with open_lake(folder) as lake:
        must(lake)
        for number in range(samples + 1):  # the first of each warms up
            _begin_anew(lake, folder, query)
            seconds = _timed_in_turn(
                number,
                bare=lambda: _bare(lake.spark, query),
                safe=lambda: must(lake, "silver.safe"),
            )
            if number:
                bare.append(seconds["bare"])
                safe.append(seconds["safe"])
            print(
                f"{count} rows: bare {seconds['bare']:.2f} s, safe {seconds['safe']:.2f} s",
                flush=True,
            )
    return {
        "ratio": round(median(safe) / median(bare), 3),
        "safe_s": _rounded(safe),
        "bare_s": _rounded(bare),
    }


BARE = "lake.shop.silver.bare"


def _begin_anew(lake: Lake, folder: Path, query: str) -> None:
    """Both tables hold the first rows, and the pipeline's next run merges the batch."""
    inputs = {name: f"lake.shop.bronze.{name}" for name in ("first", "batch", "customers")}
    lake.spark.sql(f"DROP TABLE IF EXISTS {BARE}")
    lake.spark.sql(
        f"CREATE TABLE {BARE} USING iceberg AS"
        f" {query.format(batch=inputs['first'], customers=inputs['customers'])}"
    )
    refs = {name: f"{{{{ ref('bronze.{name}') }}}}" for name in inputs}
    write_pipeline(
        folder,
        "silver.safe",
        query.format(batch=refs["first"], customers=refs["customers"]),
        "",
        GATES,
    )
    must(lake, "silver.safe")
    write_pipeline(
        folder,
        "silver.safe",
        query.format(batch=refs["batch"], customers=refs["customers"]),
        CONFIG,
        GATES,
    )


def _bare(spark: Any, query: str) -> None:
    source = query.format(batch="lake.shop.bronze.batch", customers="lake.shop.bronze.customers")
    spark.sql(
        f"MERGE INTO {BARE} t USING ({source}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN"
        " NOT MATCHED THEN INSERT *"
    )
    for gate in GATES.values():
        spark.sql(gate.format(this=BARE)).limit(21).collect()


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 3) for value in values]


def small_lake(folder: Path) -> Path:
    """Two models of a few rows, with a test each."""
    create_lake(folder)
    first = "SELECT * FROM VALUES (1L, 10), (2L, 20), (3L, 30) AS t(id, amount)"
    write_pipeline(folder, "bronze.orders", first, "columns:\n  id:\n    tests: [not_null]\n")
    second = "SELECT sum(amount) AS total FROM {{ ref('bronze.orders') }}"
    write_pipeline(folder, "gold.totals", second, "columns:\n  total:\n    tests: [not_null]\n")
    write_pipeline(
        folder, "silver.orders", "SELECT * FROM {{ ref('bronze.orders') }}", CONFIG, GATES
    )
    return folder


def warm_runs(folder: Path, *, samples: int) -> list[float]:
    """One small incremental pipeline with three gates, again and again in one session."""
    with open_lake(small_lake(folder)) as lake:
        must(lake)
        must(lake, "silver.orders")
        return [timed(lambda: must(lake, "silver.orders")) for _ in range(samples)]


def cold_starts(folder: Path, *, samples: int) -> dict[str, list[float]]:
    """Whole processes, one after another in each round: our run of one small pipeline, the bare
    Spark script, dbt's build.
    """
    small_lake(folder / "ours")
    create_lake(folder / "bare")
    jars = local_jars(Settings(), Root.parse(folder / "bare"), environment=os.environ, report=print)
    commands: dict[str, Callable[[], None]] = {
        "bare_spark_s": lambda: _command(
            [sys.executable, "-c", BARE_SCRIPT, str(folder / "bare"), ",".join(map(str, jars))]
        ),
        "cold_run_s": lambda: _command(
            [LAKEBED, "run", "bronze.orders", "--lake", str(folder / "ours")]
        ),
    }
    if dbt := dbt_build(folder / "dbt"):
        commands["dbt_duckdb_build_s"] = dbt
    for command in commands.values():  # leaves the class-data archive behind, as a first run does
        command()
    _wait_for_archive(jars)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(samples):
        for name, command in commands.items():
            seconds[name].append(timed(command))
        print(", ".join(f"{name} {taken[-1]:.1f}" for name, taken in seconds.items()), flush=True)
    return seconds


BARE_SCRIPT = """
import sys
from pyspark.sql import SparkSession

root, jars = sys.argv[1:]
session = (
    SparkSession.builder.config("spark.jars", jars)
    .config(
        "spark.sql.extensions",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    )
    .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.lake.type", "jdbc")
    .config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:{root}/.data/bare.db")
    .config("spark.sql.catalog.lake.jdbc.schema-version", "V1")
    .config("spark.sql.catalog.lake.warehouse", f"file://{root}")
    .getOrCreate()
)
session.sql("CREATE NAMESPACE IF NOT EXISTS lake.shop")
session.sql(
    "CREATE OR REPLACE TABLE lake.shop.orders USING iceberg AS "
    "SELECT * FROM VALUES (1L, 10), (2L, 20), (3L, 30) AS t(id, amount)"
)
assert not session.sql("SELECT * FROM lake.shop.orders WHERE id IS NULL").limit(21).collect()
session.stop()
"""


def _command(command: list[str], **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stdout}{done.stderr}")


def _wait_for_archive(jars: tuple[Path, ...]) -> None:
    for _ in range(240):
        if archive_for(find_java(os.environ), jars, environment=os.environ).file:
            return
        time.sleep(0.5)


def dbt_build(folder: Path) -> Callable[[], None] | None:
    """dbt-duckdb's build of the same two models and tests; its parse is cached after the first."""
    dbt = _install_dbt(folder / "dbt-venv")
    if dbt is None:
        return None
    project = folder / "project"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text(
        "name: shop\nprofile: shop\nmodel-paths: [models]\nmodels:\n  +materialized: table\n"
    )
    duckdb = {"type": "duckdb", "path": str(project / "dev.duckdb")}
    (project / "profiles.yml").write_text(
        json.dumps({"shop": {"target": "dev", "outputs": {"dev": duckdb}}})
    )
    (project / "models" / "orders.sql").write_text(
        "SELECT * FROM (VALUES (1, 10), (2, 20), (3, 30)) t(id, amount)"
    )
    (project / "models" / "totals.sql").write_text(
        "SELECT sum(amount) AS total FROM {{ ref('orders') }}"
    )
    tests = {"orders": "id", "totals": "total"}
    models = [
        {"name": model, "columns": [{"name": column, "data_tests": ["not_null"]}]}
        for model, column in tests.items()
    ]
    (project / "models" / "schema.yml").write_text(json.dumps({"version": 2, "models": models}))
    environment = {
        **os.environ,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DBT_PROFILES_DIR": str(project),
    }
    command = [str(dbt), "build", "--project-dir", str(project)]
    return lambda: _command(command, env=environment)


def _install_dbt(folder: Path) -> Path | None:
    uv = shutil.which("uv") or next((str(path) for path in Path(".setup").glob("uv/bin/uv")), None)
    wanted = ["dbt-core>=1.11,<1.12", "dbt-duckdb>=1.10,<2", "duckdb>=1.4,<2"]
    try:
        _command(
            [sys.executable, "-m", "venv", "--without-pip", str(folder)]
            if uv
            else [sys.executable, "-m", "venv", str(folder)]
        )
        python = str(folder / "bin" / "python")
        _command(
            [uv, "pip", "install", "--python", python, *wanted]
            if uv
            else [python, "-m", "pip", "install", *wanted]
        )
    except SystemExit as error:
        print(f"dbt-duckdb could not be installed: {str(error).splitlines()[-1]}", flush=True)
        return None
    return folder / "bin" / "dbt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="100,000 rows in place of 1 M and 10 M, one sample of each",
    )
    quick = parser.parse_args().quick
    small = {"cost_of_safety_100k": (TYPICAL, 100_000, 1)}
    large = {
        "cost_of_safety_1m": (TYPICAL, 1_000_000, SAMPLES),
        "cost_of_safety_1m_plain": (PLAIN, 1_000_000, SAMPLES),
        "cost_of_safety_10m": (TYPICAL, 10_000_000, SAMPLES),
    }
    samples = 1 if quick else SAMPLES
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name)
        costs = {
            key: cost_of_safety(folder / key, query=query, count=count, samples=times)
            for key, (query, count, times) in (small if quick else large).items()
        }
        warm = warm_runs(folder / "warm", samples=samples)
        cold = {} if quick else cold_starts(folder / "cold", samples=samples)
    seconds = {"warm_run_s": warm} | cold
    medians = {key: round(median(values), 3) for key, values in seconds.items()}
    ratio = round(medians["cold_run_s"] / medians["bare_spark_s"], 3) if cold else None
    result = {key: cost["ratio"] for key, cost in costs.items()} | NOT_MEASURED | medians
    result |= {
        "cold_vs_bare_spark": ratio,
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
        "samples": costs | {key: _rounded(values) for key, values in seconds.items()},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
