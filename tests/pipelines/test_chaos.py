"""Whole runs on PostgreSQL and S3 while the ways there delay, break and fall silent: no row is
lost, doubled or invented, and nearly all of them succeed.

`pytest -s` lists the faults of each run. They follow from its seed, which is the same in every `make
test`; at a larger scale LAKEBED_TEST_SEED repeats them.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.ports import RunRecord
from lakebed.settings import FilesSettings, LeaseSettings, PostgresCatalog, Settings
from tests.servers.lossy import Fate, faulty_way
from tests.servers.postgres import Database
from tests.servers.processes import LOOPBACK
from tests.servers.s3 import Bucket
from tests.support.scale import SCALE, fuzz_seed

pytestmark = [
    *(pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres),
    pytest.mark.filterwarnings("ignore:Parquet writer option"),
]

RUNS = 6 if SCALE == 1 else 40
FAULTS = 3  # that a run meets at least
FAILING = max(1, RUNS // 20)  # runs that may fail: each of their attempts can meet a fault
HUNG = 300.0  # seconds; far beyond all limits together
TABLE = "shop.silver.orders"
FOLDER = "shop/pipelines/silver/orders"
CONFIG = b"merge_strategy: append_only\nmax_retries: 2\nretry_delay_seconds: 1\n"
GATE = b"SELECT id FROM {{ this }} GROUP BY id HAVING count(*) > 1"
ON_POSTGRES: tuple[Fate, ...] = ("delay", "cut", "cut", "lose", "lose", "silence", "deaf")
ON_S3: tuple[Fate, ...] = ("delay", "cut", "lose", "busy")
SLOW_ON_S3: tuple[Fate, ...] = (
    ("silence", "deaf") if SCALE > 1 else ()
)  # Hadoop's S3A waits 15 s at least


@dataclass
class Ambush:
    """Faults that lie in wait on one way, by the number of what is sent."""

    name: str
    waiting: dict[int, Fate] = field(default_factory=dict)
    met: list[str] = field(default_factory=list)
    sent: int = 0
    _turn: Lock = field(default_factory=Lock)

    def lay(self, faults: dict[int, Fate]) -> None:
        with self._turn:
            self.waiting, self.met, self.sent = faults, [], 0

    def fate(self, _: bytes) -> Fate:
        with self._turn:
            self.sent += 1
            what = self.waiting.pop(self.sent, "carry")
            if what != "carry":
                self.met.append(f"{what} ({self.name}, {self.sent})")
        return what


@contextmanager
def faulty_lake(
    database: Database, bucket: Bucket, postgres: Ambush, s3: Ambush
) -> Iterator[lakebed.Lake]:
    """The lake over ways on which faults wait."""
    port = int(bucket.settings.endpoint.rsplit(":", 1)[1])
    with (
        faulty_way(database.port, fate=postgres.fate) as to_postgres,
        faulty_way(port, fate=s3.fate) as to_s3,
    ):
        url = f"postgresql://{LOOPBACK}:{to_postgres}/{database.database}"
        catalog = PostgresCatalog.model_validate(
            database.catalog.model_dump() | {"url": url, "timeout_seconds": 3.0}
        )
        reached = {"endpoint": f"http://{LOOPBACK}:{to_s3}", "timeout_seconds": 10.0}
        files = FilesSettings.model_validate(bucket.settings.model_dump() | reached)
        settings = Settings(catalog=catalog, files=files, lease=LeaseSettings(limit_seconds=20.0))
        with lakebed.Lake(bucket.root, settings, environment={}) as lake:
            yield lake


def run_one(lake: lakebed.Lake, number: int) -> RunRecord:
    """A run that brings one row; one that never ends fails the test."""
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(lake.run, TABLE, vars={"n": number}).result(HUNG)
    return result.records[0]


def append(lake: lakebed.Lake, number: int) -> None:
    """What somebody else brings, who knows nothing of Lakebed."""
    lake.iceberg.load_table(("shop", "silver", "orders")).append(
        pa.table({"id": pa.array([number], pa.int32())})
    )


def faults(chance: random.Random, kinds: Sequence[Fate], *, sent: int) -> dict[int, Fate]:
    """Two faults, somewhere in what a run sends."""
    return {place: chance.choice(kinds) for place in chance.sample(range(1, sent + 1), 2)}


@dataclass
class Runs:
    """What became of the runs, and of the rows that somebody else brought."""

    records: dict[int, RunRecord] = field(default_factory=dict)
    theirs: list[int] = field(default_factory=list)
    ambushed: list[int] = field(default_factory=list)  # runs that met enough faults

    def failed(self, *, among: Collection[int]) -> dict[int, Any]:
        return {
            number: self.records[number].error
            for number in among
            if self.records[number].state != "success"
        }

    def wrong_rows(self, rows: Counter[int]) -> dict[int, int]:
        """Rows that are not there once; one whose run cannot tell may be missing."""
        failed = self.failed(among=self.records)
        once = [*(self.records.keys() - failed.keys()), *self.theirs]
        wrong = {number: rows[number] for number in once if rows[number] != 1}
        for number, error in failed.items():
            if rows[number] > (error["kind"] == "OutcomeUnknown"):
                wrong[number] = rows[number]
        return wrong


def run_in_ambush(far: lakebed.Lake, direct: lakebed.Lake, postgres: Ambush, s3: Ambush) -> Runs:
    """Runs until so many have met enough faults; one that was lucky is only counted."""
    runs = Runs({0: run_one(far, 0)})
    sent = postgres.sent, s3.sent
    while len(runs.ambushed) < RUNS and len(runs.records) <= 2 * RUNS:
        number = len(runs.records)
        chance = random.Random(fuzz_seed(number))
        postgres.lay(faults(chance, ON_POSTGRES, sent=sent[0]))
        s3.lay(faults(chance, ON_S3 + SLOW_ON_S3, sent=sent[1]))
        if chance.random() < 0.5:
            append(direct, -number)
            runs.theirs.append(-number)
        runs.records[number] = record = run_one(far, number)
        met = [*postgres.met, *s3.met]
        runs.ambushed += [number] if len(met) >= FAULTS else []
        print(f"seed {fuzz_seed(number)}: {record.state}, attempt {record.attempt}: {met}")
    postgres.lay({})
    s3.lay({})
    return runs


@pytest.mark.usefixtures("spark_home")
def test_rows_of_runs_come_exactly_once_through_a_network_that_delays_breaks_and_falls_silent(
    database: Database, bucket: Bucket
) -> None:
    postgres, s3 = Ambush("PostgreSQL"), Ambush("S3")
    direct = lakebed.Lake(
        bucket.root, Settings(catalog=database.catalog, files=bucket.settings), environment={}
    )
    direct.stores.files.write(f"{FOLDER}/pipeline.sql", b"SELECT {{ var('n') }} AS id")
    direct.stores.files.write(f"{FOLDER}/config.yaml", CONFIG)
    direct.stores.files.write(f"{FOLDER}/tests/quality/once.sql", GATE)
    with direct, faulty_lake(database, bucket, postgres, s3) as far:
        runs = run_in_ambush(far, direct, postgres, s3)
        table = direct.iceberg.load_table(("shop", "silver", "orders"))
        rows = Counter(table.scan().to_arrow()["id"].to_pylist())
    assert runs.wrong_rows(rows) == {}
    assert len(runs.ambushed) == RUNS, "too few faults were met: the test proved nothing"
    failed = runs.failed(among=runs.ambushed)
    assert len(failed) <= FAILING, failed
