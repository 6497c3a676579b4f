"""Kartothek datasets beside plateau: planning by an index, appending, reading, writing with Spark.

python benchmarks/kartothek.py [--quick]

Datasets of many partitions with 1,000 rows each and an index on a column whose values are all
different. Lakebed writes them; Lakebed and plateau (in an environment of its own) take turns in
looking up one value and in appending one row, both in warm processes; the median counts. plateau
appends to a copy, and must find the rows that Lakebed appended. Lakebed also appends to
copies whose indices are in segments, which are for its own readers only. In the end Spark writes
rows in turns as a dataset and as Parquet alone. The last line is one JSON object.
"""

import argparse
import json
import platform
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from lakebed import kartothek
from lakebed.app import create_lake, open_lake
from lakebed.engines.files import FolderFiles

ROOT = Path(__file__).parent.parent
ROWS = 1_000
NEW = 10**9
PLATEAU = """
import json, sys, time
from functools import partial
import pandas as pd
from minimalkv import get_store_from_url
from plateau.core.factory import DatasetFactory
from plateau.io.eager import read_table, update_dataset_from_dataframes
from plateau.io_components.read import dispatch_metapartitions_from_factory

store = partial(get_store_from_url, f"hfs://{sys.argv[1]}")

def plan(uuid, value):
    factory = DatasetFactory(uuid, store)
    found = dispatch_metapartitions_from_factory(factory, predicates=[[("id", "==", value)]])
    assert len(list(found)) == 1

def append(uuid, value):
    rows = pd.DataFrame({"id": [value]})
    update_dataset_from_dataframes([rows], store=store, dataset_uuid=uuid)

def find(uuid, value):
    assert len(read_table(uuid, store, predicates=[[("id", "==", value)]])) == 1

for line in sys.stdin:
    work, uuid, value = json.loads(line)
    started = time.perf_counter()
    globals()[work](uuid, value)
    print((time.perf_counter() - started) * 1000, flush=True)
"""
Plateau = Callable[[str, str, int], float]


class CountedFiles(FolderFiles):
    """A folder whose calls are counted, and bytes read by path."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.calls, self.bytes = 0, Counter[str]()

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        self.calls += 1
        data = super().read(path, start=start, length=length)
        self.bytes[path] += len(data)
        return data


@contextmanager
def plateau_beside(folder: Path) -> Iterator[Plateau]:
    """plateau in a process of its own; each call gives the milliseconds that it took there."""
    python = ROOT / ".setup" / "plateau" / "bin" / "python"
    command = [str(python), "-W", "ignore", "-c", PLATEAU, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        asked, answered = process.stdin, process.stdout
        assert asked is not None
        assert answered is not None

        def ask(work: str, uuid: str, value: int) -> float:
            asked.write(json.dumps([work, uuid, value]) + "\n")
            asked.flush()
            answer = answered.readline()
            assert answer, f"plateau cannot {work} in {uuid}"
            return float(answer)

        yield ask
        asked.close()


def timed_ms(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def in_turns(rounds: int, works: dict[str, Callable[[int], float]]) -> dict[str, float]:
    """The median of each, after one round that does not count."""
    for work in works.values():
        work(0)
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(1, rounds + 1):
        for name, work in works.items():
            found[name].append(work(number))
    return {name: median(times) for name, times in found.items()}


def write(files: FolderFiles, uuid: str, partitions: int, *, segments: bool = False) -> None:
    """Values are spread over the partitions, so that each is in a different row group of theirs."""
    frames = (
        pa.table({"id": range(number, partitions * ROWS, partitions)})
        for number in range(partitions)
    )
    options = kartothek.DatasetOptions(indexed=("id",), index_segments=segments)
    kartothek.store(files, uuid, frames, options=options)


def append(files: FolderFiles, uuid: str, number: int) -> float:
    return timed_ms(lambda: kartothek.update(files, uuid, pa.table({"id": [NEW + number]})))


def plans(folder: Path, plateau: Plateau, partitions: int, rounds: int) -> dict[str, Any]:
    files, value = FolderFiles(folder), partitions * ROWS // 3
    write(files, "middle", partitions)
    counted = CountedFiles(folder)

    def plan() -> None:
        found = kartothek.plan_read(counted, "middle", predicates=[[("id", "==", value)]])
        assert len(found.partitions) == 1

    plan()
    calls, index = counted.calls, kartothek.load_state(files, "middle").indices["id"]
    share = counted.bytes[index] / files.info(index).size
    works: dict[str, Callable[[int], float]] = {
        "plan_500k_ms": lambda _: timed_ms(plan),
        "plateau_plan_500k_ms": lambda _: plateau("plan", "middle", value),
    }
    return {**in_turns(rounds, works), "plan_calls": calls, "index_bytes_share": share}


def appends(
    folder: Path, plateau: Plateau, *, small: int, large: int, rounds: int
) -> dict[str, Any]:
    files = FolderFiles(folder)
    for size, partitions in (("50", small), ("2000", large)):
        write(files, f"whole{size}", partitions)
        write(files, f"segments{size}", partitions, segments=True)
    kartothek.copy(files, "whole2000", to=files, as_uuid="theirs")
    found: dict[str, Any] = in_turns(
        rounds,
        {
            "append_50_ms": partial(append, files, "whole50"),
            "append_segments_50_ms": partial(append, files, "segments50"),
            "append_segments_2000_ms": partial(append, files, "segments2000"),
        },
    )
    found |= in_turns(
        rounds // 2,  # each append of plateau takes as long as all of the above
        {
            "append_2000_ms": partial(append, files, "whole2000"),
            "plateau_append_2000_ms": lambda n: plateau("append", "theirs", NEW + n),
        },
    )
    plateau("find", "whole2000", NEW)
    found["read_2000_s"] = timed_ms(lambda: kartothek.read_table(files, "whole2000")) / 1000
    return found


def spark_writes(folder: Path, rows: int, rounds: int) -> dict[str, float]:
    """Rows that Spark's executors write as a dataset, and as Parquet alone: gigabytes of the
    Parquet that Spark writes, a minute.
    """
    create_lake(folder / "lake", settings={"spark": {"memory": "4g"}})
    with open_lake(folder / "lake") as lake:

        def frame() -> Any:
            columns = ("id", "id % 1000 item", "rand(7) x", "concat('name ', id % 50000) name")
            return lake.spark.range(0, rows, 1, 4).selectExpr(*columns)

        def plain() -> None:
            frame().write.mode("overwrite").parquet(str(folder / "plain"))

        def dataset() -> None:
            lake.kartothek.store(f"{folder}/location/spark", frame(), overwrite=True)

        found = in_turns(
            rounds, {"ours": lambda _: timed_ms(dataset), "spark": lambda _: timed_ms(plain)}
        )
    size = sum(file.stat().st_size for file in (folder / "plain").glob("*.parquet")) / 1e9
    return {
        "write_gb_per_min": size / (found["ours"] / 60_000),
        "spark_write_gb_per_min": size / (found["spark"] / 60_000),
    }


def shown(found: dict[str, Any]) -> dict[str, Any]:
    for name, value in found.items():
        text = f"{value:,.3f}" if isinstance(value, float) else value
        print(f"{name:>24}  {text}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the partitions")
    quick = parser.parse_args().quick
    subprocess.run(["bash", str(ROOT / "scripts" / "setup.sh"), "plateau"], check=True)
    small, middle, large = (5, 50, 200) if quick else (50, 500, 2_000)
    rounds = 3 if quick else 7
    with tempfile.TemporaryDirectory(prefix="lakebed-kartothek-") as folder:
        place = Path(folder).resolve()
        with plateau_beside(place) as plateau:
            found = shown(plans(place, plateau, middle, rounds))
            found |= shown(appends(place, plateau, small=small, large=large, rounds=rounds))
        found |= shown(spark_writes(place, 1_000_000 if quick else 10_000_000, 1 if quick else 3))
    print(json.dumps({"quick": quick, "machine": platform.machine(), **found}))


if __name__ == "__main__":
    main()
