"""What a lake adds to reading its files: TPC-H over the lake, over the bare Parquet files, and through DuckDB's `iceberg_scan`.

All three read the same files with the same DuckDB. A lake's time is that of `lake.query(sql).to_arrow()`: parsing, pinning,
planning and answering. The last line is JSON: `vs_bare_parquet` and `vs_iceberg_scan` are geometric means over the 22 queries of
our time divided by theirs, `cold_query_s` is a whole process: `lakebed query` of a small table.
"""

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

from lakebed.app import Lake, create_lake, open_lake
from lakebed.engines.duckdb.extensions import load
from lakebed.names import TableName
from lakebed.settings import Root, one_spelling

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
FILES = {"lineitem": 12, "orders": 6, "partsupp": 4}  # commits, each a file
ORDER = {"lineitem": "l_shipdate", "orders": "o_orderdate"}
LAKEBED = [sys.executable, "-c", "from lakebed.cli import main; main()"]


def generated(scale: float) -> Any:
    """A DuckDB that holds TPC-H's tables."""
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    load(connection, "tpch")
    connection.execute(f"CALL dbgen(sf = {scale})")
    return connection


def fill(lake: Lake, source: Any) -> None:
    """TPC-H's tables in the lake, the large ones in several files in the order of a date."""
    lake.stores.catalog.create_namespace("tpch", "silver")
    for name in TABLES:
        order = f" ORDER BY {ORDER[name]}" if name in ORDER else ""
        rows = source.execute(f"SELECT * FROM {name}{order}").to_arrow_table()
        table = TableName("tpch", "silver", name)
        made = lake.iceberg.create_table(table.parts, rows.schema, location=lake.root.at(table.folder))
        files = FILES.get(name, 1)
        size = math.ceil(rows.num_rows / files)
        for number in range(files):
            made.append(rows.slice(number * size, size))


def rival(source: Callable[[TableName], str]) -> Any:
    """A DuckDB with a view for each table."""
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    load(connection, "avro", "iceberg")
    for name in TABLES:
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM {source(TableName('tpch', 'silver', name))}")
    return connection


def bare(lake: Lake, table: TableName) -> str:
    scan = lake.stores.scans.plan(lake.stores.catalog.pointers([table])[table], snapshot=lake.history(table)[0].id)
    return f"read_parquet([{', '.join(repr(file.location) for file in scan.files)}])"


def through_iceberg(lake: Lake, table: TableName) -> str:
    return f"iceberg_scan('{one_spelling(lake.stores.catalog.pointers([table])[table].location)}')"


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def same(first: Any, second: Any) -> bool:
    """Whether two answers hold the same rows, floats nearly so."""

    def rows(table: Any) -> list[str]:
        return sorted(
            str([f"{value:.6g}" if isinstance(value, float) else value for value in row.values()]) for row in table.to_pylist()
        )

    return rows(first) == rows(second)


def compared(lake: Lake, queries: list[tuple[int, str]], *, samples: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each query by each reader, in turns; the median of several, after one that warms up."""
    files, iceberg = rival(lambda table: bare(lake, table)), rival(lambda table: through_iceberg(lake, table))
    readers: dict[str, Callable[[str], Any]] = {
        "lake": lambda sql: lake.query(sql, namespace="tpch").to_arrow(),
        "bare": lambda sql: files.execute(sql).to_arrow_table(),
        "iceberg": lambda sql: iceberg.execute(sql).to_arrow_table(),
    }
    times: dict[str, dict[str, float]] = {}
    for number, sql in queries:
        answers = {name: read(sql) for name, read in readers.items()}
        if not same(answers["lake"], answers["bare"]):
            raise SystemExit(f"TPC-H {number}: the lake's answer is another than that of its files")
        taken: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(samples):
            for name, read in readers.items():
                taken[name].append(timed(lambda read=read, sql=sql: read(sql)))  # type: ignore[misc]
        times[f"q{number}"] = {name: round(median(values), 2) for name, values in taken.items()}
        print(f"q{number}: {times[f'q{number}']}", flush=True)
    return times


def geometric(times: dict[str, dict[str, float]], rival: str) -> float:
    return round(math.exp(sum(math.log(one["lake"] / one[rival]) for one in times.values()) / len(times)), 3)


def cold(folder: Path, *, samples: int) -> list[float]:
    """Seconds of a whole process that asks a small table."""
    command = [*LAKEBED, "query", "SELECT count(*) FROM nation WHERE n_regionkey = 1", "--lake", str(folder)]

    def ask() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)

    return [round(timed(ask) / 1000, 3) for _ in range(samples + 1)][1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, three samples")
    quick = parser.parse_args().quick
    scale, samples = (0.1, 3) if quick else (1.0, 7)
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name) / "lake"
        create_lake(Root.parse(folder), values={}, template=None, environment=os.environ)
        source = generated(scale)
        queries = source.execute("SELECT query_nr, query FROM tpch_queries()").fetchall()
        with open_lake(folder) as lake:
            fill(lake, source)
            source.close()
            times = compared(lake, queries, samples=samples)
        cold_s = cold(folder, samples=samples)
    result = {
        "vs_bare_parquet": geometric(times, "bare"),
        "vs_iceberg_scan": geometric(times, "iceberg"),
        "cold_query_s": round(median(cold_s), 3),
        "scale": scale,
        "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version()},
        "samples": {"cold_query_s": cold_s, "ms": times},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
