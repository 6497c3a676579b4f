"""Very many raw files to one table, batch by batch: does memory grow with the input?

python benchmarks/batches.py [--quick] [--part 1x|4x|plan|one_shot …]

70,000 small JSON files in five levels of folders (4x: 20 years, 6 GB of text) become a table with
two levels, a batch a year, with a heap of 1 GB; beside a quarter of the files (1x: 5 years), and
beside one Spark job that does all at once with the same heap (one_shot). Every measurement is a
process of its own; its memory is the sum of the resident sets of its process tree, Python and JVM,
looked at ten times a second. Every result is compared with the source by count and sum. The last
line is one JSON object; without --part it has every figure, with it those of the parts. Nothing is
left behind.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

FILES, BYTES, HEAP_MB = 70_000, 6_000_000_000, 1024
YEARS, SETS, TABLES, LINES = 20, 3, 7, 10  # a year is a batch
PLANNED = 700_000
LONGEST = 3600  # seconds until a measurement counts as stuck
PARTS = ("1x", "4x", "plan", "one_shot")
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
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; repeatable")
    parser.add_argument("--child", nargs="*", default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        measured, place = given.child
        todo = {"run": _run, "count": _count, "plan": _plan, "one_shot": _one_shot}[measured]
        print(json.dumps(todo(Path(place))))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    scale = 100 if given.quick else 1
    with tempfile.TemporaryDirectory() as folder:
        found = measure(
            Path(folder),
            given.part or PARTS,
            files=FILES // scale,
            size=BYTES // scale,
            years=8 if given.quick else YEARS,
        )
    print(json.dumps(found))


def measure(
    folder: Path, parts: Sequence[str], *, files: int, size: int, years: int
) -> dict[str, Any]:
    """The figures of these parts; the source of a part is removed after it."""
    told: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "heap_mb": HEAP_MB,
    }
    if "1x" in parts:
        told |= _small(folder / "1x", files // 4, size // 4, years // 4)
    if "4x" in parts or "one_shot" in parts:
        told |= _large(folder / "4x", parts, files, size, years)
    if "plan" in parts:
        planned = child("plan", folder)
        told |= {"plan_700k_mb": planned["peak_rss_mb"], "plan_700k_s": planned["seconds"]}
    if "1x" in parts and "4x" in parts:
        told["rss_ratio"] = round(told["peak_rss_mb_4x"] / told["peak_rss_mb_1x"], 3)
    return told


def _small(folder: Path, files: int, size: int, years: int) -> dict[str, Any]:
    made = make_lake(folder, files, size, years)
    found = _checked_run(folder, made)
    shutil.rmtree(folder)
    return {"peak_rss_mb_1x": found["peak_rss_mb"], "first_run_s_1x": found["seconds"]}


def _large(folder: Path, parts: Sequence[str], files: int, size: int, years: int) -> dict[str, Any]:
    made = make_lake(folder, files, size, years)
    told: dict[str, Any] = {"files_4x": files, "bytes_4x": made["bytes"]}
    if "4x" in parts:
        first, again = (_checked_run(folder, made) for _ in range(2))
        told |= {
            "peak_rss_mb_4x": first["peak_rss_mb"],
            "rows_per_s": round(made["rows"] / first["seconds"]),
            "first_run_s": first["seconds"],
            "list_s": first["list_s"],
            "noop_rerun_s": again["seconds"],
            "noop_ratio": round(again["seconds"] / first["seconds"], 4),
        }
    if "one_shot" in parts:
        one_shot = child("one_shot", folder)
        survived = one_shot["outcome"] == "survived"
        told |= {
            "one_shot_outcome": one_shot["outcome"],
            "one_shot_rows_per_s": (
                round(made["rows"] / one_shot["seconds"]) if survived else None
            ),
            "one_shot_peak_rss_mb": one_shot["peak_rss_mb"],
        }
    shutil.rmtree(folder)
    return told


def _checked_run(folder: Path, made: dict[str, int]) -> dict[str, Any]:
    """A run; its rows are counted by a process of its own, whose memory is not the run's."""
    found, counted = child("run", folder), child("count", folder)
    assert (counted["rows"], counted["total"]) == (made["rows"], made["total"]), (counted, made)
    return found


def make_lake(folder: Path, files: int, size: int, years: int) -> dict[str, int]:
    """A lake and its source; returns what the table must hold. All files have the same rows."""
    from lakebed.app import create_lake

    settings = {"spark": {"memory": f"{HEAP_MB}m"}}
    create_lake(folder, files={PIPELINE: CONFIG.encode()}, settings=settings).close()
    lines: list[str] = []
    length = 0
    while length < -(-size // files):
        lines.append(f'{{"value":{1000 + len(lines)},"unit":"USD","note":"{"x" * 60}"}}')
        length += len(lines[-1]) + 1
    data = "".join(f"{line}\n" for line in lines).encode()
    for place in places(folder / "raw", files, years):
        with suppress(FileExistsError):
            place.parent.mkdir(parents=True)
        place.write_bytes(data)
    total = sum(range(1000, 1000 + len(lines)))
    return {"rows": files * len(lines), "total": files * total, "bytes": files * len(data)}


def places(raw: Path, files: int, years: int) -> Iterator[Path]:
    for n in range(files):
        yield (
            raw
            / f"year={2000 + n % years}"
            / f"geo_fips_set=S{n // years % SETS}"
            / f"tablename=CAINC{n // (years * SETS) % TABLES}"
            / f"line_code={n // (years * SETS * TABLES) % LINES}"
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
        code = process.returncode
    except subprocess.TimeoutExpired:
        out, code = "", None
    finally:
        with suppress(ProcessLookupError):  # its JVM too, however it ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    seconds = round(time.monotonic() - began, 1)
    if code == 0:
        found: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    elif what == "one_shot":
        found = {"outcome": f"died (exit code {code})" if code else f"not done after {LONGEST} s"}
    else:
        raise SystemExit(f"{what} failed")
    watching.join(timeout=5)
    return {"seconds": seconds, "peak_rss_mb": round(peak[0])} | found


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
            if _command(one) == _command(pid):
                continue  # forked a moment ago: its memory is still its parent's
            yield one
            yield from _below(one)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


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
    return {"list_s": round(listed, 2), "seconds": round(seconds, 2)}


def _count(folder: Path) -> dict[str, Any]:
    from lakebed.app import open_lake

    with open_lake(folder) as lake:
        ((rows, total),) = lake.query(QUESTION).fetchall()
    return {"rows": int(rows), "total": int(total)}


def _plan(_: Path) -> dict[str, Any]:
    """Planning over a listing of 700,000 paths, which exist only as that listing."""
    from datetime import UTC, datetime

    from lakebed.batches.changes import decide_batches
    from lakebed.batches.finding import found_batches
    from lakebed.batches.state import BatchStates
    from lakebed.pipelines import read_pipeline
    from lakebed.pipelines.planning.sources.look import SourceLook
    from lakebed.pipelines.planning.sources.plan import plan_source
    from lakebed.ports import FileInfo
    from lakebed.testing import MemoryFiles

    class Listing(MemoryFiles):
        def walk(self, folder: str = "") -> Iterator[FileInfo]:
            at = datetime(2026, 1, 1, tzinfo=UTC)
            for n, place in enumerate(places(Path("raw"), PLANNED, YEARS)):
                yield FileInfo(str(place), 86_000, f"{n:032x}", at)

    spec = read_pipeline(PIPELINE.rpartition("/")[0], {"config.yaml": CONFIG})
    assert spec.batches is not None
    began, nothing = time.monotonic(), BatchStates({})
    with found_batches(Listing(), spec.batches) as found:
        decision = decide_batches(found.batches, nothing, config="")
        plan = plan_source(spec, SourceLook(spec.batches, found, nothing, decision, None))
        assert plan.files == PLANNED
    return {"seconds": round(time.monotonic() - began, 1)}


def _one_shot(folder: Path) -> dict[str, Any]:
    """All files in one job, written to a partitioned table as Spark does by default."""
    from lakebed.app import open_lake

    with open_lake(folder) as lake:
        began = time.monotonic()
        try:
            frame = lake.spark.read.json(f"file://{folder}/raw")
            writer = frame.writeTo("lake.econ.bronze.one_shot")
            writer.partitionedBy(frame.year, frame.geo_fips_set).create()
        except Exception as error:
            return {"outcome": f"failed: {type(error).__name__}: {str(error)[:200]}"}
        return {"outcome": "survived", "seconds": round(time.monotonic() - began, 2)}


if __name__ == "__main__":
    main()
