"""The examples are pipelines that can be planned, compiled and released."""

import shutil
from pathlib import Path

import pytest

import lakebed
from lakebed.app import create_lake
from lakebed.app.pipelines import Request
from lakebed.settings import Root

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
    create_lake(Root.parse(tmp_path / "lake"), values={"layers": ["staging", "marts"]}, template=None, environment={})
    shutil.copytree(EXAMPLES / "jaffle-shop" / "jaffle", tmp_path / "lake" / "jaffle")
    return tmp_path / "lake"


def test_the_ported_dbt_project_is_planned_compiled_and_released(folder: Path) -> None:
    with lakebed.open(folder) as lake:
        assert [str(plan.table) for plan in lake.plan()] == TABLES
        assert len([sql for sql in lake.pipelines.compile(Request()) if sql.gate]) == 15
        for table in TABLES:
            assert lake.pipelines.releases.make(table).new
        assert [str(plan.table) for plan in lake.pipelines.plan(Request(released=True))] == TABLES
