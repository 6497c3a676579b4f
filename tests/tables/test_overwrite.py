"""Rows that match a condition are replaced: exactly those, whatever files they are in."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.engines.spark import SparkCompute, Staging
from lakebed.settings import Settings
from tests.support.lakes.spark_lakes import new_lake
from tests.support.scale import SCALE, SEED
from tests.support.spark_sessions import OpenSpark
from tests.tables.conditions import literal, random_condition

pytestmark = pytest.mark.spark

VALUES: dict[str, Sequence[Any]] = {
    "n": [0, 1, 2, 3],
    "odd s": ["a", "b", "it's"],
    "day": [date(2026, 11, day) for day in (1, 2, 3)],
}
TYPES = "n INT, `odd s` STRING, day DATE, tags MAP<STRING, INT>"
ROUNDS = 2 * SCALE
Row = tuple[Any, ...]


@pytest.fixture
def compute(open_spark: OpenSpark, tmp_path: Path) -> Iterator[SparkCompute]:
    root = new_lake(tmp_path / "lake")
    session = open_spark(Settings(), root)
    opened = SparkCompute(session, Staging(FolderFiles(root.folder), root, "run"), run_id="run")
    opened.execute("CREATE NAMESPACE IF NOT EXISTS lake.shop")
    opened.execute("CREATE NAMESPACE IF NOT EXISTS lake.shop.silver")
    yield opened
    opened.close()


def frame(compute: SparkCompute, rows: Sequence[Row]) -> Any:
    listed = ", ".join(f"({', '.join(map(literal, row))})" for row in rows) or "(0, '', NULL)"
    columns = ", ".join(f"`{name}`" for name in VALUES)
    return compute.query(
        f"SELECT CAST(n AS INT), CAST(`odd s` AS STRING), CAST(day AS DATE), map('n', CAST(n AS"
        f" INT)) AS tags FROM VALUES {listed} AS r({columns}){'' if rows else ' LIMIT 0'}"
    )


def held(compute: SparkCompute, table: str) -> Counter[Row]:
    found = compute.rows(f"SELECT n, `odd s`, day FROM {table}", limit=1000)
    return Counter(tuple(row.values()) for row in found)


@pytest.mark.parametrize("partitioned", ["", "PARTITIONED BY (`odd s`, bucket(2, n))"])
def test_exactly_the_rows_for_which_the_condition_is_true_are_replaced_in_one_snapshot(
    compute: SparkCompute, partitioned: str
) -> None:
    draw = random.Random(f"{SEED} {partitioned}")

    def some_rows(most: int) -> list[Row]:
        return [
            tuple(draw.choice([*values, None]) for values in VALUES.values())
            for _ in range(draw.randrange(most + 1))
        ]

    table = "lake.shop.silver.orders"
    compute.execute(f"CREATE TABLE {table} ({TYPES}) USING iceberg {partitioned}")
    expected: Counter[Row] = Counter()
    for _ in range(2):  # two files, or as many as there are partitions
        rows = [*some_rows(12), (None, None, None)]
        compute.append(frame(compute, rows), table)
        expected.update(rows)
    for done in range(ROUNDS):
        condition, rows = random_condition(draw, VALUES), some_rows(6)
        compute.overwrite(frame(compute, rows), table, where=condition.text)
        stay = {
            row: count
            for row, count in expected.items()
            if condition.holds(dict(zip(VALUES, row, strict=True))) is not True
        }
        expected = Counter(stay) + Counter(rows)
        assert held(compute, table) == expected, condition.text
        ((count,),) = [tuple(row.values()) for row in compute.rows(_COUNT, limit=1)]
        assert count <= 3 + done, condition.text  # a MERGE of nothing makes none


_COUNT = "SELECT count(*) FROM lake.shop.silver.orders.snapshots"


def test_files_without_a_matching_row_are_left_alone(compute: SparkCompute) -> None:
    table = "lake.shop.silver.large"
    compute.execute(f"CREATE TABLE {table} ({TYPES}) USING iceberg")
    for n in range(4):
        compute.append(frame(compute, [(n, "a", None), (n, "b", None)]), table)
    files = f"SELECT file_path FROM {table}.files"
    before = {row["file_path"] for row in compute.rows(files, limit=100)}
    compute.overwrite(frame(compute, [(2, "c", None)]), table, where="n = 2 AND `odd s` = 'a'")
    after = {row["file_path"] for row in compute.rows(files, limit=100)}
    assert len(before - after) == 1
    assert held(compute, table)[(2, "b", None)] == held(compute, table)[(2, "c", None)] == 1
