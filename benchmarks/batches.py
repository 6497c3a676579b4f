"""Very many raw files to one table, batch by batch: does memory grow with the input?

python benchmarks/batches.py [--quick]

70,000 small JSON files in five levels of folders (6 GB) become a table with two levels, with a heap
of 1 GB; beside a quarter of it, and beside a Spark job that does all at once with the same heap.
Every measurement is a process of its own; its memory is the sum of its processes' resident sets,
looked at ten times a second. Every result is compared with the source by count and sum. The last
line is one JSON object.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILES, BYTES, HEAP_MB = 70_000, 6_000_000_000, 1024
YEARS, SETS, TABLES, LINES = 5, 3, 7, 10
PLANNED = 700_000
LONGEST = 4 * 3600  # seconds until the one-shot job counts as stuck
CONFIG = """\
source: "raw/year=*/geo_fips_set=*/tablename=*/line_code=*/geo_fips=*/*.json"
partitions: {keys: [{name: year, type: INTEGER}, {name: geo_fips_set, type: VARCHAR}]}
batch_partition_columns: [year]
"""
PIPELINE = "econ/pipelines/bronze/income/config.yaml"
QUESTION = "SELECT count(*) AS rows, sum(value) AS total FROM econ.bronze.income"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the input")
    parser.add_argument("--child", nargs="*", default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        measured, place = given.child
        todo = {"run": _run, "again": _run, "plan": _plan, "naive": _naive}[measured]
        print(json.dumps(todo(Path(place))))
        return
    scale = 100 if given.quick else 1
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), files=FILES // scale, size=BYTES // scale)))


def measure(folder: Path, *, files: int, size: int) -> dict[str, Any]:
    """All figures; the larger input is first, so that a full disk is noticed early."""
    large = make_lake(folder / "4x", files, size)
    small = make_lake(folder / "1x", files // 4, size // 4)
    whole, quarter = child("run", folder / "4x"), child("run", folder / "1x")
    for found, made in ((whole, large), (quarter, small)):
        assert (found["rows"], found["total"]) == (made["rows"], made["total"]), (found, made)
    again, planned = child("again", folder / "4x"), child("plan", folder)
    naive = child("naive", folder / "4x")
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "files_4x": files,
        "bytes_4x": large["bytes"],
        "heap_mb": HEAP_MB,
        "peak_rss_mb_1x": quarter["peak_rss_mb"],
        "peak_rss_mb_4x": whole["peak_rss_mb"],
        "rss_ratio": round(whole["peak_rss_mb"] / quarter["peak_rss_mb"], 3),
        "rows_per_s": round(large["rows"] / whole["seconds"]),
        "first_run_s": whole["seconds"],
        "list_s": again["list_s"],
        "noop_rerun_s": again["seconds"],
        "plan_700k_mb": planned["peak_rss_mb"],
        "plan_700k_s": planned["seconds"],
        "one_shot_outcome": naive["outcome"],
        "one_shot_rows_per_s": (
            round(large["rows"] / naive["seconds"]) if naive["outcome"] == "survived" else None
        ),
        "one_shot_peak_rss_mb": naive["peak_rss_mb"],
    }


def make_lake(folder: Path, files: int, size: int) -> dict[str, int]:
    """A lake and its source; returns what the table must hold."""
    from lakebed.app import create_lake

    settings = {"spark": {"memory": f"{HEAP_MB}m"}}
    create_lake(folder, files={PIPELINE: CONFIG.encode()}, settings=settings).close()
    rows = total = written = 0
    for number, place in enumerate(places(folder / "raw", files)):
        lines: list[str] = []
        start, length = number * 1000, 0
        while length < size // files:
            lines.append(f'{{"value":{start + len(lines)},"unit":"USD","note":"{"x" * 60}"}}')
            length += len(lines[-1]) + 1
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(lines))
        rows, written = rows + len(lines), written + length
        total += sum(range(start, start + len(lines)))
    return {"rows": rows, "total": total, "bytes": written}


def places(raw: Path, files: int) -> Iterator[Path]:
    for n in range(files):
        yield (
            raw
            / f"year={2015 + n % YEARS}"
            / f"geo_fips_set=S{n // YEARS % SETS}"
            / f"tablename=CAINC{n // (YEARS * SETS) % TABLES}"
            / f"line_code={n // (YEARS * SETS * TABLES) % LINES}"
            / f"geo_fips={n % 3200:05d}"
            / f"{n}.json"
        )


def child(what: str, folder: Path) -> dict[str, Any]:
    """A measurement in a process of its own, with the peak of its memory."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, __file__, "--child", what, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    peak = [0.0]
    watching = threading.Thread(target=_watch, args=(process.pid, peak), daemon=True)
    watching.start()
    try:
        out, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        out = json.dumps({"outcome": f"not done after {LONGEST} s"})
    if process.returncode not in (0, None) and what == "naive":
        out = json.dumps({"outcome": f"died (exit code {process.returncode})"})
    elif process.returncode:
        raise SystemExit(f"{what} failed")
    found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    watching.join(timeout=5)
    return {"seconds": round(time.monotonic() - began, 1), "peak_rss_mb": round(peak[0])} | found


def _watch(pid: int, peak: list[float]) -> None:
    while Path(f"/proc/{pid}").exists():
        peak[0] = max(peak[0], sum(_rss_mb(one) for one in (pid, *_below(pid))))
        time.sleep(0.1)


def _below(pid: int) -> Iterator[int]:
    for task in Path("/proc").glob(f"{pid}/task/*/children"):
        try:
            children = [int(text) for text in task.read_text().split()]
        except OSError:
            continue
        for one in children:
            yield one
            yield from _below(one)


def _rss_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * resource.getpagesize() / 1_000_000


def _run(folder: Path) -> dict[str, Any]:
    from lakebed.app import open_lake

    began = time.monotonic()
    with open_lake(folder) as lake:
        lake.plan()
        listed = time.monotonic() - began
        (record,) = lake.run().records
        assert record.state == "success", record.error
        seconds = time.monotonic() - began - listed
        ((rows, total),) = lake.query(QUESTION).fetchall()
    told = {"rows": int(rows), "total": int(total), "list_s": round(listed, 2)}
    return told | {"seconds": round(seconds, 2)}


def _plan(_: Path) -> dict[str, Any]:
    """Planning over a listing of 700,000 paths, which exist only as that listing."""
    from datetime import UTC, datetime

    from lakebed.batches.finding import found_batches
    from lakebed.pipelines import read_pipeline
    from lakebed.ports import FileInfo
    from lakebed.testing import MemoryFiles

    class Listing(MemoryFiles):
        def walk(self, folder: str = "") -> Iterator[FileInfo]:
            at = datetime(2026, 1, 1, tzinfo=UTC)
            for n, place in enumerate(places(Path("raw"), PLANNED)):
                yield FileInfo(str(place), 86_000, f"{n:032x}", at)

    source = read_pipeline(PIPELINE.rpartition("/")[0], {"config.yaml": CONFIG}).batches
    assert source is not None
    began = time.monotonic()
    with found_batches(Listing(), source) as found:
        assert found.files == PLANNED
    return {"seconds": round(time.monotonic() - began, 1)}


def _naive(folder: Path) -> dict[str, Any]:
    """All files in one job, written to a partitioned table as Spark does by default."""
    from lakebed.app import open_lake

    began = time.monotonic()
    with open_lake(folder) as lake:
        spark = lake.spark
        frame = spark.read.json(f"file://{folder}/raw")
        try:
            frame.writeTo("lake.econ.bronze.naive").partitionedBy(
                frame.year, frame.geo_fips_set
            ).create()
        except Exception as error:
            return {"outcome": f"failed: {type(error).__name__}: {str(error)[:200]}"}
    return {"outcome": "survived", "seconds": round(time.monotonic() - began, 1)}


if __name__ == "__main__":
    main()
