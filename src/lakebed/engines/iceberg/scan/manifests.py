"""Manifest lists and manifests as plain tuples, with what planning a scan needs."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lakebed.engines.iceberg.avro.reading import read_records
from lakebed.settings import normalized_location

_DELETED = 2
_DATA = 0


class PartitionSummary(NamedTuple):
    """A manifest's summary of one partition field, as stored."""

    nulls: bool
    nans: bool | None
    lower: bytes | None
    upper: bytes | None


class Manifest(NamedTuple):
    """An entry of a manifest list."""

    location: str
    length: int
    spec: int
    deletes: bool
    living: bool  # whether it has files that are part of the table, as far as the list says
    summaries: tuple[PartitionSummary, ...] | None


class ManifestEntry(NamedTuple):
    """A file of a manifest that is part of the table.

    Partition values, bounds and counts are by field id, as stored.
    """

    location: str
    data: bool
    format: str
    size: int
    rows: int
    partition: Mapping[int, Any]
    lower: Mapping[int, bytes]
    upper: Mapping[int, bytes]
    nulls: Mapping[int, int]
    nans: Mapping[int, int]
    offsets: tuple[int, ...]
    encrypted: bool


def read_list(data: bytes) -> list[Any]:
    """The entries of a manifest list in cacheable form; see `as_manifests`."""
    return [tuple(_manifest(record)) for record in read_records(data)[2]]


def as_manifests(lines: list[Any]) -> list[Manifest]:
    """Cached values as their types."""
    return [_made(*line) for line in lines]


def _made(
    location: str, length: int, spec: int, deletes: bool, living: bool, summaries: Any
) -> Manifest:
    known = None if summaries is None else tuple(PartitionSummary(*one) for one in summaries)
    return Manifest(location, length, spec, deletes, living, known)


def read_entries(data: bytes) -> list[Any]:
    """The files of a manifest in cacheable form, without deleted ones; see `as_entries`."""
    schema, _, records = read_records(data)
    ids = _partition_ids(schema)
    return [_entry(record["data_file"], ids) for record in records if record["status"] != _DELETED]


def as_entries(lines: list[Any]) -> list[ManifestEntry]:
    """Cached values as their types."""
    return [ManifestEntry._make(line) for line in lines]


def _manifest(record: Mapping[str, Any]) -> tuple[Any, ...]:
    first = _first(record)
    counts = [
        first("added_files_count", "added_data_files_count"),
        first("existing_files_count", "existing_data_files_count"),
    ]
    summaries = record.get("partitions")
    return (
        normalized_location(record["manifest_path"]),
        record["manifest_length"],
        record["partition_spec_id"],
        record.get("content", _DATA) != _DATA,
        any(count is None or count > 0 for count in counts),
        None if summaries is None else tuple(_summary(one) for one in summaries),
    )


def _first(record: Mapping[str, Any]) -> Callable[..., Any]:
    return lambda *names: next((record[name] for name in names if name in record), None)


def _summary(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        record["contains_null"],
        record.get("contains_nan"),
        record.get("lower_bound"),
        record.get("upper_bound"),
    )


def _partition_ids(schema: Any) -> dict[str, int]:
    """Partition field ids by the names of the fields in the file."""
    data_file = next(field["type"] for field in schema["fields"] if field["name"] == "data_file")
    partition = next(field["type"] for field in data_file["fields"] if field["name"] == "partition")
    return {
        field["name"]: int(field["field-id"])
        for field in partition["fields"]
        if "field-id" in field
    }


def _entry(file: Mapping[str, Any], ids: Mapping[str, int]) -> tuple[Any, ...]:
    return (
        normalized_location(file["file_path"]),
        file.get("content", _DATA) == _DATA,
        str(file["file_format"]).upper(),
        file["file_size_in_bytes"],
        file["record_count"],
        {ids[name]: value for name, value in (file.get("partition") or {}).items() if name in ids},
        file.get("lower_bounds") or {},
        file.get("upper_bounds") or {},
        file.get("null_value_counts") or {},
        file.get("nan_value_counts") or {},
        tuple(file.get("split_offsets") or ()),
        file.get("key_metadata") is not None,
    )
