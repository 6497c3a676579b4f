"""Tables whose columns were added, dropped, renamed, swapped and widened: files hold them under
former names and types.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.types import DoubleType, FloatType, IntegerType, LongType, StringType

from lakebed.app import Lake
from lakebed.engines.duckdb.sql.views import select
from lakebed.names import TableName, duckdb_identifier
from lakebed.ports import Scan
from lakebed.query.planning.plan import PlannedTable, ReadTarget
from lakebed.settings import normalized_location
from tests.support.benches import RealBench
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake
from tests.support.scale import SCALE

KINDS = {
    "int": (IntegerType(), pa.int32()),
    "long": (LongType(), pa.int64()),
    "string": (StringType(), pa.string()),
}
KINDS |= {"float": (FloatType(), pa.float32()), "double": (DoubleType(), pa.float64())}
WIDER = {"int": "long", "float": "double"}
NAMES = ("a", "b", "c d", "e-f", "G", "h")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, RealBench]]:
    lake = make_lake(tmp_path_factory.mktemp("changed") / "lake")
    made = bench_of(lake)
    yield lake, made
    made.close()
    lake.close()


def scan_of(lake: Lake, table: TableName) -> Scan:
    return lake.table(table).scan()


def by_lake(lake: Lake, table: TableName, where: str = "true") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        lake.query(f"FROM {table.duckdb} WHERE {where} ORDER BY id").to_arrow().to_pylist()
    )
    return found


def by_pyiceberg(iceberg: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = iceberg.scan().to_arrow().sort_by("id").to_pylist()
    return found


class Changing:
    """A table that is changed at random, and filled after each change."""

    def __init__(self, bench: RealBench, name: str, chance: random.Random) -> None:
        schema = pa.schema([("id", pa.int64()), ("a", pa.int32()), ("c d", pa.float32())])
        self.table = add_table(bench, name, [], schema=schema)
        self.iceberg, self._chance, self._next = (
            bench.iceberg.load_table(self.table.parts),
            chance,
            0,
        )

    @property
    def columns(self) -> dict[str, str]:
        return {
            field.name: str(field.field_type)
            for field in self.iceberg.schema().fields
            if field.name != "id"
        }

    def fill(self) -> None:
        start, self._next = self._next, self._next + 3
        rows = [
            {"id": id_} | {name: self._value(kind) for name, kind in self.columns.items()}
            for id_ in range(start, start + 3)
        ]
        types = [pa.field(name, KINDS[kind][1]) for name, kind in self.columns.items()]
        self.iceberg.append(
            pa.Table.from_pylist(rows, schema=pa.schema([pa.field("id", pa.int64()), *types]))
        )

    def _value(self, kind: str) -> Any:
        number = self._chance.randrange(1000)
        return self._chance.choice(
            [
                None,
                {"string": f"t{number}", "int": number, "long": 2**40 + number}.get(
                    kind, number / 4
                ),
            ]
        )

    def change(self) -> None:
        names, free = list(self.columns), [name for name in NAMES if name not in self.columns]
        ways = [
            *(["add"] if free else []),
            *(["rename", "drop", "widen", "move"] if names else []),
            *(["swap"] if len(names) > 1 else []),
        ]
        with self.iceberg.update_schema() as update:
            match self._chance.choice(ways):
                case "add":
                    update.add_column(
                        self._chance.choice(free), KINDS[self._chance.choice(list(KINDS))][0]
                    )
                case "rename" if free:
                    update.rename_column(self._chance.choice(names), self._chance.choice(free))
                case "drop":
                    update.delete_column(self._chance.choice(names))
                case "widen":
                    name = self._chance.choice(names)
                    update.update_column(
                        name, KINDS[WIDER.get(self.columns[name], self.columns[name])][0]
                    )
                case "move":
                    update.move_first(self._chance.choice(names))
                case "swap":
                    one, other = self._chance.sample(names, 2)
                    update.rename_column(one, "aside")
                    update.rename_column(other, one)
        if "aside" in self.columns:
            with self.iceberg.update_schema() as update:
                update.rename_column(
                    "aside", next(name for name in NAMES if name not in self.columns)
                )


@pytest.mark.parametrize("seed", range(4 * SCALE))
def test_whatever_changes_each_column_keeps_its_own_values(
    bench: tuple[Lake, RealBench], seed: int
) -> None:
    lake, made = bench
    changing = Changing(made, f"random{seed}", random.Random(seed))
    changing.fill()
    for _ in range(6):
        changing.change()
        if random.Random(f"{seed} {changing.columns}").random() < 0.7:
            changing.fill()
        wanted = by_pyiceberg(changing.iceberg)
        assert by_lake(lake, changing.table) == wanted
        assert by_lake(lake, changing.table, "id = 1") == [row for row in wanted if row["id"] == 1]
        for name in list(changing.columns)[:2]:
            filled = by_lake(lake, changing.table, f"{duckdb_identifier(name)} IS NOT NULL")
            assert filled == [row for row in wanted if row[name] is not None], name


def test_a_changed_table_is_read_by_the_names_in_its_files_so_that_their_bounds_are_known(
    bench: tuple[Lake, RealBench],
) -> None:
    lake, made = bench
    table = add_table(
        made,
        "told",
        [pa.table({"id": [1], "a": ["x"]}), pa.table({"id": [2], "a": ["y"]})],
        schema=_ID_AND_TEXT,
    )
    iceberg = made.iceberg.load_table(table.parts)
    with iceberg.update_schema() as update:
        update.rename_column("a", "now").add_column("new", LongType())
    scan = scan_of(lake, table)
    assert [(one.names, len(one.files)) for one in scan.groups] == [(("id", "a", None), 2)]
    assert "schema =" not in select(
        PlannedTable(("", "", ""), ReadTarget(lake.table(table)._selection.pinned), scan=scan)
    )
    iceberg.append(pa.table({"id": [3], "now": ["z"], "new": [30]}))
    assert [one.names for one in scan_of(lake, table).groups] == [
        ("id", "now", "new"),
        ("id", "a", None),
    ]
    assert by_lake(lake, table) == [
        {"id": 1, "now": "x", "new": None},
        {"id": 2, "now": "y", "new": None},
        {"id": 3, "now": "z", "new": 30},
    ]


_ID_AND_TEXT = pa.schema([("id", pa.int64()), ("a", pa.string())])


def test_files_of_too_many_kinds_are_read_by_field_id(bench: tuple[Lake, RealBench]) -> None:
    lake, made = bench
    table = add_table(made, "kinds", [pa.table({"id": [0], "a": ["0"]})], schema=_ID_AND_TEXT)
    iceberg = made.iceberg.load_table(table.parts)
    for number in range(1, 7):
        with iceberg.update_schema() as update:
            update.rename_column(iceberg.schema().fields[1].name, f"a{number}")
        iceberg.append(pa.table({"id": [number], f"a{number}": [str(number)]}))
    assert scan_of(lake, table).groups == ()
    assert by_lake(lake, table) == [{"id": number, "a6": str(number)} for number in range(7)]
    assert by_lake(lake, table, "a6 = '0'") == [{"id": 0, "a6": "0"}]


def test_a_file_that_calls_its_columns_otherwise_is_read_by_what_it_says(
    bench: tuple[Lake, RealBench],
) -> None:
    """Iceberg asks for field ids only: names in files are their writers' affair."""
    lake, made = bench
    table = add_table(made, "foreign", [pa.table({"id": [1], "a": ["x"]})], schema=_ID_AND_TEXT)
    (file,) = scan_of(lake, table).files
    place = Path(normalized_location(file.location))
    columns = [
        pa.field(name, type_, metadata={"PARQUET:field_id": str(id_)})
        for name, type_, id_ in _FOREIGN
    ]
    pq.write_table(pa.table([["x"], [1]], schema=pa.schema(columns)), place)
    with made.iceberg.load_table(table.parts).update_schema() as update:
        update.add_column("id2", LongType())
    assert by_lake(lake, table) == [{"id": 1, "a": "x", "id2": None}]


_FOREIGN = [("id", pa.string(), 2), ("a", pa.int64(), 1)]  # each under the other's name
