"""What every catalog promises to those whose files become part of a table as they are: all rows at
once, and the files stay.
"""

import io
from decimal import Context, Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.names import TableName, new_run_id
from lakebed.ports import AddedFile, ColumnStatistics, Comparison, TableMetadata
from tests.support.adopting import adopt_files
from tests.support.benches import Bench, RealBench, ids, sqlite_bench
from tests.support.lakes.query_lakes import add_table

WIDE = Context(prec=38)


def metadata(bench: Bench, table: TableName) -> TableMetadata:
    return bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]


def a_table(bench: Bench) -> TableName:
    return bench.table(f"adopted_{new_run_id()[:16]}")


def put(bench: RealBench, rows: list[int]) -> AddedFile:
    """A file beside the tables."""
    data = io.BytesIO()
    pq.write_table(ids(rows), data)
    path = f"exports/{new_run_id()}.parquet"
    bench.stores.files.write(path, data.getvalue())
    told = ColumnStatistics(len(rows), 0, min(rows), max(rows))
    return AddedFile(bench.root.at(path), data.tell(), len(rows), columns={"id": told})


def test_rows_of_added_files_are_read_and_others_follow_them(real_bench: RealBench) -> None:
    bench, table = real_bench, a_table(real_bench)
    files = [put(bench, [1, 2]), put(bench, [3])]
    folder, summary = bench.root.at("exports"), {"lakebed.run-id": "r1"}
    adopt_files(bench.stores, table, files, folder=folder, summary=summary)
    head = metadata(bench, table).head()
    assert head
    assert (head.rows, head.run_id, head.count("total-data-files")) == (3, "r1", 2)
    assert bench.rows(table) == [1, 2, 3]
    bench.write(table, [4])
    loaded = bench.iceberg.load_table(table.parts)
    found = loaded.scan(row_filter="id > 2").to_arrow()["id"].to_pylist()
    assert sorted(found) == [3, 4]


def test_rows_of_added_files_are_found_by_the_last_of_38_digits(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    low, high = (Decimal(f"1234567890123456789012345678901234567{digit}") for digit in (5, 7))
    schema = pa.schema([("h", pa.decimal128(38, 0))])
    table = add_table(bench, "wide", [], schema=schema)
    told = ColumnStatistics(2, 0, low, high)
    file = AddedFile(bench.root.at("exports/a.parquet"), 100, 2, columns={"h": told})
    adopt_files(bench.stores, table, [file], folder=bench.root.at("exports"))
    pointer = bench.catalog.pointers([table])[table]
    snapshot = metadata(bench, table).head()
    assert snapshot
    for value, files in ((low, 1), (high, 1), (low.next_minus(WIDE), 0), (high.next_plus(WIDE), 0)):
        asked = Comparison("h", "=", value)
        scan = bench.stores.scans.plan(pointer, snapshot=snapshot.id, predicate=asked)
        assert len(scan.files) == files
    bench.close()


@pytest.mark.parametrize("how", ["purged", "dropped"])
def test_a_catalog_that_forgets_an_adopted_table_leaves_the_files_of_others(
    real_bench: RealBench, how: str
) -> None:
    bench, table = real_bench, a_table(real_bench)
    file = put(bench, [1, 2])
    adopt_files(bench.stores, table, [file], folder=bench.root.at("exports"))
    if how == "purged":
        bench.catalog.purge(table)
    else:
        gone = bench.catalog.drop(table)
        assert gone
        bench.catalog.delete_dropped(gone)
    assert bench.catalog.pointers([table]) == {}
    path = bench.stores.files.path_of(file.location)
    assert path
    assert bench.stores.files.info(path).size == file.size
