"""A merge into a table ten times as large as the memory Spark may compute with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import in_turn

pytestmark = pytest.mark.spark

HEAP, FRACTION, RESERVED = (
    2048,
    0.01,
    300,
)  # MiB; Spark keeps 300 MiB for itself and takes this share of the rest
ROWS = 3_000_000
ROW_BYTES = 64  # id, value and a text of 40 letters that does not compress in memory

MERGE = """
import json, sys
import lakebed
with lakebed.open(sys.argv[1]) as lake:
    first = lake.run(full_refresh=True, vars={"version": 1})
    second = lake.run("silver.big", vars={"version": 2})
    runs = [*first.records, *second.records]
    print(json.dumps([[run.state, dict(run.rows), dict(run.error)] for run in runs]))
"""


@in_turn(1, of=4)
def test_a_merge_into_a_table_ten_times_sparks_memory_works(tmp_path: Path) -> None:
    memory = int((HEAP - RESERVED) * FRACTION) * 1024 * 1024
    assert 10 * memory < ROWS * ROW_BYTES
    conf = {"spark.memory.fraction": str(FRACTION), "spark.sql.autoBroadcastJoinThreshold": "-1"}
    shop = TestLake(tmp_path / "lake", settings={"spark": {"memory": f"{HEAP}m", "conf": conf}})
    source = (
        "SELECT id, {{ var('version') }} AS version, "
        "concat(md5(CAST(id AS STRING)), '-', lpad(CAST(id AS STRING), 7, '0')) AS name "
        f"FROM range({ROWS}) {{% if is_incremental() %}}WHERE id % 2 = 0{{% endif %}}"
    )
    shop.pipeline("silver.big", source, "merge_strategy: incremental\nunique_key: id")
    shop.lake.close()
    done = subprocess.run(
        [sys.executable, "-c", MERGE, str(shop.folder)],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    (first, loaded, _), (second, merged, error) = json.loads(done.stdout.splitlines()[-1])
    assert (first, second) == ("success", "success"), error
    assert loaded["total"] == merged["total"] == ROWS
    assert merged["updated"] == ROWS // 2
    assert (
        sum(
            1
            for _ in (shop.folder / "shop" / "warehouse" / "silver" / "big" / "data").rglob(
                "*.parquet"
            )
        )
        > 1
    )
