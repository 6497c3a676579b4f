"""`--engine spark`: Spark's SQL over the states that DuckDB would read."""

from typing import Any

import pytest

from lakebed.errors import BadQuery, UnknownName
from lakebed.tables import TableDiff, compare
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]


def test_spark_reads_pinned_tables_by_any_name(shop: TestLake) -> None:
    lake = shop.lake
    lake.write("shop.silver.numbers", lake.spark.range(5))
    lake.tables.tag("numbers", "first")
    lake.write("numbers", lake.spark.range(5, 8))
    for name in (
        "shop.silver.numbers",
        "silver.numbers",
        "numbers",
        "`numbers`",
        "lake.shop.silver.numbers",
    ):
        assert lake.query(f"SELECT count(*) AS n FROM {name}", engine="spark").fetchall() == [(8,)]
    assert lake.query(
        "SELECT count(*) FROM numbers AS n WHERE n.id < 2", engine="spark", at="first"
    ).fetchall() == [(2,)]
    result = lake.query("SELECT id FROM numbers ORDER BY id", engine="spark", limit=3)
    assert result.to_arrow().to_pylist() == [{"id": 0}, {"id": 1}, {"id": 2}]
    again = lake.query("SELECT id FROM numbers WHERE id < 2 ORDER BY id").to_spark()
    assert [tuple(row) for row in again.collect()] == [(0,), (1,)]
    assert lake.table("numbers", where="id = 3").to_spark().count() == 1
    assert lake.query(
        "SELECT count(*) FROM silver.numbers.snapshots", engine="spark"
    ).fetchall() == [(2,)]
    assert (
        lake.query("SELECT id FROM numbers", engine="spark").plan.text.count("VERSION AS OF") == 1
    )
    with pytest.raises(UnknownName):
        lake.query("SELECT * FROM numbesr", engine="spark")
    for attack in (
        "SELECT reflect('java.lang.System', 'getenv')",
        "SELECT * FROM csv.`/etc/passwd`",
        "DROP TABLE numbers",
    ):
        with pytest.raises(BadQuery):
            lake.query(attack, engine="spark")
    with pytest.raises(BadQuery):
        lake.query("SELECT nix FROM numbers", engine="spark").fetchall()
    with pytest.raises(BadQuery):
        lake.query("SELECT 1", engine="spark", untrusted=True)
    assert lake.query(
        "SELECT engine, status FROM system.query_log ORDER BY ts LIMIT 1"
    ).fetchall() == [("spark", "ok")]
    hinted = (
        "/*+ no_layouts */ SELECT /*+ use_layout(x), COALESCE(1) */ id FROM numbers WHERE id = 3"
    )
    assert lake.query(hinted, engine="spark").fetchall() == [(3,)]
    assert lake.query(
        "SELECT conditions, layouts FROM system.query_log WHERE sql LIKE '%use_layout(x)%' LIMIT 1"
    ).fetchall() == [([[{"column": "id", "op": "="}]], [""])]


def test_spark_protects_the_former_states_that_it_reads(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = shop.lake
    lake.write("shop.silver.numbers", lake.spark.range(5))
    first = lake.tables.tag("numbers", "first").id
    lake.write("numbers", lake.spark.range(5, 8))

    def protected() -> set[int]:
        return {one.snapshot for one in lake.stores.events.protected()}

    for text, at in (
        ("numbers", "first"),
        (f"numbers VERSION AS OF {first}", None),
        ("numbers VERSION AS OF 'first'", None),
    ):
        with lake.query(f"SELECT count(*) FROM {text}", engine="spark", at=at) as result:
            assert protected() == {first}, text
            assert result.fetchall() == [(5,)]
        assert protected() == set()
    with lake.query("SELECT count(*) FROM numbers", engine="spark"):
        assert protected() == set()
    during: set[int] = set()

    def comparing(*given: Any, **options: Any) -> TableDiff:
        during.update(protected())
        return compare(*given, **options)

    monkeypatch.setattr("lakebed.tables.tables.compare", comparing)
    assert lake.tables.diff("numbers", "first").rows["added"] == 3
    assert (first in during, protected()) == (True, set())
    assert lake.table("numbers", at="first").to_spark().count() == 5
    assert protected() == {first}, "nobody knows when a frame of Spark is done"
    lake.queries.close()
    assert protected() == set()
