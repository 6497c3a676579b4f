"""How long a user waits: for a command, for a first run, for a run in a warm session.

python benchmarks/startup.py [--quick]

Cold is a whole process: start Spark, branch, MERGE of three rows, fast-forward, exit. Its rival is
pyspark as shipped, doing the same in the same run. Samples alternate; medians count. The last line
is one JSON object.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from lakebed.engines.spark import find_java, local_jars
from lakebed.engines.spark.start.class_archive import archive_for, maker_command
from lakebed.settings import Root, Settings

TABLES = 200
ENVIRONMENT = {**os.environ, "LAKEBED_TEST_NO_ARCHIVE": "1"}
LAKEBED = str(Path(sys.executable).parent / "lakebed")

WORK = """
def work(session, run):
    table = "lake.shop.bronze.t000"
    session.sql(f"ALTER TABLE {table} CREATE BRANCH {run}")
    session.sql(
        f"MERGE INTO {table}.branch_{run} t USING "
        "(SELECT * FROM VALUES (1L, 'a'), (2L, 'b'), (3L, 'c') AS s(id, v)) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    session.sql(f"CALL lake.system.fast_forward('{table}', 'main', '{run}')").collect()
"""

TUNED = """
import json, os, sys, time
from pathlib import Path
from lakebed.engines.spark import close_session, open_session
from lakebed.settings import Root, Settings

root = Path(sys.argv[1])
logs = root / ".data" / "logs"
session = open_session(Settings(), Root.parse(root), environment=os.environ, logs=logs)
work(session, sys.argv[2])
seconds = []
for number in range(int(sys.argv[3])):
    started = time.perf_counter()
    work(session, f"{sys.argv[2]}_{number}")
    seconds.append(time.perf_counter() - started)
close_session(session)
print(json.dumps(seconds))
"""

UNTUNED = """
import sys
from pyspark.sql import SparkSession

root, jars = sys.argv[1], sys.argv[3]
session = (
    SparkSession.builder.config("spark.jars", jars)
    .config(
        "spark.sql.extensions",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    )
    .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.lake.type", "jdbc")
    .config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:{root}/.data/lake.db")
    .config("spark.sql.catalog.lake.jdbc.schema-version", "V1")
    .config("spark.sql.catalog.lake.warehouse", f"file://{root}")
    .getOrCreate()
)
work(session, sys.argv[2])
session.stop()
"""

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


def timed(*command: str) -> tuple[float, str]:
    """Seconds and output of a command that must succeed."""
    started = time.perf_counter()
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stdout}{done.stderr}")
    return seconds, done.stdout


def make_lake(folder: Path, *, tables: int) -> Path:
    """A lake with so many empty tables, made without Spark."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType

    timed(LAKEBED, "init", str(folder))
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
    for number in range(tables):
        name = f"t{number:03}"
        catalog.create_table(
            ("shop", "bronze", name),
            schema,
            location=f"file://{folder}/shop/warehouse/bronze/{name}",
        )
    catalog.close()
    return folder


def measure_commands(lake: Path, *, samples: int) -> dict[str, Any]:
    """The commands that need no Spark, and whether they loaded it all the same."""
    commands = {
        "python_s": (sys.executable, "-c", "pass"),
        "help_s": (LAKEBED, "--help"),
        "ls_200_tables_s": (LAKEBED, "ls", "--json", "--lake", str(lake)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(samples):
        for name, command in commands.items():
            seconds[name].append(timed(*command)[0])
    listed = len(json.loads(timed(*commands["ls_200_tables_s"])[1]))
    loaded = {
        name: "True" in timed(sys.executable, "-c", IMPORTED, *commands[name][1:])[1].split()[-1:]
        for name in ("help_s", "ls_200_tables_s")
    }
    return {"seconds": seconds, "listed": listed, "pyspark_imported": any(loaded.values())}


def measure_spark(folder: Path, *, samples: int, warm_runs: int) -> dict[str, list[float]]:
    """Cold starts of both kinds in turn, then runs in a warm session."""
    tuned, untuned = make_lake(folder / "tuned", tables=1), make_lake(folder / "untuned", tables=1)
    jars = local_jars(Settings(), Root.parse(tuned), environment=ENVIRONMENT, report=print)
    _have_archive(jars)
    seconds: dict[str, list[float]] = {"cold_untuned_s": [], "cold_tuned_s": []}
    for number in range(samples):
        run = f"run_{number}"
        seconds["cold_untuned_s"].append(
            timed(
                sys.executable, "-c", WORK + UNTUNED, str(untuned), run, ",".join(map(str, jars))
            )[0]
        )
        seconds["cold_tuned_s"].append(
            timed(sys.executable, "-c", WORK + TUNED, str(tuned), run, "0")[0]
        )
        print(
            f"cold: untuned {seconds['cold_untuned_s'][-1]:.1f} s, tuned"
            f" {seconds['cold_tuned_s'][-1]:.1f} s",
            flush=True,
        )
    _, warm = timed(sys.executable, "-c", WORK + TUNED, str(tuned), "run_warm", str(warm_runs))
    return seconds | {"warm_s": json.loads(warm)}


def _have_archive(jars: tuple[Path, ...]) -> None:
    """Make the class-data archive now; a user's second start has it from the background."""
    java = find_java(ENVIRONMENT)
    if not archive_for(java, jars, environment=ENVIRONMENT).file:
        print(
            f"made the class-data archive in {timed(*maker_command(java, jars))[0]:.1f} s",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="one cold sample of each kind")
    samples = 1 if parser.parse_args().quick else 5
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name)
        commands = measure_commands(make_lake(folder / "many", tables=TABLES), samples=2 + samples)
        seconds = commands["seconds"] | measure_spark(
            folder, samples=samples, warm_runs=2 + samples
        )
    medians = {name: round(median(values), 3) for name, values in seconds.items()}
    machine = {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "java": str(find_java(ENVIRONMENT)),
    }
    result = medians | {
        "ratio": round(medians["cold_tuned_s"] / medians["cold_untuned_s"], 3),
        "tables_listed": commands["listed"],
        "pyspark_imported": commands["pyspark_imported"],
        "machine": machine,
        "samples": {
            name: [round(value, 3) for value in values] for name, values in seconds.items()
        },
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
