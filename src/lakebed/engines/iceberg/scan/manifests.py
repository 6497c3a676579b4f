"""Manifest lists and manifests as plain tuples, with what planning a scan needs."""

import marshal
from collections.abc import Mapping
from typing import Any, NamedTuple

from lakebed.engines.iceberg.avro.reading import read_records
from lakebed.settings import normalized_location

EXISTING, ADDED, DELETED = range(3)  # what became of a manifest's file
_DATA = 0
_LONGEST = 16  # bytes: longer values of a column are seldom the same in all rows


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
    snapshot: int | None  # that has added it
    changes: int | None  # the files that this snapshot added or removed in it, if the list says


class FileDetails(NamedTuple):
    """What few readers of a file's entry look at: its bytes by field id, and the columns that have
    one value, and no NULL, in all its rows, as stored.
    """

    column_sizes: Mapping[int, int]
    constants: Mapping[int, bytes]


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
    packed: bytes  # its details: most queries never unpack them

    @property
    def column_sizes(self) -> Mapping[int, int]:
        """Bytes by field id, as the writer recorded them."""
        return unpacked(self.packed).column_sizes


def unpacked(data: bytes) -> FileDetails:
    """The details of an entry."""
    return FileDetails._make(marshal.loads(data))  # noqa: S302 - packed by `entry_line`


def read_list(data: bytes) -> list[Any]:
    """The entries of a manifest list in cacheable form; see `as_manifests`."""
    return [tuple(_manifest(record)) for record in read_records(data)[2]]


def as_manifests(lines: list[Any]) -> list[Manifest]:
    """Cached values as their types."""
    return [_made(line) for line in lines]


def _made(line: tuple[Any, ...]) -> Manifest:
    manifest = Manifest._make(line)
    if manifest.summaries is None:
        return manifest
    known = tuple(PartitionSummary._make(one) for one in manifest.summaries)
    return manifest._replace(summaries=known)


def read_entries(data: bytes) -> list[Any]:
    """The files of a manifest in cacheable form, without deleted ones; see `as_entries`."""
    schema, _, records = read_records(data)
    ids = partition_ids(schema)
    return [
        entry_line(record["data_file"], ids) for record in records if record["status"] != DELETED
    ]


def as_entries(lines: list[Any]) -> list[ManifestEntry]:
    """Cached values as their types."""
    return [ManifestEntry._make(line) for line in lines]


def _manifest(record: Mapping[str, Any]) -> tuple[Any, ...]:
    added, existing, deleted = (_count(record, kind) for kind in ("added", "existing", "deleted"))
    summaries = record.get("partitions")
    return (
        normalized_location(record["manifest_path"]),
        record["manifest_length"],
        record["partition_spec_id"],
        record.get("content", _DATA) != _DATA,
        any(count is None or count > 0 for count in (added, existing)),
        None if summaries is None else tuple(_summary(one) for one in summaries),
        record.get("added_snapshot_id"),
        None if added is None or deleted is None else added + deleted,
    )


def _count(record: Mapping[str, Any], kind: str) -> int | None:
    """Files of one kind; early versions had another name for the field."""
    names = f"{kind}_files_count", f"{kind}_data_files_count"
    return next((record[name] for name in names if name in record), None)


def _summary(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        record["contains_null"],
        record.get("contains_nan"),
        record.get("lower_bound"),
        record.get("upper_bound"),
    )


def partition_ids(schema: Any) -> dict[str, int]:
    """Partition field ids by the names of the fields in the file."""
    data_file = next(field["type"] for field in schema["fields"] if field["name"] == "data_file")
    partition = next(field["type"] for field in data_file["fields"] if field["name"] == "partition")
    return {
        field["name"]: int(field["field-id"])
        for field in partition["fields"]
        if "field-id" in field
    }


def entry_line(file: Mapping[str, Any], ids: Mapping[str, int]) -> tuple[Any, ...]:
    """The fields of a `ManifestEntry`, of a file as Avro has it."""
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
        marshal.dumps((file.get("column_sizes") or {}, _constants(file))),
    )


def _constants(file: Mapping[str, Any]) -> dict[int, bytes]:
    """Columns of a data file whose bounds are equal. Delete files may concern rows with other
    values than their own.
    """
    if file.get("content", _DATA) != _DATA:
        return {}
    rows, upper = file["record_count"], file.get("upper_bounds") or {}
    values, nulls = file.get("value_counts") or {}, file.get("null_value_counts") or {}
    return {
        id_: value
        for id_, value in (file.get("lower_bounds") or {}).items()
        if upper.get(id_) == value
        and nulls.get(id_) == 0
        and values.get(id_) == rows
        and len(value) <= _LONGEST
    }
