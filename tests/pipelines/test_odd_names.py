"""Columns may have any name from the landing file to the reader: statements quote it everywhere."""

import json

import pyarrow as pa
import pytest

from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import snapshots_of

pytestmark = [pytest.mark.spark]

NAMES = ["my id", "a-b", "a.b", "1st", "x$y", "count(*)", "€", "it's", "a/b", 'q"q', "b`t"]
HEADER = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
CONFIG = (
    f"merge_strategy: incremental\nunique_key: {json.dumps([NAMES[0], 'b`t'])}\ncolumns:\n"
    + "".join(f"  {json.dumps(name)}:\n    tests: [not_null]\n" for name in NAMES)
)


def line(number: int) -> list[int]:
    return [number, *(number * 100 + place for place in range(1, len(NAMES)))]


def test_columns_of_any_name_go_through_landing_gates_merges_diffs_and_changes_by_hand(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.odd", "SELECT * FROM {{ landing_zone('odd') }}", CONFIG)
    for number in (1, 2):
        shop.land("odd", f"{number}.csv", f"{HEADER}\n{','.join(map(str, line(number)))}\n")
        shop.run_one("bronze.odd")
    table, lake = shop.table("bronze.odd"), shop.lake
    found = lake.query(f"FROM {table.duckdb} ORDER BY 1").to_arrow()
    assert [list(row.values()) for row in found.to_pylist()] == [line(1), line(2)]
    assert found.column_names == NAMES
    first, last = snapshots_of(lake, table)[-1].id, snapshots_of(lake, table)[0].id
    assert lake.tables.diff(table, first, last).rows["added"] == 1

    nested = pa.table({"my id": [1], "s t": [{"un it": [{"b`t": 5}]}], "it's": ["x"]})
    lake.write("shop.bronze.by-hand", nested)
    lake.write(
        "shop.bronze.by-hand", nested.set_column(2, "it's", [["y"]]), mode="merge", key="my id"
    )
    lake.execute("ALTER TABLE shop.bronze.`by-hand` ADD COLUMN `b``t` BIGINT")
    lake.execute("UPDATE shop.bronze.`by-hand` SET `b``t` = `my id` + 6 WHERE `it's` = 'y'")
    by_hand = lake.query('FROM shop.bronze."by-hand"').to_arrow().to_pylist()
    assert by_hand == [{"my id": 1, "s t": {"un it": [{"b`t": 5}]}, "it's": "y", "b`t": 7}]
