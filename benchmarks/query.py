"""What a lake adds to reading its files: TPC-H and TPC-DS over the lake, over the bare Parquet
files, and through `iceberg_scan`.

All read the same files with the same DuckDB. A lake's time is that of `lake.query(sql).to_arrow()`:
parsing, pinning, planning and answering. The last line is JSON: `vs_bare_parquet` and
`vs_iceberg_scan` are geometric means over all queries of our time divided by theirs,
`vs_bare_parquet_after_change` is the same after every table has gained a column; below `tpch` and
`tpcds` they stand for each. `cold_query_s` is a whole process: `lakebed query` of a small table.
"""

import argparse
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from pyiceberg.types import LongType

from lakebed.app import Lake, create_lake, open_lake
from lakebed.engines.duckdb.extensions import load
from lakebed.names import TableName
from lakebed.settings import normalized_location

# Commits of large tables, each a file, and the order of their rows.
FILES = {
    "lineitem": 12,
    "orders": 6,
    "partsupp": 4,
    "store_sales": 8,
    "catalog_sales": 6,
    "web_sales": 4,
    "inventory": 4,
}
ORDER = {"lineitem": "l_shipdate", "orders": "o_orderdate"}
LAKEBED = [sys.executable, "-c", "from lakebed.cli import main; main()"]
_LIMIT = re.compile(
    r"\bLIMIT\s+\d+\s*;?\s*$", re.IGNORECASE
)  # which of equal rows it leaves is up to the engine

Times = dict[str, dict[str, float]]  # of each query, by reader


@dataclass(frozen=True)
class Suite:
    """A benchmark that DuckDB brings along: its extension, which is its namespace too, and what
    fills its tables.
    """

    name: str
    fill: str
    scale: float
    samples: int
    iceberg: bool  # whether `iceberg_scan` is asked too
    clock: Callable[[], float]

    def generated(self) -> Any:
        """A DuckDB that holds its tables."""
        connection = connect()
        load(connection, self.name)
        connection.execute(f"CALL {self.fill}(sf = {self.scale})")
        return connection

    def queries(self, source: Any) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = source.execute(
            f"SELECT query_nr, query FROM {self.name}_queries()"
        ).fetchall()
        return found

    def tables(self, lake: Lake) -> list[TableName]:
        return [table for table in lake.stores.catalog.pointers() if table.namespace == self.name]


def connect() -> Any:
    return duckdb.connect(config={"autoinstall_known_extensions": "false"})


def fill(lake: Lake, suite: Suite, source: Any) -> None:
    """The suite's tables in the lake, the large ones in several files."""
    lake.stores.catalog.create_namespace(suite.name, "silver")
    for (name,) in source.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        order = f" ORDER BY {ORDER[name]}" if name in ORDER else ""
        rows = source.execute(f"SELECT * FROM {name}{order}").to_arrow_table()
        table = TableName(suite.name, "silver", name)
        made = lake.iceberg.create_table(
            table.parts, rows.schema, location=lake.root.at(table.folder)
        )
        files = FILES.get(name, 1)
        size = math.ceil(rows.num_rows / files)
        for number in range(files):
            made.append(rows.slice(number * size, size))


def change(lake: Lake, suite: Suite) -> None:
    """Give every table one column more; its files stay what they are."""
    for table in suite.tables(lake):
        with lake.iceberg.load_table(table.parts).update_schema() as update:
            update.add_column("added_later", LongType())


def rival(tables: list[TableName], source: Callable[[TableName], str]) -> Any:
    """A DuckDB with a view for each table."""
    connection = connect()
    load(connection, "avro", "iceberg")
    for table in tables:
        connection.execute(f"CREATE VIEW {table.name} AS SELECT * FROM {source(table)}")
    return connection


def bare(lake: Lake, table: TableName) -> str:
    _, pointer, metadata = lake.tables.look_up(table)
    head = metadata.head()
    assert head
    scan = lake.stores.scans.plan(pointer, snapshot=head.id)
    return f"read_parquet([{', '.join(repr(file.location) for file in scan.files)}])"


def through_iceberg(lake: Lake, table: TableName) -> str:
    location = lake.stores.catalog.pointers([table])[table].location
    return f"iceberg_scan('{normalized_location(location)}')"


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    work()
    return (clock() - started) * 1000


def same(first: Any, second: Any) -> bool:
    """Whether two answers hold the same rows, floats nearly so."""

    def rows(table: Any) -> list[str]:
        return sorted(
            str([f"{value:.6g}" if isinstance(value, float) else value for value in row.values()])
            for row in table.to_pylist()
        )

    return rows(first) == rows(second)


def compared(lake: Lake, suite: Suite, queries: list[tuple[int, str]], *, iceberg: bool) -> Times:
    """Milliseconds of each query by each reader, in turns; the median of several, after one that
    warms up.
    """
    tables = suite.tables(lake)
    files = rival(tables, lambda table: bare(lake, table))
    readers: dict[str, Callable[[str], Any]] = {
        "lake": lambda sql: lake.query(sql, namespace=suite.name).to_arrow(),
        "bare": lambda sql: files.execute(sql).to_arrow_table(),
    }
    if iceberg:
        scans = rival(tables, lambda table: through_iceberg(lake, table))
        readers["iceberg"] = lambda sql: scans.execute(sql).to_arrow_table()
    times: Times = {}
    for number, sql in queries:
        answers = {name: read(_LIMIT.sub("", sql)) for name, read in readers.items()}
        if not same(answers["lake"], answers["bare"]):
            raise SystemExit(
                f"{suite.name} {number}: the lake's answer is another than that of its files"
            )
        taken: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(suite.samples):
            for name, read in readers.items():
                taken[name].append(timed(lambda read=read, sql=sql: read(sql), suite.clock))  # type: ignore[misc]
        times[f"q{number}"] = {name: round(median(values), 2) for name, values in taken.items()}
        print(f"{suite.name} q{number}: {times[f'q{number}']}", flush=True)
    return times


def geometric(times: Iterable[dict[str, float]], rival: str) -> float:
    ratios = [math.log(one["lake"] / one[rival]) for one in times if rival in one]
    return round(math.exp(sum(ratios) / len(ratios)), 3)


def measured(lake: Lake, suite: Suite) -> tuple[Times, Times]:
    """As the tables were made, and after each was changed once."""
    with suite.generated() as source:
        fill(lake, suite, source)
        queries = suite.queries(source)
    before = compared(lake, suite, queries, iceberg=suite.iceberg)
    change(lake, suite)
    return before, compared(lake, suite, queries, iceberg=False)


def cold(folder: Path, *, samples: int) -> list[float]:
    """Seconds of a whole process that asks a small table."""
    command = [
        *LAKEBED,
        "query",
        "SELECT count(*) FROM nation WHERE n_regionkey = 1",
        "--lake",
        str(folder),
    ]

    def ask() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)

    return [round(timed(ask) / 1000, 3) for _ in range(samples + 1)][1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--quick", action="store_true", help="few rows, few samples: less than a minute"
    )
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="processor time instead of time: for a machine that is busy otherwise",
    )
    given = parser.parse_args()
    quick, clock = given.quick, time.process_time if given.cpu else time.perf_counter
    suites = [
        Suite("tpch", "dbgen", *((0.05, 3) if quick else (1.0, 7)), iceberg=True, clock=clock),
        Suite("tpcds", "dsdgen", *((0.01, 1) if quick else (1.0, 3)), iceberg=False, clock=clock),
    ]
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name) / "lake"
        create_lake(folder)
        with open_lake(folder) as lake:
            times = {suite.name: measured(lake, suite) for suite in suites}
        cold_s = cold(folder, samples=3 if quick else 7)
    before, after = (
        [one for both in times.values() for one in both[place].values()] for place in (0, 1)
    )
    result = {
        "vs_bare_parquet": geometric(before, "bare"),
        "vs_bare_parquet_after_change": geometric(after, "bare"),
        "vs_iceberg_scan": geometric(before, "iceberg"),
        **{
            name: {
                "vs_bare_parquet": geometric(first.values(), "bare"),
                "vs_bare_parquet_after_change": geometric(then.values(), "bare"),
            }
            for name, (first, then) in times.items()
        },
        "cold_query_s": round(median(cold_s), 3),
        "clock": "cpu" if given.cpu else "wall",
        "scales": {suite.name: suite.scale for suite in suites},
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
        "samples": {
            "cold_query_s": cold_s,
            "ms": {
                name: {"before": first, "after_change": then}
                for name, (first, then) in times.items()
            },
        },
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
