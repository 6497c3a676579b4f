"""Statements are text: compared as text."""

from lakebed.names import TableName
from lakebed.settings import Settings
from lakebed.tables import create_branch, create_table, on_branch, write_properties

ORDERS = TableName.parse("shop.silver.clean-orders")


def test_write_settings_become_icebergs_properties() -> None:
    assert write_properties(Settings().write_for(ORDERS, is_sorted=True)) == {
        "write.target-file-size-bytes": "536870912",
        "write.parquet.compression-codec": "snappy",
        "write.parquet.row-group-size-bytes": "1048576",
    }


def test_a_table_is_made_at_its_place() -> None:
    assert (
        create_table(
            ORDERS,
            "id BIGINT",
            location="file:///it's",
            properties={"a": "b"},
            partition_by=("days(at)",),
        )
        == "CREATE TABLE lake.`shop`.`silver`.`clean-orders` (id BIGINT) USING iceberg\nPARTITIONED"
        " BY (days(at))\nLOCATION 'file:///it\\'s'\nTBLPROPERTIES ('format-version' = '2',"
        " 'commit.retry.num-retries' = '30', 'commit.retry.min-wait-ms' = '50',"
        " 'commit.retry.max-wait-ms' = '2000', 'read.split.open-file-cost' = '9437184',"
        " 'a' = 'b')"
    )


def test_a_branch_is_written_under_its_own_name() -> None:
    made = "ALTER TABLE lake.`shop`.`silver`.`clean-orders` CREATE BRANCH `run_1`"
    assert create_branch(ORDERS, "run_1") == made
    assert on_branch(ORDERS, "run_1") == "lake.`shop`.`silver`.`clean-orders`.`branch_run_1`"
