"""Runs and writes that are killed, and what must be true of a lake once another run has come after them."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from lakebed import Lake
from lakebed.names import TableName
from tests.support.tables import snapshots_of


def let_die(module: str, *arguments: str, given: Mapping[str, str] | None = None) -> None:
    """Run a module of `tests.support` until it kills itself (SIGKILL) half-way through its work on
    a lake, and wait until its lease has lapsed.

    `given` is added to its environment.
    """
    own = {"LAKEBED_LEASE_LIMIT_SECONDS": "1", "LAKEBED_SPARK_QUICK": "true"}
    environment = {**os.environ, **(given or {}), **own}
    environment.pop("LAKEBED_TEST_NO_ARCHIVE", None)
    done = subprocess.run(
        [sys.executable, "-m", f"tests.support.{module}", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == -signal.SIGKILL, (arguments, done.stdout, done.stderr)
    time.sleep(1.1)


def killed(
    lake: Path | str,
    when: str | int,
    step: str,
    *options: str,
    environment: Mapping[str, str] | None = None,
) -> None:
    """A run that dies there; its lease is short, so that the next one need not wait."""
    let_die("killed_run", str(lake), str(when), step, *options, given=environment)


def check_healed(lake: Lake, tables: Iterable[TableName]) -> None:
    """After every fault and the run that healed it: no leftovers, one record and one snapshot for
    each success, and every file of every ref.
    """
    mine = {table.namespace for table in tables}
    pointers = lake.stores.catalog.pointers()
    assert not [table for table in pointers if table.hidden and table.namespace in mine]
    assert lake.stores.catalog.unsettled() == ()
    assert lake.stores.records.pinned() == {}
    for table in tables:
        assert set(lake.tables.describe(table).refs) == {"main"}
        assert lake.stores.records.runs(table=table, state="running") == ()
        _check_records(lake, table)
        _check_files(lake, table)


def _check_records(lake: Lake, table: TableName) -> None:
    """Each success that wrote has its snapshot, and no other run has one; others may commit."""
    succeeded = lake.stores.records.runs(table=table, state="success")
    recorded = {record.run_id: record.snapshot for record in succeeded if record.snapshot}
    published = [one for one in snapshots_of(lake, table) if one.run_id]
    assert {one.run_id: one.id for one in published} == recorded
    assert set(Counter(one.run_id for one in published).values()) <= {1}


def _check_files(lake: Lake, table: TableName) -> None:
    """Every snapshot of every ref can be read to its last file."""
    loaded = lake.iceberg.load_table(table.parts)
    for snapshot in loaded.snapshots():
        loaded.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
