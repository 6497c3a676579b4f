"""What single writes do on real Spark and Iceberg: which rows, which files, which counts."""

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from lakebed.ports import Field
from lakebed.tables.merging.keys import row_counts
from lakebed.tables.merging.strategies import DeleteInsert, InsertOverwrite, Scd2, Strategy
from tests.support.lakes.strategy_lab import Lab
from tests.tables.oracle import Row, Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NESTED = {
    Field("id", "bigint"): 1,
    Field("tags", "map<string,int>"): {"x": 1, "y": None},
    Field("deep", "array<struct<`a b`:map<int,array<map<string,string>>>,n:int>>"): [
        {"a b": {1: [{"k": "v"}]}, "n": 1},
        None,
    ],
    Field("pair", "struct<m:map<string,int>>"): {"m": {"x": 1}},
    Field("price", "decimal(12,2)"): Decimal("1.50"),
    Field("raw", "binary"): bytearray(b"\x00\xff"),
    Field("share", "double"): float("nan"),
    Field("nothing", "map<string,int>"): None,
}


def test_an_unchanged_scd2_rerun_adds_no_row_and_no_file_and_a_change_is_seen_however_deep(
    spark: "SparkSession",
) -> None:
    lab = Lab(spark, Scd2(unique_key=("ID",)), tuple(NESTED))
    first: Row = {field.name: value for field, value in NESTED.items()}
    lab.put([lab.blank | first, lab.blank | first | {"id": 2}])
    before = lab.held()
    lab.stage([first | {"tags": {"y": None, "x": 1}}, first | {"id": 2}])
    lab.write(now="2026-01-02 00:00:00")
    assert repr(lab.held()) == repr(before)
    assert not {"added-data-files", "deleted-data-files", "added-records", "deleted-records"} & set(
        lab.summary()
    )
    assert row_counts(
        lab.strategy, lab.summary(), staged_rows=2, distinct_keys=2, met=lab.matches()
    ) == {
        "inserted": 0,
        "updated": 0,
        "unchanged": 2,
    }

    lab.stage([first | {"deep": [{"a b": {1: [{"k": "w"}]}, "n": 1}, None]}])
    lab.write(now="2026-01-03 00:00:00")
    versions = sorted(
        (row["id"], str(row["valid_from"]), str(row["valid_to"])) for row in lab.held()
    )
    assert versions == [
        (1, "2026-01-03 00:00:00", "None"),
        (1, "None", "2026-01-03 00:00:00"),
        (2, "None", "None"),
    ]


def events(*rows: tuple[int, int | None, str]) -> Rows:
    return [{"id": id, "at": at, "name": name} for id, at, name in rows]


EVENTS = (Field("id", "bigint"), Field("at", "int"), Field("name", "string"))
FIRST = events((1, 5, "a"), (2, 5, "b"), (3, 5, "c"))


@pytest.mark.parametrize(
    "strategy",
    [DeleteInsert(unique_key=("id",)), InsertOverwrite(partition_column="id")],
    ids=lambda s: s.strategy,
)
def test_rows_that_come_are_not_compared_with_rows_that_go(
    spark: "SparkSession", strategy: Strategy
) -> None:
    lab = Lab(spark, strategy, EVENTS)
    lab.stage(FIRST)
    plan = lab.rows(f"EXPLAIN {lab.statement(now='2026-01-01 00:00:00')}")[0]["plan"]
    (join,) = (line for line in plan.splitlines() if "Join" in line and "FullOuter" in line)
    assert "pmod(hash(" in join
    assert join.endswith("FullOuter")  # and no further condition, to be asked of every pair
