"""Layouts that Spark has built, read by Spark and by DuckDB: fresh, partly stale, over deleted rows
and after compaction, with random queries in Spark's SQL.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.query.layouts.region_lake import REGION, RegionLake, fill_region, rows_of
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import SCALE, fuzz_seed, rotated

pytestmark = [pytest.mark.spark]

RANDOM = 6 * SCALE  # queries in each state
POINT = "SELECT * FROM silver.region WHERE state = 'DE'"
FIXED = [
    POINT,
    "SELECT region.`Line Code`, count(*) FROM silver.region WHERE geo = 'DE3' GROUP BY 1",
    "SELECT r.geo, s.note FROM silver.region r LEFT JOIN silver.region s ON r.geo = s.geo AND"
    " s.state = 'é' WHERE r.state = 'DE'",
    "WITH q AS (SELECT * FROM silver.region WHERE state = \"it's\") SELECT max(amount), count(*)"
    " FROM q WHERE year IS NULL",
    "SELECT geo FROM silver.region WHERE state = 'DE' EXCEPT SELECT geo FROM silver.region WHERE"
    " state = '' AND year = 2019",
    "SELECT rank() OVER (PARTITION BY year ORDER BY amount) FROM silver.region WHERE state = 'a/b'",
    "SELECT share, count(*) FROM silver.region WHERE state IS NULL GROUP BY share",
]  # fmt: skip


class SparkWriter:
    """Random queries in Spark's SQL."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def leaf(self, of: str = "") -> str:
        name, values = self.chance.choice(
            (
                ("year", ("2019", "2020", "2021")),
                ("`Line Code`", ("'10'", "'20'")),
                ("state", ("'DE'", "'é'", "''", "'a/b'", '"it\'s"')),
                ("geo", ("'DE3'", "'é1'", "'4'")),
                ("amount", ("0", "1.5", "-3")),
            )
        )
        if self.chance.random() < 0.1:
            # Iceberg's bounds do not include NaN, so which NaN Spark finds by < and > is chance
            return f"{of}share IN (0.5D, 7.25D)"
        value, other = self.chance.choice(values), self.chance.choice(values)
        op = self.chance.choice(("=", "=", "=", "<", ">=", "<=>", "!="))
        return self.chance.choice(
            (
                f"{of}{name} {op} {value}",
                f"{of}{name} IN ({value}, {other})",
                f"{of}{name} IS NULL",
                f"{of}{name} BETWEEN {value} AND {other}",
            )
        )

    def condition(self, of: str = "") -> str:
        parts = [self.leaf(of) for _ in range(self.chance.choice((1, 2, 2, 3)))]
        return self.chance.choice((" AND ", " AND ", " OR ")).join(f"({part})" for part in parts)

    def query(self) -> str:
        table, where = "silver.region", self.condition()
        match self.chance.randrange(7):
            case 0:
                return f"SELECT * FROM {table} WHERE {where}"
            case 1:
                kind = self.chance.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"))
                on = f"a.geo = b.geo AND {self.leaf('b.')}"
                return (
                    f"SELECT a.geo, b.amount FROM {table} a {kind} {table} b ON {on} WHERE"
                    f" {self.condition('a.')}"
                )
            case 2:
                return (
                    f"SELECT count(*) FROM {table} a LEFT ANTI JOIN {table} b ON a.geo = b.geo AND"
                    f" {self.leaf('b.')} WHERE {self.condition('a.')}"
                )
            case 3:
                return (
                    f"WITH q AS (SELECT state, geo, year FROM {table} WHERE {where}) SELECT * FROM"
                    f" q WHERE {self.chance.choice(('year = 2020', 'geo IS NULL', 'true'))}"
                )
            case 4:
                how = self.chance.choice(("UNION", "INTERSECT", "EXCEPT"))
                other = f"SELECT geo, year FROM {table} WHERE {self.condition()}"
                return f"SELECT geo, year FROM {table} WHERE {where} {how} {other}"
            case 5:
                return (
                    f"SELECT state, sum(amount) OVER (PARTITION BY year) FROM {table} WHERE {where}"
                )
        return (
            f"SELECT state, year, count(*), min(note) FROM {table} WHERE {where} GROUP BY"
            " state, year"
        )


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[RegionLake]:
    lake = TestLake(tmp_path_factory.mktemp("spark_layouts") / "lake").lake
    made = fill_region(lake, commits=3, rows=150)
    layouts = made.lake.layouts
    layouts.add(REGION, name="by_state", partition_by="state", sort_by="geo", batch_by="year")
    layouts.add(REGION, name="by_geo", partition_by="truncate(2, geo)", batch_by="year,Line Code")
    layouts.build(REGION)
    yield made
    made.lake.close()


@pytest.fixture(scope="module")
def states(region: RegionLake) -> Callable[[], int]:
    """Asks in each state what random queries answer with and without layouts."""
    writer = SparkWriter(fuzz_seed(0))

    def ask() -> int:
        used = 0
        for number in range(RANDOM):
            hint = writer.chance.choice(("", "by_state", "by_geo"))
            sql = (f"/*+ use_layout({hint}) */ " if hint else "") + writer.query()
            tables = region.lake.explain(sql, engine="spark")
            used += any(one.layout for one in tables)
            if any(one.layout for one in tables) or number % 4 == 0:
                region.check(sql, engine="spark")
        for sql in rotated(FIXED, 3):
            region.check(sql, engine="spark")
            if "`" not in sql:
                region.check(sql.replace('"it\'s"', "'it''s'"))
        return used

    return ask


def spark_reason(region: RegionLake, sql: str = POINT, layout: str = "by_state") -> str:
    return region.verdict(sql, layout, engine="spark").reason


def test_a_fresh_layout_changes_no_answer(region: RegionLake, states: Callable[[], int]) -> None:
    assert spark_reason(region) == "CHOSEN"
    assert region.verdict(POINT).reason == "CHOSEN"
    assert states() > 0
    for sql, reason in (
        (f"{POINT} LIMIT 3", "ORDER_SENSITIVE"),
        ("SELECT first(geo) FROM silver.region WHERE state = 'DE'", "ORDER_SENSITIVE"),
        ("SELECT silver.region.geo FROM silver.region WHERE state = 'DE'", "UNPARSEABLE"),
        (f"/*+ no_layouts */ {POINT}", "HINT_OFF"),
    ):
        assert spark_reason(region, sql) == reason
    frames = [
        region.lake.table("region", where="state = 'DE'", layouts=on).to_spark()
        for on in (True, False)
    ]
    on, off = (frame.toArrow() for frame in frames)
    assert rows_of(on) == rows_of(off)
    assert on.schema.names == off.schema.names
    assert "_mv_" in frames[0]._jdf.queryExecution().toString()


def test_stale_and_missing_batches_come_from_the_table(
    region: RegionLake, states: Callable[[], int]
) -> None:
    region.append(100, 40, years=(2020, 2023))
    region.append(101, 10, years=(None,))
    assert spark_reason(region) == "HYBRID"
    assert region.verdict(POINT).reason == "HYBRID"
    states()


def test_rows_that_delete_files_mark_are_in_no_answer(
    region: RegionLake, states: Callable[[], int]
) -> None:
    table = REGION.spark
    region.lake.spark.sql(
        f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')"
    )
    region.lake.spark.sql(f"DELETE FROM {table} WHERE state = 'DE' AND geo LIKE '%3'")
    assert spark_reason(region) != "TAINTED"
    assert region.check(f"{POINT} AND geo = 'DE3'") == []
    assert region.check(f"{POINT} AND geo = 'DE3'", engine="spark") == []
    states()
    region.lake.layouts.build(REGION)
    assert region.check("SELECT * FROM region WHERE geo = 'DE3'") == []
    assert region.verdict(POINT).reason == spark_reason(region) == "CHOSEN"
    states()


def test_compaction_of_the_table_and_of_a_layout_changes_nothing(
    region: RegionLake, states: Callable[[], int]
) -> None:
    spark = region.lake.spark
    hidden = region.verdict(POINT).table
    for table in (str(REGION), hidden):
        spark.sql(
            f"CALL lake.system.rewrite_data_files(table => '{table}', options => map("
            "'rewrite-all', 'true', 'delete-file-threshold', '1'))"
        )
    assert region.verdict(POINT).reason == spark_reason(region) == "CHOSEN"
    states()


def test_a_layout_that_spark_would_read_with_other_columns_is_not_read(region: RegionLake) -> None:
    spark = region.lake.spark
    hidden = ".".join(f"`{part}`" for part in ("lake", *region.verdict(POINT).table.split(".")))
    spark.sql(f"ALTER TABLE {hidden} ADD COLUMN more INT")
    assert spark_reason(region) == "SCHEMA_DRIFT"
    assert region.verdict(POINT).reason == "CHOSEN"
    region.check(POINT, engine="spark")
    region.check(POINT)
