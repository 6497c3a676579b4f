"""How long a user waits: for a command, for a run from a cold start, for one in a warm session.

python benchmarks/startup.py [--quick]

`cold_run_s` is a whole process: `lakebed run` of one small pipeline. Its rivals are a bare Spark
script that replaces the same table and asks the same gate, with pyspark as shipped, and
dbt-duckdb's build of two such models (installed into a folder of its own; null where it cannot be).
`worker_run_s` and `worker_preview_s` are the same run and a preview, by a worker that is there.
Samples alternate; medians count. The last line is one JSON object.
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
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from lakebed.app import create_lake, open_lake
from lakebed.engines.spark import find_java, local_jars
from lakebed.engines.spark.start.class_archive import archive_for, maker_command
from lakebed.settings import Root, Settings

TABLES = 200
SAMPLES = 5
ENVIRONMENT = {
    **os.environ,
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    "LAKEBED_TEST_NO_ARCHIVE": "1",  # it is made before the first sample
}
LAKEBED = str(Path(sys.executable).parent / "lakebed")
Commands = Mapping[str, tuple[str, ...]]  # by the name under which its seconds are printed

ORDERS = "SELECT * FROM VALUES (1L, 10), (2L, 20), (3L, 30) AS t(id, amount)"
BARE_SCRIPT = f"""
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
    .config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:{{root}}/bare.db")
    .config("spark.sql.catalog.lake.jdbc.schema-version", "V1")
    .config("spark.sql.catalog.lake.warehouse", f"file://{{root}}")
    .getOrCreate()
)
session.sql("CREATE NAMESPACE IF NOT EXISTS lake.shop")
session.sql("CREATE OR REPLACE TABLE lake.shop.orders USING iceberg AS {ORDERS}")
assert not session.sql("SELECT * FROM lake.shop.orders WHERE id IS NULL").limit(21).collect()
session.stop()
"""


def timed(*command: str) -> tuple[float, str]:
    """Seconds and output of a command that must succeed."""
    started = time.perf_counter()
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stdout}{done.stderr}")
    return seconds, done.stdout


def timed_in_turn(commands: Commands, *, samples: int) -> dict[str, list[float]]:
    """Seconds of whole processes, in every round one after the other."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(samples):
        for name, command in commands.items():
            seconds[name].append(timed(*command)[0])
        print(", ".join(f"{name} {taken[-1]:.2f}" for name, taken in seconds.items()), flush=True)
    return seconds


def quick_commands(folder: Path, dbt: tuple[str, ...]) -> Commands:
    """Commands that need no Spark."""
    lake = many_tables(folder / "many", TABLES)
    rival = {"dbt_help_s": (dbt[0], "--help")} if dbt else {}
    return {
        "python_s": (sys.executable, "-c", "pass"),
        "help_s": (LAKEBED, "--help"),
        "ls_200_tables_s": (LAKEBED, "ls", "--json", "--lake", str(lake)),
        **rival,
    }


def many_tables(folder: Path, count: int) -> Path:
    """A lake with so many empty tables, made without Spark."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType

    create_lake(folder)
    database = f"sqlite:///{folder}/.data/lake.db?timeout=30"
    catalog = SqlCatalog(
        "lake", uri=database, warehouse=f"file://{folder}", init_catalog_tables="true"
    )
    for namespace in (("shop",), ("shop", "bronze")):
        catalog.create_namespace_if_not_exists(namespace)
    schema = Schema(
        NestedField(1, "id", LongType(), required=False),
        NestedField(2, "v", StringType(), required=False),
    )
    for number in range(count):
        name = f"t{number:03}"
        catalog.create_table(
            ("shop", "bronze", name),
            schema,
            location=f"file://{folder}/shop/warehouse/bronze/{name}",
        )
    catalog.close()
    return folder


IMPORTED = """
import sys
from lakebed.cli import main
sys.argv = ["lakebed", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print("pyspark" in sys.modules)
"""


def facts(commands: Commands) -> dict[str, object]:
    """What the quick commands did: how many tables were listed, and whether pyspark was loaded."""
    listed = json.loads(timed(*commands["ls_200_tables_s"])[1])
    loaded = (
        timed(sys.executable, "-c", IMPORTED, *commands[name][1:])[1].split()[-1]
        for name in ("help_s", "ls_200_tables_s")
    )
    return {"tables_listed": len(listed), "pyspark_imported": "True" in loaded}


def cold_commands(folder: Path, dbt: tuple[str, ...]) -> Commands:
    """Runs of one small pipeline from a cold start, each in a process of its own."""
    lake, bare = small_lake(folder / "ours"), folder / "bare"
    bare.mkdir()
    jars = local_jars(Settings(), Root.parse(lake), environment=ENVIRONMENT, report=print)
    _have_archive(jars)
    return {
        "bare_spark_s": (sys.executable, "-c", BARE_SCRIPT, str(bare), ",".join(map(str, jars))),
        "cold_run_s": (LAKEBED, "run", "bronze.orders", "--lake", str(lake)),
        **worker_commands(small_lake(folder / "with worker")),
        **({"dbt_duckdb_build_s": dbt} if dbt else {}),
    }


def worker_commands(lake: Path) -> Commands:
    """Commands that a worker runs, which an earlier one has started."""
    with (lake / "lakebed.yaml").open("a") as settings:
        settings.write("worker:\n  enabled: true\n")
    commands = {
        f"worker_{verb}_s": (LAKEBED, verb, "bronze.orders", "--lake", str(lake))
        for verb in ("run", "preview")
    }
    timed_in_turn(commands, samples=2)
    return commands


def small_lake(folder: Path) -> Path:
    """A lake with two models of a few rows, with a test each."""
    create_lake(folder)
    total = "SELECT sum(amount) AS total FROM {{ ref('bronze.orders') }}"
    for name, query, column in (("bronze/orders", ORDERS, "id"), ("gold/totals", total, "total")):
        place = folder / "shop" / "pipelines" / name
        place.mkdir(parents=True)
        (place / "pipeline.sql").write_text(query)
        (place / "config.yaml").write_text(f"columns:\n  {column}:\n    tests: [not_null]\n")
    return folder


def warm_runs(folder: Path, *, samples: int) -> dict[str, list[float]]:
    """The same small run, again and again in one session of this process."""
    seconds = []
    with open_lake(small_lake(folder)) as lake:
        for _ in range(samples + 2):
            started = time.perf_counter()
            if not lake.run("bronze.orders").ok:
                raise SystemExit("a run failed")
            seconds.append(time.perf_counter() - started)
    return {"warm_run_s": seconds[2:]}


def _have_archive(jars: tuple[Path, ...]) -> None:
    """Make the class-data archive now; a user's second start has it from the background."""
    java = find_java(ENVIRONMENT)
    if not archive_for(java, jars, environment=ENVIRONMENT).file:
        print(
            f"made the class-data archive in {timed(*maker_command(java, jars))[0]:.1f} s",
            flush=True,
        )


def dbt_build(folder: Path) -> tuple[str, ...]:
    """The command with which dbt-duckdb builds the same two models; none if it cannot be had."""
    dbt = _install_dbt(folder / "venv")
    if dbt is None:
        return ()
    project = folder / "project"
    models = project / "models"
    models.mkdir(parents=True)
    (project / "dbt_project.yml").write_text(
        "name: shop\nprofile: shop\nmodel-paths: [models]\nmodels:\n  +materialized: table\n"
    )
    duckdb = {"type": "duckdb", "path": str(project / "dev.duckdb")}
    (project / "profiles.yml").write_text(
        json.dumps({"shop": {"target": "dev", "outputs": {"dev": duckdb}}})
    )
    (models / "orders.sql").write_text(
        "SELECT * FROM (VALUES (1, 10), (2, 20), (3, 30)) t(id, amount)"
    )
    (models / "totals.sql").write_text("SELECT sum(amount) AS total FROM {{ ref('orders') }}")
    tested = [
        {"name": model, "columns": [{"name": column, "data_tests": ["not_null"]}]}
        for model, column in (("orders", "id"), ("totals", "total"))
    ]
    (models / "schema.yml").write_text(json.dumps({"version": 2, "models": tested}))
    folders = ("--project-dir", str(project), "--profiles-dir", str(project))
    return (str(dbt), "build", *folders)


def _install_dbt(folder: Path) -> Path | None:
    uv = shutil.which("uv") or next((str(path) for path in Path(".setup").glob("uv/bin/uv")), None)
    wanted = ("dbt-core>=1.11,<1.12", "dbt-duckdb>=1.10,<2", "duckdb>=1.4,<2")
    python = str(folder / "bin" / "python")
    installer = (
        (uv, "pip", "install", "--python", python) if uv else (python, "-m", "pip", "install")
    )
    try:
        timed(sys.executable, "-m", "venv", *(["--without-pip"] if uv else []), str(folder))
        timed(*installer, *wanted)
    except SystemExit as error:
        print(f"dbt-duckdb could not be installed: {str(error).splitlines()[-1]}", flush=True)
        return None
    return folder / "bin" / "dbt"


def measure(folder: Path, *, quick: bool) -> tuple[dict[str, list[float]], dict[str, object]]:
    """Seconds by name, and facts about what was done."""
    samples = 1 if quick else SAMPLES
    dbt = () if quick else dbt_build(folder / "dbt")
    commands, cold = quick_commands(folder, dbt), cold_commands(folder, dbt)
    if not quick:
        timed_in_turn({**commands, **cold}, samples=1)  # reads files and writes caches
    seconds = timed_in_turn(commands, samples=samples + 2) | timed_in_turn(cold, samples=samples)
    return seconds | warm_runs(folder / "warm", samples=samples), facts(commands)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="one cold sample of each, without dbt")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        seconds, seen = measure(Path(name), quick=quick)
        timed(LAKEBED, "worker", "stop", "--lake", f"{name}/with worker")
    medians = {name: round(median(values), 3) for name, values in seconds.items()}
    result = {"dbt_help_s": None, "dbt_duckdb_build_s": None} | medians | seen
    result |= {
        "cold_vs_bare_spark": round(medians["cold_run_s"] / medians["bare_spark_s"], 3),
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
            "java": str(find_java(ENVIRONMENT)),
        },
        "samples": {
            name: [round(value, 3) for value in values] for name, values in seconds.items()
        },
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
