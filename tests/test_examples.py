"""The examples: what they show is built green, with every gate asked."""

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

import lakebed
from lakebed.app import create_lake

EXAMPLES = Path(__file__).parent.parent / "examples"
TABLES = [
    "jaffle.staging.stg_customers",
    "jaffle.staging.stg_orders",
    "jaffle.staging.stg_payments",
    "jaffle.marts.customers",
    "jaffle.marts.orders",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The ported dbt project as a lake."""
    create_lake(tmp_path / "lake", settings={"layers": ["staging", "marts"]}, environment={})
    shutil.copytree(EXAMPLES / "jaffle-shop" / "jaffle", tmp_path / "lake" / "jaffle")
    return tmp_path / "lake"


def test_the_ported_dbt_project_is_planned_compiled_and_released(folder: Path) -> None:
    with lakebed.open(folder) as lake:
        assert [str(plan.table) for plan in lake.plan()] == TABLES
        assert len([sql for sql in lake.pipelines.compile() if sql.gate]) == 15
        for table in TABLES:
            assert lake.pipelines.release(table).new
        assert [str(plan.table) for plan in lake.plan(released=True)] == TABLES


@pytest.mark.spark
def test_the_ported_dbt_project_is_built_with_all_its_tests(folder: Path, spark_home: Path) -> None:
    with lakebed.open(folder) as lake:
        result = lake.run()
        assert result.ok, [record.error for record in result.records]
        assert [str(record.table) for record in result.records] == TABLES
        assert sum(len(record.verdicts) for record in result.records) == 15
        assert all(verdict.passed for record in result.records for verdict in record.verdicts)
        asked = lake.query(
            "SELECT first_name, number_of_orders, customer_lifetime_value FROM customers ORDER BY"
            " customer_id"
        )
        assert asked.fetchall() == [
            ("Ada", 2, Decimal("36.00")),
            ("Grace", 1, Decimal("17.00")),
            ("Edith", 1, Decimal("20.00")),
            ("Mary", None, None),
        ]
