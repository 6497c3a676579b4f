"""Tables and datasets in a lake: executors write and read them, and gates decide on imports."""

from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest

from lakebed.engines.iceberg.scan.table_files import IcebergTableFiles
from lakebed.errors import BadBatch, GateFailed
from lakebed.kartothek import DatasetOptions, read_table, verify
from lakebed.kartothek.exchange import table_rows
from tests.servers.s3 import S3Server
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = [pytest.mark.spark]
COUNTRY = "IF(id % 2 = 0, 'DE', 'a/ü') country"


def pairs(shop: TestLake) -> list[tuple[int, int]]:
    return [(row["id"], row["v"]) for row in shop.rows("silver.orders")]


def test_what_the_gates_refuse_of_a_dataset_nobody_sees(shop: TestLake, tmp_path: Path) -> None:
    query = "SELECT * FROM VALUES (1L, 10L), (2L, 20L) AS t(id, v)"
    gates = {"positive": "SELECT * FROM {{ this }} WHERE v < 0"}
    shop.pipeline("silver.orders", query, gates=gates)
    shop.run_one("silver.orders")
    lake, address = shop.lake, f"{tmp_path}/exports/more"
    datasets, sql = lake.kartothek, lake.spark.sql
    options = DatasetOptions(indexed=("id",))
    datasets.store(address, sql("SELECT 3L id, -3L v UNION ALL SELECT 4L, 40L"), options=options)
    with pytest.raises(GateFailed):
        datasets.import_dataset(address, "silver.orders")
    assert pairs(shop) == [(1, 10), (2, 20)]
    assert shop.hidden() == []

    datasets.update(address, sql("SELECT 2L id, 22L v"), delete_scope=[{"id": 3}])
    assert datasets.frame(address, predicates=[[("id", "==", 4)]]).collect() == [(4, 40)]
    datasets.import_dataset(address, "silver.orders", mode="merge", key="id")
    assert pairs(shop) == [(1, 10), (2, 22), (4, 40)]
    # A column without a value has no type, until the table gives it one.
    datasets.store(f"{tmp_path}/exports/void", pa.table({"id": [5], "v": pa.nulls(1)}))
    datasets.import_dataset(f"{tmp_path}/exports/void", "silver.orders", gates=False)
    assert len(pairs(shop)) == 4


def _refuse(*_: object) -> NoReturn:
    raise AssertionError("rows passed through the driver")


def test_executors_export_many_rows_and_leave_nothing_if_they_fail(
    shop: TestLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_rows, "FEW", 0)
    monkeypatch.setattr(IcebergTableFiles, "rows", _refuse)  # in this process only
    lake, address = shop.lake, f"{tmp_path}/exports/numbers"
    files = lake.kartothek.files(f"{tmp_path}/exports")
    rows = f"SELECT id, {COUNTRY} FROM range({{}}, {{}}, 1, 3)"
    lake.write("shop.silver.numbers", lake.spark.sql(rows.format(0, 30)))

    def export(**options: Any) -> Any:
        return lake.kartothek.export_table("silver.numbers", address, **options)

    first = export(partition_by=["country"], index=["id"])
    assert (first.files_read, first.anew) == (first.partitions // 2, "")
    assert sorted(read_table(files, "numbers")["id"].to_pylist()) == list(range(30))
    lake.write("shop.silver.numbers", lake.spark.sql(rows.format(30, 40)))
    lake.execute("DELETE FROM silver.numbers WHERE id = 7")
    export()
    expected = [id for id in range(40) if id != 7]
    assert sorted(read_table(files, "numbers")["id"].to_pylist()) == expected
    assert read_table(files, "numbers", predicates=[[("id", "==", 33)]]).num_rows == 1
    assert not [one for one in verify(files, "numbers", full=True) if one.level == "problem"]

    paths = {info.path for info in files.list()}
    lake.write("shop.silver.numbers", lake.spark.sql("SELECT 99L id, CAST(NULL AS STRING) country"))
    with pytest.raises(BadBatch, match="'country'"):
        export()
    assert {info.path for info in files.list()} == paths


@pytest.mark.s3
@pytest.mark.usefixtures("spark_home")
def test_tables_go_to_a_server_with_an_endpoint_and_come_back(
    seaweed: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEBED_KARTOTHEK_ENDPOINT", seaweed.endpoint)
    monkeypatch.setenv("LAKEBED_KARTOTHEK_ACCESS_KEY_ID", seaweed.access_key_id)
    monkeypatch.setenv("LAKEBED_KARTOTHEK_SECRET_ACCESS_KEY", seaweed.secret_access_key)
    shop, address = TestLake(tmp_path / "lake"), f"{seaweed.fresh_prefix().url}/orders"
    with shop.lake as lake:
        shop.pipeline("silver.orders", "SELECT * FROM VALUES (1L, 10L) AS t(id, v)")
        shop.run_one("silver.orders")
        assert lake.kartothek.export_table("silver.orders", address).partitions == 1
        lake.kartothek.update(address, lake.spark.sql("SELECT 2L id, 20L v"))
        assert sorted(lake.kartothek.frame(address).collect()) == [(1, 10), (2, 20)]
        lake.kartothek.import_dataset(address, "silver.orders", mode="merge", key="id")
        assert pairs(shop) == [(1, 10), (2, 20)]
