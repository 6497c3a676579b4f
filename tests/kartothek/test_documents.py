"""The metadata file: read and written in both formats, strict about types."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import DamagedDataset, UnsupportedDataset
from lakebed.kartothek.format.documents import parse_state, state_document
from lakebed.kartothek.format.names import MetadataFormat
from lakebed.kartothek.format.state import DatasetState

PATH = "sales.by-dataset-metadata.json"
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
MINIMAL = {
    "dataset_metadata_version": 4,
    "dataset_uuid": "sales",
    "partitions": {"day=1/a": {"files": {"table": "sales/table/day=1/a.parquet"}}},
}


def parsed(**changes: Any) -> DatasetState:
    attributes = {**MINIMAL, **changes}
    kept = {name: value for name, value in attributes.items() if value is not ...}
    return parse_state(json.dumps(kept).encode(), format=MetadataFormat.JSON, path=PATH)


def partition(**files: str) -> dict[str, Any]:
    return {"files": files}


@pytest.mark.parametrize("format", MetadataFormat)
@given(
    labels=st.lists(WORDS, unique=True),
    keys=st.lists(WORDS, unique=True),
    words=st.dictionaries(WORDS, WORDS),
)
def test_a_state_survives_its_file(
    format: MetadataFormat, labels: list[str], keys: list[str], words: dict[str, str]
) -> None:
    state = DatasetState(
        "sales",
        {
            label: {"core": f"sales/core/{label}.parquet", "more": f"sales/more/{label}.csv"}
            for label in labels
        },
        tuple(keys),
        {name: f"sales/indices/{name}/1.by-dataset-index.parquet" for name in words},
        words,
        {"core": "c2NoZW1h"},
        {"sales/indices/1": 17},
        ("0a", "0b"),
        {"theirs": {"deep": [1, None]}},
    )
    document = state_document(state, format=format)
    assert parse_state(document, format=format, path=f"sales.by-dataset-metadata.{format}") == state


def test_what_may_be_left_out_may_be_left_out() -> None:
    state = parsed()
    assert state.partition_keys == ("day",)
    assert (state.indices, state.metadata) == ({}, {})
    assert state.tables == ("table",)
    assert parsed(partitions={}).partition_keys == ()


def test_attributes_we_do_not_know_are_kept() -> None:
    state = parsed(theirs=[1])
    document = json.loads(state_document(state, format=MetadataFormat.JSON))
    assert document["theirs"] == [1]
    assert "lakebed" not in document


@pytest.mark.parametrize("version", [3, 5])
def test_another_version_is_refused_by_its_number(version: int) -> None:
    with pytest.raises(UnsupportedDataset, match=f"version {version}"):
        parsed(dataset_metadata_version=version)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dataset_metadata_version": "4"}, "INT"),
        ({"dataset_metadata_version": True}, "INT"),
        ({"dataset_metadata_version": ...}, "missing"),
        ({"dataset_uuid": 7}, "dataset_uuid must be of type STRING"),
        ({"dataset_uuid": "other"}, "another dataset, 'other'"),
        ({"metadata": {"a": 1}}, r"metadata\['a'\] must be of type STRING, and is 1"),
        ({"metadata": []}, "MAP"),
        ({"partitions": ...}, "partitions must be of type MAP, and is missing"),
        ({"partitions": {"a": "x"}}, "the partition 'a'"),
        ({"partitions": {"a": {"files": {}}}}, "has no file"),
        ({"partitions": {"a": partition(table="other/t/a.parquet")}}, "not a file of the dataset"),
        ({"partition_keys": "day"}, "LIST"),
        ({"partition_keys": [1]}, "STRING"),
        ({"indices": {"a": {"1": ["p"]}}}, "STRING"),
        ({"indices": {"a": "other/indices/a/1.parquet"}}, "not a file of the dataset"),
    ],
)
def test_wrong_attributes_are_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DamagedDataset, match=said) as caught:
        parsed(**changes)
    assert caught.value.path == PATH


def test_a_file_is_in_one_partition_only() -> None:
    twice = {label: partition(table="sales/table/a.parquet") for label in "ab"}
    with pytest.raises(DamagedDataset, match="in two partitions"):
        parsed(partitions=twice)


def test_all_partitions_have_the_same_tables() -> None:
    odd = {
        "a": partition(core="sales/core/a.parquet"),
        "b": partition(more="sales/more/b.parquet"),
    }
    with pytest.raises(DamagedDataset, match="same tables"):
        parsed(partitions=odd)


def test_a_data_file_of_another_format_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedDataset, match=r"\.h5"):
        parsed(partitions={"a": partition(table="sales/table/a.h5")})


@pytest.mark.parametrize("format", MetadataFormat)
@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"not one of them"])
def test_a_torn_file_is_an_error_that_names_it(format: MetadataFormat, data: bytes) -> None:
    with pytest.raises(DamagedDataset, match="not valid"):
        parse_state(data, format=format, path=PATH)


@pytest.mark.parametrize("format", MetadataFormat)
def test_a_file_cut_anywhere_is_never_read_as_a_state(format: MetadataFormat) -> None:
    state = DatasetState("sales", {"a": {"table": "sales/table/a.parquet"}}, ("day",))
    document = state_document(state, format=format)
    for end in range(len(document)):
        with pytest.raises(DamagedDataset):
            parse_state(document[:end], format=format, path=PATH)


def test_partitions_are_added_and_removed_in_a_new_state() -> None:
    state = parsed()
    changed = state.with_partitions({"b": {"table": "sales/table/b.parquet"}}, without=["day=1/a"])
    assert list(changed.partitions) == ["b"]
    assert list(state.partitions) == ["day=1/a"]
    assert changed.files == {"sales/table/b.parquet"}
