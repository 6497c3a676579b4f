"""Schemas that changed: DuckDB sees in every file what PyIceberg sees, whichever way it reads."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.table import Table
from pyiceberg.types import DecimalType, DoubleType, LongType, StringType

from lakebed.app import Lake
from lakebed.names import TableName
from tests.support.benches import RealBench
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("n", pa.int32()),
        pa.field("f", pa.float32()),
        pa.field("m", pa.decimal128(9, 2)),
        pa.field("s", pa.string()),
        pa.field("b", pa.binary()),
        pa.field("day", pa.date32()),
        pa.field("at", pa.timestamp("us")),
        pa.field("atz", pa.timestamp("us", tz="UTC")),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("place", pa.struct([pa.field("city", pa.string()), pa.field("zip", pa.int32())])),
        pa.field("counts", pa.map_(pa.string(), pa.int64())),
    ]
)
FIRST = pa.Table.from_pylist(
    [
        {
            "id": 1,
            "n": 2**31 - 1,
            "f": 0.1,
            "m": Decimal("1234567.89"),
            "s": "it's",
            "b": b"\x00\xff",
            "day": date(2026, 11, 1),
            "at": datetime(2026, 11, 1, 12, 30, 0, 123456),  # noqa: DTZ001
            "atz": datetime(2026, 11, 1, 12, 30, tzinfo=UTC),
            "tags": ["a", None],
            "place": {"city": "Delft", "zip": 2611},
            "counts": [("x", 1)],
        },
        {"id": 2} | dict.fromkeys(SCHEMA.names[1:]),
    ],
    schema=SCHEMA,
)


_NUMBERS = count()


def _rename(table: Table) -> None:
    with table.update_schema() as change:
        change.rename_column("s", "text")
        change.rename_column("n", "s")


def _add(table: Table) -> None:
    with table.update_schema() as change:
        change.add_column("added", StringType())


def _drop_and_add(table: Table) -> None:
    with table.update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("s")
    with table.update_schema() as change:
        change.add_column("s", StringType())


def _widen(table: Table) -> None:
    with table.update_schema() as change:
        change.update_column("n", field_type=LongType())
        change.update_column("f", field_type=DoubleType())
        change.update_column("m", field_type=DecimalType(18, 2))


def _reorder(table: Table) -> None:
    with table.update_schema() as change:
        change.move_first("atz")
        change.move_after("id", "counts")


def change_nested(table: Table) -> None:
    with table.update_schema() as change:
        change.rename_column(("place", "zip"), "code")


def _add_nested(table: Table) -> None:
    with table.update_schema() as change:
        change.add_column(("place", "street"), StringType())


def _drop_nested(table: Table) -> None:
    with table.update_schema(allow_incompatible_changes=True) as change:
        change.delete_column(("place", "city"))
    with table.update_schema() as change:
        change.add_column(("place", "city"), StringType())


CHANGES: dict[str, list[Callable[[Table], None]]] = {
    "nothing": [],
    "renamed and the name taken again": [_rename],
    "added": [_add],
    "dropped and added again": [_drop_and_add],
    "widened": [_widen],
    "in another order": [_reorder],
    "all of it": [_widen, _rename, _add, _reorder],
    "a nested field renamed": [change_nested],
    "a nested field added": [_add_nested],
    "a nested field dropped and added again": [_drop_nested],
    "nested and not": [change_nested, _widen, _rename, _add_nested],
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, RealBench]]:
    folder: Path = tmp_path_factory.mktemp("evolution")
    with make_lake(folder / "lake") as lake:
        bench = bench_of(lake)
        yield lake, bench
        bench.close()


def _later(table: Table) -> pa.Table:
    """A row more, in the columns of now."""
    schema = table.schema().as_arrow()
    row: dict[str, Any] = {"id": 3, "text": "later", "added": "new"}
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names}], schema=schema)


def _seen(lake: Lake, table: TableName, **options: Any) -> tuple[list[str], list[Any]]:
    answer = lake.query(f"SELECT * FROM {table} ORDER BY id", **options).to_arrow()
    return answer.column_names, answer.to_pylist()


def _expected(table: Table, snapshot: int | None = None) -> tuple[list[str], list[Any]]:
    rows = table.scan(snapshot_id=snapshot).to_arrow().sort_by("id")
    return rows.column_names, rows.to_pylist()


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("written", ["before", "before and after"])
def test_every_change_of_columns_is_read_exactly(
    lake: tuple[Lake, RealBench], name: str, written: str
) -> None:
    opened, bench = lake
    table = add_table(bench, f"t{next(_NUMBERS)}", [FIRST], schema=SCHEMA)
    loaded = bench.iceberg.load_table(table.parts)
    for change in CHANGES[name]:
        change(loaded)
    if written == "before and after":
        loaded.append(_later(loaded))
    assert _seen(opened, table) == _expected(loaded)
    nested = "nested" in name
    assert opened.explain(f"SELECT * FROM {table}")[0].how == ("iceberg" if nested else "parquet")


def test_a_former_state_has_its_former_columns(lake: tuple[Lake, RealBench]) -> None:
    opened, bench = lake
    table = add_table(bench, f"t{next(_NUMBERS)}", [FIRST], schema=SCHEMA)
    loaded = bench.iceberg.load_table(table.parts)
    first = loaded.metadata.current_snapshot_id
    for change in (_rename, _add, change_nested):
        change(loaded)
    loaded.append(_later(loaded))
    assert _seen(opened, table, at=first) == _expected(loaded, first)
    assert _seen(opened, table) == _expected(loaded)


def test_conditions_on_changed_columns_find_their_rows(lake: tuple[Lake, RealBench]) -> None:
    opened, bench = lake
    table = add_table(bench, f"t{next(_NUMBERS)}", [FIRST], schema=SCHEMA)
    loaded = bench.iceberg.load_table(table.parts)
    for change in (_rename, _add, _widen_renamed):
        change(loaded)
    loaded.append(_later(loaded))

    def ids(condition: str) -> list[int]:
        return [
            row[0] for row in opened.query(f"SELECT id FROM {table} WHERE {condition} ORDER BY id")
        ]

    assert ids("text = 'it''s'") == [1]
    assert ids("s = 2147483647") == [1]
    assert ids("added IS NULL") == [1, 2]
    assert ids("added = 'new'") == [3]
    assert ids("atz >= TIMESTAMPTZ '2026-11-01 13:30:00+01'") == [1]
    assert ids("place.city = 'Delft'") == [1]


def _widen_renamed(table: Table) -> None:
    with table.update_schema() as change:
        change.update_column("s", field_type=LongType())


def test_a_table_without_files_has_its_columns(lake: tuple[Lake, RealBench]) -> None:
    opened, bench = lake
    table = add_table(bench, f"t{next(_NUMBERS)}", [], schema=SCHEMA)
    answer = opened.query(f"SELECT * FROM {table}").to_arrow()
    assert answer.column_names == SCHEMA.names
    assert answer.num_rows == 0
    assert opened.query(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]


def test_no_column_need_be_read_to_count(lake: tuple[Lake, RealBench]) -> None:
    opened, bench = lake
    table = add_table(bench, f"t{next(_NUMBERS)}", [FIRST, FIRST], schema=SCHEMA)
    loaded = bench.iceberg.load_table(table.parts)
    with loaded.update_schema(allow_incompatible_changes=True) as change:
        for name in SCHEMA.names[1:]:
            change.delete_column(name)
        change.add_column("fresh", LongType())
    assert opened.query(f"SELECT count(*), count(fresh) FROM {table}").fetchall() == [(4, 0)]


def test_a_star_in_a_path_stands_for_itself(lake: tuple[Lake, RealBench]) -> None:
    """DuckDB looks for files that fit a pattern; a partition's value is part of its files'
    paths.
    """
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import NestedField

    opened, bench = lake
    bench.catalog.create_namespace("shop", "silver")
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "s"))
    location = bench.root.at("shop/warehouse/silver/starred")
    made = bench.iceberg.create_table(
        ("shop", "silver", "starred"),
        Schema(NestedField(1, "s", StringType())),
        location=location,
        partition_spec=spec,
    )
    values = ["a*b", "axb", "a?b", "a[x]b", "a b", "a%b", "a=b", "é", "'"]
    made.append(pa.table({"s": values}))
    assert sorted(row[0] for row in opened.query("SELECT s FROM starred")) == sorted(values)
    assert [row[0] for row in opened.query("SELECT s FROM starred WHERE s = 'a*b'")] == ["a*b"]


def test_a_table_of_many_files_is_joined_by_a_column_that_was_widened(tmp_path: Path) -> None:
    files, rows = 130, 300  # of more than 128 files no footer is read first
    ids = [(number * 7919) % 2_000_000_011 for number in range(files * rows)]
    parts = [number // rows for number in range(files * rows)]
    narrow = pa.table({"id": pa.array(ids, pa.int32()), "part": pa.array(parts, pa.int32())})
    table = TableName("shop", "silver", "many")
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        bench.catalog.create_namespace(table.namespace, table.layer)
        made = bench.iceberg.create_table(
            table.parts, narrow.schema, location=bench.root.at(table.folder)
        )
        with made.update_spec() as spec:
            spec.add_identity("part")
        made.append(narrow)
        with made.update_schema() as change:
            change.update_column("id", LongType())
        join = "SELECT count(*) FROM many JOIN (SELECT id FROM many WHERE id % 5 = 1 AND {}) USING (id)"
        for sql in (join.format("part % 7 = 0"), join.format("true")):
            expected = sum(
                id % 5 == 1 and ("true" in sql or part % 7 == 0)
                for id, part in zip(ids, parts, strict=True)
            )
            assert lake.query(sql).fetchall() == [(expected,)]
        bench.close()
