"""Names and paths of datasets, as the specification gives them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import BadName, DamagedDataset, UnsupportedDataset
from lakebed.kartothek.format.labels import key_values, label_keys, partition_label
from lakebed.kartothek.format.names import (
    DataFormat,
    MetadataFormat,
    clashing,
    data_format,
    data_path,
    dataset_of,
    index_path,
    is_dataset_file,
    metadata_path,
    require_table,
    require_uuid,
    schema_path,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def test_paths_are_those_of_the_specification() -> None:
    assert metadata_path("sales", MetadataFormat.JSON) == "sales.by-dataset-metadata.json"
    assert metadata_path("a", MetadataFormat.MSGPACK) == "a.by-dataset-metadata.msgpack.zstd"
    assert schema_path("sales", "core") == "sales/core/_common_metadata"
    assert data_path("sales", "table", "day=1/x") == "sales/table/day=1/x.parquet"


def test_the_name_of_an_index_has_its_time_in_utc_url_encoded() -> None:
    at = datetime(2026, 11, 15, 5, 53, 26, 743919, UTC)
    expected = "s/indices/a%2Fb/2026-11-15T05%3A53%3A26.743919%2B00%3A00.by-dataset-index.parquet"
    assert index_path("s", "a/b", at) == expected
    assert "26.000000" in index_path("s", "a", at.replace(microsecond=0))


@pytest.mark.parametrize("name", ["sales", "0d6de3c6-b7a4", "A+b_c"])
def test_letters_digits_and_three_signs_make_a_name(name: str) -> None:
    assert require_uuid(name) == name
    assert require_table(name) == name


@pytest.mark.parametrize("name", ["", "a.b", "a/b", "ü", "a b", "a%20", "a\n"])
def test_other_characters_are_refused_by_name(name: str) -> None:
    with pytest.raises(BadName, match="letters, digits"):
        require_uuid(name)
    with pytest.raises(BadName):
        require_table(name)


def test_a_table_cannot_take_the_folder_of_the_indices() -> None:
    with pytest.raises(BadName, match="indices"):
        require_table("indices")


@pytest.mark.parametrize(
    ("path", "uuid"),
    [
        ("sales.by-dataset-metadata.json", "sales"),
        ("sales.by-dataset-metadata.msgpack.zstd", "sales"),
        ("sales.by-dataset-metadata.xml", None),
        ("sales.json", None),
        ("sa les.by-dataset-metadata.json", None),
        ("x/sales.by-dataset-metadata.json", None),
    ],
)
def test_a_dataset_is_found_by_the_name_of_its_metadata_file(path: str, uuid: str | None) -> None:
    assert dataset_of(path) == uuid


def test_parquet_and_csv_are_read_and_other_suffixes_refused_by_name() -> None:
    assert data_format("a/table/b.parquet") is DataFormat.PARQUET
    assert data_format("a/table/b.csv") is DataFormat.CSV
    with pytest.raises(UnsupportedDataset, match=r"\.h5"):
        data_format("a/table/b.h5")


def test_a_name_must_not_begin_the_name_of_other_files() -> None:
    assert clashing("sales", ("other", "sales", "sales_2024")) == "sales_2024"
    assert clashing("sales", ("other", "sales", "presales")) is None


@given(st.lists(st.tuples(TEXTS.filter(bool), TEXTS), unique_by=lambda pair: pair[0]))
def test_any_text_survives_a_label(pairs: list[tuple[str, str]]) -> None:
    label = partition_label(pairs, "0f")
    assert {key: value.decode() for key, value in label_keys(label).items()} == dict(pairs)
    assert label.count("/") == len(pairs)
    assert label.isascii()


@given(st.binary())
def test_any_bytes_survive_a_label(value: bytes) -> None:
    assert label_keys(partition_label([("k", value)], "0f")) == {"k": value}


@pytest.mark.parametrize("value", ["a/b", "/b", "a/", "a//b", "a/k%3Dc"])
def test_a_slash_that_plateau_leaves_in_a_value_is_part_of_it(value: str) -> None:
    expected = {"j": b"1", "k": value.replace("%3D", "=").encode(), "l": b"2"}
    assert label_keys(f"j=1/k={value}/l=2/0f") == expected


def test_what_plateau_leaves_unquoted_is_encoded() -> None:
    assert partition_label([("a=b", "x/y"), ("ü", "1=2")], "0f") == "a%3Db=x%2Fy/%C3%BC=1%3D2/0f"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"d/table/k=1/{'0' * 32}.parquet", True),
        (f"d/table/{'0' * 32}.parquet", True),
        ("d/table/_common_metadata", True),
        (index_path("d", "x", datetime(2026, 1, 1, tzinfo=UTC)), True),
        ("d/2026/report.parquet", False),
        ("d/notes.txt", False),
        (f"d/{'0' * 32}.csv", False),
    ],
)
def test_files_that_writers_of_datasets_leave_are_recognised(path: str, expected: bool) -> None:
    assert is_dataset_file(path) is expected


def test_a_label_without_one_of_the_keys_is_damaged() -> None:
    assert key_values("b=2/a=1/0f", ("a", "b"), path="p") == (b"1", b"2")
    with pytest.raises(DamagedDataset, match="'c'"):
        key_values("b=2/a=1/0f", ("a", "c"), path="p")
