"""A lake with one table of several batches, and layouts of it that were written by hand."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakebed.app import Lake
from lakebed.names import TableName
from lakebed.query.layouts.verdict import LayoutVerdict
from lakebed.query.planning.explain import TableExplanation
from tests.support.benches import RealBench
from tests.support.handmade_layouts import HandMadeLayout
from tests.support.lakes.query_lakes import bench_of, make_lake

REGION = TableName("econ", "silver", "region")
SCHEMA = pa.schema(
    [
        pa.field("year", pa.int32()),
        pa.field("Line Code", pa.string()),
        pa.field("state", pa.string()),
        pa.field("geo", pa.string()),
        pa.field("amount", pa.decimal128(12, 2)),
        pa.field("share", pa.float64()),
        pa.field("note", pa.string()),
    ]
)
YEARS = (2019, 2020, 2021, None)
STATES = ("", "a/b", "DE", "é", "it's", None)


def region_rows(seed: int, count: int, *, years: tuple[int | None, ...] = YEARS) -> pa.Table:
    """Rows with NULLs everywhere, NaN, and texts that need care."""
    from decimal import Decimal

    chance = random.Random(seed)
    rows = [
        {
            "year": chance.choice(years),
            "Line Code": chance.choice(("10", "20", None)),
            "state": (state := chance.choice(STATES)),
            "geo": None if state is None else f"{state}{chance.randrange(9)}",
            "amount": chance.choice((None, Decimal(chance.randrange(-999, 999)) / 100)),
            "share": chance.choice((None, 0.5, -0.0, float("nan"), 7.25)),
            "note": "x" * chance.randrange(60),
        }
        for _ in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


@dataclass
class RegionLake:
    """The lake, and the bench that writes into it."""

    lake: Lake
    bench: RealBench
    layouts: dict[str, HandMadeLayout] = field(default_factory=dict)

    @property
    def table(self) -> Any:
        return self.bench.iceberg.load_table(REGION.parts)

    def append(self, seed: int, count: int = 60, **given: Any) -> None:
        self.table.append(region_rows(seed, count, **given))

    def add_layout(self, name: str, **spec: Any) -> HandMadeLayout:
        made = HandMadeLayout(self.bench, REGION, name=name, **spec)
        self.layouts[name] = made
        return made

    def explain(self, sql: str, **given: Any) -> TableExplanation:
        (found,) = self.lake.explain(sql, **given)
        return found

    def verdict(self, sql: str, layout: str = "by_state", **given: Any) -> LayoutVerdict:
        found = self.explain(sql, **given).layouts
        return next(one for one in found if one.layout == layout)

    def answers(self, sql: str, **given: Any) -> tuple[list[str], list[str]]:
        """The rows with layouts and without, in any order, and the types with them."""
        on = self.lake.query(sql, **given).to_arrow()
        off = self.lake.query(sql, layouts=False, **given).to_arrow()
        assert on.schema == off.schema, sql
        return rows_of(on), rows_of(off)

    def check(self, sql: str, **given: Any) -> list[str]:
        on, off = self.answers(sql, **given)
        assert on == off, sql
        return on


def rows_of(table: pa.Table) -> list[str]:
    """The rows as a multiset; -0.0 and NaN count as what they are."""
    columns = [column.to_pylist() for column in table.columns]
    return sorted(repr(row) for row in zip(*columns, strict=True)) if columns else []


def make_region_lake(
    folder: Path, *, commits: int = 3, rows: int = 120, **settings: Any
) -> RegionLake:
    """A table that is partitioned by year and line code."""
    return fill_region(make_lake(folder, **settings), commits=commits, rows=rows)


def fill_region(lake: Lake, *, commits: int, rows: int) -> RegionLake:
    """The table in a lake."""
    made = RegionLake(lake, bench_of(lake, "econ"))
    made.bench.catalog.create_namespace("econ", "silver")
    table = made.bench.iceberg.create_table(
        REGION.parts, SCHEMA, location=made.bench.root.at(REGION.folder)
    )
    with table.update_spec() as update:
        update.add_identity("year").add_identity("Line Code")
    for seed in range(commits):
        made.append(seed, rows)
    return made
