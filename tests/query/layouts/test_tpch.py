"""TPC-H's 22 queries with layouts and without, by DuckDB and by Spark: what DuckDB answers over its
own tables.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from lakebed.app import Lake
from lakebed.engines.duckdb.extensions import load
from lakebed.names import TableName
from tests.support.handmade_layouts import HandMadeLayout
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.query_lakes import bench_of
from tests.support.scale import rotated

SCALE_FACTOR = 0.005
PARTITIONED = {"lineitem": "l_returnflag", "orders": "o_orderstatus"}
LAYOUTS = {"lineitem": ["l_shipmode"], "orders": ["o_orderpriority"]}
HINT = "/*+ use_layout(alternate) */ "  # both are called so
_LIMIT = re.compile(r"\bLIMIT\s+\d+\s*;?\s*$", re.IGNORECASE)
BY_SPARK = 6  # queries; all of them in `make test-long`


def hinted(sql: str) -> str:
    """The query, told to read layouts where a table of it has one."""
    return HINT + sql if any(table in sql for table in LAYOUTS) else sql


@dataclass
class Suite:
    """The tables in a lake, and in a DuckDB of their own."""

    lake: Lake
    plain: Any
    queries: list[tuple[int, str]]
    layouts: list[HandMadeLayout]

    def delete(self, table: str, where: str) -> None:
        self.plain.execute(f"DELETE FROM {table} WHERE {where}")
        self.lake.iceberg.load_table(("tpch", "silver", table)).delete(where)

    def expected(self, sql: str) -> list[str]:
        return answers(self.plain.execute(sql).to_arrow_table())

    def reasons(self, sql: str, **given: Any) -> set[str]:
        """What was decided about the layouts of a query's tables, if it reads them."""
        if not any(name in sql for name in LAYOUTS):
            return set()
        tables = self.lake.explain(hinted(sql), namespace="tpch", **given)
        return {verdict.reason for one in tables for verdict in one.layouts}

    def found(self, sql: str, **given: Any) -> list[str]:
        return answers(self.lake.query(sql, namespace="tpch", **given).to_arrow())


def answers(table: Any) -> list[str]:
    """The rows in any order; the last digits of numbers are up to the engine."""

    def value(one: Any) -> Any:
        return f"{float(one):.4g}" if isinstance(one, int | float | Decimal) else one

    return sorted(str([value(one) for one in row.values()]) for row in table.to_pylist())


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    plain = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    load(plain, "tpch")
    plain.execute(f"CALL dbgen(sf = {SCALE_FACTOR})")
    found = plain.execute("SELECT query_nr, query FROM tpch_queries()").fetchall()
    queries = [(number, _LIMIT.sub("", sql.strip().rstrip(";"))) for number, sql in found]
    lake = TestLake(tmp_path_factory.mktemp("tpch") / "lake").lake
    layouts = [*_filled(lake, plain)]
    yield Suite(lake, plain, queries, layouts)
    lake.close()


def _filled(lake: Lake, plain: Any) -> Iterator[HandMadeLayout]:
    bench = bench_of(lake, "tpch")
    bench.catalog.create_namespace("tpch", "silver")
    for (name,) in plain.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        table = TableName("tpch", "silver", name)
        rows = plain.execute(f"FROM {name}").to_arrow_table()
        made = bench.iceberg.create_table(
            table.parts, rows.schema, location=bench.root.at(table.folder)
        )
        if name in PARTITIONED:
            with made.update_spec() as update:
                update.add_identity(PARTITIONED[name])
        made.append(rows)
        if name in LAYOUTS:
            layout = HandMadeLayout(
                bench,
                table,
                name="alternate",
                partition_by=LAYOUTS[name],
                batch_by=[PARTITIONED[name]],
            )
            layout.build()
            yield layout


def test_duckdb_gives_the_same_answers_through_layouts(suite: Suite) -> None:
    assert len(suite.queries) == 22
    for number, sql in suite.queries:
        expected = suite.expected(sql)
        assert suite.reasons(sql) <= {"CHOSEN"}, number
        assert suite.found(hinted(sql)) == expected, number
        assert suite.found(sql) == expected, number
        assert suite.found(sql, layouts=False) == expected, number


@pytest.mark.spark
def test_spark_gives_the_same_answers_through_layouts(suite: Suite, spark_home: Path) -> None:
    for number, sql in rotated(suite.queries, BY_SPARK):
        assert suite.reasons(sql, engine="spark") <= {"CHOSEN"}, number
        assert suite.found(hinted(sql), engine="spark") == suite.expected(sql), number


def test_answers_stay_the_same_when_batches_are_stale(suite: Suite) -> None:
    suite.delete("lineitem", "l_returnflag = 'A' and l_orderkey < 2000")
    suite.delete("orders", "o_orderstatus = 'O' and o_orderkey < 2000")
    assert suite.reasons(suite.queries[0][1]) == {"HYBRID"}
    for number, sql in suite.queries:
        assert suite.found(hinted(sql)) == suite.expected(sql), number


@pytest.mark.spark
def test_spark_mixes_batches_of_both(suite: Suite, spark_home: Path) -> None:
    for number, sql in rotated(suite.queries, BY_SPARK // 2):
        assert suite.found(hinted(sql), engine="spark") == suite.expected(sql), number
