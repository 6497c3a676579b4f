"""Columns with any name are read under it and with their values, at every depth, whatever became of
the schema.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.types import LongType

from lakebed.app import Lake
from lakebed.names import TableName, duckdb_identifier
from lakebed.settings import normalized_location
from tests.query.odd_names import FLAT, NAMES, SCHEMA, paths, row, rows
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake

NEW, ALTERED = TableName("shop", "silver", "never-altered"), TableName("shop", "silver", "altered")
ADDED, RENAMED, AGAIN = "add-ed", "re named", "a-b"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    made = make_lake(tmp_path_factory.mktemp("odd") / "lake")
    bench = bench_of(made)
    for table in (NEW, ALTERED):
        add_table(bench, table.name, [rows(1), rows(2, 3)], schema=SCHEMA)
    iceberg = bench.iceberg.load_table(ALTERED.parts)
    with iceberg.update_schema() as update:
        update.add_column(ADDED, LongType()).rename_column("my col", RENAMED).delete_column(AGAIN)
    with iceberg.update_schema() as update:
        update.add_column(AGAIN, LongType())
    later = pa.Table.from_pylist(
        [altered(row(4)) | {ADDED: 40, AGAIN: 41}], schema=iceberg.schema().as_arrow()
    )
    iceberg.append(later)
    yield made
    bench.close()
    made.close()


def altered(row: dict[str, Any]) -> dict[str, Any]:
    """A row of before as the altered table has it."""
    return {
        RENAMED if name == "my col" else name: value for name, value in row.items() if name != AGAIN
    } | {
        ADDED: None,
        AGAIN: None,
    }


WANTED = {
    NEW: [row(1), row(2), row(3)],
    ALTERED: [*(altered(row(k)) for k in (1, 2, 3)), altered(row(4)) | {ADDED: 40, AGAIN: 41}],
}
BOTH = pytest.mark.parametrize("table", [NEW, ALTERED], ids=lambda table: table.name)


@BOTH
def test_every_reader_gives_every_column_its_name_and_its_values(
    lake: Lake, table: TableName
) -> None:
    asked, wanted = f"FROM {table.duckdb} ORDER BY id", WANTED[table]
    assert lake.query(asked).to_arrow().to_pylist() == wanted
    assert lake.query(asked, untrusted=True).to_arrow().to_pylist() == wanted
    frame = lake.table(table)
    assert list(frame.columns) == list(wanted[0])
    assert frame.to_arrow().sort_by("id").to_pylist() == wanted
    relation = frame.to_duckdb()
    assert relation.columns == list(wanted[0])
    assert sorted(row[0] for row in relation.fetchall()) == [row["id"] for row in wanted]
    polars = frame.to_polars(lazy=True).sort("id").collect()
    assert polars.drop("in_map", "deep").to_dicts() == [
        _without(row, "in_map", "deep") for row in wanted
    ]


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


@BOTH
def test_columns_that_are_not_nested_are_read_alone_too(lake: Lake, table: TableName) -> None:
    names = [name for name in WANTED[table][0] if name in {*FLAT, ADDED, RENAMED, AGAIN}]
    wanted = [tuple(row[name] for name in names) for row in WANTED[table]]
    frame = lake.table(table, columns=names)
    assert frame.scan().plain
    assert sorted(tuple(row.values()) for row in frame.to_arrow().to_pylist()) == wanted
    assert sorted(frame.to_polars(lazy=True).collect().rows()) == wanted
    assert lake.table(table, columns=["id"], where='"count(*)" > 299 AND "it\'s" < 400').to_arrow()[
        "id"
    ].to_pylist() == [3]


@BOTH
@pytest.mark.parametrize("name", NAMES)
def test_a_condition_on_any_name_finds_its_rows_at_every_depth(
    lake: Lake, table: TableName, name: str
) -> None:
    value, (top, *inside) = row(3)[name], paths(duckdb_identifier(name))
    gone = table == ALTERED and name in ("my col", AGAIN)
    for path in inside if gone else (top, *inside):
        found = lake.query(f"SELECT id, {path} FROM {table.duckdb} WHERE {path} = {value}")
        assert list(found) == [(3, value)], path


def test_files_are_left_out_by_conditions_on_odd_names(lake: Lake) -> None:
    for name in NAMES:
        seen = lake.explain(f"FROM {NEW.duckdb} WHERE {duckdb_identifier(name)} = {row(3)[name]}")[
            0
        ]
        assert (seen.files, seen.total_files) == (1, 2), name


def test_files_whose_writer_stored_the_names_as_they_are_read_alike(lake: Lake) -> None:
    """Others than Iceberg's own libraries do: here by `add_files`."""
    bench = bench_of(lake)
    table = add_table(bench, "added-files", [], schema=SCHEMA)
    file = Path(normalized_location(lake.root.at(table.folder))) / "data" / "foreign.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows(7), file)
    iceberg = bench.iceberg.load_table(table.parts)
    iceberg.add_files([str(file)])
    iceberg.append(rows(8))
    bench.close()
    assert lake.query(f"FROM {table.duckdb} ORDER BY id").to_arrow().to_pylist() == [row(7), row(8)]
