"""kill -9 while a run changes a table's columns, and while several tables are published together."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakebed import Lake
from lakebed.names import TableName
from tests.support.kills import check_healed, killed
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.rest_lake import RestLake
from tests.support.scale import in_turn, rotated

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),
]

LEASE = {"lease": {"limit_seconds": 1.0}}
NOT_NULL = {"ids": "SELECT * FROM {{ this }} WHERE id IS NULL"}
UPSERT = "merge_strategy: incremental\nunique_key: id"
BEFORE = "SELECT id, id * 10 AS v, 'old' AS note FROM VALUES (1), (2) AS t(id)"
ADDED = {"extra", "__new_v"}  # before the gates; readers see NULL in them
OLD_COLUMNS = (("id", "int"), ("v", "int"), ("note", "string"))


@dataclass(frozen=True)
class Change:
    """What the second run selects of ids 2 and 3, and how the table looks afterwards."""

    select: str
    config: str
    columns: tuple[tuple[str, str], ...]
    rows: Mapping[int, tuple[Any, ...]]  # by id; 9 is appended by PyIceberg after the kill

    @property
    def query(self) -> str:
        return f"SELECT id, {self.select} FROM VALUES (2), (3) AS t(id)"


CHANGES = {
    "rename": Change(
        "id AS v, 'new' AS remark",
        f"{UPSERT}\nrename: note -> remark",
        (("id", "int"), ("v", "int"), ("remark", "string")),
        {1: (10, "old"), 2: (2, "new"), 3: (3, "new"), 9: (9, "theirs")},
    ),
    "widen": Change(
        "id + 3000000000 AS v, 'new' AS note, 1.5D AS extra",
        f"{UPSERT}\non_schema_change: append",
        (("id", "int"), ("v", "long"), ("note", "string"), ("extra", "double")),
        {
            1: (10, "old", None),
            2: (3000000002, "new", 1.5),
            3: (3000000003, "new", 1.5),
            9: (9, "theirs", None),
        },
    ),
    "replace": Change(
        "'n' || id AS v, 'new' AS note",
        "merge_strategy: full_refresh\non_schema_change: sync",
        (("id", "int"), ("v", "string"), ("note", "string")),
        {2: ("n2", "new"), 3: ("n3", "new")},
    ),
}
POINTS: list[tuple[str | int, str]] = [
    ("after", "PrepareSchema"),
    ("after", "Write"),
    ("before", "Publish"),
    (1, "Publish"),
    (3, "Publish"),
    ("after", "Publish"),
]
CASES = [(change, *point) for change in CHANGES for point in POINTS]


def columns(lake: Lake, table: TableName) -> tuple[tuple[str, str], ...]:
    """The columns that a reader of the table is shown."""
    return tuple((column.name, column.type) for column in lake.tables.describe(table).columns)


def shown(lake: Lake, table: TableName) -> set[str]:
    """The names of the columns in a query's result."""
    return set(lake.query(f"SELECT * FROM {table}").to_arrow().column_names)


def append_theirs(lake: Lake, table: TableName) -> None:
    """A row by PyIceberg, in the columns that the table has just now."""
    loaded = lake.iceberg.load_table(table.parts)
    schema = loaded.schema().as_arrow()
    values = {field.name: 9 if pa.types.is_integer(field.type) else None for field in schema}
    texts = {field.name: "theirs" for field in schema if pa.types.is_large_string(field.type)}
    loaded.append(pa.Table.from_pylist([values | texts], schema=schema))


@in_turn(0, of=2)
@pytest.mark.parametrize(("change", "when", "step"), rotated(CASES, 1))
def test_a_run_killed_while_it_changes_columns_leaves_them_whole_and_the_next_run_changes_them(
    change: str, when: str | int, step: str, tmp_path: Path, spark_home: Path
) -> None:
    shop, made = TestLake(tmp_path / "lake", settings=LEASE), CHANGES[change]
    table = shop.table("silver.a")
    shop.pipeline("silver.a", BEFORE, made.config.split("\nrename")[0], gates=NOT_NULL)
    shop.run_one("silver.a")
    rows = shop.rows("silver.a")
    shop.pipeline("silver.a", made.query, made.config)
    killed(shop.folder, when, step)

    published = (when, step) == ("after", "Publish")
    if not published:
        _unchanged(shop, rows, added=ADDED)
    else:
        assert shown(shop.lake, table) == {name for name, _ in made.columns}
    append_theirs(shop.lake, table)
    shop.run_one("silver.a")
    assert columns(shop.lake, table) == made.columns
    found = [tuple(row[name] for name, _ in made.columns) for row in shop.rows("silver.a")]
    assert sorted(found) == [(number, *values) for number, values in made.rows.items()]
    check_healed(shop.lake, [table])
    shop.lake.close()


def _unchanged(shop: TestLake, rows: list[dict[str, Any]], *, added: set[str]) -> None:
    """Every former column with its values; columns that the dead run added have none, until the
    next run sets the schema back.
    """
    before = {name for name, _ in OLD_COLUMNS}
    assert before <= shown(shop.lake, shop.table("silver.a")) <= before | added
    found = shop.rows("silver.a")
    assert found == [row | dict.fromkeys(found[0].keys() - before) for row in rows]


ORDERS = "SELECT * FROM {{ landing_zone('orders') }}"
TOTALS = "SELECT count(*) AS n, sum(amount) AS total FROM {{ ref('silver.orders') }}"
COPIES = "SELECT id, amount FROM {{ ref('silver.orders') }}"
TOGETHER: list[tuple[str | int, str]] = [
    ("after", "Write"),
    ("before", "Publish"),
    (1, "Publish"),
    (6, "Publish"),
    ("after", "Publish"),
    ("before", "Archive"),
]


class ThreeTables:
    """`gold.totals` and `gold.copies` are made from `silver.orders`, which reads a zone."""

    def __init__(self, lake: Lake, namespace: str) -> None:
        self.lake, self.namespace = lake, namespace
        self.tables = [self.table(name) for name in ("silver.orders", "gold.totals", "gold.copies")]
        sources = (ORDERS, TOTALS, COPIES)
        configs = (b"merge_strategy: append_only\narchive_landing_zones: true\n", b"", b"")
        for table, source, config in zip(self.tables, sources, configs, strict=True):
            folder = table.pipeline_folder
            lake.stores.files.write(f"{folder}/pipeline.sql", source.encode())
            lake.stores.files.write(f"{folder}/config.yaml", config)
        lake.stores.files.write(f"{namespace}/landing/orders/zone.yaml", b"settle_seconds: 0\n")

    def table(self, name: str) -> TableName:
        return TableName(self.namespace, *name.split("."))

    def land(self, name: str, rows: str) -> None:
        path = f"{self.namespace}/landing/orders/{name}"
        self.lake.stores.files.write(path, f"id,amount\n{rows}".encode())

    def seen(self) -> tuple[list[int], list[int], int]:
        """The ids of the orders and of their copies, and how many were counted."""
        orders, totals, copies = (
            self.lake.iceberg.load_table(table.parts).scan().to_arrow() for table in self.tables
        )
        (count,) = totals["n"].to_pylist()
        return sorted(orders["id"].to_pylist()), sorted(copies["id"].to_pylist()), count

    def run(self) -> None:
        result = self.lake.run(together=True)
        assert result.ok, [record.error for record in result.records]

    def append_theirs(self) -> None:
        """A row of `silver.orders` by PyIceberg."""
        loaded = self.lake.iceberg.load_table(self.tables[0].parts)
        rows = [{"id": 9, "amount": 9}]
        loaded.append(pa.Table.from_pylist(rows, schema=loaded.schema().as_arrow()))

    def check(self) -> None:
        """All rows once, in all three tables, after a run that came after the kill."""
        self.append_theirs()
        self.run()
        ids = [1, 2, 3, 9]
        assert self.seen() == (ids, ids, 4)
        check_healed(self.lake, self.tables)


@pytest.mark.parametrize(("when", "step"), rotated(TOGETHER, 1))
def test_three_tables_published_together_agree_after_a_kill_and_the_next_build_ends_it(
    when: str | int, step: str, tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings=LEASE)
    three = ThreeTables(shop.lake, "shop")
    three.land("1.csv", "1,1\n2,2\n")
    three.run()
    three.land("2.csv", "3,3\n")
    killed(shop.folder, when, step, "together")
    published = (when, step) in {("after", "Publish"), ("before", "Archive")}
    ids = [1, 2, 3] if published else [1, 2]
    assert three.seen() == (ids, ids, len(ids))
    three.check()
    shop.lake.close()


@in_turn(1, of=3)
@pytest.mark.s3
@pytest.mark.postgres
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("when", rotated(range(4, 16), 1))
def test_on_a_rest_catalog_three_tables_killed_between_any_two_moves_agree_after_the_next_build(
    when: int, first: bool, rest_lake: RestLake
) -> None:
    three = ThreeTables(rest_lake.lake, rest_lake.namespace)
    three.land("1.csv", "1,1\n2,2\n")
    if not first:
        three.run()
    three.land("2.csv", "3,3\n")
    killed(rest_lake.url, when, "Publish", "together", environment=rest_lake.environment)
    if first:
        three.run()  # nobody can append to a table that may not be there
    three.check()
