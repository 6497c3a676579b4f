"""What care brings and costs: a table of tiny files before and after, and an idle lake of many
tables.

python benchmarks/care.py [--quick]

Two equal tables of tiny files (20 commits) lie in one lake. Care looks after one; for the other the
rival, Iceberg's own Spark procedures, is called by hand: rewrite_data_files, expire_snapshots,
remove_orphan_files. Both leave one snapshot and no orphan. Queries are DuckDB over the files that
PyIceberg plans, and Spark; planning is PyIceberg's. Then `lakebed care` as a whole process on that
lake with many more tables, of which nothing is due, and the same three procedures on a few of those
tables in a warm session. Last, orphans of a lake of 1 M empty files, of which manifests name all
but one in a hundred, are looked for in a process of its own: its time and the most memory it took.
The last line is one JSON object.
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
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lakebed.app import Lake, create_lake, open_lake
from lakebed.names import TableName
from lakebed.settings import Root
from lakebed.tables import TablePlacement

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile

LAKEBED = str(Path(sys.executable).parent / "lakebed")
COMMITS = 20
ROWS = 50  # of a tiny file
MANY_TABLES, ONE_IN = 10, 100  # of the lake with many files: tables, and one orphan in how many
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
    placement = TablePlacement(lake.ports)
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


def many_files(root: Root, *, files: int) -> dict[str, Any]:
    """Orphans of a lake of so many files in ten tables, looked for in a fresh process."""
    create_lake(root, settings={})
    with open_lake(str(root)) as lake:
        for number in range(MANY_TABLES):
            _many(lake, TableName("shop", "silver", f"many_{number}"), files // MANY_TABLES)
    command = [sys.executable, __file__, "--look-for-orphans", str(root)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode:
        raise SystemExit(told.stderr)
    found: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    if found["orphans"] != files // ONE_IN:
        raise SystemExit(f"there are {files // ONE_IN} orphans, and care says {found['orphans']}")
    print(f"{files} files: {found['s']} s, {found['mb']} MB", flush=True)
    return {"files": files, **found}


def _many(lake: Lake, name: TableName, files: int) -> None:
    """A table of empty files in a hundred folders, taken up in two commits; one in a hundred is
    left out.
    """
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    schema = Schema(*(NestedField(number, f"c{number}", LongType()) for number in (1, 2, 3)))
    lake.stores.catalog.create_namespace(name.namespace, name.layer)
    table = lake.iceberg.create_table(name.parts, schema, location=lake.root.at(name.folder))
    folders = [lake.root.folder / name.folder / f"data/part={part:03}" for part in range(100)]
    for folder in folders:
        folder.mkdir(parents=True)
    for commit in range(2):
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as add:
            for number in range(commit * files // 2, (commit + 1) * files // 2):
                file = f"{folders[number // ONE_IN % 100]}/{number:08}-{uuid4()}.parquet"
                os.mknod(file)
                if number % ONE_IN:
                    add.append_data_file(_data_file(f"file://{file}", number))


def _data_file(location: str, number: int) -> "DataFile":
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    bound = number.to_bytes(8, "little")
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=ROWS,
        file_size_in_bytes=4096,
        column_sizes=dict.fromkeys((1, 2, 3), 1000),
        value_counts=dict.fromkeys((1, 2, 3), ROWS),
        null_value_counts=dict.fromkeys((1, 2, 3), 0),
        nan_value_counts={},
        lower_bounds=dict.fromkeys((1, 2, 3), bound),
        upper_bounds=dict.fromkeys((1, 2, 3), bound),
        split_offsets=[4],
    )
    file.spec_id = 0
    return file


def look_for_orphans(root: str) -> None:
    """What `many_files` asks of its own process."""
    later = datetime.now(UTC) + timedelta(days=9)
    with open_lake(root) as lake:
        idle = most_memory()
        started = time.perf_counter()
        result = lake.care(only=["remove_orphans"], dry_run=True, now=later)
        seconds = time.perf_counter() - started
    found = {
        "orphans": sum(entry.counts["files"] for entry in result.entries),
        "s": round(seconds, 1),
        "mb": most_memory(),
        "mb_before": idle,
    }
    print(json.dumps(found))


def most_memory() -> int:
    """The most that this process has had in memory so far, in MB. Not `ru_maxrss`: there a process
    begins with what the one had that started it.
    """
    told = Path("/proc/self/status").read_text()
    (kilobytes,) = (line.split()[1] for line in told.splitlines() if line.startswith("VmHWM:"))
    return round(int(kilobytes) / 1024)


def _quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or json.loads(done.stdout)["entries"]:
        raise SystemExit(f"care found something due:\n{done.stdout}{done.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="200 tiny files, 10 idle tables and 5,000 files in place of 2,000, 200 and 1 M",
    )
    parser.add_argument("--look-for-orphans", metavar="LAKE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.look_for_orphans:
        look_for_orphans(asked.look_for_orphans)
    else:
        measure(quick=asked.quick)


def measure(*, quick: bool) -> None:
    """Everything, and the JSON object."""
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        root = Root.parse(Path(name) / "lake")
        create_lake(root, settings={"spark": {"memory": "4g"}})
        with open_lake(str(root)) as lake:
            tiny = tiny_files(lake, files=200 if quick else 2000, samples=2 if quick else 7)
            idle = idle_lake(lake, tables=10 if quick else 200, samples=1 if quick else 3)
        many = many_files(Root.parse(Path(name) / "many"), files=5_000 if quick else 1_000_000)
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
        # of fewer files with --quick
        "orphans_1m_mb": many["mb"],
        "orphans_1m_s": many["s"],
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
        "samples": {"tiny": tiny, "idle": idle, "many": many},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
