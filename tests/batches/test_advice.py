"""The seed's warnings, each at its threshold and not below."""

from datetime import UTC, datetime

import pytest

from lakebed.batches.advice import (
    TableShape,
    batch_warnings,
    estimate,
    files_at_once,
    is_large,
    row_group_advice,
    table_warnings,
)
from lakebed.batches.finding import FoundBatch
from lakebed.settings import SparkSettings

MIB, GIB = 1024**2, 1024**3


def batch(files: int = 1, size: int = MIB) -> FoundBatch:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return FoundBatch("year=2020", (2020,), files, size, "d", at)


def told(one: FoundBatch, *, packed: bool = False, **distinct: int) -> list[str]:
    expected = estimate(one, "json", packed=packed)
    warnings = list(batch_warnings(one, expected, keys=["year"], distinct=distinct))
    assert bool(warnings) == is_large(one, expected)
    return warnings


def test_a_batch_within_bounds_is_not_warned_about() -> None:
    assert told(batch(1_000, 600 * MIB)) == []


def test_a_large_batch_names_a_finer_key_that_suffices() -> None:
    (warning,) = told(batch(900, GIB), set=3, tablename=50)
    assert "batch year=2020 is estimated at 1.5 GiB; the threshold is 1.0 GiB" in warning
    assert "batch_partition_columns: [year, set]" in warning
    (warning,) = told(batch(900, 20 * GIB), set=3, tablename=50)
    assert "[year, tablename]" in warning


def test_no_advice_makes_a_batch_of_each_file() -> None:
    (warning,) = told(batch(11_000, 100 * MIB), geo_fips=11_000)
    assert "geo_fips" not in warning
    assert "No other value in the paths divides it well" in warning
    (warning,) = told(batch(11_000, 100 * MIB), geo_fips=11_000, state=50)
    assert "batch_partition_columns: [year, state]" in warning
    assert "[year, day]" in told(batch(30, 30 * GIB), day=30)[0]


def test_packed_files_are_larger_than_they_look() -> None:
    assert told(batch(1, 100 * MIB)) == []
    assert "1.2 GiB" in told(batch(1, 100 * MIB), packed=True)[0]


def test_a_batch_of_many_files() -> None:
    (warning,) = told(batch(1_001, MIB))
    assert "1,001 files" in warning
    assert "No other value in the paths divides it" in warning


def test_a_good_table_is_not_warned_about() -> None:
    assert (
        list(table_warnings(TableShape(("year", "geo"), 50, (("year", 5), ("geo", 10)), 25 * GIB)))
        == []
    )


@pytest.mark.parametrize(
    ("shape", "word"),
    [
        (TableShape(("year",), 10_001, (("year", 10_001),), 900 * GIB), "10,001 files"),
        (TableShape(("year",), 10, (("year", 10),), 900 * MIB), "90.0 MiB on average"),
        (TableShape(("a", "b", "c", "d", "e"), 1, (), GIB), "5 levels"),
        (
            TableShape(("geo", "year"), 3_000, (("geo", 3_000), ("year", 1)), 900 * GIB),
            "not the last",
        ),
        (TableShape(("year",), 1, (("year", 1),), 600 * GIB), "each value of year"),
    ],
)
def test_each_warning_of_the_seed(shape: TableShape, word: str) -> None:
    assert any(word in warning for warning in table_warnings(shape))


def test_as_many_files_are_read_at_once_as_fit_into_the_memory() -> None:
    assert files_at_once(SparkSettings(memory="1g").memory_bytes) == 16_384
    assert files_at_once(SparkSettings(memory="512m").memory_bytes) == 8_192
    assert files_at_once(0) == 1_000


@pytest.mark.parametrize(
    ("told", "size"),
    [("2g", 2**31), ("1024M", 2**30), ("1048576k", 2**30), ("7", 7), ("a lot", 2**30)],
)
def test_memory_is_read_as_java_reads_it(told: str, size: int) -> None:
    assert SparkSettings(conf={"spark.driver.memory": told}).memory_bytes == size
    assert SparkSettings(conf={"spark.driver.memory": told}).memory_bytes == size


def test_large_files_without_a_sort_order_get_advice_on_row_groups() -> None:
    large = TableShape(("year",), 2, (("year", 2),), GIB)
    (advice,) = row_group_advice(large, is_sorted=False)
    assert "512.0 MiB have row groups of 128 MiB" in advice
    assert "sort_by" in advice
    assert list(row_group_advice(large, is_sorted=True)) == []
    assert list(row_group_advice(TableShape(("year",), 10, (), GIB), is_sorted=False)) == []


def test_expected_files_are_at_least_one_for_each_partition_and_of_the_size_iceberg_aims_at() -> (
    None
):
    few = TableShape(("year",), 3, (), 10 * GIB)
    assert (few.files, few.file_size) == (20, 512 * MIB)
    many = TableShape(("year",), 100, (), GIB)
    assert (many.files, many.file_size) == (100, GIB // 100)
    (warning,) = table_warnings(many)
    assert "10.2 MiB on average; aim at 256.0 MiB to 1.0 GiB" in warning
