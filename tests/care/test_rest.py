"""Care on a REST catalog: it places tables itself, and commits one at a time."""

from datetime import UTC, datetime, timedelta

import pytest

from lakebed.app import Lake
from lakebed.care.removal import FOLDER
from tests.care.lakes import states
from tests.contracts.benches import RealBench

pytestmark = [pytest.mark.s3, pytest.mark.postgres]


def test_snapshots_expire_and_files_that_lie_elsewhere_are_left(rest_only_bench: RealBench) -> None:
    bench = rest_only_bench
    table, dropped = bench.table("orders"), bench.table("gone")
    for rows in ([1], [2], [3]):
        bench.write(table, rows)
    bench.write(dropped, [9])
    bench.catalog.drop(dropped)
    lake = Lake(bench.root, bench.settings, environment={})
    assert lake.care(str(table), dry_run=True).entries == ()
    result = lake.care(str(table), str(dropped), now=datetime.now(UTC) + timedelta(days=40))
    assert states(result) == {("expire_snapshots", str(table)): "done", ("purge_dropped", str(dropped)): "done"}
    assert len(lake.describe(table).snapshots) == 1
    assert bench.rows(table) == [1, 2, 3]
    assert [gone for gone in bench.catalog.dropped() if gone.table == dropped] == []
    assert list(lake.stores.files.list(FOLDER)) == []
    lake.close()
