"""Care on a REST catalog: it places tables itself, and commits one at a time."""

from datetime import UTC, datetime, timedelta

import pytest

from lakebed.app import Lake
from lakebed.care.removal.removal import FOLDER
from tests.support.benches import RealBench
from tests.support.lakes.care_lakes import entry, states

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
    assert states(result) == {
        ("expire_snapshots", str(table)): "done",
        ("purge_dropped", str(dropped)): "done",
    }
    assert len(lake.tables.describe(table).snapshots) == 1
    assert bench.rows(table) == [1, 2, 3]
    assert [gone for gone in bench.catalog.dropped() if gone.table == dropped] == []
    assert list(lake.stores.files.list(FOLDER)) == []
    lake.close()


def test_a_dropped_table_whose_files_another_took_up_is_kept_for_the_server_would_remove_them(
    rest_only_bench: RealBench,
) -> None:
    bench = rest_only_bench
    lent, taker = bench.table("lent"), bench.table("taker")
    bench.write(lent, [4])
    files = bench.iceberg.load_table(lent.parts).inspect.data_files()["file_path"].to_pylist()
    bench.iceberg.load_table(taker.parts).add_files(files)
    bench.catalog.drop(lent)
    lake = Lake(bench.root, bench.settings, environment={})
    result = lake.care(str(lent), now=datetime.now(UTC) + timedelta(days=40))
    assert f"{taker} needs files of it" in entry(result, "purge_dropped").message
    assert bench.rows(taker) == [4]
    lake.close()
