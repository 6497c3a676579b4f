"""Where tables and columns come from."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakebed.errors import BadPipeline, UsageError
from lakebed.names import TableName
from lakebed.pipelines.definition.load import read_pipeline
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.lineage.lineage import (
    LineageEdge,
    LineageNode,
    mermaid,
    table_lineage,
    trace_columns,
)
from lakebed.ports import InputPin, Phase, RunRecord
from lakebed.sql import ColumnSource

RAW, ORDERS, REVENUE = (
    TableName("shop", *name.split("."))
    for name in ("bronze.orders", "silver.orders", "gold.revenue")
)
SCHEMAS = {
    "shop.bronze.orders": {"id": "bigint", "amount": "double"},
    "shop.silver.orders": {"id": "bigint", "eur": "double"},
}


def spec(
    name: str, source: str, config: str = "", gate: str = "", file: str = "pipeline.sql"
) -> PipelineSpec:
    folder = f"shop/pipelines/{name.replace('.', '/')}"
    gates = {"tests/quality/gate.sql": gate} if gate else {}
    return read_pipeline(folder, {file: source, "config.yaml": config, **gates})


SPECS = {
    one.table: one
    for one in (
        spec("bronze.orders", "SELECT * FROM {{ landing_zone('orders') }}"),
        spec(
            "silver.orders",
            "SELECT o.id, o.amount * r.rate AS eur, 1 AS one FROM {{ ref('bronze.orders') }} o JOIN"
            " {{ ref('main.rates') }} r",
        ),
        spec(
            "gold.revenue",
            "SELECT sum(eur) AS revenue FROM {{ ref('silver.orders') }}",
            "materialized: view",
            gate="SELECT * FROM {{ this }} JOIN {{ ref('bronze.orders') }} USING (id)",
        ),
    )
}
RUN = RunRecord(
    "a" * 32,
    "b" * 32,
    ORDERS,
    "success",
    datetime(2026, 11, 15, tzinfo=UTC),
    phases=(Phase("Write", 1.0),),
    inputs=(InputPin(RAW, 7), InputPin(TableName("shop", "main", "rates"), 5)),
    snapshot=8,
)


def test_a_table_comes_from_zones_tables_and_sources_with_the_snapshots_that_were_read() -> None:
    loaded = replace(
        RUN, table=RAW, run_id="c" * 32, files={"shop.orders": 3}, inputs=(), snapshot=7
    )
    found = table_lineage(SPECS, [RAW, ORDERS], {ORDERS: RUN, RAW: loaded})
    assert found.edges == (
        LineageEdge("shop.orders", "shop.bronze.orders", files=3),
        LineageEdge("shop.bronze.orders", "shop.silver.orders", snapshot=7),
        LineageEdge("shop.main.rates", "shop.silver.orders", snapshot=5),
    )
    assert found.nodes == (
        LineageNode("shop.orders", "zone"),
        LineageNode("shop.bronze.orders", "table", 7, "c" * 32),
        LineageNode("shop.main.rates", "source"),
        LineageNode("shop.silver.orders", "table", 8, "a" * 32),
    )


def test_what_only_a_gate_reads_is_told_apart() -> None:
    found = table_lineage(SPECS, [REVENUE], {})
    assert {(edge.source, edge.through) for edge in found.edges} == {
        ("shop.silver.orders", "query"),
        ("shop.bronze.orders", "gate"),
    }
    assert found.nodes[-1] == LineageNode("shop.gold.revenue", "view")


def test_a_run_that_changed_nothing_left_the_table_where_it_was() -> None:
    unchanged = replace(RUN, snapshot=None, base=6)
    assert table_lineage(SPECS, [ORDERS], {ORDERS: unchanged}).nodes[-1].snapshot == 6


def test_mermaid_draws_each_kind_in_its_shape_and_gates_dotted() -> None:
    assert mermaid(table_lineage(SPECS, [RAW, ORDERS, REVENUE], {})).splitlines() == [
        "flowchart LR",
        '  n0[/"shop.orders"/]',
        '  n1["shop.bronze.orders"]',
        '  n2[("shop.main.rates")]',
        '  n3["shop.silver.orders"]',
        '  n4(["shop.gold.revenue"])',
        "  n0 --> n1",
        "  n1 --> n3",
        "  n2 --> n3",
        "  n3 --> n4",
        "  n1 -.-> n4",
    ]


def test_columns_come_from_columns_of_tables_and_zones() -> None:
    found = trace_columns(SPECS[ORDERS], SCHEMAS, vars={}, run=RUN)
    assert found.columns["id"] == (ColumnSource("shop.bronze.orders", "id"),)
    assert found.columns["eur"] == (
        ColumnSource("shop.bronze.orders", "amount"),
        ColumnSource("shop.main.rates", "rate"),
    )
    assert found.columns["one"] == ()
    assert (found.snapshot, found.inputs) == (8, {"shop.bronze.orders": 7, "shop.main.rates": 5})


def test_a_star_over_a_zone_is_written_out_if_the_zone_says_its_columns() -> None:
    expected = {"shop.orders": {"id": "bigint", "amount": "double"}}
    found = trace_columns(SPECS[RAW], expected, vars={}, run=None)
    assert found.columns == {
        name: (ColumnSource("shop.orders", name),) for name in ("id", "amount")
    }
    assert trace_columns(SPECS[RAW], {}, vars={}, run=None).columns == {"*": None}


def test_a_zone_with_a_dash_and_a_pattern_is_still_that_zone() -> None:
    pipeline = spec(
        "bronze.calls", "SELECT at FROM {{ landing_zone('api-data', pattern='a*.json') }}"
    )
    assert trace_columns(pipeline, {}, vars={}, run=None).columns == {
        "at": (ColumnSource("shop.api-data", "at"),)
    }


def test_variables_are_needed_where_the_query_needs_them() -> None:
    pipeline = spec(
        "silver.days", "SELECT id, '{{ var('day') }}' AS day FROM {{ ref('bronze.orders') }}"
    )
    assert list(trace_columns(pipeline, SCHEMAS, vars={"day": "2026-10-01"}, run=None).columns) == [
        "id",
        "day",
    ]
    with pytest.raises(BadPipeline, match="day"):
        trace_columns(pipeline, SCHEMAS, vars={}, run=None)


def test_python_cannot_be_traced() -> None:
    pipeline = spec(
        "silver.code",
        "def run(spark, context):\n    return context.ref('bronze.orders')\n",
        file="pipeline.py",
    )
    with pytest.raises(UsageError, match="Python"):
        trace_columns(pipeline, SCHEMAS, vars={}, run=None)
