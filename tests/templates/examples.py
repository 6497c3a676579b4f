"""Values and templates that several tests use."""

from dataclasses import replace
from typing import Any

from lakebed.templates import TemplateValues

WHERE = "ecommerce/pipelines/silver/clean_orders/pipeline.sql"

SEED = """\
-- @merge_strategy: incremental
-- @unique_key: order_id
-- @watermark_column: updated_at
SELECT
    CAST(updated_at AS TIMESTAMP) AS updated_at
FROM {{ ref('bronze.raw_orders') }}
{% if is_incremental() %}
WHERE updated_at > '{{ watermark_value }}'
{% endif %}
"""

QUESTIONS = ("is_scd2", "is_snapshot", "is_full_refresh", "is_soft_delete")

_VALUES = TemplateValues(
    refs={
        "bronze.raw_orders": "lake.shop.bronze.raw_orders",
        "silver.customers": "lake.shop.silver.customers",
    },
    zones={("orders", None): "zone_orders", ("orders", "*.csv"): "zone_orders_csv"},
    this="lake.shop.silver.clean_orders",
    is_incremental=True,
    answers=dict.fromkeys(QUESTIONS, False),
    watermark_value="2026-01-01 00:00:00",
    watermark="TIMESTAMP '2026-01-01 00:00:00'",
    run_started_at="2026-11-15T12:00:00Z",
    vars={"country": "DE", "limit": 5, "columns": ["a", "b"], "nothing": None},
    config={"unique_key": ["order_id"], "description": "orders"},
)


def values(**changes: Any) -> TemplateValues:
    """The values of an incremental run, with changes."""
    return replace(_VALUES, **changes)


FIRST_RUN = values(is_incremental=False, this=None, watermark=None, watermark_value=None)
