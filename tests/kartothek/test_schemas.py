"""Schemas of tables: normal types, agreement, and partition keys restored with their type."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.errors import BadBatch, DamagedDataset
from lakebed.kartothek.format.column_types import StringProfile, normal_type
from lakebed.kartothek.format.partition_values import restored_value, value_text
from lakebed.kartothek.format.schemas import (
    combined_schema,
    parse_schema_file,
    parse_schema_text,
    schema_file,
    schema_text,
    table_schema,
)

NORMAL = [
    (pa.int8(), pa.int64()),
    (pa.uint16(), pa.uint64()),
    (pa.float32(), pa.float64()),
    (pa.string(), pa.large_string()),
    (pa.dictionary(pa.int8(), pa.string()), pa.large_string()),
    (pa.list_(pa.list_(pa.uint8())), pa.list_(pa.list_(pa.uint64()))),
    (pa.timestamp("ns"), pa.timestamp("us")),
    (pa.timestamp("ms", tz="UTC"), pa.timestamp("us", tz="UTC")),
    (pa.date32(), pa.date32()),
    (pa.bool_(), pa.bool_()),
    (pa.binary(), pa.binary()),
    (pa.decimal128(10, 2), pa.decimal128(10, 2)),
    (pa.null(), pa.null()),
]
KEYS: list[tuple[Any, Any]] = [
    (pa.int64(), -7),
    (pa.uint64(), 2**64 - 1),
    (pa.float64(), 0.1),
    (pa.large_string(), "a/b=ü"),
    (pa.bool_(), False),
    (pa.bool_(), True),
    (pa.date32(), date(2024, 2, 29)),
    (pa.timestamp("us"), datetime.fromisoformat("2024-02-29 01:02:03.000004")),
    (pa.timestamp("us", tz="UTC"), datetime(2024, 2, 29, tzinfo=UTC)),
    (pa.large_binary(), b"\xff/"),
    (pa.decimal128(10, 2), Decimal("1.20")),
]


@pytest.mark.parametrize(("given", "expected"), NORMAL, ids=str)
def test_types_are_normalised_as_plateau_does_it(given: Any, expected: Any) -> None:
    assert normal_type(given) == expected
    assert normal_type(expected) == expected


def test_older_plateau_gets_plain_strings() -> None:
    assert normal_type(pa.large_string(), strings=StringProfile.STRING) == pa.string()
    nested = normal_type(pa.list_(pa.large_string()), strings=StringProfile.STRING)
    assert nested == pa.list_(pa.string())


def test_partition_keys_come_first_and_the_rest_by_name() -> None:
    rows = pa.schema([("z", pa.int8()), ("day", pa.date32()), ("a", pa.string()), ("c", "bool")])
    found = table_schema(rows, ["day", "c"])
    assert found.names == ["day", "c", "a", "z"]
    assert found.field("z").type == pa.int64()


@pytest.mark.parametrize(("given", "expected"), NORMAL, ids=str)
def test_a_schema_survives_its_file_and_its_text(given: Any, expected: Any) -> None:
    schema = table_schema(pa.schema([("x", given)]), [])
    again = parse_schema_file(schema_file(schema), path="p")
    assert again.field("x").type == expected
    assert parse_schema_text(schema_text(schema), path="p").field("x").type == expected


def test_the_file_is_an_empty_parquet_file_that_pandas_understands() -> None:
    types: dict[str, Any] = {f"c{number}": type_ for number, (type_, _) in enumerate(NORMAL)}
    data = schema_file(table_schema(pa.schema(list(types.items())), []))
    stored = pq.ParquetFile(pa.BufferReader(data))
    assert (stored.metadata.num_rows, stored.metadata.num_row_groups) == (0, 0)
    assert set(stored.metadata.metadata) == {b"ARROW:schema", b"pandas"}
    columns = stored.schema_arrow.pandas_metadata["columns"]
    assert [column["name"] for column in columns] == sorted(types)


def test_text_stays_as_another_writer_declared_it() -> None:
    old = table_schema(pa.schema([("x", pa.string())]), [], strings=StringProfile.STRING)
    assert parse_schema_file(schema_file(old), path="p").field("x").type == pa.string()


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1PAR1", b"x" * 100])
def test_a_torn_schema_is_an_error_that_names_it(data: bytes) -> None:
    with pytest.raises(DamagedDataset, match="schema"):
        parse_schema_file(data, path="sales/table/_common_metadata")
    with pytest.raises(DamagedDataset, match="schema"):
        parse_schema_text(data.decode(), path="p")


def test_a_column_without_values_takes_the_type_of_later_rows() -> None:
    known = table_schema(pa.schema([("a", pa.null()), ("b", pa.int64())]), [])
    added = table_schema(pa.schema([("a", pa.string()), ("b", pa.null())]), [])
    combined = combined_schema(known, added, where="sales")
    assert combined.field("a").type == pa.large_string()
    assert combined.field("b").type == pa.int64()


def test_both_types_of_text_agree_and_the_known_one_stays() -> None:
    known = table_schema(pa.schema([("a", pa.string())]), [], strings=StringProfile.STRING)
    added = table_schema(pa.schema([("a", pa.string())]), [])
    assert combined_schema(known, added, where="sales").field("a").type == pa.string()


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ([("a", pa.uint8()), ("b", pa.string())], "'a' is uint64 instead of int64"),
        ([("a", pa.int8())], "'b' is missing"),
        ([("a", pa.int8()), ("b", pa.string()), ("c", pa.int8())], "'c' is unknown"),
    ],
)
def test_rows_of_another_schema_are_refused_column_by_column(added: Any, said: str) -> None:
    known = table_schema(pa.schema([("a", pa.int64()), ("b", pa.string())]), [])
    with pytest.raises(BadBatch, match=said):
        combined_schema(known, table_schema(pa.schema(added), []), where="sales")


def test_rows_without_a_partition_key_or_with_a_name_twice_are_refused() -> None:
    with pytest.raises(BadBatch, match="'day'"):
        table_schema(pa.schema([("a", pa.int8())]), ["day"])
    with pytest.raises(BadBatch, match="two columns named 'a'"):
        table_schema(pa.schema([("a", pa.int8()), ("a", pa.int8())]), [])


@pytest.mark.parametrize(("type_", "value"), KEYS, ids=str)
def test_a_partition_key_comes_back_with_its_type(type_: Any, value: Any) -> None:
    text = value_text(value, column="k")
    data = text if isinstance(text, bytes) else text.encode()
    again = restored_value(data, type_, column="k", path="p")
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    "type_",
    [pa.list_(pa.int8()), pa.struct([("a", pa.int8())]), pa.duration("s"), pa.time32("s")],
    ids=str,
)
def test_a_partition_key_that_could_not_be_restored_is_refused(type_: Any) -> None:
    with pytest.raises(BadBatch, match="'k'"):
        table_schema(pa.schema([("k", type_)]), ["k"])


def test_dates_that_plateau_wrote_as_timestamps_are_read() -> None:
    assert restored_value(b"2024-02-29 00:00:00", pa.date32(), column="k", path="p") == date(
        2024, 2, 29
    )


@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_partition_key_without_a_value_is_refused_by_name(value: Any) -> None:
    with pytest.raises(BadBatch, match="'k'"):
        value_text(value, column="k")


@pytest.mark.parametrize("type_", [pa.int64(), pa.float64(), pa.bool_(), pa.date32()], ids=str)
def test_a_partition_key_of_another_type_is_damaged(type_: Any) -> None:
    with pytest.raises(DamagedDataset, match="'k'"):
        restored_value(b"__HIVE_DEFAULT_PARTITION__", type_, column="k", path="p")
