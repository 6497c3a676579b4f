"""What care brings and costs: a table of tiny files before and after, and an idle lake of many
tables.

python benchmarks/care.py [--quick]

Two equal tables of tiny files (20 commits) lie in one lake. Care looks after one; for the other the
rival, Iceberg's own Spark procedures, is called by hand: rewrite_data_files, expire_snapshots,
remove_orphan_files. Both leave one snapshot and no orphan. Queries are DuckDB over the files that
PyIceberg plans, and Spark; planning is PyIceberg's. Then `lakebed care` as a whole process on that
lake with many more tables, of which nothing is due, and the same three procedures on a few of those
tables in a warm session. The last line is one JSON object.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from lakebed.app import Lake, create_lake, open_lake
from lakebed.names import TableName
from lakebed.settings import Root
from lakebed.tables import TablePlacement

LAKEBED = str(Path(sys.executable).parent / "lakebed")
COMMITS = 20
ROWS = 50  # of a tiny file
OURS, THEIRS = (TableName("shop", "silver", name) for name in ("ours", "theirs"))
QUERY = "SELECT count(*), sum(amount), count(DISTINCT customer) FROM {source} WHERE amount < 900"


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def fill(lake: Lake, name: TableName, *, files: int) -> None:
    """A table of so many tiny files, written by PyArrow and taken up in commits of equal size."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType

    fields = (
        NestedField(1, "id", LongType()),
        NestedField(2, "amount", LongType()),
        NestedField(3, "customer", StringType()),
    )
    placement = TablePlacement(lake.root, lake.settings, lake.stores.catalog, lake.stores.files)
    table = lake.iceberg.create_table(
        name.parts, Schema(*fields), location=placement.new_location(name)
    )
    folder = lake.root.folder / name.folder / "data"
    folder.mkdir(parents=True)
    for commit in range(COMMITS):
        paths = []
        for number in range(commit * files // COMMITS, (commit + 1) * files // COMMITS):
            ids = range(number * ROWS, (number + 1) * ROWS)
            rows = {
                "id": list(ids),
                "amount": [id % 1000 for id in ids],
                "customer": [f"customer-{id % 500}" for id in ids],
            }
            pq.write_table(pa.table(rows), folder / f"{number:05}.parquet")
            paths.append(f"file://{folder}/{number:05}.parquet")
        table.add_files(paths)


def reading(lake: Lake, name: TableName, *, samples: int) -> dict[str, float]:
    """Milliseconds to plan a scan and to answer a query; medians."""
    import duckdb

    table = lake.iceberg.load_table(name.parts)
    files = [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]
    source = (
        "read_parquet([" + ", ".join(f"'{file.removeprefix('file:')}'" for file in files) + "])"
    )

    def median_of(work: Callable[[], Any]) -> float:
        work()
        return round(1000 * median(timed(work) for _ in range(samples)), 1)

    return {
        "files": len(files),
        "plan_ms": median_of(lambda: list(lake.iceberg.load_table(name.parts).scan().plan_files())),
        "duckdb_ms": median_of(
            lambda: duckdb.connect().execute(QUERY.format(source=source)).fetchall()
        ),
        "spark_ms": median_of(lambda: lake.spark.sql(QUERY.format(source=name.spark)).collect()),
    }


def answer(lake: Lake, name: TableName) -> Any:
    return lake.spark.sql(QUERY.format(source=name.spark)).collect()


def by_hand(lake: Lake, name: TableName) -> None:
    """The rival: Iceberg's procedures as one would call them."""
    now = datetime.now(UTC)
    named = ".".join(name.parts)
    lake.spark.sql(f"CALL lake.system.rewrite_data_files(table => '{named}')").collect()
    older = f"TIMESTAMP '{now + timedelta(minutes=1):%Y-%m-%d %H:%M:%S}'"
    lake.spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{named}', older_than => {older}, retain_last"
        " => 1)"
    ).collect()
    day = f"TIMESTAMP '{now - timedelta(days=1, minutes=1):%Y-%m-%d %H:%M:%S}'"
    lake.spark.sql(
        f"CALL lake.system.remove_orphan_files(table => '{named}', older_than => {day})"
    ).collect()


def by_care(lake: Lake, name: TableName) -> None:
    """Nine days later, so that what compaction supersedes expires at once, as by hand."""
    result = lake.care(str(name), orphans=True, now=datetime.now(UTC) + timedelta(days=9))
    if not result.ok or len(result.entries) < 2:
        raise SystemExit(f"care failed: {result.entries}")


def tiny_files(lake: Lake, *, files: int, samples: int) -> dict[str, Any]:
    """Both tables, before and after."""
    for name in (OURS, THEIRS):
        fill(lake, name, files=files)
    _warm_up(lake)
    before, told = reading(lake, OURS, samples=samples), answer(lake, OURS)
    print(f"before: {before}", flush=True)
    theirs = timed(lambda: by_hand(lake, THEIRS))
    ours = timed(lambda: by_care(lake, OURS))
    after, rival = reading(lake, OURS, samples=samples), reading(lake, THEIRS, samples=samples)
    print(f"care {ours:.1f} s, by hand {theirs:.1f} s, after: {after}", flush=True)
    if answer(lake, OURS) != told or answer(lake, THEIRS) != told:
        raise SystemExit("the rows changed")
    left = {
        str(name): sum(1 for _ in lake.stores.files.list(name.folder)) for name in (OURS, THEIRS)
    }
    return {
        "before": before,
        "after": after,
        "rival_after": rival,
        "care_s": ours,
        "by_hand_s": theirs,
        "files_left": left,
    }


def _warm_up(lake: Lake) -> None:
    """Neither side shall pay for the first of its kind."""
    for name, look_after in ((OURS, by_care), (THEIRS, by_hand)):
        other = TableName("shop", "warm", name.name)
        fill(lake, other, files=3 * COMMITS)
        look_after(lake, other)


def idle_lake(lake: Lake, *, tables: int, samples: int) -> dict[str, Any]:
    """Many small tables with some history, of which nothing is due; the two from before are there,
    too.
    """
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    names = [TableName("shop", "silver", f"table_{number:03}") for number in range(tables)]
    for name in names:
        _small_table(lake, name, Schema(NestedField(1, "id", LongType())))
    command = [LAKEBED, "care", "--json", "--lake", str(lake.root)]
    seconds = [timed(lambda: _quietly(command)) for _ in range(samples)]
    warm = [timed(lake.care) for _ in range(samples)]
    few = names[: 2 if tables < 100 else 10]
    hand = [timed(lambda name=name: by_hand(lake, name)) for name in few]  # type: ignore[misc]
    print(
        f"idle lake of {tables} tables: {median(seconds):.1f} s, by hand {median(hand):.2f} s a"
        " table",
        flush=True,
    )
    return {"tables": tables, "command_s": seconds, "warm_s": warm, "by_hand_s_a_table": hand}


def _small_table(lake: Lake, name: TableName, schema: Any) -> None:
    import pyarrow as pa

    table = lake.iceberg.create_table(name.parts, schema, location=lake.root.at(name.folder))
    for number in range(3):
        table.append(pa.table({"id": pa.array([number], pa.int64())}))


def _quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or json.loads(done.stdout)["entries"]:
        raise SystemExit(f"care found something due:\n{done.stdout}{done.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--quick", action="store_true", help="200 files and 10 tables in place of 2,000 and 200"
    )
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        root = Root.parse(Path(name) / "lake")
        create_lake(root, settings={"spark": {"memory": "4g"}})
        with open_lake(str(root)) as lake:
            tiny = tiny_files(lake, files=200 if quick else 2000, samples=2 if quick else 7)
            idle = idle_lake(lake, tables=10 if quick else 200, samples=1 if quick else 3)
    before, after = tiny["before"], tiny["after"]
    result = {
        "files": [before["files"], after["files"]],
        "faster": {
            key.removesuffix("_ms"): round(before[key] / after[key], 1)
            for key in ("plan_ms", "duckdb_ms", "spark_ms")
        },
        "care_of_tiny_files_over_by_hand": round(tiny["care_s"] / tiny["by_hand_s"], 2),
        "idle_lake_s": round(median(idle["command_s"]), 2),
        "idle_lake_s_a_table": round(median(idle["warm_s"]) / idle["tables"], 4),
        "by_hand_s_a_table": round(median(idle["by_hand_s_a_table"]), 3),
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
        "samples": {"tiny": tiny, "idle": idle},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
