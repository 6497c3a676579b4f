"""The newest value of a column, read without Spark."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.memory import InMemoryCatalog

from lakebed.engines.iceberg.scan.newest_value import newest_value

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("files", "newest"),
    [
        (([NAN], [5.0], [NAN, None]), 5.0),  # NaN would be newer than everything that ever comes
        (([NAN], [None, NAN]), None),
        (([5.0], [INF, NAN]), INF),
        (([None], [None]), None),
    ],
)
def test_no_number_makes_all_later_rows_old(
    tmp_path: Path, files: tuple[list[float | None], ...], newest: float | None
) -> None:
    catalog = InMemoryCatalog("lake", warehouse=tmp_path.as_uri())
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.t", pa.schema({"at": pa.float64()}))
    for rows in files:
        table.append(pa.table({"at": pa.array(rows, pa.float64())}))
    head = table.current_snapshot()
    assert head is not None
    assert (
        newest_value(table.metadata_location, snapshot=head.snapshot_id, column="at", properties={})
        == newest
    )
