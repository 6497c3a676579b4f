"""kill -9 between the commit of an ALTER and its event: whoever looks next tells followers."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lakebed
from lakebed.tables import Follower
from tests.support.lakes.kept_lake import Kept

pytestmark = pytest.mark.spark


def killed(lake: Path, statement: str) -> None:
    environment = {**os.environ, "LAKEBED_LEASE_LIMIT_SECONDS": "1", "LAKEBED_SPARK_QUICK": "true"}
    environment.pop("LAKEBED_TEST_NO_ARCHIVE", None)
    command = [sys.executable, "-m", "tests.support.killed_alter", str(lake), statement]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == -signal.SIGKILL, (done.stdout, done.stderr)
    time.sleep(1.1)  # the lease lapses once its holder has been silent for so long


def follower(lake: lakebed.Lake, name: str) -> Follower:
    stores = lake.stores
    return Follower(
        name,
        catalog=stores.catalog,
        events=stores.events,
        records=stores.records,
        leases=stores.leases,
    )


def test_the_event_of_an_alter_whose_process_died_is_written_once_by_whoever_looks(
    kept: Kept, spark_home: Path
) -> None:
    table, folder = kept.table(), kept.lake.root.folder
    seen = follower(kept.lake, "f0").look(()).states
    statement = f"ALTER TABLE {table} ADD COLUMN note STRING"
    killed(folder, statement)
    assert [column.name for column in kept.lake.tables.describe(table).columns] == ["id", "note"]
    assert kept.lake.stores.events.since(table=table) == ()

    def look(number: int) -> tuple[str, ...]:
        with lakebed.open(folder, environment={}) as lake:
            if number % 2:
                lake.care()
                return ("schema_changed",)
            (change,) = follower(lake, f"f{number}").look(seen).changes
            return change.kinds

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(look, range(4))) == [("schema_changed",)] * 4
    (written,) = kept.lake.stores.events.since(table=table)
    assert (written.event.kind, "note STRING" in written.event.detail["statement"]) == (
        "altered",
        True,
    )
    record = kept.lake.stores.records.run(written.event.detail["run"])
    assert record
    assert (record.state, record.error) == ("success", {})
    assert [one.event.kind for one in follower(kept.lake, "f0").look(seen).events] == ["altered"]
