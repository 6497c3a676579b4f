"""Together or not at all: a reader never sees gold that does not match silver."""

import threading
from collections.abc import Callable

import pytest

from lakebed.app import open_lake
from lakebed.errors import PipelineCycle
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import SCALE

pytestmark = pytest.mark.spark

ADD_UP = "SELECT count(*) AS n, sum(amount) AS total FROM {{ ref('silver.orders') }}"


def set_up(shop: TestLake) -> None:
    shop.pipeline(
        "silver.orders", "SELECT * FROM {{ landing_zone('orders') }}", "merge_strategy: append_only"
    )
    shop.pipeline("gold.totals", ADD_UP, gates={"sane": "SELECT * FROM {{ this }} WHERE total < 0"})


def test_tables_that_depend_on_each_other_are_made_and_published_together(shop: TestLake) -> None:
    set_up(shop)
    shop.land("orders", "1.csv", "id,amount\n1,5\n2,6\n")
    records = shop.run(together=True)
    assert {record.state for record in records.values()} == {"success"}
    assert shop.rows("gold.totals") == [{"n": 2, "total": 11}]
    assert [pin.snapshot for pin in records["gold.totals"].inputs] == [
        records["silver.orders"].snapshot
    ]
    publication = shop.lake.stores.catalog.pointers()
    assert {str(table) for table in publication} == {"shop.silver.orders", "shop.gold.totals"}


@pytest.mark.parametrize("first", [True, False])
def test_a_failing_gate_of_gold_publishes_nothing_and_the_file_waits(
    shop: TestLake, first: bool
) -> None:
    set_up(shop)
    if not first:
        shop.land("orders", "0.csv", "id,amount\n1,5\n")
        shop.run(together=True)
    before = {
        table: shop.lake.tables.describe(table).head()
        for table in shop.lake.stores.catalog.pointers()
    }
    shop.land("orders", "1.csv", "id,amount\n2,-50\n")
    records = shop.run(together=True)
    assert {record.state for record in records.values()} == {"failed"}
    after = {
        table: shop.lake.tables.describe(table).head()
        for table in shop.lake.stores.catalog.pointers()
    }
    assert after == before
    shop.land("orders", "1.csv", "id,amount\n2,50\n")
    assert {record.state for record in shop.run(together=True).values()} == {"success"}
    assert shop.rows("gold.totals") == [{"n": 1 if first else 2, "total": 50 if first else 55}]


def test_a_table_somebody_else_works_on_keeps_the_whole_build_from_starting(shop: TestLake) -> None:
    set_up(shop)
    shop.land("orders", "1.csv", "id,amount\n1,5\n")
    with shop.lake.tables.lease(shop.table("gold.totals"), holder="Alice"):
        records = shop.run(together=True)
    assert {record.error["kind"] for record in records.values()} == {"LeaseHeld"}
    assert shop.lake.stores.catalog.pointers() == {}


def watching(
    shop: TestLake, stop: threading.Event
) -> tuple[threading.Thread, list[tuple[int, int]]]:
    """A reader that asks for both tables at one moment, again and again, through PyIceberg's static
    tables.
    """
    seen: list[tuple[int, int]] = []
    silver, gold = shop.table("silver.orders"), shop.table("gold.totals")

    def look() -> None:
        from pyiceberg.table import StaticTable

        with open_lake(shop.folder) as lake:
            while not stop.is_set():
                pointers = lake.stores.catalog.pointers([silver, gold])
                if len(pointers) == 2:
                    seen.append(
                        _read(
                            pointers[silver].location,
                            pointers[gold].location,
                            StaticTable.from_metadata,
                        )
                    )

    thread = threading.Thread(target=look)
    thread.start()
    return thread, seen


def _read(silver: str, gold: str, opened: Callable[[str], object]) -> tuple[int, int]:
    rows = opened(silver).scan().to_arrow().num_rows  # type: ignore[attr-defined]
    (total,) = opened(gold).scan().to_arrow().to_pylist()  # type: ignore[attr-defined]
    return rows, total["n"]


def test_a_reader_looping_during_many_builds_sees_only_states_in_which_gold_matches_silver(
    shop: TestLake,
) -> None:
    set_up(shop)
    shop.pipeline(
        "silver.orders",
        "SELECT {{ var('id') }} AS id, {{ var('amount') }} AS amount",
        "merge_strategy: append_only",
    )
    stop = threading.Event()
    thread, seen = watching(shop, stop)
    try:
        for number in range(15 * SCALE):
            bad = number % 5 == 4
            records = shop.run(together=True, vars={"id": number, "amount": -1000000 if bad else 1})
            assert {record.state for record in records.values()} == {"failed" if bad else "success"}
    finally:
        stop.set()
        thread.join()
    assert len(seen) > 10
    assert [state for state in seen if state[0] != state[1]] == []
    assert shop.rows("gold.totals")[0]["n"] == 12 * SCALE


def test_independent_pipelines_run_side_by_side(shop: TestLake) -> None:
    """Each waits for the other to have begun: with one thread this would never end."""
    code = """
import time
from pathlib import Path
def run(spark, context):
    here = Path({folder!r})
    (here / context.run_id).touch()
    for _ in range(300):
        if len(list(here.iterdir())) == 2:
            return spark.range(1)
        time.sleep(0.1)
    raise TimeoutError("alone")
"""
    meeting = shop.folder / "meeting"
    meeting.mkdir()
    for name in ("bronze.a", "bronze.b"):
        shop.pipeline(name, code.format(folder=str(meeting)))
    assert {record.state for record in shop.run("bronze.*", threads=2).values()} == {"success"}


def test_an_upstream_that_has_nothing_to_write_is_read_as_it_is_published(shop: TestLake) -> None:
    some = "SELECT * FROM VALUES (1, 5) AS t(id, amount)"
    config = "merge_strategy: incremental\nunique_key: id"
    shop.pipeline("silver.orders", some, config)
    shop.pipeline("gold.totals", ADD_UP)
    shop.run(together=True)
    shop.pipeline("silver.orders", f"{some} WHERE id > 9", config)
    assert shop.run(together=True)["silver.orders"].message == "nothing changed"
    assert shop.rows("gold.totals") == [{"n": 1, "total": 5}]


def test_a_view_over_a_table_of_the_same_build_is_made_with_it_and_not_without_it(
    shop: TestLake,
) -> None:
    def build(amount: str, *columns: str) -> dict[str, str]:
        shop.pipeline("silver.orders", f"SELECT 1 AS id, {amount}", "on_schema_change: append")
        shop.pipeline(
            "silver.paid",
            f"SELECT {', '.join(columns)} FROM {{{{ ref('silver.orders') }}}}",
            "materialized: view",
        )
        shop.pipeline("gold.paid", "SELECT * FROM {{ ref('silver.paid') }} p", "materialized: view")
        shop.pipeline(
            "gold.totals", ADD_UP, gates={"sane": "SELECT * FROM {{ this }} WHERE total < 0"}
        )
        return {name: record.state for name, record in shop.run(together=True).items()}

    def seen() -> list[dict[str, int]]:
        return [
            row.asDict()
            for row in shop.lake.spark.sql("SELECT * FROM lake.shop.gold.paid").collect()
        ]

    assert set(build("5 AS amount", "id", "amount").values()) == {"success"}
    assert seen() == [{"id": 1, "amount": 5}]
    assert "success" not in build("-6 AS amount", "amount AS other").values()
    assert seen() == [{"id": 1, "amount": 5}]
    assert set(build("7 AS amount, 8 AS tax", "id", "tax").values()) == {"success"}
    assert seen() == [{"id": 1, "tax": 8}]


RELATED = "columns:\n  customer: {tests: [{relationships: {to: gold.customers, field: id}}]}\n"
CUSTOMERS = "SELECT DISTINCT customer AS id FROM {{ ref('silver.orders') }}"


def _orders(shop: TestLake, *customers: int) -> None:
    rows = " UNION ALL ".join(f"SELECT {one} AS customer" for one in customers)
    shop.pipeline("silver.orders", rows, RELATED)


def test_a_gate_that_closes_a_cycle_is_judged_on_what_both_tables_will_be(shop: TestLake) -> None:
    _orders(shop, 1, 2)
    shop.pipeline("gold.customers", CUSTOMERS)
    for ask in (shop.lake.plan, shop.lake.run):
        with pytest.raises(PipelineCycle) as refused:
            ask()
        assert "only in its gate customer_relationships" in refused.value.what
        assert refused.value.where == "shop/pipelines/silver/orders/config.yaml:2"
        assert "lakebed run --together" in refused.value.next
    records = shop.run(together=True)
    assert {record.state for record in records.values()} == {"success"}
    (verdict,) = records["silver.orders"].verdicts
    assert (verdict.gate, verdict.passed) == ("customer_relationships", True)
    assert {pin.table.name: pin.snapshot for pin in records["silver.orders"].inputs} == {
        "customers": records["gold.customers"].snapshot
    }
    before = {name: shop.rows(name) for name in ("silver.orders", "gold.customers")}
    _orders(shop, 1, 3)
    shop.pipeline("gold.customers", f"{CUSTOMERS} WHERE customer < 3")
    failed = shop.run(together=True)
    assert {record.state for record in failed.values()} == {"failed"}
    assert failed["silver.orders"].error["kind"] == "GateFailed"
    assert failed["silver.orders"].verdicts[0].sample == ({"customer": 3},)
    assert {name: shop.rows(name) for name in before} == before
    shop.pipeline("gold.customers", CUSTOMERS)
    assert {one.state for one in shop.run(together=True).values()} == {"success"}
    assert shop.rows("gold.customers") == [{"id": 1}, {"id": 3}]
