"""Planning a scan: never a file too few, and seldom one too many."""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pyarrow as pa
import pytest
from pyiceberg import transforms as t
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.table import Table

from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.pruning.comparable_values import comparable_type
from lakebed.engines.iceberg.pruning.transforms import bucket_hash
from lakebed.engines.iceberg.scan.manifest_cache import ManifestCache
from lakebed.engines.iceberg.scan.scan import IcebergScans
from lakebed.errors import DamagedTable, UnknownName
from lakebed.names import TableName
from lakebed.ports import (
    Always,
    And,
    Comparison,
    In,
    IsNull,
    Not,
    Or,
    Pointer,
    Predicate,
    StartsWith,
)
from lakebed.settings import normalized_location
from tests.support.benches import RealBench, sqlite_bench
from tests.support.lakes.iceberg_histories import grow, transforming, value
from tests.support.scale import SCALE

_OPS: Sequence[Any] = ["=", "!=", "<", "<=", ">", ">="]


def sql(predicate: Predicate) -> str:
    """The same as DuckDB is asked."""
    match predicate:
        case Comparison(column, op, value):
            return f'"{column}" {op} {literal(value)}'
        case IsNull(column, negated):
            return f'"{column}" IS {"NOT " if negated else ""}NULL'
        case In(column, values, negated):
            return f'"{column}" {"NOT " if negated else ""}IN ({", ".join(map(literal, values))})'
        case StartsWith(column, prefix, negated):
            return f'{"NOT " if negated else ""}starts_with("{column}", {literal(prefix)})'
        case And(parts) | Or(parts):
            word = " AND " if isinstance(predicate, And) else " OR "
            return "(" + word.join(map(sql, parts)) + ")"
        case Not(part):
            return f"(NOT {sql(part)})"
        case Always(yes):
            return str(yes)


def literal(value: object) -> str:
    match value:
        case bool():
            return str(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return "'" + "".join(f"\\x{byte:02x}" for byte in value) + "'::BLOB"
        case float():
            return f"'{value}'::DOUBLE"
        case datetime():
            return (
                f"TIMESTAMPTZ '{value.isoformat()}'"
                if value.tzinfo
                else f"TIMESTAMP '{value.isoformat()}'"
            )
        case date():
            return f"DATE '{value}'"
        case time():
            return f"TIME '{value}'"
        case UUID():
            return f"'{value}'::UUID"
    return str(value)


def anything(rng: random.Random, schema: pa.Schema, depth: int = 2) -> Predicate:
    kind = rng.random()
    if depth and kind < 0.35:
        parts = tuple(anything(rng, schema, depth - 1) for _ in range(rng.randint(1, 3)))
        return And(parts) if rng.random() < 0.5 else Or(parts)
    if depth and kind < 0.45:
        return Not(anything(rng, schema, depth - 1))
    field = rng.choice(list(schema))
    if kind < 0.55:
        return IsNull(field.name, rng.random() < 0.5)
    if kind < 0.65 and field.type == pa.large_string():
        return StartsWith(
            field.name, str(value(rng, pa.string()))[: rng.randint(0, 3)], rng.random() < 0.5
        )
    if kind < 0.75:
        return In(
            field.name,
            tuple(value(rng, field.type) for _ in range(rng.randint(1, 4))),
            rng.random() < 0.5,
        )
    return Comparison(field.name, rng.choice(_OPS), other(rng, field.type))


def other(rng: random.Random, type_: pa.DataType) -> Any:
    """A value of the type, or of another that DuckDB compares with it."""
    found = value(rng, type_)
    if rng.random() < 0.7:
        return found
    match found:
        case bool():
            return found
        case int():
            return rng.choice([Decimal(found % 1000) / 4, float(found)])
        case datetime():
            return rng.choice(
                [
                    found.date(),
                    found.replace(tzinfo=None if found.tzinfo else UTC),
                    str(found.date()),
                ]
            )
        case date():
            return rng.choice([datetime.combine(found, time(12)), found.isoformat()])
        case float():
            return Decimal(str(found)) if abs(found) < 1e6 else found
        case Decimal():
            return rng.choice([float(found), int(found)])
    return found


def files_with_rows(table: Table) -> duckdb.DuckDBPyConnection:
    """Every row of the table and the file it is in, as PyIceberg reads them."""
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    connection.execute("SET TimeZone = 'UTC'")
    pieces = []
    scan = table.scan()
    for task in scan.plan_files():
        read = ArrowScan(table.metadata, table.io, table.schema(), scan.row_filter).to_table([task])
        pieces.append(
            read.append_column(
                "_file", pa.array([normalized_location(task.file.file_path)] * len(read))
            )
        )
    every = pa.concat_tables(pieces, promote_options="permissive")  # noqa: F841 - DuckDB finds it by its name
    connection.execute("CREATE TABLE every AS SELECT * FROM every")
    return connection


def planned(
    scans: Any, pointer: Pointer, table: Table, predicate: Predicate | None = None
) -> set[str]:
    head = table.current_snapshot()
    scan = scans.plan(pointer, snapshot=head.snapshot_id if head else None, predicate=predicate)
    return {file.location for file in scan.files}


@pytest.mark.parametrize("seed", range(12 * SCALE))
def test_no_file_with_a_row_that_fits_is_left_out(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    bench = sqlite_bench(tmp_path)
    pointer, table = grow(rng, bench, "grown")
    oracle, scans, pruned = files_with_rows(table), bench.stores.scans, 0
    everything = planned(scans, pointer, table)
    assert everything == {
        found for (found,) in oracle.execute("SELECT DISTINCT _file FROM every").fetchall()
    }
    for _ in range(150):
        predicate = anything(rng, table.schema().as_arrow())
        files = planned(scans, pointer, table, predicate)
        try:
            wanted = oracle.execute(
                f"SELECT DISTINCT _file FROM every WHERE {sql(predicate)}"
            ).fetchall()
        except duckdb.ConversionException:
            continue  # it cannot be asked at all
        missing = {found for (found,) in wanted} - files
        assert not missing, (predicate, missing)
        pruned += len(everything - files)
    assert pruned
    oracle.close()
    bench.close()


@pytest.mark.parametrize(
    ("predicate", "files"),
    [
        (Comparison("x", ">", 5.0), 2),
        (Comparison("x", ">=", 5), 2),
        (Not(Comparison("x", "<", 5.0)), 2),
        (Comparison("x", "!=", 1.0), 3),
        (Comparison("x", "<", 0.5), 0),
        (Comparison("x", "=", 7.0), 1),
        (Comparison("x", "=", float("nan")), 3),
        (In("x", (5.0, 9.0)), 0),
    ],
)
def test_nan_is_more_than_any_number_and_in_no_bounds(
    tmp_path: Path, predicate: Predicate, files: int
) -> None:
    bench = sqlite_bench(tmp_path)
    name = TableName(bench.namespace, "silver", "floats")
    bench.catalog.create_namespace(name.namespace, name.layer)
    table = bench.iceberg.create_table(
        name.parts, pa.schema([("x", pa.float64())]), location=bench.root.at(name.folder)
    )
    for values in ([1.0, float("nan")], [1.0, 2.0], [7.0]):
        table.append(pa.table({"x": values}))
    counted = {1: 1}, {1: 0}, {1: 0}  # PyIceberg does not count NaN, Spark does
    pointer = Pointer(name, table.metadata_location)
    scans = bench.stores.scans
    reader = scans._reader  # type: ignore[attr-defined]
    read = reader.entries
    by_value = {
        b"\x00\x00\x00\x00\x00\x00\x1c@": counted[2],
        b"\x00\x00\x00\x00\x00\x00\x00@": counted[1],
    }

    def with_counts(pointer: Pointer, manifest: Any) -> Any:
        return [
            entry._replace(nans=by_value.get(entry.upper[1], counted[0]))
            for entry in read(pointer, manifest)
        ]

    assert len(planned(scans, pointer, table, Comparison("x", ">", 5.0))) == 3
    reader.entries = with_counts
    assert len(planned(scans, pointer, table, predicate)) == files
    bench.close()


# -- how few

_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


def filled(
    bench: RealBench, column: str, transform: Any, spread: list[Any], type_: pa.DataType
) -> tuple[Pointer, Table]:
    """A table partitioned by one column alone: its bounds are not kept."""
    table_ = TableName(bench.namespace, "silver", "filled")
    bench.catalog.create_namespace(table_.namespace, table_.layer)
    schema = pa.schema([pa.field(column, type_)])
    kept = {"write.metadata.metrics.default": "none"}
    table = bench.iceberg.create_table(
        table_.parts, schema, location=bench.root.at(table_.folder), properties=kept
    )
    with table.update_spec() as update:
        update.add_field(column, transform, "part")
    with transforming():
        for value in spread:
            table.append(pa.table({column: pa.array([value], type_)}))
    return Pointer(table_, table.metadata_location), table


DAYS = [_BEGIN + timedelta(days=400 * number) for number in range(8)]
PARTITIONED = [
    (t.IdentityTransform(), list(range(8)), pa.int64(), Comparison("x", "=", 3), 1),
    (t.IdentityTransform(), list(range(8)), pa.int64(), Comparison("x", "!=", 3), 7),
    (t.IdentityTransform(), [None, 1, 2], pa.int64(), IsNull("x"), 1),
    (t.IdentityTransform(), [None, 1, 2], pa.int64(), IsNull("x", negated=True), 2),
    (t.IdentityTransform(), [None, 1, 2], pa.int64(), Not(Comparison("X", "<", 2)), 1),
    (t.TruncateTransform(10), [5, 15, 25, 35], pa.int64(), Comparison("x", "<", 20), 2),
    (t.TruncateTransform(2), ["abx", "aby", "cdz"], pa.string(), Comparison("x", "=", "abq"), 2),
    (t.TruncateTransform(2), ["abx", "aby", "cdz"], pa.string(), StartsWith("x", "c"), 1),
    (t.TruncateTransform(2), ["abx", "aby", "cdz"], pa.string(), Comparison("x", ">", "b"), 1),
    (t.BucketTransform(1000), list(range(8)), pa.int64(), In("x", (3, 5)), 2),
    (t.BucketTransform(1000), list(range(8)), pa.int64(), Comparison("x", ">", 3), 8),
    (
        t.YearTransform(),
        DAYS,
        pa.timestamp("us", tz="UTC"),
        Comparison("x", ">=", datetime(2030, 1, 1, tzinfo=UTC)),
        2,
    ),
    (
        t.MonthTransform(),
        DAYS,
        pa.timestamp("us", tz="UTC"),
        Comparison("x", "<", datetime(2024, 1, 20, tzinfo=UTC)),
        1,
    ),
    (t.DayTransform(), DAYS, pa.timestamp("us", tz="UTC"), Comparison("x", "=", DAYS[3]), 1),
    (
        t.HourTransform(),
        DAYS,
        pa.timestamp("us", tz="UTC"),
        And((Comparison("x", ">", DAYS[1]), Comparison("x", "<", DAYS[3]))),
        2,
    ),
    (t.VoidTransform(), list(range(4)), pa.int64(), Comparison("x", "=", 3), 4),
]


@pytest.mark.parametrize(("transform", "values", "type_", "predicate", "files"), PARTITIONED)
def test_every_transform_leaves_out_what_it_can(
    tmp_path: Path,
    transform: Any,
    values: list[Any],
    type_: pa.DataType,
    predicate: Predicate,
    files: int,
) -> None:
    bench = sqlite_bench(tmp_path)
    pointer, table = filled(bench, "x", transform, values, type_)
    assert len(planned(bench.stores.scans, pointer, table, predicate)) == files
    bench.close()


@pytest.mark.parametrize(
    ("type_", "value", "hash_"),
    [
        ("int", 34, 2017239379),
        ("long", 34, 2017239379),
        ("decimal(4, 2)", Decimal("14.20"), -500754589),
        ("date", date(2017, 11, 16), -653330422),
        ("time", time(22, 31, 8), -662762989),
        ("timestamp", "2017-11-16 22:31:08", -2047944441),
        ("timestamptz", datetime(2017, 11, 16, 22, 31, 8, tzinfo=UTC), -2047944441),
        ("string", "iceberg", 1210000089),
        ("uuid", UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), 1488055340),
        ("binary", b"\x00\x01\x02\x03", -188683207),
    ],
)
def test_values_are_hashed_as_the_specification_says(type_: str, value: object, hash_: int) -> None:
    measure = comparable_type(type_)
    assert measure is not None
    target = measure.range_of(value)
    assert target is not None
    assert bucket_hash(target.low, measure) == hash_ % 2**32


def test_columns_are_chosen_by_name_and_unknown_ones_refused(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    pointer, _ = grow(random.Random(1), bench, "grown")
    scan = bench.stores.scans.plan(pointer, snapshot=None, columns=["D", "id"])
    assert [column.name for column in scan.columns] == ["d", "id"]
    assert (scan.files, scan.total_files) == ((), 0)
    with pytest.raises(UnknownName, match="id"):
        bench.stores.scans.plan(pointer, snapshot=None, columns=["idd"])
    bench.close()


def test_a_nested_field_that_changed_is_not_plain_unless_it_is_not_read(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    name = TableName(bench.namespace, "silver", "nested")
    bench.catalog.create_namespace(name.namespace, name.layer)
    rows = pa.table({"id": [1], "s": pa.array([{"a": 1}], pa.struct([("a", pa.int64())]))})
    table = bench.iceberg.create_table(name.parts, rows.schema, location=bench.root.at(name.folder))
    table.append(rows)

    def plain(columns: list[str] | None) -> bool:
        table.refresh()
        head = table.current_snapshot()
        assert head is not None
        pointer = Pointer(name, table.metadata_location)
        return bench.stores.scans.plan(pointer, snapshot=head.snapshot_id, columns=columns).plain

    assert plain(None)
    with table.update_schema() as update:
        update.rename_column(("s", "a"), "b")
    assert not plain(None)
    assert plain(["id"])
    bench.close()


def test_a_lost_or_broken_manifest_is_damage_and_says_where(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path)
    pointer, table = grow(random.Random(1), bench, "grown")
    head = table.current_snapshot()
    assert head is not None
    place = Path(normalized_location(head.manifest_list))
    place.write_bytes(place.read_bytes()[:-30])
    with pytest.raises(DamagedTable, match="snap-"):
        planned(bench.stores.scans, pointer, table)
    place.unlink()
    with pytest.raises(DamagedTable, match="no such file"):
        planned(bench.stores.scans, pointer, table)
    bench.close()


# -- what is remembered


def scans_with(bench: RealBench, folder: Path) -> IcebergScans:
    stores = bench.stores
    return IcebergScans(
        FilesByUrl(bench.root, stores.files, bench.settings.files),
        ManifestCache(folder, memory=10**8, disk=10**8),
    )


def test_a_second_process_reads_no_manifest_again(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path / "lake")
    pointer, table = grow(random.Random(3), bench, "grown")
    first = planned(scans_with(bench, tmp_path / "cache"), pointer, table)
    for file in (tmp_path / "lake").rglob("*.avro"):
        file.unlink()
    assert planned(scans_with(bench, tmp_path / "cache"), pointer, table) == first
    bench.close()


@pytest.mark.parametrize(
    "harm", [lambda data: data[:-1], lambda data: b"", lambda data: data[:9] + b"\xff" + data[10:]]
)
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    bench = sqlite_bench(tmp_path / "lake")
    pointer, table = grow(random.Random(3), bench, "grown")
    first = planned(scans_with(bench, tmp_path / "cache"), pointer, table)
    for file in [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]:
        file.write_bytes(harm(file.read_bytes()))
    assert planned(scans_with(bench, tmp_path / "cache"), pointer, table) == first
    bench.close()


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    remembered = ManifestCache(tmp_path / "file" / "cache", memory=3_000, disk=20_000)
    assert [remembered.get("kind", "place", lambda: [1]) for _ in range(2)] == [[1], [1]]


def test_what_was_not_used_for_longest_is_forgotten_first(tmp_path: Path) -> None:
    remembered = ManifestCache(tmp_path, memory=3_000, disk=20_000)
    for number in range(200):
        remembered.get("kind", str(number), lambda: "x" * 1_000)
    assert 0 < remembered._known.currsize <= 3_000
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert (
        sum(file.stat().st_size for file in kept) <= 20_000 + 64 * 1_100
    )  # it is measured now and then
    asked: list[str] = []
    remembered.get("kind", "0", lambda: asked.append("again"))
    assert asked
