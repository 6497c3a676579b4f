"""Kartothek datasets beside plateau: planning by an index, appending, reading.

python benchmarks/kartothek.py [--quick]

A dataset of many partitions with 1,000 rows each and an index on a column whose values are all
different. Lakebed writes it; Lakebed and plateau (in its own environment, `setup.sh plateau`) each
look up one value and append one row, both in warm processes, the median of several. plateau appends
to a copy. In the end plateau finds the row that Lakebed appended. Spark's executors write rows as a
dataset and as Parquet alone. The last line is one JSON object.
"""

import argparse
import json
import platform
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from lakebed import kartothek
from lakebed.app import create_lake, open_lake
from lakebed.engines.files import FolderFiles
from lakebed.engines.spark.kartothek import write_frame

ROOT = Path(__file__).parent.parent
ROWS = 1_000
NEW = 10**9
PLATEAU = """
import json, sys, time
from functools import partial
from statistics import median
import pandas as pd
from minimalkv import get_store_from_url
from plateau.core.factory import DatasetFactory
from plateau.io.eager import read_table, update_dataset_from_dataframes
from plateau.io_components.read import dispatch_metapartitions_from_factory

folder, uuid, work, value, rounds = sys.argv[1:]
store = partial(get_store_from_url, f"hfs://{folder}")

def plan():
    predicates = [[("id", "==", int(value))]]
    factory = DatasetFactory(uuid, store)
    return list(dispatch_metapartitions_from_factory(factory, predicates=predicates))

def append(number):
    rows = pd.DataFrame({"id": [int(value) + number]})
    update_dataset_from_dataframes([rows], store=store, dataset_uuid=uuid)

def timed(call):
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000

if work == "find":
    print(len(read_table(uuid, store, predicates=[[("id", "==", int(value))]])))
elif work == "plan":
    print(median(timed(plan) for _ in range(int(rounds))))
else:
    print(median(timed(lambda: append(number)) for number in range(int(rounds))))
"""


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


def timed_ms(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def write(files: FolderFiles, uuid: str, partitions: int) -> None:
    """Values are spread over the partitions, so that each is in a different row group of theirs."""
    frames = (
        pa.table({"id": range(number, partitions * ROWS, partitions)})
        for number in range(partitions)
    )
    kartothek.store(files, uuid, frames, options=kartothek.DatasetOptions(indexed=("id",)))


def by_plateau(folder: Path, uuid: str, work: str, value: int, rounds: int) -> float:
    python = ROOT / ".setup" / "plateau" / "bin" / "python"
    command = [str(python), "-W", "ignore", "-c", PLATEAU]
    arguments = [str(folder), uuid, work, str(value), str(rounds)]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    return float(done.stdout.strip().splitlines()[-1])


def appended_ms(files: FolderFiles, uuid: str, rounds: int) -> float:
    def append(number: int) -> None:
        kartothek.update(files, uuid, pa.table({"id": [NEW + number]}))

    return median(timed_ms(partial(append, number)) for number in range(rounds))


def segmented_appends(files: FolderFiles, small: int, large: int, rounds: int) -> dict[str, float]:
    """The same appends to datasets whose indices are in segments, for Lakebed alone."""
    found: dict[str, float] = {}
    for name, source, partitions in (("50", "small", small), ("2000", "large", large)):
        kartothek.copy(files, source, to=files, as_uuid=f"segments{name}")
        on = {"lakebed.index_segments": "true"}
        kartothek.update(
            files, f"segments{name}", pa.table({"id": [NEW - partitions]}), metadata=on
        )
        found[f"append_segments_{name}_ms"] = appended_ms(files, f"segments{name}", rounds)
    return found


def measured(folder: Path, *, small: int, middle: int, large: int, rounds: int) -> dict[str, Any]:
    files = FolderFiles(folder)
    for uuid, partitions in (("small", small), ("middle", middle), ("large", large)):
        write(files, uuid, partitions)
    kartothek.copy(files, "large", to=files, as_uuid="theirs")
    value = middle * ROWS // 3
    predicates = [[("id", "==", value)]]

    def plan() -> kartothek.ReadPlan:
        return kartothek.plan_read(counted, "middle", predicates=predicates)

    counted = CountedFiles(folder)
    assert len(plan().partitions) == 1
    calls, index = counted.calls, kartothek.load_state(files, "middle").indices["id"]
    share = counted.bytes[index] / files.info(index).size
    found: dict[str, Any] = {
        "plan_500k_ms": median(timed_ms(plan) for _ in range(rounds)),
        "plateau_plan_500k_ms": by_plateau(folder, "middle", "plan", value, rounds),
        "plan_calls": calls,
        "index_bytes_share": share,
        "append_50_ms": appended_ms(files, "small", rounds),
        "append_2000_ms": appended_ms(files, "large", rounds),
        **segmented_appends(files, small, large, rounds),
        "plateau_append_2000_ms": by_plateau(folder, "theirs", "append", NEW, 1),
        "read_2000_s": timed_ms(lambda: kartothek.read_table(files, "large")) / 1000,
    }
    assert by_plateau(folder, "large", "find", NEW, 1) == 1, "plateau cannot read what we appended"
    return found


def spark_writes(folder: Path, rows: int) -> dict[str, float]:
    """Rows that Spark's executors write as a dataset, and as Parquet alone; gigabytes of the same
    Parquet files a minute. The first of each warms up.
    """
    create_lake(folder / "lake", settings={"spark": {"memory": "4g"}})
    location = partial(FolderFiles, folder / "location")
    spec = kartothek.PartitionSpec("spark")
    with open_lake(folder / "lake") as lake:

        def frame(count: int) -> Any:
            columns = ("id", "id % 1000 item", "rand(7) x", "concat('name ', id % 50000) name")
            return lake.spark.range(0, count, 1, 4).selectExpr(*columns)

        def plain(count: int) -> None:
            frame(count).write.mode("overwrite").parquet(str(folder / "plain"))

        def dataset(count: int) -> None:
            written = write_frame(frame(count), location, spec)
            kartothek.commit_new(location(), "spark", written)

        plain(1_000)
        dataset(1_000)
        kartothek.delete(location(), "spark")
        theirs, ours = timed_ms(lambda: plain(rows)), timed_ms(lambda: dataset(rows))
    size = sum(file.stat().st_size for file in (folder / "plain").glob("*.parquet"))
    return {
        "write_gb_per_min": size / 1e9 / (ours / 60_000),
        "spark_write_gb_per_min": size / 1e9 / (theirs / 60_000),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the partitions")
    quick = parser.parse_args().quick
    subprocess.run(["bash", str(ROOT / "scripts" / "setup.sh"), "plateau"], check=True)
    small, middle, large = (5, 50, 200) if quick else (50, 500, 2_000)
    rounds = 3 if quick else 5
    with tempfile.TemporaryDirectory(prefix="lakebed-kartothek-") as folder:
        place = Path(folder).resolve()
        found = measured(place, small=small, middle=middle, large=large, rounds=rounds)
        found |= spark_writes(place, 1_000_000 if quick else 20_000_000)
    for name, value in found.items():
        print(f"{name:>24}  {value:,.3f}" if isinstance(value, float) else f"{name:>24}  {value}")
    print(json.dumps({"quick": quick, "machine": platform.machine(), **found}))


if __name__ == "__main__":
    main()
