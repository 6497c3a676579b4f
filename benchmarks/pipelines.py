"""What safety costs: a run with branch, staging, key checks, gates and publish beside the bare MERGE it contains.

    python benchmarks/pipelines.py [--quick]

The bare rival is the same MERGE from the same query at Spark's default settings plus the same three gate queries, in the
same session, on a table of its own. Samples alternate; medians count. Besides: a small run in a warm session, a whole
`lakebed run` from a cold start, and dbt-duckdb's build of the same two small models for orientation (it is installed into
a folder of its own; null where it cannot be). The last line is one JSON object.
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
from lakebed.settings import Root

LAKEBED = str(Path(sys.executable).parent / "lakebed")
UPDATED, INSERTED = 0.5, 0.5  # shares of a batch as large as the table
GATES = {
    "id_missing": "SELECT * FROM {this} WHERE id IS NULL",
    "amount_negative": "SELECT * FROM {this} WHERE amount < 0",
    "id_repeated": "SELECT id, count(*) AS times FROM {this} GROUP BY id HAVING count(*) > 1",
}
CONFIG = "merge_strategy: incremental\nunique_key: id\n"


def rows(count: int, first: int) -> str:
    """A query of so many orders."""
    return (
        f"SELECT id, CAST(id % 1000 AS DECIMAL(12,2)) AS amount, concat('customer-', id % 5000) AS customer, "
        f"TIMESTAMP'2026-01-01 00:00:00' + make_dt_interval(0, 0, 0, id % 86400) AS at FROM range({first}, {first + count})"
    )


def write_pipeline(folder: Path, name: str, source: str, config: str = "", gates: dict[str, str] | None = None) -> None:
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


def must(lake: Lake, *selectors: str) -> None:
    result = lake.run(*selectors)
    if not result.ok:
        raise SystemExit(f"a run failed: {[dict(record.error) for record in result.records]}")


def cost_of_safety(folder: Path, *, count: int, samples: int) -> dict[str, Any]:
    """Seconds of safe runs and of bare MERGEs with the same gates, alternating."""
    create_lake(Root.parse(folder), values={"spark": {"memory": "4g"}}, template=None, environment=os.environ)
    batch = rows(count, int(count * (1 - UPDATED)))
    write_pipeline(folder, "bronze.batch", batch)
    write_pipeline(folder, "silver.safe", rows(count, 0), CONFIG, GATES)
    safe, bare = [], []
    with open_lake(folder) as lake:
        must(lake)
        spark, table = lake.spark, "lake.shop.silver.bare"
        write_pipeline(folder, "silver.safe", "SELECT * FROM {{ ref('bronze.batch') }}", CONFIG, GATES)
        for number in range(samples + 1):  # the first of each warms up
            lake.spark.sql(f"DROP TABLE IF EXISTS {table}")
            spark.sql(f"CREATE TABLE {table} USING iceberg AS {rows(count, 0)}")
            once = timed(lambda: _bare(spark, table))
            write_pipeline(folder, "silver.safe", rows(count, 0), "merge_strategy: full_refresh\n", GATES)
            must(lake, "silver.safe")
            write_pipeline(folder, "silver.safe", "SELECT * FROM {{ ref('bronze.batch') }}", CONFIG, GATES)
            twice = timed(lambda: must(lake, "silver.safe"))
            if number:
                bare.append(once)
                safe.append(twice)
            print(f"{count} rows: bare {once:.2f} s, safe {twice:.2f} s", flush=True)
    return {"ratio": round(median(safe) / median(bare), 3), "safe_s": _rounded(safe), "bare_s": _rounded(bare)}


def _bare(spark: Any, table: str) -> None:
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT * FROM lake.shop.bronze.batch) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    for query in GATES.values():
        spark.sql(query.format(this=table)).limit(21).collect()


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 3) for value in values]


def small_lake(folder: Path) -> Path:
    """Two models of a few rows, with a test each."""
    create_lake(Root.parse(folder), values={}, template=None, environment=os.environ)
    first = "SELECT * FROM VALUES (1L, 10), (2L, 20), (3L, 30) AS t(id, amount)"
    write_pipeline(folder, "bronze.orders", first, "columns:\n  id:\n    tests: [not_null]\n")
    second = "SELECT sum(amount) AS total FROM {{ ref('bronze.orders') }}"
    write_pipeline(folder, "gold.totals", second, "columns:\n  total:\n    tests: [not_null]\n")
    write_pipeline(folder, "silver.orders", "SELECT * FROM {{ ref('bronze.orders') }}", CONFIG, GATES)
    return folder


def warm_runs(folder: Path, *, samples: int) -> list[float]:
    """One small incremental pipeline with three gates, again and again in one session."""
    with open_lake(small_lake(folder)) as lake:
        must(lake)
        must(lake, "silver.orders")
        return [timed(lambda: must(lake, "silver.orders")) for _ in range(samples)]


def cold_runs(folder: Path, *, samples: int) -> list[float]:
    """A whole process: `lakebed run` of one small pipeline."""
    small_lake(folder)
    command = [LAKEBED, "run", "bronze.orders", "--lake", str(folder)]
    _command(command)  # leaves the class-data archive behind, as a user's first run does
    _wait_for_archive()
    return [timed(lambda: _command(command)) for _ in range(samples)]


def _command(command: list[str], **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stdout}{done.stderr}")


def _wait_for_archive() -> None:
    from lakebed.engines.spark import find_java, local_jars
    from lakebed.engines.spark.archive import archive_for
    from lakebed.settings import Settings

    jars = local_jars(Settings(), Root.parse(tempfile.gettempdir()), environment=os.environ, report=print)
    for _ in range(240):
        if archive_for(find_java(os.environ), jars, environment=os.environ).file:
            return
        time.sleep(0.5)


def dbt_builds(folder: Path, *, samples: int) -> list[float] | None:
    """dbt-duckdb's build of the same two models and tests, parse cached."""
    dbt = _install_dbt(folder / "dbt-venv")
    if dbt is None:
        return None
    project = folder / "project"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text(
        "name: shop\nprofile: shop\nmodel-paths: [models]\nmodels:\n  +materialized: table\n"
    )
    duckdb = {"type": "duckdb", "path": str(project / "dev.duckdb")}
    (project / "profiles.yml").write_text(json.dumps({"shop": {"target": "dev", "outputs": {"dev": duckdb}}}))
    (project / "models" / "orders.sql").write_text("SELECT * FROM (VALUES (1, 10), (2, 20), (3, 30)) t(id, amount)")
    (project / "models" / "totals.sql").write_text("SELECT sum(amount) AS total FROM {{ ref('orders') }}")
    tests = {"orders": "id", "totals": "total"}
    models = [{"name": model, "columns": [{"name": column, "data_tests": ["not_null"]}]} for model, column in tests.items()]
    (project / "models" / "schema.yml").write_text(json.dumps({"version": 2, "models": models}))
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_PROFILES_DIR": str(project)}
    command = [str(dbt), "build", "--project-dir", str(project)]
    _command(command, env=environment)
    return [timed(lambda: _command(command, env=environment)) for _ in range(samples)]


def _install_dbt(folder: Path) -> Path | None:
    uv = shutil.which("uv") or next((str(path) for path in Path(".setup").glob("uv/bin/uv")), None)
    wanted = ["dbt-core>=1.11,<1.12", "dbt-duckdb>=1.10,<2", "duckdb>=1.4,<2"]
    try:
        _command(
            [sys.executable, "-m", "venv", "--without-pip", str(folder)] if uv else [sys.executable, "-m", "venv", str(folder)]
        )
        python = str(folder / "bin" / "python")
        _command([uv, "pip", "install", "--python", python, *wanted] if uv else [python, "-m", "pip", "install", *wanted])
    except SystemExit as error:
        print(f"dbt-duckdb could not be installed: {str(error).splitlines()[-1]}", flush=True)
        return None
    return folder / "bin" / "dbt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="100,000 rows in place of 1 M and 10 M, one sample of each")
    quick = parser.parse_args().quick
    sizes = {"cost_of_safety_100k": 100_000} if quick else {"cost_of_safety_1m": 1_000_000, "cost_of_safety_10m": 10_000_000}
    samples = 1 if quick else 3
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name)
        costs = {key: cost_of_safety(folder / key, count=count, samples=samples) for key, count in sizes.items()}
        warm = warm_runs(folder / "warm", samples=samples + 2)
        cold = [] if quick else cold_runs(folder / "cold", samples=samples)
        dbt = None if quick else dbt_builds(folder / "dbt", samples=samples)
    result = {key: cost["ratio"] for key, cost in costs.items()} | {
        "warm_run_s": round(median(warm), 3),
        "cold_run_s": round(median(cold), 3) if cold else None,
        "dbt_duckdb_build_s": round(median(dbt), 3) if dbt else None,
        "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version()},
        "samples": costs
        | {"warm_run_s": _rounded(warm), "cold_run_s": _rounded(cold), "dbt_duckdb_build_s": _rounded(dbt or [])},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
